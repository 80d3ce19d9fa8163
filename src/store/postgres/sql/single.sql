-- name: commit_step
-- What one instance alone usually needs, this and the next two, says the same as the statements over
-- arrays, at three quarters of their price.
-- One instance that continues, with one event and no change of its tasks. $18: its task is folded.
WITH updated AS (
    UPDATE ebb.instances
    SET revision = revision + 1, status = $3::text, state = $4::text, updated_at = $5::bigint,
        finished_at = NULL
    WHERE id = $1::uuid AND revision = $2::bigint
      AND (lease_owner IS NOT NULL) = $18::boolean
    RETURNING id
),
events AS (
    -- include: add_history
    SELECT u.id, $6::bigint, $7::text, $8::text, $9::text, $10::bigint, $11::bigint, $12::integer,
           $13::bigint, $14::text, $15::bigint, $16::bigint, $17::text
    FROM updated AS u
)
SELECT 1::bigint, (SELECT i.revision FROM ebb.instances AS i WHERE i.id = $1::uuid)
WHERE NOT EXISTS (SELECT 1 FROM updated);

-- name: commit_end
-- One instance that ends, with two events. $30: its task is folded.
WITH updated AS (
    UPDATE ebb.instances
    SET revision = revision + 1, status = $3::text, state = $4::text, updated_at = $5::bigint,
        finished_at = $5::bigint, lease_owner = NULL, lease_handler = NULL, lease_queue = NULL
    WHERE id = $1::uuid AND revision = $2::bigint
      AND (lease_owner IS NOT NULL) = $30::boolean
    RETURNING id
),
events AS (
    -- include: add_history
    SELECT u.id, e.*
    FROM updated AS u CROSS JOIN (
        VALUES (
            $6::bigint, $7::text, $8::text, $9::text, $10::bigint, $11::bigint, $12::integer,
            $13::bigint, $14::text, $15::bigint, $16::bigint, $17::text
        ), (
            $18::bigint, $19::text, $20::text, $21::text, $22::bigint, $23::bigint, $24::integer,
            $25::bigint, $26::text, $27::bigint, $28::bigint, $29::text
        )
    ) AS e
),
removed AS (
    DELETE FROM ebb.tasks
    WHERE instance_id = (SELECT id FROM updated) AND NOT $30::boolean
      AND token > -9223372036854775807
)
SELECT 1::bigint, (SELECT i.revision FROM ebb.instances AS i WHERE i.id = $1::uuid)
WHERE NOT EXISTS (SELECT 1 FROM updated);

-- name: start_instance
-- One without a key, with one event and one task, which is folded when there is $29. It fails where
-- the id exists.
WITH added AS (
    INSERT INTO ebb.instances (
        id, workflow, version, status, revision, priority, created_at, updated_at, state,
        lease_owner, lease_handler, lease_queue
    )
    VALUES (
        $1::uuid, $2::text, $3::integer, $4::text, $5::bigint, $6::integer, $7::bigint, $8::bigint,
        $9::text, $29::text, $30::text, $31::text
    )
),
events AS (
    -- include: add_history
    VALUES (
        $1::uuid, $10::bigint, $11::text, $12::text, $13::text, $14::bigint, $15::bigint,
        $16::integer, $17::bigint, $18::text, $19::bigint, $20::bigint, $21::text
    )
)
-- include: put_rows
SELECT $1::uuid, $22::bigint, $23::text, $24::text, $25::bigint, $26::bigint,
       CASE WHEN $25::bigint <= greatest(
           $7::bigint, coalesce($28::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
       ) THEN 1 ELSE 0 END,
       $27::text
WHERE $29::text IS NULL;
