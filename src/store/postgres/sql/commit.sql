-- name: commit_and_remove
-- The usual commit in one statement: each instance by compare-and-swap on its revision, then the
-- history and the removal of tasks of the swapped instances. The answer names only the instances that
-- were not swapped, and their revisions. $23: 0 if no task is folded, 1 if the task stays folded, 2
-- if its folding ends. If the row disagrees, nothing is written.
-- Each unnested column has a cost. So a number is looked up in its array, and a word that many rows
-- share is looked up in $1 by its number there: 0 stands for NULL. Elsewhere, 0 may mean NULL, too.
-- (x IN (...)) IS TRUE makes PostgreSQL look x up in a hash table, no matter which sizes it
-- estimates.
WITH batch AS MATERIALIZED (
    SELECT b.ord, ($2::uuid[])[b.ord] AS id, ($3::bigint[])[b.ord] AS revision,
           ($1::text[])[($4::integer[])[b.ord]] AS status, b.state,
           ($6::bigint[])[b.ord] AS now, nullif(($7::bigint[])[b.ord], 0) AS finished_at,
           ($23::integer[])[b.ord] AS lease
    FROM unnest($5::text[]) WITH ORDINALITY AS b (state, ord)
),
updated AS (
    UPDATE ebb.instances AS i
    SET revision = i.revision + 1, status = b.status, state = b.state, updated_at = b.now,
        finished_at = b.finished_at,
        lease_owner = CASE WHEN b.lease = 1 THEN i.lease_owner END,
        lease_handler = CASE WHEN b.lease = 1 THEN i.lease_handler END,
        lease_queue = CASE WHEN b.lease = 1 THEN i.lease_queue END
    FROM batch AS b
    WHERE i.id = b.id AND i.revision = b.revision
      AND (i.lease_owner IS NOT NULL) = (b.lease > 0)
    RETURNING b.ord
),
failed AS MATERIALIZED (
    SELECT b.ord, b.id FROM batch AS b
    WHERE (SELECT count(*) FROM updated) < (SELECT count(*) FROM batch)
      AND (b.ord IN (SELECT ord FROM updated)) IS FALSE
),
events AS (
    INSERT INTO ebb.history (
        instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
        payload
    )
    SELECT ($2::uuid[])[e.ord], ($9::bigint[])[e.n], ($1::text[])[($10::integer[])[e.n]],
           ($1::text[])[($11::integer[])[e.n]], ($1::text[])[($12::integer[])[e.n]],
           nullif(($13::bigint[])[e.n], 0), nullif(($14::bigint[])[e.n], 0),
           nullif(($15::integer[])[e.n], 0), nullif(($16::bigint[])[e.n], 0),
           ($1::text[])[($17::integer[])[e.n]], nullif(($18::bigint[])[e.n], 0),
           ($19::bigint[])[e.n], e.payload
    FROM (
        SELECT ($8::bigint[])[u.n] AS ord, u.n, u.payload
        FROM unnest($20::text[]) WITH ORDINALITY AS u (payload, n)
    ) AS e
    WHERE e.ord <> ALL (ARRAY(SELECT ord FROM failed))
),
removed AS (
    DELETE FROM ebb.tasks AS t
    USING unnest($21::bigint[], $22::bigint[]) AS r (ord, token)
    WHERE t.instance_id = ($2::uuid[])[r.ord] AND (r.token IS NULL OR t.token = r.token)
      AND r.ord <> ALL (ARRAY(SELECT ord FROM failed))
)
SELECT f.ord, (SELECT i.revision FROM ebb.instances AS i WHERE i.id = f.id) FROM failed AS f;

