-- name: start_instances
-- For instances without a key and with fresh ids. One that exists makes it fail wholly; then
-- start_absent_instances is the one to call, which costs more.
WITH clock AS MATERIALIZED (
    SELECT coalesce($33::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
added AS (
    INSERT INTO ebb.instances (
        id, workflow, version, key, status, revision, priority,
        created_at, updated_at, finished_at, state
    )
    SELECT * FROM unnest(
        $1::uuid[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::bigint[],
        $7::integer[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[]
    )
),
events AS (
    INSERT INTO ebb.history (
        instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
        payload
    )
    SELECT * FROM unnest(
        $12::uuid[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::bigint[],
        $18::bigint[], $19::integer[], $20::bigint[], $21::text[], $22::bigint[], $23::bigint[],
        $24::text[]
    )
)
INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
SELECT p.id, p.token, p.handler, p.queue, p.due_at, p.rank,
       CASE WHEN p.due_at <= greatest(p.now, (SELECT now FROM clock)) THEN 1 ELSE 0 END,
       p.lease_owner
FROM unnest(
    $25::uuid[], $26::bigint[], $27::text[], $28::text[], $29::bigint[], $30::bigint[],
    $31::bigint[], $32::text[]
) AS p (id, token, handler, queue, due_at, rank, now, lease_owner);

-- name: start_absent_instances
-- Leaves out those whose id or key exists and answers with the ids of the others. Of two that want
-- one key at the same time, the second waits for the first.
WITH clock AS MATERIALIZED (
    SELECT coalesce($33::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::uuid[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::bigint[],
        $7::integer[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[]
    ) AS g (
        id, workflow, version, key, status, revision, priority,
        created_at, updated_at, finished_at, state
    )
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
        created_at, updated_at, finished_at, state
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
    SELECT * FROM unnest(
        $12::uuid[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::bigint[],
        $18::bigint[], $19::integer[], $20::bigint[], $21::text[], $22::bigint[], $23::bigint[],
        $24::text[]
    ) AS h (id)
    WHERE (h.id IN (SELECT id FROM added)) IS TRUE
),
waiting AS (
    INSERT INTO ebb.tasks (
        instance_id, token, handler, queue, due_at, rank, lane, lease_owner, concurrency_key
    )
    SELECT p.id, p.token, p.handler, p.queue, p.due_at, p.rank,
           CASE WHEN p.due_at <= greatest(p.now, (SELECT now FROM clock)) THEN 1 ELSE 0 END,
           p.lease_owner, p.concurrency_key
    FROM unnest(
        $25::uuid[], $26::bigint[], $27::text[], $28::text[], $29::bigint[], $30::bigint[],
        $31::bigint[], $32::text[], $34::text[]
    ) AS p (id, token, handler, queue, due_at, rank, now, lease_owner, concurrency_key)
    WHERE (p.id IN (SELECT id FROM added)) IS TRUE
)
SELECT id FROM added;

-- name: find_started
-- Who has the id, and who has the key. In a statement of its own, which sees what others have
-- committed meanwhile. Not EXISTS: a plan that was made on an empty table would hash all of it.
SELECT (SELECT i.id FROM ebb.instances AS i WHERE i.id = b.id) IS NOT NULL, (
    SELECT k.instance_id FROM ebb.keys AS k WHERE k.key = b.key AND k.workflow = b.workflow
)
FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS b (id, workflow, key, ord)
ORDER BY b.ord;
