-- name: add_instance
INSERT INTO instances (
    id, workflow, version, key, status, revision, priority,
    created_at, updated_at, finished_at, state
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT DO NOTHING;

-- name: advance_instance
-- The hop: the status stays, so no index is touched.
UPDATE instances SET revision = revision + 1, state = ?4, updated_at = ?5
WHERE id = ?1 AND revision = ?2 AND status = ?3;

-- name: change_instance
UPDATE instances
SET revision = revision + 1, status = ?3, state = ?4, updated_at = ?5, finished_at = ?6
WHERE id = ?1 AND revision = ?2;

-- name: set_version
UPDATE instances SET version = ?2 WHERE id = ?1;

-- name: touch_instance
UPDATE instances SET revision = revision WHERE id = ?1;

-- name: has_instance
SELECT 1 FROM instances WHERE id = ?1;

-- name: find_key
SELECT id FROM instances WHERE key = ?2 AND workflow = ?1;

-- name: load_instance
-- include: instance_columns
FROM instances WHERE id = ?1;

-- name: list_instances
-- parameters: before from workflows version limit
-- include: instance_columns
FROM instances
-- include: between_and_of_workflows
ORDER BY id DESC LIMIT ?limit;

-- name: list_instances_by_status
-- parameters: before from workflows version limit status
-- include: instance_columns
FROM instances INDEXED BY instances_by_status
-- include: between_and_of_workflows
  AND status = ?status
ORDER BY id DESC LIMIT ?limit;

-- name: list_instances_by_key
-- parameters: before from workflows version limit key
-- include: instance_columns
FROM instances INDEXED BY instances_by_key
-- include: between_and_of_workflows
  AND key = ?key
ORDER BY id DESC LIMIT ?limit;

-- name: list_instances_oldest_first
-- parameters: before from workflows version limit
-- include: instance_columns
FROM instances
-- include: between_and_of_workflows
ORDER BY id LIMIT ?limit;

-- name: list_instances_by_status_oldest_first
-- parameters: before from workflows version limit status
-- include: instance_columns
FROM instances INDEXED BY instances_by_status
-- include: between_and_of_workflows
  AND status = ?status
ORDER BY id LIMIT ?limit;

-- name: list_instances_by_key_oldest_first
-- parameters: before from workflows version limit key
-- include: instance_columns
FROM instances INDEXED BY instances_by_key
-- include: between_and_of_workflows
  AND key = ?key
ORDER BY id LIMIT ?limit;

-- name: count_instances
SELECT workflow, status, count(*) FROM instances INDEXED BY instances_by_status
GROUP BY workflow, status;

-- name: count_versions
SELECT workflow, version, status, count(*) FROM instances INDEXED BY instances_by_status
GROUP BY workflow, version, status;
