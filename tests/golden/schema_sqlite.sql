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
CREATE UNIQUE INDEX instances_by_key ON instances (key, workflow) WHERE key IS NOT NULL;
CREATE INDEX instances_by_status ON instances (status, id, workflow, version);
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;
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
CREATE INDEX tasks_leased ON tasks (lease_owner, instance_id, token) WHERE lease_owner IS NOT NULL;
CREATE INDEX tasks_ready ON tasks (handler, queue, rank, instance_id, token, lane, lease_owner)
    WHERE lane = 1 AND lease_owner IS NULL;
CREATE INDEX tasks_sleeping ON tasks (due_at, lane, lease_owner)
    WHERE lane = 0 AND lease_owner IS NULL;
CREATE INDEX tasks_stops ON tasks (rank, instance_id, token, is_stop, lane, lease_owner)
    WHERE is_stop = 1 AND lane = 1 AND lease_owner IS NULL;
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
CREATE TABLE workflows (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (name, version)
) STRICT;
