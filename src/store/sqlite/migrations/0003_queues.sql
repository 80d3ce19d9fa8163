-- Limits of queues over all workers; a queue without limits has no row.
CREATE TABLE queues (
    name TEXT PRIMARY KEY NOT NULL,
    updated_at INTEGER NOT NULL,
    concurrency INTEGER,
    concurrency_per_key INTEGER,
    rate_starts INTEGER,
    rate_period INTEGER
) STRICT, WITHOUT ROWID;

-- How many attempts of a queue with a rate were started, by the end of their slice of time.
CREATE TABLE queue_starts (
    queue TEXT NOT NULL,
    at INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    PRIMARY KEY (queue, at)
) STRICT, WITHOUT ROWID;

-- took_slot: the lease was taken under the limits of the queue.
ALTER TABLE tasks ADD COLUMN concurrency_key TEXT;
ALTER TABLE tasks ADD COLUMN took_slot INTEGER;

-- Tasks without a key, and tasks of queues without limits, are in neither.
CREATE INDEX tasks_keyed ON tasks (
    handler, queue, concurrency_key, rank, instance_id, token, lane, lease_owner
)
WHERE lane = 1 AND lease_owner IS NULL AND concurrency_key IS NOT NULL;
CREATE INDEX tasks_slots ON tasks (queue, concurrency_key, took_slot, lease_owner)
    WHERE took_slot = 1 AND lease_owner IS NOT NULL;
