-- name: prolong_worker
UPDATE workers
SET host = ?2, pid = ?3, handlers = ?4, queues = ?5, capacity = ?6, started_at = ?7, expires_at = ?8,
    boot_id = ?9, steady_until = ?10
WHERE id = ?1;

-- name: add_worker
INSERT INTO workers (
    id, host, pid, handlers, queues, capacity, started_at, expires_at, boot_id, steady_until
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: has_another_process
SELECT 1 FROM workers WHERE id = ?1 AND started_at <> ?2;

-- name: held_tasks
SELECT instance_id, token, is_stop, was_lost OR handler <> '' FROM tasks INDEXED BY tasks_leased
WHERE lease_owner = ?1 ORDER BY instance_id, token;

-- name: other_workers
-- How long it is until the first of them expires, and how many live. Now is the date ?2, and ?4 since
-- the boot ?3.
WITH others AS (
    SELECT CASE WHEN boot_id = ?3 THEN steady_until - ?4 ELSE expires_at - ?2 END AS rest
    FROM workers WHERE id <> ?1
)
SELECT min(rest), count(*) FILTER (WHERE rest > 0) FROM others;

-- name: list_workers
-- Now is the date ?1, and ?3 since the boot ?2.
SELECT id, host, pid, handlers, queues, capacity, started_at,
       CASE WHEN boot_id = ?2 THEN ?1 + (steady_until - ?3) ELSE expires_at END
FROM workers ORDER BY id;

-- name: count_leases
SELECT lease_owner, count(*) FROM tasks WHERE lease_owner IS NOT NULL GROUP BY lease_owner;

-- name: remove_worker
DELETE FROM workers WHERE id = ?1;

-- name: sign_worker_off
DELETE FROM workers WHERE id = ?1 AND started_at = ?2;

-- name: release_tasks_of_worker
-- After sign_worker_off: a worker that still exists is another process of that name.
UPDATE tasks INDEXED BY tasks_leased
SET lease_owner = NULL, handler = CASE WHEN is_stop THEN '' ELSE handler END
WHERE lease_owner = ?1 AND NOT EXISTS (SELECT 1 FROM workers AS w WHERE w.id = ?1);

-- name: has_maintenance
SELECT EXISTS (
        SELECT 1 FROM workers
        WHERE CASE WHEN boot_id = ?3 THEN steady_until <= ?4 ELSE expires_at <= ?2 END
    )
    OR EXISTS (
        SELECT 1 FROM tasks INDEXED BY tasks_leased
        WHERE lease_owner IS NOT NULL AND lease_owner NOT IN (SELECT id FROM workers)
    )
    OR EXISTS (
        SELECT 1 FROM tasks INDEXED BY tasks_sleeping
        WHERE lane = 0 AND lease_owner IS NULL AND due_at <= ?1
    )
    OR EXISTS (
        SELECT 1 FROM inbox AS m
        WHERE m.at < ?5 AND NOT EXISTS (
            SELECT 1 FROM tasks AS t
            WHERE t.instance_id = m.instance_id AND t.token = -9223372036854775807
        )
    );

-- name: shorten_leases
UPDATE workers SET expires_at = ?1 WHERE expires_at > ?1;

-- name: dead_workers
SELECT id FROM workers
WHERE CASE WHEN boot_id = ?2 THEN steady_until <= ?3 ELSE expires_at <= ?1 END
ORDER BY id;

-- name: take_lost_leases
UPDATE tasks INDEXED BY tasks_leased
SET was_lost = was_lost OR handler <> '',
    lost_by = CASE WHEN handler <> '' THEN lease_owner ELSE lost_by END,
    handler = CASE WHEN is_stop THEN '' ELSE handler END, lease_owner = NULL
WHERE lease_owner IS NOT NULL AND lease_owner NOT IN (SELECT id FROM workers);
