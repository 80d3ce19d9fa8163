-- name: set_queue
INSERT INTO ebb.queues (
    name, updated_at, concurrency, concurrency_per_key, rate_starts, rate_period
)
VALUES ($1::text, $2::bigint, $3::integer, $4::integer, $5::integer, $6::bigint)
ON CONFLICT (name) DO UPDATE SET
    updated_at = excluded.updated_at, concurrency = excluded.concurrency,
    concurrency_per_key = excluded.concurrency_per_key, rate_starts = excluded.rate_starts,
    rate_period = excluded.rate_period;

-- name: clear_queue
DELETE FROM ebb.queues WHERE name = $1::text;

-- name: clear_starts
DELETE FROM ebb.queue_starts WHERE queue = $1::text;

-- name: count_queues
-- Without the queue $1.
SELECT count(*) FROM ebb.queues WHERE name <> $1::text;

-- name: list_queues
-- The queue $1, or all queues, with the slots in use, including those under the key $2.
SELECT q.name, q.updated_at, q.concurrency, q.concurrency_per_key, q.rate_starts, q.rate_period, (
    SELECT count(*) FROM ebb.tasks AS t
    WHERE t.took_slot AND t.lease_owner IS NOT NULL AND t.queue = q.name
), (
    SELECT count(*) FROM ebb.tasks AS t
    WHERE t.took_slot AND t.lease_owner IS NOT NULL AND t.queue = q.name
      AND t.concurrency_key = $2::text
)
FROM ebb.queues AS q WHERE $1::text IS NULL OR q.name = $1::text ORDER BY q.name;

