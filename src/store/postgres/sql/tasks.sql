-- name: wake_tasks
-- A bounded number at a time, so that a million timers that fire at the same time do not block other
-- sessions. From $3 on, because there may be many dead index entries below it.
WITH due AS (
    SELECT instance_id, token FROM ebb.tasks
    WHERE lane = 0 AND lease_owner IS NULL AND due_at >= $3::bigint
      AND due_at <= coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
    ORDER BY due_at LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
woken AS (
    UPDATE ebb.tasks AS t SET lane = 1
    FROM due WHERE t.instance_id = due.instance_id AND t.token = due.token
    RETURNING 1
)
SELECT count(*), coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) FROM woken;

-- name: commit_without_flush
-- The transaction does not wait until the disk has it.
SELECT set_config('synchronous_commit', 'off', true);

-- name: next_due
SELECT due_at FROM ebb.tasks
WHERE lane = 0 AND lease_owner IS NULL ORDER BY due_at LIMIT 1;

-- name: claim_tasks
-- parameters: worker handlers place_handlers place_queues limit candidates place_ranks
-- parameters: limited_queues bytes_max
-- $handlers: handlers to claim in any queue. ($place_handlers, $place_queues): handlers and their queues, to claim there from the
-- rank $place_ranks on, because there may be many dead index entries below it. Not in the queues $limited_queues, except for
-- the engine's own tasks.
-- The first CTE finds the queues that have work, with one index lookup for each. Candidates are read
-- without locks, and the best of all are locked. Tasks that another worker holds or has just taken
-- are skipped. The repeated conditions are written so that no partial index seems to fit: a plan that
-- was made while that index was empty would read all of it.
-- A lock is taken on the newest version of a row, but everything else is read as of the start of the
-- statement. So a row that has another version (xmin) by then is skipped: another worker has had the
-- task in the meantime, and the state that belongs to the new version is not visible here.
-- (x IN (...)) IS TRUE: see commit_and_remove. A join would cost time quadratic in the number of
-- tasks. The answer contains only rows that the update has returned.
WITH RECURSIVE anywhere AS (
    SELECT h.handler, (
        SELECT t.queue FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = h.handler
        ORDER BY t.queue LIMIT 1
    ) AS queue
    FROM unnest($handlers::text[]) AS h (handler)
    UNION ALL
    SELECT a.handler, (
        SELECT t.queue FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = a.handler AND t.queue > a.queue
        ORDER BY t.queue LIMIT 1
    )
    FROM anywhere AS a WHERE a.queue IS NOT NULL
),
places AS (
    SELECT handler, queue, -9223372036854775808 AS rank FROM anywhere WHERE queue IS NOT NULL
    UNION ALL
    SELECT p.handler, p.queue, p.rank
    FROM unnest($place_handlers::text[], $place_queues::text[], $place_ranks::bigint[]) AS p (handler, queue, rank)
),
candidates AS MATERIALIZED (
    SELECT c.rank, c.instance_id, c.token, c.row_version
    FROM places AS p CROSS JOIN LATERAL (
        SELECT t.rank, t.instance_id, t.token, t.xmin AS row_version FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL
          AND t.handler = p.handler AND t.queue = p.queue AND t.rank >= p.rank
        ORDER BY t.rank, t.instance_id, t.token LIMIT $candidates::bigint
    ) AS c
    WHERE p.handler = '' OR p.queue <> ALL ($limited_queues::text[])
    ORDER BY c.rank, c.instance_id, c.token LIMIT $candidates::bigint
),
locked AS (
    SELECT f.*
    FROM candidates AS c CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token, t.handler, t.queue, t.rank, t.is_stop, t.was_lost, t.lost_by,
               CASE WHEN t.handler = '' THEN t.outcome END AS outcome
        FROM ebb.tasks AS t
        WHERE t.instance_id = c.instance_id AND t.token = c.token AND t.xmin = c.row_version
          AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
        FOR UPDATE SKIP LOCKED
    ) AS f
    LIMIT $limit::bigint
),
-- include: lease_locked
-- include: claimed_columns,
       queue, rank
FROM sized WHERE ((id, task) IN (SELECT instance_id, token FROM leased)) IS TRUE
ORDER BY rank, id, task;

-- name: claim_places
-- The handlers and queues that have claimable tasks, and the lowest rank in each. $1: handlers in any
-- queue. ($2, $3): handlers and their queues.
WITH RECURSIVE anywhere AS (
    SELECT h.handler, f.queue, f.rank
    FROM unnest($1::text[]) AS h (handler) CROSS JOIN LATERAL (
        SELECT t.queue, t.rank FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = h.handler
        ORDER BY t.queue, t.rank LIMIT 1
    ) AS f
    UNION ALL
    SELECT a.handler, f.queue, f.rank
    FROM anywhere AS a CROSS JOIN LATERAL (
        SELECT t.queue, t.rank FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = a.handler AND t.queue > a.queue
        ORDER BY t.queue, t.rank LIMIT 1
    ) AS f
)
SELECT handler, queue, rank FROM anywhere
UNION ALL
SELECT p.handler, p.queue, f.rank
FROM unnest($2::text[], $3::text[]) AS p (handler, queue) CROSS JOIN LATERAL (
    SELECT t.rank FROM ebb.tasks AS t
    WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = p.handler AND t.queue = p.queue
    ORDER BY t.rank LIMIT 1
) AS f;

