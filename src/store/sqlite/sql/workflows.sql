-- name: add_workflow
INSERT INTO workflows (name, version, definition, checksum, created_at)
VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO NOTHING;

-- name: find_workflow
SELECT name, version, checksum, created_at, definition FROM workflows
WHERE name = ?1 AND version = ?2;

-- name: find_newest_workflow
SELECT name, version, checksum, created_at, definition FROM workflows
WHERE name = ?1 ORDER BY version DESC LIMIT 1;

-- name: list_workflows
SELECT name, version, checksum, created_at FROM workflows ORDER BY name, version;
