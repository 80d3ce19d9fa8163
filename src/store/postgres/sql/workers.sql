-- fragment: answer_to_heartbeat
-- The time until the first of the other workers is dead or the time of an attempt in SQL is up, the queues that
-- have limits, the number of other live workers, the present time, and the number of subscriptions with the
-- date of their last change.
RETURNING least((
    SELECT min(w.expires_at) FROM ebb.workers AS w WHERE w.id <> $worker::text
), (
    SELECT t.lease_until FROM ebb.tasks AS t JOIN ebb.workers AS w ON w.id = t.lease_owner
    WHERE t.lease_until IS NOT NULL AND w.session IS NOT NULL ORDER BY t.lease_until LIMIT 1
)) - coalesce($now::bigint, (extract(epoch FROM now()) * 1000000)::bigint), (
    SELECT string_agg(q.name, ',' ORDER BY q.name) FROM ebb.queues AS q
), (
    SELECT count(*) FROM ebb.workers AS w
    WHERE w.id <> $worker::text
      AND w.expires_at > coalesce($now::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (
    SELECT count(*) FROM ebb.subscriptions
), (
    SELECT max(b.updated_at) FROM ebb.subscriptions AS b
)

-- name: prolong_worker
-- parameters: worker host pid handlers queues capacity started_at lease now takes_name
UPDATE ebb.workers
SET host = $host::text, pid = $pid::bigint, handlers = $handlers::text[], queues = $queues::text[],
    capacity = $capacity::integer, started_at = $started_at::bigint, decides_since = $started_at::bigint,
    session = NULL, role = NULL, expires_at = $lease::bigint + coalesce($now::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
WHERE id = $worker::text AND (started_at = $started_at::bigint OR $takes_name::boolean)
-- include: answer_to_heartbeat

-- name: add_worker
-- parameters: worker host pid handlers queues capacity started_at lease now takes_name
-- Does nothing if another process has the name.
INSERT INTO ebb.workers AS o (
    id, host, pid, handlers, queues, capacity, started_at, decides_since, expires_at
)
VALUES (
    $worker::text, $host::text, $pid::bigint, $handlers::text[], $queues::text[], $capacity::integer, $started_at::bigint, $started_at::bigint,
    $lease::bigint + coalesce($now::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
)
ON CONFLICT (id) DO UPDATE SET
    host = excluded.host, pid = excluded.pid, handlers = excluded.handlers,
    queues = excluded.queues, capacity = excluded.capacity, started_at = excluded.started_at,
    decides_since = excluded.decides_since, expires_at = excluded.expires_at,
    session = NULL, role = NULL
WHERE o.started_at = excluded.started_at OR $takes_name::boolean
-- include: answer_to_heartbeat

-- name: server_time
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;

-- name: held_tasks
-- From $2 on, because there may be many dead index entries below it.
SELECT instance_id, token, is_stop, was_lost OR handler <> '' FROM ebb.all_tasks
WHERE lease_owner = $1::text AND instance_id >= $2::uuid ORDER BY instance_id, token;

-- name: list_workers
SELECT id, host, pid, handlers, queues, capacity, started_at, expires_at, session IS NULL
FROM ebb.workers ORDER BY id;

-- name: count_leases
SELECT lease_owner, count(*) FROM ebb.all_tasks WHERE lease_owner IS NOT NULL GROUP BY lease_owner;

-- name: remove_worker
DELETE FROM ebb.workers WHERE id = $1::text AND started_at = $2::bigint;

-- name: unfold_tasks_of_worker
-- As the next one, after remove_worker: a worker row that still exists belongs to another process of
-- the same name.
WITH folded AS MATERIALIZED (
    SELECT i.id, i.created_at, i.priority, i.lease_owner, i.lease_handler, i.lease_queue
    FROM ebb.instances AS i
    WHERE i.lease_owner = $1::text
      AND NOT EXISTS (SELECT 1 FROM ebb.workers AS w WHERE w.id = $1::text)
    FOR UPDATE OF i
),
unfolded AS (
    UPDATE ebb.instances AS i SET lease_owner = NULL, lease_handler = NULL, lease_queue = NULL
    WHERE i.id = ANY (ARRAY(SELECT f.id FROM folded AS f))
)
-- include: put_rows
SELECT f.id, 1, coalesce(f.lease_handler, ''), coalesce(f.lease_queue, ''), f.created_at,
       f.created_at - $2::bigint * f.priority, 1, f.lease_owner
FROM folded AS f;

-- name: release_tasks_of_worker
UPDATE ebb.tasks
SET lease_owner = NULL, handler = CASE WHEN is_stop THEN '' ELSE handler END
WHERE lease_owner = $1::text
  AND NOT EXISTS (SELECT 1 FROM ebb.workers AS w WHERE w.id = $1::text);

-- name: remove_dead_workers
-- A row that is locked belongs to a worker in SQL that is just calling.
DELETE FROM ebb.workers WHERE id = ANY (ARRAY(
    SELECT w.id FROM ebb.workers AS w
    WHERE w.expires_at <= coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
    FOR UPDATE SKIP LOCKED
))
RETURNING id;

-- name: time_out_tasks
-- The time of an attempt is up that a worker in SQL holds. If its outcome is being handed in, the row is
-- locked, and this passes it over. $2: the head start of one point of priority.
WITH clock AS MATERIALIZED (
    SELECT coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
late AS MATERIALIZED (
    SELECT t.instance_id, t.token, t.lease_owner, t.due_at
    FROM ebb.tasks AS t
    JOIN ebb.workers AS w ON w.id = t.lease_owner AND w.session IS NOT NULL
    WHERE t.lease_until <= (SELECT now FROM clock)
    ORDER BY t.lease_until LIMIT 1000
    FOR UPDATE OF t SKIP LOCKED
)
UPDATE ebb.tasks AS t
SET outcome = json_build_object(
        'type', 'step_failed', 'visit', k.token -> 'visit', 'attempt', k.token -> 'attempt',
        'pauses', coalesce(k.token -> 'pauses', '0'), 'worker', l.lease_owner,
        'started_at', l.due_at, 'code', 'timeout',
        'message', 'The time of the attempt is up.'
    ),
    handler = '', lease_owner = NULL, lease_until = NULL, due_at = c.now, lane = 1,
    rank = c.now - $2::bigint * i.priority
FROM late AS l
JOIN ebb.instances AS i ON i.id = l.instance_id
CROSS JOIN clock AS c
CROSS JOIN LATERAL json_array_elements(
    CASE WHEN i.state LIKE '{%}' THEN i.state::json -> 'tokens' END
) AS k (token)
WHERE t.instance_id = l.instance_id AND t.token = l.token
  AND (k.token ->> 'id')::bigint = l.token;

-- fragment: living
-- The names of the workers, each with the next one.
living AS (
    SELECT w.id, lead(w.id) OVER (ORDER BY w.id) AS next FROM ebb.workers AS w
    UNION ALL
    SELECT '', (SELECT w.id FROM ebb.workers AS w ORDER BY w.id LIMIT 1)
)

-- name: unfold_lost_tasks
-- Runs before take_lost_leases and finds lost tasks as it does. If a worker is committing one of
-- these instances now, this does not wait for it: the next run will find the task.
WITH RECURSIVE -- include: living,
lost AS (
    SELECT f.lease_owner, l.next
    FROM (
        SELECT id, coalesce(next, repeat(U&'\+10FFFF', 63)) AS next FROM living
    ) AS l CROSS JOIN LATERAL (
        SELECT i.lease_owner FROM ebb.instances AS i
        WHERE i.lease_owner > l.id AND i.lease_owner < l.next ORDER BY i.lease_owner LIMIT 1
    ) AS f
    UNION ALL
    SELECT f.lease_owner, l.next
    FROM lost AS l CROSS JOIN LATERAL (
        SELECT i.lease_owner FROM ebb.instances AS i
        WHERE i.lease_owner > l.lease_owner AND i.lease_owner < l.next
        ORDER BY i.lease_owner LIMIT 1
    ) AS f
),
folded AS MATERIALIZED (
    SELECT f.* FROM lost AS l CROSS JOIN LATERAL (
        SELECT i.id, i.created_at, i.priority, i.lease_owner, i.lease_handler, i.lease_queue
        FROM ebb.instances AS i WHERE i.lease_owner = l.lease_owner
        ORDER BY i.id
        FOR UPDATE OF i SKIP LOCKED
    ) AS f
),
unfolded AS (
    UPDATE ebb.instances AS i SET lease_owner = NULL, lease_handler = NULL, lease_queue = NULL
    WHERE i.id = ANY (ARRAY(SELECT f.id FROM folded AS f))
)
-- include: put_rows
SELECT f.id, 1, coalesce(f.lease_handler, ''), coalesce(f.lease_queue, ''), f.created_at,
       f.created_at - $1::bigint * f.priority, 1, f.lease_owner
FROM folded AS f;

-- name: take_lost_leases
-- Runs after remove_dead_workers and unfold_lost_tasks in the same transaction, with its own view of
-- the workers that are left: a heartbeat that came first saves its leases. It looks only between the
-- names of those workers, because they may hold many tasks. No name is as high as the last one.
WITH RECURSIVE -- include: living,
lost AS (
    SELECT f.lease_owner, l.next
    FROM (
        SELECT id, coalesce(next, repeat(U&'\+10FFFF', 63)) AS next FROM living
    ) AS l CROSS JOIN LATERAL (
        SELECT t.lease_owner FROM ebb.tasks AS t
        WHERE t.lease_owner > l.id AND t.lease_owner < l.next ORDER BY t.lease_owner LIMIT 1
    ) AS f
    UNION ALL
    SELECT f.lease_owner, l.next
    FROM lost AS l CROSS JOIN LATERAL (
        SELECT t.lease_owner FROM ebb.tasks AS t
        WHERE t.lease_owner > l.lease_owner AND t.lease_owner < l.next
        ORDER BY t.lease_owner LIMIT 1
    ) AS f
),
held AS MATERIALIZED (
    SELECT f.instance_id, f.token, f.row_version
    FROM lost AS l CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token, t.xmin AS row_version
        FROM ebb.tasks AS t WHERE t.lease_owner = l.lease_owner
        ORDER BY t.instance_id, t.token OFFSET 0
    ) AS f
),
-- If a lease has another row version by now, another worker may hold it: see claim_tasks. A locked
-- row is left for the next time, so this never waits, in whatever order the rows come.
locked AS MATERIALIZED (
    SELECT f.instance_id, f.token
    FROM held AS h CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token FROM ebb.tasks AS t
        WHERE t.instance_id = h.instance_id AND t.token = h.token AND t.xmin = h.row_version
        FOR UPDATE SKIP LOCKED
    ) AS f
),
taken AS (
    UPDATE ebb.tasks AS t
    SET was_lost = t.was_lost OR t.handler <> '',
        lost_by = CASE WHEN t.handler <> '' THEN t.lease_owner ELSE t.lost_by END,
        -- A worker in SQL cannot decide what the loss of a task means, so the engine does.
        handler = CASE WHEN t.is_stop OR t.lease_until IS NOT NULL THEN '' ELSE t.handler END,
        lease_until = NULL, lease_owner = NULL
    WHERE t.instance_id = ANY (ARRAY(SELECT instance_id FROM locked))
      AND ((t.instance_id, t.token) IN (SELECT instance_id, token FROM locked)) IS TRUE
    RETURNING 1
)
SELECT count(*) FROM taken;