-- name: commit_and_put
-- As commit_and_remove, if tasks are put and none is removed. $31 is its $23.
WITH clock AS MATERIALIZED (
    SELECT coalesce($29::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
batch AS MATERIALIZED (
    SELECT b.ord, ($2::uuid[])[b.ord] AS id, ($3::bigint[])[b.ord] AS revision,
           ($1::text[])[($4::integer[])[b.ord]] AS status, b.state,
           ($6::bigint[])[b.ord] AS now, nullif(($7::bigint[])[b.ord], 0) AS finished_at,
           ($31::integer[])[b.ord] AS lease
    FROM unnest($5::text[]) WITH ORDINALITY AS b (state, ord)
),
updated AS (
    UPDATE ebb.instances AS i
    SET revision = i.revision + 1, status = b.status, state = b.state, updated_at = b.now,
        finished_at = b.finished_at,
        lease_owner = CASE WHEN b.lease = 1 THEN i.lease_owner END,
        lease_handler = CASE WHEN b.lease = 1 THEN i.lease_handler END,
        lease_queue = CASE WHEN b.lease = 1 THEN i.lease_queue END
    FROM batch AS b
    WHERE i.id = b.id AND i.revision = b.revision
      AND (i.lease_owner IS NOT NULL) = (b.lease > 0)
    RETURNING b.ord
),
failed AS MATERIALIZED (
    SELECT b.ord, b.id FROM batch AS b
    WHERE (SELECT count(*) FROM updated) < (SELECT count(*) FROM batch)
      AND (b.ord IN (SELECT ord FROM updated)) IS FALSE
),
events AS (
    INSERT INTO ebb.history (
        instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
        payload
    )
    SELECT ($2::uuid[])[e.ord], ($9::bigint[])[e.n], ($1::text[])[($10::integer[])[e.n]],
           ($1::text[])[($11::integer[])[e.n]], ($1::text[])[($12::integer[])[e.n]],
           nullif(($13::bigint[])[e.n], 0), nullif(($14::bigint[])[e.n], 0),
           nullif(($15::integer[])[e.n], 0), nullif(($16::bigint[])[e.n], 0),
           ($1::text[])[($17::integer[])[e.n]], nullif(($18::bigint[])[e.n], 0),
           ($19::bigint[])[e.n], e.payload
    FROM (
        SELECT ($8::bigint[])[u.n] AS ord, u.n, u.payload
        FROM unnest($20::text[]) WITH ORDINALITY AS u (payload, n)
    ) AS e
    WHERE e.ord <> ALL (ARRAY(SELECT ord FROM failed))
),
put AS (
    INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
    SELECT ($2::uuid[])[p.ord], p.token, coalesce(($1::text[])[($23::integer[])[p.n]], ''),
           coalesce(($1::text[])[($24::integer[])[p.n]], ''), ($25::bigint[])[p.n],
           ($26::bigint[])[p.n] - $30::bigint * (
               SELECT i.priority FROM ebb.instances AS i WHERE i.id = ($2::uuid[])[p.ord]
           ),
           CASE WHEN ($25::bigint[])[p.n] <= greatest(
               ($27::bigint[])[p.n], (SELECT now FROM clock)
           ) THEN 1 ELSE 0 END,
           ($1::text[])[($28::integer[])[p.n]]
    FROM unnest($21::bigint[], $22::bigint[]) WITH ORDINALITY AS p (ord, token, n)
    WHERE p.ord <> ALL (ARRAY(SELECT ord FROM failed))
    ON CONFLICT (instance_id, token) DO UPDATE SET
        handler = excluded.handler, queue = excluded.queue, due_at = excluded.due_at,
        rank = excluded.rank, lane = excluded.lane, is_stop = false, was_lost = false,
        lost_by = NULL, lease_owner = excluded.lease_owner, concurrency_key = NULL,
        took_slot = NULL
)
SELECT f.ord, (SELECT i.revision FROM ebb.instances AS i WHERE i.id = f.id) FROM failed AS f;

-- name: lock_instances
-- Runs before the statements below, which change tasks one after another and then end with
-- commit_and_remove. No other session may change these instances in between.
SELECT i.id FROM unnest($1::uuid[]) AS b (id) JOIN ebb.instances AS i ON i.id = b.id
FOR UPDATE OF i;

-- name: unfold_tasks
-- Gives these instances' folded tasks rows, so that workers other than the one that started the
-- instances may change their tasks.
WITH folded AS MATERIALIZED (
    SELECT i.id, i.created_at, i.priority, i.lease_owner, i.lease_handler, i.lease_queue
    FROM unnest($1::uuid[]) AS b (id) JOIN ebb.instances AS i ON i.id = b.id
    WHERE i.lease_owner IS NOT NULL
    FOR UPDATE OF i
),
unfolded AS (
    UPDATE ebb.instances AS i SET lease_owner = NULL, lease_handler = NULL, lease_queue = NULL
    FROM folded AS f WHERE i.id = f.id
)
INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
SELECT f.id, 1, coalesce(f.lease_handler, ''), coalesce(f.lease_queue, ''), f.created_at,
       f.created_at - $2::bigint * f.priority, 1, f.lease_owner
FROM folded AS f;

-- name: put_tasks
-- $14 is the $23 of commit_and_remove.
WITH clock AS MATERIALIZED (
    SELECT coalesce($12::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
put AS (
    INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
    SELECT ($2::uuid[])[p.ord], p.token, coalesce(($1::text[])[($6::integer[])[p.n]], ''),
           coalesce(($1::text[])[($7::integer[])[p.n]], ''), ($8::bigint[])[p.n],
           ($9::bigint[])[p.n] - $13::bigint * (
               SELECT i.priority FROM ebb.instances AS i WHERE i.id = ($2::uuid[])[p.ord]
           ),
           CASE WHEN ($8::bigint[])[p.n] <= greatest(
               ($10::bigint[])[p.n], (SELECT now FROM clock)
           ) THEN 1 ELSE 0 END,
           ($1::text[])[($11::integer[])[p.n]]
    FROM unnest($4::bigint[], $5::bigint[]) WITH ORDINALITY AS p (ord, token, n)
    WHERE EXISTS (
        SELECT 1 FROM ebb.instances AS i
        WHERE i.id = ($2::uuid[])[p.ord] AND i.revision = ($3::bigint[])[p.ord]
          AND (i.lease_owner IS NOT NULL) = (($14::integer[])[p.ord] > 0)
    )
    ON CONFLICT (instance_id, token) DO UPDATE SET
        handler = excluded.handler, queue = excluded.queue, due_at = excluded.due_at,
        rank = excluded.rank, lane = excluded.lane, is_stop = false, was_lost = false,
        lost_by = NULL, lease_owner = excluded.lease_owner, concurrency_key = NULL,
        took_slot = NULL
)
SELECT 1 WHERE false;

-- name: change_tasks
-- Parks, unparks and stops.
WITH clock AS MATERIALIZED (
    SELECT coalesce($5::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
changed AS (
    UPDATE ebb.tasks AS t SET
        lane = CASE c.kind
            WHEN 'park' THEN 2
            WHEN 'stop' THEN 1
            ELSE CASE WHEN t.due_at <= k.now THEN 1 ELSE 0 END
        END,
        handler = CASE WHEN c.kind = 'stop' AND t.lease_owner IS NULL THEN '' ELSE t.handler END,
        is_stop = t.is_stop OR c.kind = 'stop',
        due_at = CASE c.kind WHEN 'stop' THEN k.now ELSE t.due_at END,
        rank = CASE c.kind WHEN 'stop' THEN k.now - $6::bigint * i.priority ELSE t.rank END
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[])
        AS c (id, revision, token, kind)
    JOIN ebb.instances AS i ON i.id = c.id AND i.revision = c.revision
    CROSS JOIN clock AS k
    WHERE t.instance_id = c.id AND t.token = c.token
)
SELECT 1 WHERE false;
