-- name: commit_and_remove
-- The usual commit in one statement: each instance by compare-and-swap on its revision, the history
-- and the removal of tasks of those that were swapped. Its answer names only those that were not.
-- (x IN (...)) IS TRUE makes PostgreSQL look x up in a hash table, whatever it thinks of the sizes.
WITH batch AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]
    ) WITH ORDINALITY AS b (id, revision, status, state, now, finished_at, ord)
),
updated AS (
    UPDATE ebb.instances AS i
    SET revision = i.revision + 1, status = b.status, state = b.state, updated_at = b.now,
        finished_at = b.finished_at
    FROM batch AS b WHERE i.id = b.id AND i.revision = b.revision
    RETURNING b.ord
),
events AS (
    INSERT INTO ebb.history (
        instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
        payload
    )
    SELECT h.id, h.seq, h.type, h.node, h.path, h.token, h.visit, h.attempt, h.ref, h.worker,
           h.started_at, h.at, h.payload
    FROM unnest(
        $7::bigint[], $8::uuid[], $9::bigint[], $10::text[], $11::text[], $12::text[],
        $13::bigint[], $14::bigint[], $15::integer[], $16::bigint[], $17::text[], $18::bigint[],
        $19::bigint[], $20::text[]
    ) AS h (
        ord, id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
    )
    WHERE (h.ord IN (SELECT ord FROM updated)) IS TRUE
),
removed AS (
    DELETE FROM ebb.tasks AS t
    USING unnest($21::bigint[], $22::uuid[], $23::bigint[]) AS r (ord, id, token)
    WHERE t.instance_id = r.id AND (r.token IS NULL OR t.token = r.token)
      AND (r.ord IN (SELECT ord FROM updated)) IS TRUE
)
SELECT b.ord, EXISTS (SELECT 1 FROM ebb.instances AS i WHERE i.id = b.id)
FROM batch AS b WHERE (b.ord IN (SELECT ord FROM updated)) IS FALSE;

-- name: commit_and_put
-- As commit_and_remove, where tasks are put and none is removed.
WITH clock AS MATERIALIZED (
    SELECT coalesce($30::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
batch AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]
    ) WITH ORDINALITY AS b (id, revision, status, state, now, finished_at, ord)
),
updated AS (
    UPDATE ebb.instances AS i
    SET revision = i.revision + 1, status = b.status, state = b.state, updated_at = b.now,
        finished_at = b.finished_at
    FROM batch AS b WHERE i.id = b.id AND i.revision = b.revision
    RETURNING b.ord
),
events AS (
    INSERT INTO ebb.history (
        instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
        payload
    )
    SELECT h.id, h.seq, h.type, h.node, h.path, h.token, h.visit, h.attempt, h.ref, h.worker,
           h.started_at, h.at, h.payload
    FROM unnest(
        $7::bigint[], $8::uuid[], $9::bigint[], $10::text[], $11::text[], $12::text[],
        $13::bigint[], $14::bigint[], $15::integer[], $16::bigint[], $17::text[], $18::bigint[],
        $19::bigint[], $20::text[]
    ) AS h (
        ord, id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
    )
    WHERE (h.ord IN (SELECT ord FROM updated)) IS TRUE
),
put AS (
    INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
    SELECT p.id, p.token, p.handler, p.queue, p.due_at,
           p.rank - $31::bigint * (SELECT i.priority FROM ebb.instances AS i WHERE i.id = p.id),
           CASE WHEN p.due_at <= greatest(p.now, (SELECT now FROM clock)) THEN 1 ELSE 0 END,
           p.lease_owner
    FROM unnest(
        $21::bigint[], $22::uuid[], $23::bigint[], $24::text[], $25::text[], $26::bigint[],
        $27::bigint[], $28::bigint[], $29::text[]
    ) AS p (ord, id, token, handler, queue, due_at, rank, now, lease_owner)
    WHERE (p.ord IN (SELECT ord FROM updated)) IS TRUE
    ON CONFLICT (instance_id, token) DO UPDATE SET
        handler = excluded.handler, queue = excluded.queue, due_at = excluded.due_at,
        rank = excluded.rank, lane = excluded.lane, is_stop = false, was_lost = false,
        lost_by = NULL, lease_owner = excluded.lease_owner, concurrency_key = NULL,
        took_slot = NULL
)
SELECT b.ord, EXISTS (SELECT 1 FROM ebb.instances AS i WHERE i.id = b.id)
FROM batch AS b WHERE (b.ord IN (SELECT ord FROM updated)) IS FALSE;

-- name: lock_instances
-- Before the statements below, which change tasks one after another and then end with
-- commit_and_remove: nobody else may change these instances between them.
SELECT i.id FROM unnest($1::uuid[]) AS b (id) JOIN ebb.instances AS i ON i.id = b.id
FOR UPDATE OF i;

-- name: put_tasks
WITH clock AS MATERIALIZED (
    SELECT coalesce($11::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
put AS (
    INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
    SELECT p.id, p.token, p.handler, p.queue, p.due_at,
           p.rank - $12::bigint * (SELECT i.priority FROM ebb.instances AS i WHERE i.id = p.id),
           CASE WHEN p.due_at <= greatest(p.now, (SELECT now FROM clock)) THEN 1 ELSE 0 END,
           p.lease_owner
    FROM unnest(
        $1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::text[], $10::bigint[]
    ) AS p (ord, id, token, handler, queue, due_at, rank, now, lease_owner, revision)
    WHERE EXISTS (
        SELECT 1 FROM ebb.instances AS i WHERE i.id = p.id AND i.revision = p.revision
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
