-- name: find_key
SELECT instance_id FROM ebb.keys WHERE key = $2::text AND workflow = $1::text;

-- name: load_instance
-- include: instance_columns
FROM ebb.instances WHERE id = $1::uuid;

-- name: list_instances
-- parameters: before from workflows version limit
-- include: listed_instances
ORDER BY id DESC LIMIT $limit::bigint;

-- name: list_completed_instances
-- parameters: before from workflows version limit
-- include: listed_instances
  AND status = 'completed'
ORDER BY id DESC LIMIT $limit::bigint;

-- name: list_instances_by_status
-- parameters: before from workflows version limit status
-- include: listed_instances
  AND status = $status::text AND status <> 'completed'
ORDER BY id DESC LIMIT $limit::bigint;

-- name: list_instances_by_key
-- parameters: before from workflows version limit key
-- include: listed_instances_by_key
ORDER BY i.id DESC LIMIT $limit::bigint;

-- name: list_instances_oldest_first
-- parameters: before from workflows version limit
-- include: listed_instances
ORDER BY id LIMIT $limit::bigint;

-- name: list_completed_instances_oldest_first
-- parameters: before from workflows version limit
-- include: listed_instances
  AND status = 'completed'
ORDER BY id LIMIT $limit::bigint;

-- name: list_instances_by_status_oldest_first
-- parameters: before from workflows version limit status
-- include: listed_instances
  AND status = $status::text AND status <> 'completed'
ORDER BY id LIMIT $limit::bigint;

-- name: list_instances_by_key_oldest_first
-- parameters: before from workflows version limit key
-- include: listed_instances_by_key
ORDER BY i.id LIMIT $limit::bigint;

-- name: count_instances
SELECT workflow, status, count(*) FROM ebb.instances GROUP BY workflow, status;

-- name: count_versions
SELECT workflow, version, status, count(*) FROM ebb.instances GROUP BY workflow, version, status;
