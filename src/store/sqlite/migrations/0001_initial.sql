CREATE TABLE workflows (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (name, version)
) STRICT;

-- The one row that every change of an instance compares and swaps. `state` is last, so the other
-- columns are read without following its overflow pages.
CREATE TABLE instances (
    id TEXT PRIMARY KEY NOT NULL,
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    key TEXT,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    state TEXT NOT NULL
) STRICT;

-- The key comes first: it is also looked for without its workflow.
CREATE UNIQUE INDEX instances_by_key ON instances (key, workflow) WHERE key IS NOT NULL;
-- A hop does not change the status and so does not touch this index.
CREATE INDEX instances_by_status ON instances (status, id, workflow, version);

-- lane: 0 = sleeping until due_at, 1 = due, 2 = parked.
CREATE TABLE tasks (
    instance_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    handler TEXT NOT NULL,
    queue TEXT NOT NULL,
    rank INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    is_stop INTEGER NOT NULL DEFAULT 0,
    was_lost INTEGER NOT NULL DEFAULT 0,
    lost_by TEXT,
    lease_owner TEXT,
    PRIMARY KEY (instance_id, token)
) STRICT, WITHOUT ROWID;

-- Each index holds only the tasks that its one question is about, so no claim wades through others.
-- The columns of its WHERE are in it too, or SQLite would look every row up in the table.
CREATE INDEX tasks_ready ON tasks (handler, queue, rank, instance_id, token, lane, lease_owner)
    WHERE lane = 1 AND lease_owner IS NULL;
CREATE INDEX tasks_stops ON tasks (rank, instance_id, token, is_stop, lane, lease_owner)
    WHERE is_stop = 1 AND lane = 1 AND lease_owner IS NULL;
CREATE INDEX tasks_sleeping ON tasks (due_at, lane, lease_owner)
    WHERE lane = 0 AND lease_owner IS NULL;
CREATE INDEX tasks_leased ON tasks (lease_owner, instance_id, token) WHERE lease_owner IS NOT NULL;

CREATE TABLE history (
    instance_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    node TEXT,
    path TEXT,
    token INTEGER,
    visit INTEGER,
    attempt INTEGER,
    ref INTEGER,
    worker TEXT,
    started_at INTEGER,
    at INTEGER NOT NULL,
    payload TEXT,
    PRIMARY KEY (instance_id, seq)
) STRICT, WITHOUT ROWID;

-- expires_at is the deadline of all leases of the worker. handlers and queues are JSON arrays.
CREATE TABLE workers (
    id TEXT PRIMARY KEY NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    handlers TEXT NOT NULL,
    queues TEXT NOT NULL,
    capacity INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