-- name: claim_tasks_of_instance
-- parameters: worker handlers place_handlers place_queues limit only_stops instance limited_queues
-- parameters: bytes_max
-- The task's handler and queue are as in claim_tasks; only stops if $only_stops; not in the queues $limited_queues.
WITH candidates AS MATERIALIZED (
    SELECT t.instance_id, t.token, t.xmin AS row_version
    FROM ebb.tasks AS t
    WHERE t.instance_id = $instance::uuid AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
      AND (CASE WHEN $only_stops::boolean THEN t.is_stop
           ELSE (t.handler = '' OR t.queue <> ALL ($limited_queues::text[])) AND (
               t.handler = ANY ($handlers::text[]) OR EXISTS (
                   SELECT 1 FROM unnest($place_handlers::text[], $place_queues::text[]) AS p (handler, queue)
                   WHERE p.handler = t.handler AND p.queue = t.queue
               )
           )
           END)
    ORDER BY t.rank, t.instance_id, t.token
),
locked AS (
    SELECT f.*
    FROM candidates AS c CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token, t.handler, t.queue, t.rank, t.is_stop, t.was_lost, t.lost_by,
               CASE WHEN t.handler = '' THEN t.outcome END AS outcome
        FROM ebb.tasks AS t
        WHERE t.instance_id = c.instance_id AND t.token = c.token AND t.xmin = c.row_version
        FOR UPDATE SKIP LOCKED
    ) AS f
    LIMIT $limit::bigint
),
-- include: lease_locked
-- include: claimed_columns
FROM sized WHERE ((id, task) IN (SELECT instance_id, token FROM leased)) IS TRUE
ORDER BY rank, id, task;

-- name: claim_stops
-- parameters: worker limit bytes_max candidates
-- $candidates: the number of tasks to look at, because other workers may be taking the first ones.
WITH candidates AS MATERIALIZED (
    SELECT t.instance_id, t.token, t.xmin AS row_version
    FROM ebb.tasks AS t
    WHERE t.is_stop AND t.lane = 1 AND t.lease_owner IS NULL
    ORDER BY t.rank, t.instance_id, t.token LIMIT $candidates::bigint
),
locked AS (
    SELECT f.*
    FROM candidates AS c CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token, t.handler, t.queue, t.rank, t.is_stop, t.was_lost, t.lost_by,
               CASE WHEN t.handler = '' THEN t.outcome END AS outcome
        FROM ebb.tasks AS t
        WHERE t.instance_id = c.instance_id AND t.token = c.token AND t.xmin = c.row_version
        FOR UPDATE SKIP LOCKED
    ) AS f
    LIMIT $limit::bigint
),
-- include: lease_locked
-- include: claimed_columns
FROM sized WHERE ((id, task) IN (SELECT instance_id, token FROM leased)) IS TRUE
ORDER BY rank, id, task;

-- name: park_broken_task
-- Its instance cannot be read, so no worker should claim it again and again.
UPDATE ebb.tasks SET lane = 2, lease_owner = NULL
WHERE instance_id = $1::uuid AND token = $2::bigint;

-- name: lock_tasks_to_hand_in
-- The next statement then reads the states as of now: a session that takes one of these tokens further
-- has to change the task's row, and waits for it or has done so before.
SELECT 1 FROM ebb.tasks AS t
WHERE t.instance_id = ANY ($2::uuid[]) AND t.lease_owner = $1::text
ORDER BY t.instance_id, t.token FOR UPDATE;

