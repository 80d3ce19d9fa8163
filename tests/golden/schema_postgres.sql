CREATE SCHEMA ebb;

CREATE TABLE ebb.history (
    instance_id uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    started_at bigint,
    token bigint,
    visit bigint,
    ref bigint,
    attempt integer,
    type text NOT NULL COLLATE pg_catalog."C",
    node text COLLATE pg_catalog."C",
    path text,
    worker text,
    payload text
)
WITH (autovacuum_vacuum_insert_scale_factor='0.5');

CREATE TABLE ebb.instances (
    id uuid NOT NULL,
    revision bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    finished_at bigint,
    version integer NOT NULL,
    priority integer NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    workflow text NOT NULL COLLATE pg_catalog."C",
    key text COLLATE pg_catalog."C",
    state text NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE ebb.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at bigint NOT NULL
);

CREATE TABLE ebb.tasks (
    instance_id uuid NOT NULL,
    token bigint NOT NULL,
    rank bigint NOT NULL,
    due_at bigint NOT NULL,
    lane smallint NOT NULL,
    is_stop boolean DEFAULT false NOT NULL,
    was_lost boolean DEFAULT false NOT NULL,
    handler text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    lost_by text,
    lease_owner text COLLATE pg_catalog."C"
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE ebb.workers (
    id text NOT NULL COLLATE pg_catalog."C",
    pid bigint NOT NULL,
    started_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    capacity integer NOT NULL,
    host text NOT NULL,
    handlers text[] NOT NULL,
    queues text[] NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='200', autovacuum_vacuum_scale_factor='0');

CREATE TABLE ebb.workflows (
    name text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    checksum text NOT NULL,
    created_at bigint NOT NULL,
    definition text NOT NULL
);

ALTER TABLE ONLY ebb.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (instance_id, seq);

ALTER TABLE ONLY ebb.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);

ALTER TABLE ONLY ebb.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY ebb.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (instance_id, token);

ALTER TABLE ONLY ebb.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY ebb.workflows
    ADD CONSTRAINT workflows_pkey PRIMARY KEY (name, version);

CREATE UNIQUE INDEX instances_by_key ON ebb.instances USING btree (key, workflow) WHERE (key IS NOT NULL);

CREATE INDEX instances_by_status ON ebb.instances USING btree (status, id) WHERE (status <> 'completed'::text);

CREATE INDEX tasks_leased ON ebb.tasks USING btree (lease_owner, instance_id, token) WHERE (lease_owner IS NOT NULL);

CREATE INDEX tasks_ready ON ebb.tasks USING btree (handler, queue, rank, instance_id, token) WHERE ((lane = 1) AND (lease_owner IS NULL));

CREATE INDEX tasks_sleeping ON ebb.tasks USING btree (due_at) WHERE ((lane = 0) AND (lease_owner IS NULL));

CREATE INDEX tasks_stops ON ebb.tasks USING btree (rank, instance_id, token) WHERE (is_stop AND (lane = 1) AND (lease_owner IS NULL));

