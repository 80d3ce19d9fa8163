-- name: start_instances
-- For instances without a key and with fresh ids. If one exists, the whole statement fails. Then call
-- start_absent_instances, which costs more. $1 and the arrays: as in commit_and_remove. The tasks are
-- those that are not folded.
WITH clock AS MATERIALIZED (
    SELECT coalesce($33::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
added AS (
    INSERT INTO ebb.instances (
        id, workflow, version, status, revision, priority,
        created_at, updated_at, finished_at, state, lease_owner, lease_handler, lease_queue
    )
    SELECT ($2::uuid[])[i.ord], ($1::text[])[($3::integer[])[i.ord]], ($4::integer[])[i.ord],
           ($1::text[])[($5::integer[])[i.ord]], ($6::bigint[])[i.ord],
           ($7::integer[])[i.ord], ($8::bigint[])[i.ord], ($9::bigint[])[i.ord],
           nullif(($10::bigint[])[i.ord], 0), i.state,
           ($1::text[])[($34::integer[])[i.ord]], ($1::text[])[($35::integer[])[i.ord]],
           ($1::text[])[($36::integer[])[i.ord]]
    FROM unnest($11::text[]) WITH ORDINALITY AS i (state, ord)
),
events AS (
    INSERT INTO ebb.history (
        instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
        payload
    )
    SELECT ($2::uuid[])[e.ord], ($13::bigint[])[e.n], ($1::text[])[($14::integer[])[e.n]],
           ($1::text[])[($15::integer[])[e.n]], ($1::text[])[($16::integer[])[e.n]],
           nullif(($17::bigint[])[e.n], 0), nullif(($18::bigint[])[e.n], 0),
           nullif(($19::integer[])[e.n], 0), nullif(($20::bigint[])[e.n], 0),
           ($1::text[])[($21::integer[])[e.n]], nullif(($22::bigint[])[e.n], 0),
           ($23::bigint[])[e.n], e.payload
    FROM (
        SELECT ($12::bigint[])[u.n] AS ord, u.n, u.payload
        FROM unnest($24::text[]) WITH ORDINALITY AS u (payload, n)
    ) AS e
)
INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
SELECT ($2::uuid[])[p.ord], p.token, coalesce(($1::text[])[($27::integer[])[p.n]], ''),
       coalesce(($1::text[])[($28::integer[])[p.n]], ''), ($29::bigint[])[p.n],
       ($30::bigint[])[p.n],
       CASE WHEN ($29::bigint[])[p.n] <= greatest(
           ($31::bigint[])[p.n], (SELECT now FROM clock)
       ) THEN 1 ELSE 0 END,
       ($1::text[])[($32::integer[])[p.n]]
FROM unnest($25::bigint[], $26::bigint[]) WITH ORDINALITY AS p (ord, token, n);

-- name: start_absent_instances
-- Leaves out instances whose id or key exists, and answers with the ids of the others. If two
-- sessions want one key at the same time, the second waits for the first.
WITH clock AS MATERIALIZED (
    SELECT coalesce($33::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
given AS MATERIALIZED (
    SELECT ($2::uuid[])[i.ord] AS id, ($1::text[])[($3::integer[])[i.ord]] AS workflow,
           ($4::integer[])[i.ord] AS version, i.key,
           ($1::text[])[($5::integer[])[i.ord]] AS status, ($6::bigint[])[i.ord] AS revision,
           ($7::integer[])[i.ord] AS priority, ($8::bigint[])[i.ord] AS created_at,
           ($9::bigint[])[i.ord] AS updated_at, nullif(($10::bigint[])[i.ord], 0) AS finished_at,
           i.state, ($1::text[])[($34::integer[])[i.ord]] AS lease_owner,
           ($1::text[])[($35::integer[])[i.ord]] AS lease_handler,
           ($1::text[])[($36::integer[])[i.ord]] AS lease_queue
    FROM unnest($37::text[], $11::text[]) WITH ORDINALITY AS i (key, state, ord)
),
keyed AS (
    INSERT INTO ebb.keys (key, workflow, instance_id)
    SELECT g.key, g.workflow, g.id FROM given AS g
    WHERE g.key IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM ebb.instances AS i WHERE i.id = g.id)
    ON CONFLICT DO NOTHING
    RETURNING instance_id
),
added AS (
    INSERT INTO ebb.instances (
        id, workflow, version, key, status, revision, priority,
        created_at, updated_at, finished_at, state, lease_owner, lease_handler, lease_queue
    )
    SELECT * FROM given AS g
    WHERE g.key IS NULL OR (g.id IN (SELECT instance_id FROM keyed)) IS TRUE
    ON CONFLICT DO NOTHING
    RETURNING id
),
events AS (
    INSERT INTO ebb.history (
        instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
        payload
    )
    SELECT ($2::uuid[])[e.ord], ($13::bigint[])[e.n], ($1::text[])[($14::integer[])[e.n]],
           ($1::text[])[($15::integer[])[e.n]], ($1::text[])[($16::integer[])[e.n]],
           nullif(($17::bigint[])[e.n], 0), nullif(($18::bigint[])[e.n], 0),
           nullif(($19::integer[])[e.n], 0), nullif(($20::bigint[])[e.n], 0),
           ($1::text[])[($21::integer[])[e.n]], nullif(($22::bigint[])[e.n], 0),
           ($23::bigint[])[e.n], e.payload
    FROM (
        SELECT ($12::bigint[])[u.n] AS ord, u.n, u.payload
        FROM unnest($24::text[]) WITH ORDINALITY AS u (payload, n)
    ) AS e
    WHERE (($2::uuid[])[e.ord] IN (SELECT id FROM added)) IS TRUE
),
waiting AS (
    INSERT INTO ebb.tasks (
        instance_id, token, handler, queue, due_at, rank, lane, lease_owner, concurrency_key
    )
    SELECT ($2::uuid[])[p.ord], p.token, coalesce(($1::text[])[($27::integer[])[p.n]], ''),
           coalesce(($1::text[])[($28::integer[])[p.n]], ''), ($29::bigint[])[p.n],
           ($30::bigint[])[p.n],
           CASE WHEN ($29::bigint[])[p.n] <= greatest(
               ($31::bigint[])[p.n], (SELECT now FROM clock)
           ) THEN 1 ELSE 0 END,
           ($1::text[])[($32::integer[])[p.n]], ($38::text[])[p.n]
    FROM unnest($25::bigint[], $26::bigint[]) WITH ORDINALITY AS p (ord, token, n)
    WHERE (($2::uuid[])[p.ord] IN (SELECT id FROM added)) IS TRUE
)
SELECT id FROM added;

-- name: find_started
-- The instance that has the id, and the one that has the key. A statement of its own, so that it sees
-- what others have committed in the meantime. Not EXISTS: a plan that was made for an empty table
-- would hash all of it.
SELECT (SELECT i.id FROM ebb.instances AS i WHERE i.id = b.id) IS NOT NULL, (
    SELECT k.instance_id FROM ebb.keys AS k WHERE k.key = b.key AND k.workflow = b.workflow
)
FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS b (id, workflow, key, ord)
ORDER BY b.ord;
