-- name: prolong_worker
UPDATE ebb.workers
SET host = $2::text, pid = $3::bigint, handlers = $4::text[], queues = $5::text[],
    capacity = $6::integer, started_at = $7::bigint,
    expires_at = $8::bigint + coalesce($9::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
WHERE id = $1::text
RETURNING 1;

-- name: add_worker
INSERT INTO ebb.workers (id, host, pid, handlers, queues, capacity, started_at, expires_at)
VALUES (
    $1::text, $2::text, $3::bigint, $4::text[], $5::text[], $6::integer, $7::bigint,
    $8::bigint + coalesce($9::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
)
ON CONFLICT (id) DO UPDATE SET
    host = excluded.host, pid = excluded.pid, handlers = excluded.handlers,
    queues = excluded.queues, capacity = excluded.capacity, started_at = excluded.started_at,
    expires_at = excluded.expires_at;

-- name: held_tasks
SELECT instance_id, token, is_stop, was_lost OR handler <> '' FROM ebb.tasks
WHERE lease_owner = $1::text ORDER BY instance_id, token;

-- name: list_workers
SELECT id, host, pid, handlers, queues, capacity, started_at, expires_at
FROM ebb.workers ORDER BY id;

-- name: remove_worker
DELETE FROM ebb.workers WHERE id = $1::text;

-- name: release_tasks_of_worker
UPDATE ebb.tasks
SET lease_owner = NULL, handler = CASE WHEN is_stop THEN '' ELSE handler END
WHERE lease_owner = $1::text;

-- name: remove_dead_workers
DELETE FROM ebb.workers
WHERE expires_at <= coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
RETURNING id;

-- name: take_lost_leases
-- Runs after remove_dead_workers in the same transaction, with its own view of who is left: a
-- heartbeat that came first saves its leases.
WITH RECURSIVE owners AS (
    (SELECT lease_owner FROM ebb.tasks WHERE lease_owner IS NOT NULL ORDER BY lease_owner LIMIT 1)
    UNION ALL
    SELECT (
        SELECT t.lease_owner FROM ebb.tasks AS t
        WHERE t.lease_owner > o.lease_owner ORDER BY t.lease_owner LIMIT 1
    )
    FROM owners AS o WHERE o.lease_owner IS NOT NULL
),
lost AS (
    SELECT o.lease_owner FROM owners AS o
    WHERE o.lease_owner IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM ebb.workers AS w WHERE w.id = o.lease_owner)
),
taken AS (
    UPDATE ebb.tasks AS t
    SET was_lost = t.was_lost OR t.handler <> '',
        lost_by = CASE WHEN t.handler <> '' THEN t.lease_owner ELSE t.lost_by END,
        handler = CASE WHEN t.is_stop THEN '' ELSE t.handler END, lease_owner = NULL
    FROM lost WHERE t.lease_owner = lost.lease_owner
    RETURNING 1
)
SELECT count(*) FROM taken;
