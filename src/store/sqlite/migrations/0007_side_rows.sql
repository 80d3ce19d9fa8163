-- compatible with 5
-- What waits for a person or a signal: one row for each role that may decide, '' where anyone may.
-- Written in the commit that begins or ends the wait.
CREATE TABLE waits (
    instance_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    workflow TEXT NOT NULL,
    node TEXT NOT NULL,
    signal TEXT,
    visit INTEGER NOT NULL,
    since INTEGER NOT NULL,
    deadline_at INTEGER,
    quorum INTEGER NOT NULL,
    confirmed INTEGER NOT NULL,
    PRIMARY KEY (instance_id, token, role)
) STRICT, WITHOUT ROWID;

CREATE INDEX waits_by_role ON waits (kind, role, since, instance_id, token);
CREATE INDEX waits_by_time ON waits (kind, since, instance_id, token);

-- Instances that have failed or are dead-lettered. grp is the same for failures with one cause; event
-- is the one of the history that says why.
CREATE TABLE failures (
    instance_id TEXT PRIMARY KEY NOT NULL,
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    step TEXT,
    code TEXT NOT NULL,
    grp TEXT NOT NULL,
    message TEXT NOT NULL,
    event INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX failures_by_group ON failures (grp, at, instance_id);

-- Whose turn it is to compare these rows with the states, and how far that has come. The first pass
-- makes the rows of the instances that are here already.
CREATE TABLE repairs (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    reached TEXT NOT NULL,
    next_at INTEGER NOT NULL
) STRICT;

INSERT INTO repairs (id, number, reached, next_at)
VALUES (1, 0, '00000000-0000-0000-0000-000000000000', 0);

CREATE VIEW awaited AS
SELECT w.instance_id, w.workflow, i.version, i.key, i.status, w.kind, w.node, w.signal, w.visit,
       nullif(w.role, '') AS role,
       strftime('%Y-%m-%dT%H:%M:%fZ', w.since / 1e6, 'unixepoch') AS since,
       strftime('%Y-%m-%dT%H:%M:%fZ', w.deadline_at / 1e6, 'unixepoch') AS deadline_at,
       w.quorum, w.confirmed
FROM waits AS w JOIN instances AS i ON i.id = w.instance_id;

CREATE VIEW failed AS
SELECT f.instance_id, f.workflow, f.version, i.key, f.status, f.step, f.code,
       f.grp AS failure_group, f.message,
       strftime('%Y-%m-%dT%H:%M:%fZ', f.at / 1e6, 'unixepoch') AS failed_at
FROM failures AS f JOIN instances AS i ON i.id = f.instance_id;
