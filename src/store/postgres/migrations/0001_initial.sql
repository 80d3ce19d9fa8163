CREATE TABLE ebb.workflows (
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    checksum text NOT NULL,
    created_at bigint NOT NULL,
    definition text NOT NULL,
    PRIMARY KEY (name, version)
);

-- The one row that every change of an instance compares and swaps. A hop changes no column that an
-- index knows and finds room on its page, so it touches no index at all.
CREATE TABLE ebb.instances (
    id uuid PRIMARY KEY,
    revision bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    finished_at bigint,
    version integer NOT NULL,
    priority integer NOT NULL,
    status text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    state text NOT NULL
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05);

-- The key comes first: it is also looked for without its workflow.
CREATE UNIQUE INDEX instances_by_key ON ebb.instances (key, workflow) WHERE key IS NOT NULL;
-- Nearly all instances are completed ones in the end; they are found by id.
CREATE INDEX instances_by_status ON ebb.instances (status, id) WHERE status <> 'completed';

-- lane: 0 = sleeping until due_at, 1 = due, 2 = parked.
CREATE TABLE ebb.tasks (
    instance_id uuid NOT NULL,
    token bigint NOT NULL,
    rank bigint NOT NULL,
    due_at bigint NOT NULL,
    lane smallint NOT NULL,
    is_stop boolean NOT NULL DEFAULT false,
    was_lost boolean NOT NULL DEFAULT false,
    handler text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    lost_by text,
    lease_owner text COLLATE "C",
    PRIMARY KEY (instance_id, token)
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

-- Each index holds only the tasks that its one question is about, so no claim wades through others.
CREATE INDEX tasks_ready ON ebb.tasks (handler, queue, rank, instance_id, token)
    WHERE lane = 1 AND lease_owner IS NULL;
CREATE INDEX tasks_stops ON ebb.tasks (rank, instance_id, token)
    WHERE is_stop AND lane = 1 AND lease_owner IS NULL;
CREATE INDEX tasks_sleeping ON ebb.tasks (due_at) WHERE lane = 0 AND lease_owner IS NULL;
CREATE INDEX tasks_leased ON ebb.tasks (lease_owner, instance_id, token)
    WHERE lease_owner IS NOT NULL;

-- Nothing but its key is indexed: a step's price is one row here and one entry there.
CREATE TABLE ebb.history (
    instance_id uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    started_at bigint,
    token bigint,
    visit bigint,
    ref bigint,
    attempt integer,
    type text COLLATE "C" NOT NULL,
    node text COLLATE "C",
    path text,
    worker text,
    payload text,
    PRIMARY KEY (instance_id, seq)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.5);

-- expires_at is the deadline of all leases of the worker.
CREATE TABLE ebb.workers (
    id text COLLATE "C" PRIMARY KEY,
    pid bigint NOT NULL,
    started_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    capacity integer NOT NULL,
    host text NOT NULL,
    handlers text[] NOT NULL,
    queues text[] NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
