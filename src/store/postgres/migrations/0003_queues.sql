-- Limits of queues over all workers; a queue without limits has no row. Who claims in such a queue
-- locks its row.
CREATE TABLE ebb.queues (
    name text COLLATE "C" PRIMARY KEY,
    updated_at bigint NOT NULL,
    rate_period bigint,
    rate_starts integer,
    concurrency integer,
    concurrency_per_key integer
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

-- How many attempts of a queue with a rate were started, by the end of their slice of time.
CREATE TABLE ebb.queue_starts (
    at bigint NOT NULL,
    starts bigint NOT NULL,
    queue text COLLATE "C" NOT NULL,
    PRIMARY KEY (queue, at)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

-- took_slot: the lease was taken under the limits of the queue.
ALTER TABLE ebb.tasks
    ADD COLUMN concurrency_key text COLLATE "C", ADD COLUMN took_slot boolean;

-- Tasks without a key, and tasks of queues without limits, are in neither.
CREATE INDEX tasks_keyed ON ebb.tasks (handler, queue, concurrency_key, rank, instance_id, token)
    WHERE lane = 1 AND lease_owner IS NULL AND concurrency_key IS NOT NULL;
CREATE INDEX tasks_slots ON ebb.tasks (queue, concurrency_key)
    WHERE took_slot AND lease_owner IS NOT NULL;