-- name: hand_tasks_in
-- $2 to $7: one element for each outcome. $8: the time of a test. $9: the head start of one point of
-- priority. $10: the start of the worker's process. Answers with the ordinal numbers of those that
-- were taken, now or earlier.
WITH clock AS MATERIALIZED (
    SELECT coalesce($8::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
valid AS MATERIALIZED (
    SELECT u.n, i.id, u.token, u.outcome, i.priority, t.lease_owner
    FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::integer[], $6::integer[], $7::text[])
        WITH ORDINALITY AS u (instance_id, token, visit, attempt, pauses, outcome, n)
    JOIN ebb.tasks AS t ON t.instance_id = u.instance_id AND t.token = u.token
    JOIN ebb.instances AS i ON i.id = u.instance_id
    WHERE (t.lease_owner = $1::text OR (t.lease_owner IS NULL AND t.outcome = u.outcome))
      AND NOT EXISTS (
          SELECT 1 FROM ebb.workers AS w WHERE w.id = $1::text AND w.started_at <> $10::bigint
      )
      AND i.finished_at IS NULL AND i.state LIKE '{%}' AND EXISTS (
          SELECT 1 FROM json_array_elements(i.state::json -> 'tokens') AS k (token)
          WHERE (k.token ->> 'id')::bigint = u.token AND (k.token ->> 'visit')::bigint = u.visit
            AND coalesce((k.token ->> 'attempt')::integer, 0) = u.attempt
            AND coalesce((k.token ->> 'pauses')::integer, 0) = u.pauses
      )
),
taken AS (
    UPDATE ebb.tasks AS t
    SET outcome = v.outcome, handler = '', lease_owner = NULL, lease_until = NULL,
        due_at = c.now, rank = c.now - $9::bigint * v.priority, lane = 1
    FROM valid AS v, clock AS c
    WHERE t.instance_id = v.id AND t.token = v.token AND v.lease_owner IS NOT NULL
)
SELECT v.n FROM valid AS v;

-- name: release_tasks
-- Does nothing if another process has the worker's name; the same applies to the next two.
UPDATE ebb.tasks AS t
SET lease_owner = NULL, handler = CASE WHEN t.is_stop THEN '' ELSE t.handler END
FROM unnest($2::uuid[], $3::bigint[]) AS r (instance_id, token)
WHERE t.instance_id = r.instance_id AND t.token = r.token AND t.lease_owner = $1::text
  AND NOT EXISTS (
      SELECT 1 FROM ebb.workers AS w WHERE w.id = $1::text AND w.started_at <> $4::bigint
  );

-- name: abandon_tasks
UPDATE ebb.tasks AS t
SET was_lost = t.was_lost OR t.handler <> '',
    lost_by = CASE WHEN t.handler <> '' THEN t.lease_owner ELSE t.lost_by END,
    handler = CASE WHEN t.is_stop THEN '' ELSE t.handler END, lease_owner = NULL
FROM unnest($2::uuid[], $3::bigint[]) AS r (instance_id, token)
WHERE t.instance_id = r.instance_id AND t.token = r.token AND t.lease_owner = $1::text
  AND NOT EXISTS (
      SELECT 1 FROM ebb.workers AS w WHERE w.id = $1::text AND w.started_at <> $4::bigint
  );

-- name: postpone_task
UPDATE ebb.tasks
SET rank = rank + ($4::bigint - due_at), due_at = $4::bigint,
    lane = CASE lane WHEN 2 THEN 2 ELSE 0 END,
    handler = CASE WHEN is_stop THEN '' ELSE handler END, lease_owner = NULL
WHERE instance_id = $1::uuid AND token = $2::bigint AND lease_owner = $3::text
  AND NOT EXISTS (
      SELECT 1 FROM ebb.workers AS w WHERE w.id = $3::text AND w.started_at <> $5::bigint
  );

-- name: tasks_of_instance
-- As in all_tasks, but a plan that was made while nothing was folded must not use the index of
-- owners.
SELECT t.token, t.handler, t.queue, t.due_at, t.lane, t.is_stop, t.was_lost, t.lease_owner,
       t.concurrency_key, t.took_slot
FROM ebb.tasks AS t WHERE t.instance_id = $1::uuid
UNION ALL
SELECT 1, coalesce(i.lease_handler, ''), coalesce(i.lease_queue, ''), i.created_at, 1, false, false,
       i.lease_owner, NULL, NULL
FROM ebb.instances AS i WHERE i.id = $1::uuid AND coalesce(i.lease_owner, '') <> ''
ORDER BY 1;

-- name: unserved_tasks
-- One lookup for each handler and queue that has work. Counts only tasks that no worker serves.
WITH RECURSIVE clock AS (
    SELECT coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
ready AS (
    (
        SELECT handler, queue FROM ebb.tasks
        WHERE lane = 1 AND lease_owner IS NULL ORDER BY handler, queue LIMIT 1
    )
    UNION ALL
    SELECT n.handler, n.queue FROM ready AS r CROSS JOIN LATERAL (
        SELECT t.handler, t.queue FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND (t.handler, t.queue) > (r.handler, r.queue)
        ORDER BY t.handler, t.queue LIMIT 1
    ) AS n
),
waking AS MATERIALIZED (
    SELECT handler, queue, count(*) AS tasks FROM ebb.tasks
    WHERE lane = 0 AND lease_owner IS NULL AND due_at <= (SELECT now FROM clock)
    GROUP BY handler, queue
),
unserved AS (
    SELECT p.handler, p.queue
    FROM (SELECT handler, queue FROM ready UNION SELECT handler, queue FROM waking) AS p
    WHERE NOT EXISTS (
        SELECT 1 FROM ebb.workers AS w
        WHERE w.expires_at > (SELECT now FROM clock)
          AND (p.handler = '' OR (
              p.handler = ANY (w.handlers) AND (w.queues = '{}' OR p.queue = ANY (w.queues))
          ))
    )
)
SELECT u.handler, u.queue, (
    SELECT count(*) FROM ebb.tasks AS t
    WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = u.handler AND t.queue = u.queue
) + coalesce((
    SELECT k.tasks FROM waking AS k WHERE k.handler = u.handler AND k.queue = u.queue
), 0)
FROM unserved AS u ORDER BY u.handler, u.queue;
