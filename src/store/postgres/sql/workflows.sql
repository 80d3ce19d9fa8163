-- name: add_workflow
INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)
VALUES ($1::text, $2::integer, $3::text, $4::text, $5::bigint)
ON CONFLICT DO NOTHING;

-- name: add_calls
-- For workers in SQL, which do not read definitions.
INSERT INTO ebb.calls (
    workflow, version, node, is_compensation, handler, queue, timeout, max_attempts
)
SELECT $1::text, $2::integer, c.node, c.is_compensation, c.handler, c.queue, c.timeout,
       c.max_attempts
FROM unnest($4::text[], $5::boolean[], $6::text[], $7::text[], $8::bigint[], $9::integer[])
    AS c (node, is_compensation, handler, queue, timeout, max_attempts)
WHERE EXISTS (
    SELECT 1 FROM ebb.workflows AS w
    WHERE w.name = $1::text AND w.version = $2::integer AND w.checksum = $3::text
)
ON CONFLICT DO NOTHING;

-- name: list_definitions
SELECT name, version, checksum, created_at, definition FROM ebb.workflows ORDER BY name, version;

-- name: workflow_checksum
SELECT checksum FROM ebb.workflows WHERE name = $1::text AND version = $2::integer;

-- name: find_workflow
SELECT name, version, checksum, created_at, definition FROM ebb.workflows
WHERE name = $1::text AND version = $2::integer;

-- name: find_newest_workflow
SELECT name, version, checksum, created_at, definition FROM ebb.workflows
WHERE name = $1::text ORDER BY version DESC LIMIT 1;

-- name: list_workflows
SELECT name, version, checksum, created_at FROM ebb.workflows ORDER BY name, version;
