-- name: put_task
-- ?6 is the rank of priority 0, ?7 the head start of one point of priority.
INSERT INTO tasks (
    instance_id, token, handler, queue, due_at, rank, lane, lease_owner, concurrency_key
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6 - (SELECT priority FROM instances WHERE id = ?1) * ?7, ?8, ?9, ?10
)
ON CONFLICT (instance_id, token) DO UPDATE SET
    handler = excluded.handler,
    queue = excluded.queue,
    due_at = excluded.due_at,
    rank = excluded.rank,
    lane = excluded.lane,
    is_stop = 0,
    was_lost = 0,
    lost_by = NULL,
    lease_owner = excluded.lease_owner,
    concurrency_key = excluded.concurrency_key,
    took_slot = NULL;

-- name: remove_task
DELETE FROM tasks WHERE instance_id = ?1 AND token = ?2;

-- name: remove_tasks
-- All but the one for mail: a worker drops what is unread.
DELETE FROM tasks WHERE instance_id = ?1 AND token > -9223372036854775807;

-- name: park_task
UPDATE tasks SET lane = 2 WHERE instance_id = ?1 AND token = ?2;

-- name: unpark_task
UPDATE tasks SET lane = (due_at <= ?3) WHERE instance_id = ?1 AND token = ?2;

-- name: stop_task
UPDATE tasks
SET handler = CASE WHEN lease_owner IS NULL THEN '' ELSE handler END,
    due_at = ?3, lane = 1, is_stop = 1,
    rank = ?4 - (SELECT priority FROM instances WHERE id = ?1) * ?5
WHERE instance_id = ?1 AND token = ?2;

-- name: has_task_to_wake
SELECT EXISTS (
    SELECT 1 FROM tasks INDEXED BY tasks_sleeping
    WHERE lane = 0 AND lease_owner IS NULL AND due_at <= ?1
);

-- name: wake_tasks
UPDATE tasks INDEXED BY tasks_sleeping SET lane = 1
WHERE lane = 0 AND lease_owner IS NULL AND due_at <= ?1;

-- name: next_due
SELECT due_at FROM tasks INDEXED BY tasks_sleeping
WHERE lane = 0 AND lease_owner IS NULL ORDER BY due_at LIMIT 1;

-- name: next_ready_queue
-- The first queue from ?2 on that has ready tasks of the handler: one seek per queue.
SELECT queue FROM tasks INDEXED BY tasks_ready
WHERE lane = 1 AND lease_owner IS NULL AND handler = ?1 AND queue >= ?2
ORDER BY queue LIMIT 1;

-- name: ready_tasks
-- ?3 is a rank beyond which the caller already has enough.
SELECT rank, instance_id, token FROM tasks INDEXED BY tasks_ready
WHERE lane = 1 AND lease_owner IS NULL AND handler = ?1 AND queue = ?2 AND rank <= ?3
ORDER BY rank, instance_id, token LIMIT ?4;

-- name: ready_stops
SELECT rank, instance_id, token FROM tasks INDEXED BY tasks_stops
WHERE is_stop = 1 AND lane = 1 AND lease_owner IS NULL
ORDER BY rank, instance_id, token LIMIT ?1;

-- name: ready_tasks_of_instance
SELECT rank, instance_id, token, handler, queue, is_stop FROM tasks
WHERE instance_id = ?1 AND lane = 1 AND lease_owner IS NULL
ORDER BY rank, token;

-- name: lease_task
UPDATE tasks SET lease_owner = ?3, took_slot = NULL WHERE instance_id = ?1 AND token = ?2;

-- name: claimed_task
-- With the event that nearly always has the input of an instance's first task: that of the start, and
-- with rules the values that were written with it.
SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority,
       i.created_at, i.updated_at, i.finished_at, i.state,
       t.handler, t.is_stop, t.was_lost, t.lost_by,
       h.seq, h.type, h.node, h.path, h.token, h.visit, h.attempt, h.ref, h.worker,
       h.started_at, h.at, h.payload, CASE WHEN t.handler = '' THEN t.outcome END
FROM tasks AS t JOIN instances AS i ON i.id = t.instance_id
LEFT JOIN history AS h ON i.revision = 1 AND h.instance_id = i.id AND h.seq = 1 + EXISTS (
    SELECT 1 FROM history AS e
    WHERE e.instance_id = i.id AND e.seq = 2 AND e.type = 'attributes_written'
)
WHERE t.instance_id = ?1 AND t.token = ?2;

-- name: task_to_hand_in
-- The state of the task's instance, if the worker ?3 holds the task, or if the outcome ?4 is in its row
-- already.
SELECT i.state, t.lease_owner IS NULL, i.priority
FROM tasks AS t JOIN instances AS i ON i.id = t.instance_id
WHERE t.instance_id = ?1 AND t.token = ?2
  AND (t.lease_owner = ?3 OR (t.lease_owner IS NULL AND t.outcome = ?4));

-- name: hand_task_in
UPDATE tasks
SET outcome = ?3, handler = '', lease_owner = NULL, due_at = ?4, rank = ?5, lane = 1
WHERE instance_id = ?1 AND token = ?2;

-- name: release_task
UPDATE tasks SET lease_owner = NULL, handler = CASE WHEN is_stop THEN '' ELSE handler END
WHERE instance_id = ?1 AND token = ?2 AND lease_owner = ?3;

-- name: abandon_task
UPDATE tasks
SET was_lost = was_lost OR handler <> '',
    lost_by = CASE WHEN handler <> '' THEN lease_owner ELSE lost_by END,
    handler = CASE WHEN is_stop THEN '' ELSE handler END, lease_owner = NULL
WHERE instance_id = ?1 AND token = ?2 AND lease_owner = ?3;

-- name: postpone_task
UPDATE tasks
SET rank = rank + (?4 - due_at), due_at = ?4, lane = CASE lane WHEN 2 THEN 2 ELSE 0 END,
    handler = CASE WHEN is_stop THEN '' ELSE handler END, lease_owner = NULL
WHERE instance_id = ?1 AND token = ?2 AND lease_owner = ?3;

-- name: tasks_of_instance
SELECT token, handler, queue, due_at, lane, is_stop, was_lost, lease_owner, concurrency_key,
       took_slot
FROM tasks
WHERE instance_id = ?1 ORDER BY token;

-- name: waiting_tasks
SELECT handler, queue, sum(tasks) FROM (
    SELECT handler, queue, count(*) AS tasks FROM tasks INDEXED BY tasks_ready
    WHERE lane = 1 AND lease_owner IS NULL GROUP BY handler, queue
    UNION ALL
    SELECT handler, queue, count(*) AS tasks FROM tasks INDEXED BY tasks_sleeping
    WHERE lane = 0 AND lease_owner IS NULL AND due_at <= ?1 GROUP BY handler, queue
)
GROUP BY handler, queue ORDER BY handler, queue;
