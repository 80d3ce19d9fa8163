-- name: add_workflow
INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)
VALUES ($1::text, $2::integer, $3::text, $4::text, $5::bigint)
ON CONFLICT DO NOTHING;

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