-- name: list_starts
SELECT at, starts, coalesce($2::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
FROM ebb.queue_starts WHERE queue = $1::text ORDER BY at;

-- name: tasks_by_queue
-- The numbers of running, waiting and sleeping tasks, and the slots in use.
SELECT t.queue, count(*) FILTER (WHERE t.lease_owner IS NOT NULL),
       count(*) FILTER (
           WHERE t.lease_owner IS NULL AND (t.lane = 1 OR (t.lane = 0 AND t.due_at <= c.now))
       ),
       count(*) FILTER (WHERE t.lease_owner IS NULL AND t.lane = 0 AND t.due_at > c.now),
       count(*) FILTER (WHERE t.took_slot AND t.lease_owner IS NOT NULL)
FROM ebb.all_tasks AS t
CROSS JOIN (
    SELECT coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
) AS c
WHERE t.handler <> ''
GROUP BY t.queue ORDER BY t.queue;

-- name: limited_queues_with_work
-- Of the queues $2: those in which tasks of the handlers $1 (and of the instance $4, if given) are due,
-- with the slots and starts in use, and the time.
SELECT q.name, q.concurrency, q.rate_starts, q.rate_period, (
    SELECT count(*) FROM ebb.tasks AS t
    WHERE t.took_slot AND t.lease_owner IS NOT NULL AND t.queue = q.name
), coalesce($3::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
FROM ebb.queues AS q
WHERE q.name = ANY ($2::text[]) AND CASE WHEN $4::uuid IS NULL THEN EXISTS (
    SELECT 1 FROM unnest($1::text[]) AS h (handler) CROSS JOIN LATERAL (
        SELECT t.rank FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = h.handler AND t.queue = q.name
        ORDER BY t.rank LIMIT 1
    ) AS f
) ELSE EXISTS (
    SELECT 1 FROM ebb.tasks AS t
    WHERE t.instance_id = $4::uuid AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
      AND t.handler = ANY ($1::text[]) AND t.queue = q.name
) END
ORDER BY q.name;

-- name: lock_queues
-- A session that claims in a queue with limits waits here for the other claiming sessions. The order
-- is always by name, so there are no deadlocks. The statements that follow see what those sessions
-- have taken.
SELECT name FROM ebb.queues WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE;

-- name: prune_starts
-- In REPEATABLE READ, a session that has waited for a lock continues with the data from before the
-- wait. But a session that has waited for a row that was changed fails and is retried. So in that
-- mode, this changes the row.
WITH marked AS (
    UPDATE ebb.queues AS q SET updated_at = q.updated_at
    WHERE q.name = ANY ($1::text[])
      AND current_setting('transaction_isolation') = 'repeatable read'
)
DELETE FROM ebb.queue_starts AS s USING ebb.queues AS q
WHERE s.queue = ANY ($1::text[]) AND q.name = s.queue
  AND s.at + q.rate_period
      <= coalesce($2::bigint, (extract(epoch FROM now()) * 1000000)::bigint);

-- name: claim_limited
-- $1 worker, $2 handlers, $3 queues, which are locked, $4 where the last round over their keys ended,
-- $5 limit, $6 time, $7 slices of a period, $8 tasks looked at in the order of their rank, $9 keys
-- visited, $10 the only instance whose tasks are taken, or NULL. The version of a row: see
-- claim_tasks.
-- If the slots of keys are limited, tasks are looked for in two ways: in the order of their rank, and
-- by one look for each key, from the first key on and from $4 on. The tasks of a key whose slots are
-- all in use therefore do not hide others, and only the heads of keys are read.
WITH RECURSIVE clock AS MATERIALIZED (
    SELECT coalesce($6::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
rooms AS MATERIALIZED (
    SELECT q.name AS queue, f.last_key, q.concurrency_per_key AS per_key, q.rate_starts,
           greatest(q.rate_period / $7::bigint, 1) AS slice, least(
        $5::bigint,
        q.concurrency - (
            SELECT count(*) FROM ebb.tasks AS t
            WHERE t.took_slot AND t.lease_owner IS NOT NULL AND t.queue = q.name
        ),
        q.rate_starts - (
            SELECT coalesce(sum(s.starts), 0)::bigint FROM ebb.queue_starts AS s
            WHERE s.queue = q.name AND s.at > (SELECT now FROM clock) - q.rate_period
        )
    ) AS tasks
    FROM unnest($3::text[], $4::text[]) AS f (name, last_key)
    JOIN ebb.queues AS q ON q.name = f.name
),
used AS MATERIALIZED (
    SELECT r.queue, u.concurrency_key, u.slots
    FROM rooms AS r CROSS JOIN LATERAL (
        SELECT t.concurrency_key, count(*) AS slots FROM ebb.tasks AS t
        WHERE t.took_slot AND t.lease_owner IS NOT NULL AND t.queue = r.queue
          AND t.concurrency_key IS NOT NULL
        GROUP BY t.concurrency_key
    ) AS u
    WHERE r.per_key IS NOT NULL AND r.tasks > 0
),
places AS MATERIALIZED (
    SELECT h.handler, r.queue, r.tasks, r.per_key, r.last_key,
           $9::bigint + (SELECT count(*) FROM used) AS visits
    FROM rooms AS r CROSS JOIN unnest($2::text[]) AS h (handler)
    WHERE r.tasks > 0
),
keys AS (
    SELECT p.handler, p.queue, p.tasks, p.per_key, p.visits, b.is_round, 1::bigint AS visit, (
        SELECT t.concurrency_key FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.concurrency_key IS NOT NULL
          AND t.handler = p.handler AND t.queue = p.queue AND t.concurrency_key > b.start
        ORDER BY t.concurrency_key LIMIT 1
    ) AS key
    FROM places AS p CROSS JOIN LATERAL (
        SELECT '' AS start, p.last_key IS NULL AS is_round
        UNION ALL
        SELECT p.last_key, true WHERE p.last_key IS NOT NULL
    ) AS b
    WHERE p.per_key IS NOT NULL AND $10::uuid IS NULL
    UNION ALL
    SELECT k.handler, k.queue, k.tasks, k.per_key, k.visits, k.is_round, k.visit + 1, (
        SELECT t.concurrency_key FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.concurrency_key IS NOT NULL
          AND t.handler = k.handler AND t.queue = k.queue AND t.concurrency_key > k.key
        ORDER BY t.concurrency_key LIMIT 1
    )
    FROM keys AS k WHERE k.key IS NOT NULL AND k.visit < k.visits
),
rounds AS MATERIALIZED (
    SELECT queue, min(key) AS last_key FROM keys WHERE is_round AND visit = visits GROUP BY queue
),
candidates AS MATERIALIZED (
    SELECT p.queue, c.concurrency_key, c.rank, c.instance_id, c.token, c.row_version
    FROM places AS p CROSS JOIN LATERAL (
        SELECT t.concurrency_key, t.rank, t.instance_id, t.token, t.xmin AS row_version
        FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL
          AND t.handler = p.handler AND t.queue = p.queue
        ORDER BY t.rank, t.instance_id, t.token
        LIMIT CASE WHEN p.per_key IS NULL THEN p.tasks ELSE $8::bigint END
    ) AS c
    WHERE $10::uuid IS NULL
    UNION
    SELECT p.queue, t.concurrency_key, t.rank, t.instance_id, t.token, t.xmin
    FROM places AS p JOIN ebb.tasks AS t ON t.handler = p.handler AND t.queue = p.queue
    WHERE t.instance_id = $10::uuid AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
    UNION
    SELECT k.queue, k.key, c.rank, c.instance_id, c.token, c.row_version
    FROM keys AS k CROSS JOIN LATERAL (
        SELECT t.rank, t.instance_id, t.token, t.xmin AS row_version FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.concurrency_key IS NOT NULL
          AND t.handler = k.handler AND t.queue = k.queue AND t.concurrency_key = k.key
        ORDER BY t.rank, t.instance_id, t.token
        LIMIT greatest(0, least(k.tasks, k.per_key - coalesce((
            SELECT u.slots FROM used AS u WHERE u.queue = k.queue AND u.concurrency_key = k.key
        ), 0)))
    ) AS c
    WHERE k.key IS NOT NULL
),
-- The best of each key, then of each queue, then of all.
of_keys AS (
    SELECT c.*, row_number() OVER (
        PARTITION BY c.queue, c.concurrency_key ORDER BY c.rank, c.instance_id, c.token
    ) AS place
    FROM candidates AS c
),
of_queues AS (
    SELECT k.*, r.tasks, row_number() OVER (
        PARTITION BY k.queue ORDER BY k.rank, k.instance_id, k.token
    ) AS place_in_queue
    FROM of_keys AS k JOIN rooms AS r ON r.queue = k.queue
    WHERE r.per_key IS NULL OR k.concurrency_key IS NULL OR k.place <= r.per_key - coalesce((
        SELECT u.slots FROM used AS u
        WHERE u.queue = k.queue AND u.concurrency_key = k.concurrency_key
    ), 0)
),
chosen AS MATERIALIZED (
    SELECT q.rank, q.instance_id, q.token, q.row_version FROM of_queues AS q
    WHERE q.place_in_queue <= q.tasks
    ORDER BY q.rank, q.instance_id, q.token LIMIT $5::bigint
),
locked AS (
    SELECT f.instance_id, f.token
    FROM chosen AS c CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token FROM ebb.tasks AS t
        WHERE t.instance_id = c.instance_id AND t.token = c.token AND t.xmin = c.row_version
          AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
        FOR UPDATE SKIP LOCKED
    ) AS f
),
leased AS (
    UPDATE ebb.tasks AS t SET lease_owner = $1::text, took_slot = true
    WHERE t.instance_id = ANY (ARRAY(SELECT instance_id FROM locked))
      AND ((t.instance_id, t.token) IN (SELECT instance_id, token FROM locked)) IS TRUE
    RETURNING t.instance_id, t.token, t.rank, t.handler, t.queue, t.is_stop, t.was_lost, t.lost_by
),
started AS (
    INSERT INTO ebb.queue_starts AS s (queue, at, starts)
    SELECT r.queue, ((SELECT now FROM clock) / r.slice + 1) * r.slice, l.starts
    FROM rooms AS r
    JOIN (SELECT queue, count(*) AS starts FROM leased GROUP BY queue) AS l ON l.queue = r.queue
    WHERE r.rate_starts IS NOT NULL
    ON CONFLICT (queue, at) DO UPDATE SET starts = s.starts + excluded.starts
)
SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority,
       i.created_at, i.updated_at, i.finished_at, i.state,
       l.token, l.handler, l.is_stop, l.was_lost, l.lost_by,
       h.seq, h.type, h.node, h.path, h.token, h.visit, h.attempt, h.ref, h.worker,
       h.started_at, h.at, h.payload,
       l.queue, (SELECT r.last_key FROM rounds AS r WHERE r.queue = l.queue)
FROM leased AS l
JOIN ebb.instances AS i ON i.id = l.instance_id
-- include: first_input
ORDER BY l.rank, l.instance_id, l.token;

-- name: key_tasks
-- Sets keys of tasks that the session changing the instance from the revision $4 has put in the same
-- transaction. $5: 0 if no task is folded.
UPDATE ebb.tasks AS t SET concurrency_key = k.key
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::integer[])
    AS k (id, token, key, revision, lease)
JOIN ebb.instances AS i
    ON i.id = k.id AND i.revision = k.revision AND (i.lease_owner IS NOT NULL) = (k.lease > 0)
WHERE t.instance_id = k.id AND t.token = k.token;
