-- compatible with 6
-- What waits for a person or a signal: one row for each role that may decide, '' where anyone may.
-- Written in the commit that begins or ends the wait.
CREATE TABLE ebb.waits (
    instance_id uuid NOT NULL,
    token bigint NOT NULL,
    visit bigint NOT NULL,
    since bigint NOT NULL,
    deadline_at bigint,
    quorum integer NOT NULL,
    confirmed integer NOT NULL,
    role text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    node text COLLATE "C" NOT NULL,
    signal text COLLATE "C",
    PRIMARY KEY (instance_id, token, role)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX waits_by_role ON ebb.waits (kind, role, since, instance_id, token);
CREATE INDEX waits_by_time ON ebb.waits (kind, since, instance_id, token);

-- Instances that have failed or are dead-lettered. grp is the same for failures with one cause; event
-- is the one of the history that says why.
CREATE TABLE ebb.failures (
    instance_id uuid PRIMARY KEY,
    at bigint NOT NULL,
    event bigint NOT NULL,
    version integer NOT NULL,
    status text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    step text COLLATE "C",
    code text COLLATE "C" NOT NULL,
    grp text COLLATE "C" NOT NULL,
    message text NOT NULL
);

CREATE INDEX failures_by_group ON ebb.failures (grp, at, instance_id);

-- Whose turn it is to compare these rows with the states, and how far that has come. The first pass
-- makes the rows of the instances that are here already.
CREATE TABLE ebb.repairs (
    id smallint PRIMARY KEY,
    number bigint NOT NULL,
    reached uuid NOT NULL,
    next_at bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO ebb.repairs (id, number, reached, next_at)
VALUES (1, 0, '00000000-0000-0000-0000-000000000000', 0);

CREATE VIEW ebb.awaited AS
SELECT w.instance_id, w.workflow, i.version, i.key, i.status, w.kind, w.node, w.signal, w.visit,
       nullif(w.role, '') AS role,
       to_timestamp(w.since / 1000000.0) AS since,
       to_timestamp(w.deadline_at / 1000000.0) AS deadline_at,
       w.quorum, w.confirmed
FROM ebb.waits AS w JOIN ebb.instances AS i ON i.id = w.instance_id;

CREATE VIEW ebb.failed AS
SELECT f.instance_id, f.workflow, f.version, i.key, f.status, f.step, f.code,
       f.grp AS failure_group, f.message, to_timestamp(f.at / 1000000.0) AS failed_at
FROM ebb.failures AS f JOIN ebb.instances AS i ON i.id = f.instance_id;
