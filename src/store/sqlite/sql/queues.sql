-- name: set_queue
INSERT INTO queues (name, updated_at, concurrency, concurrency_per_key, rate_starts, rate_period)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (name) DO UPDATE SET
    updated_at = excluded.updated_at,
    concurrency = excluded.concurrency,
    concurrency_per_key = excluded.concurrency_per_key,
    rate_starts = excluded.rate_starts,
    rate_period = excluded.rate_period;

-- name: clear_queue
DELETE FROM queues WHERE name = ?1;

-- name: clear_starts
DELETE FROM queue_starts WHERE queue = ?1;

-- name: count_queues
-- Those but ?1.
SELECT count(*) FROM queues WHERE name <> ?1;

-- name: list_queues
SELECT name, updated_at, concurrency, concurrency_per_key, rate_starts, rate_period
FROM queues ORDER BY name;

-- name: find_queue
SELECT name, updated_at, concurrency, concurrency_per_key, rate_starts, rate_period
FROM queues WHERE name = ?1;

-- name: list_starts
SELECT at, starts FROM queue_starts WHERE queue = ?1 ORDER BY at;

-- name: add_starts
INSERT INTO queue_starts (queue, at, starts) VALUES (?1, ?2, ?3)
ON CONFLICT (queue, at) DO UPDATE SET starts = starts + excluded.starts;

-- name: prune_starts
DELETE FROM queue_starts WHERE queue = ?1 AND at <= ?2;

-- name: count_slots
SELECT count(*) FROM tasks INDEXED BY tasks_slots
WHERE took_slot = 1 AND lease_owner IS NOT NULL AND queue = ?1;

-- name: count_slots_of_key
SELECT count(*) FROM tasks INDEXED BY tasks_slots
WHERE took_slot = 1 AND lease_owner IS NOT NULL AND queue = ?1 AND concurrency_key = ?2;

-- name: slots_by_key
SELECT concurrency_key, count(*) FROM tasks INDEXED BY tasks_slots
WHERE took_slot = 1 AND lease_owner IS NOT NULL AND queue = ?1 AND concurrency_key IS NOT NULL
GROUP BY concurrency_key;

-- name: next_waiting_key
SELECT concurrency_key FROM tasks INDEXED BY tasks_keyed
WHERE lane = 1 AND lease_owner IS NULL AND concurrency_key IS NOT NULL
  AND handler = ?1 AND queue = ?2 AND concurrency_key > ?3
ORDER BY concurrency_key LIMIT 1;

-- name: ready_tasks_of_key
SELECT rank, instance_id, token, concurrency_key FROM tasks INDEXED BY tasks_keyed
WHERE lane = 1 AND lease_owner IS NULL AND concurrency_key IS NOT NULL
  AND handler = ?1 AND queue = ?2 AND concurrency_key = ?3
ORDER BY rank, instance_id, token LIMIT ?4;

-- name: first_ready_tasks
SELECT rank, instance_id, token, concurrency_key FROM tasks INDEXED BY tasks_ready
WHERE lane = 1 AND lease_owner IS NULL AND handler = ?1 AND queue = ?2
ORDER BY rank, instance_id, token LIMIT ?3;

-- name: ready_tasks_of_instance_in
SELECT rank, instance_id, token, concurrency_key FROM tasks
WHERE instance_id = ?3 AND lane = 1 AND lease_owner IS NULL AND handler = ?1 AND queue = ?2
ORDER BY rank, token;

-- name: has_ready_task
SELECT EXISTS (
    SELECT 1 FROM tasks INDEXED BY tasks_ready
    WHERE lane = 1 AND lease_owner IS NULL AND handler = ?1 AND queue = ?2
);

-- name: take_slot
UPDATE tasks SET took_slot = 1 WHERE instance_id = ?1 AND token = ?2;

-- name: tasks_by_queue
-- What runs, waits and sleeps.
SELECT queue, sum(lease_owner IS NOT NULL),
       sum(lease_owner IS NULL AND (lane = 1 OR (lane = 0 AND due_at <= ?1))),
       sum(lease_owner IS NULL AND lane = 0 AND due_at > ?1)
FROM tasks WHERE handler <> '' GROUP BY queue;
