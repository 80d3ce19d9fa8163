-- name: find_key
SELECT instance_id FROM ebb.keys WHERE key = $2::text AND workflow = $1::text;

-- name: load_instance
-- include: instance_columns
FROM ebb.instances WHERE id = $1::uuid;

-- name: list_instances
-- include: instance_columns
FROM ebb.instances
WHERE id < $1::uuid
  AND CASE WHEN $2::text[] IS NULL THEN workflow NOT LIKE 'ebb:%'
           ELSE $2::text[] = '{*}' OR workflow = ANY ($2::text[]) END
  AND ($3::integer IS NULL OR version = $3::integer)
ORDER BY id DESC LIMIT $4::bigint;

-- name: list_completed_instances
-- include: instance_columns
FROM ebb.instances
WHERE id < $1::uuid
  AND CASE WHEN $2::text[] IS NULL THEN workflow NOT LIKE 'ebb:%'
           ELSE $2::text[] = '{*}' OR workflow = ANY ($2::text[]) END
  AND ($3::integer IS NULL OR version = $3::integer)
  AND status = 'completed'
ORDER BY id DESC LIMIT $4::bigint;

-- name: list_instances_by_status
-- include: instance_columns
FROM ebb.instances
WHERE id < $1::uuid
  AND CASE WHEN $2::text[] IS NULL THEN workflow NOT LIKE 'ebb:%'
           ELSE $2::text[] = '{*}' OR workflow = ANY ($2::text[]) END
  AND ($3::integer IS NULL OR version = $3::integer)
  AND status = $5::text AND status <> 'completed'
ORDER BY id DESC LIMIT $4::bigint;

-- name: list_instances_by_key
SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority,
       i.created_at, i.updated_at, i.finished_at, i.state
FROM ebb.keys AS k
JOIN ebb.instances AS i ON i.id = k.instance_id
WHERE k.key = $5::text AND k.instance_id < $1::uuid
  AND CASE WHEN $2::text[] IS NULL THEN k.workflow NOT LIKE 'ebb:%'
           ELSE $2::text[] = '{*}' OR k.workflow = ANY ($2::text[]) END
  AND ($3::integer IS NULL OR i.version = $3::integer)
ORDER BY i.id DESC LIMIT $4::bigint;

-- name: count_instances
SELECT workflow, status, count(*) FROM ebb.instances GROUP BY workflow, status;

-- name: count_versions
SELECT workflow, version, status, count(*) FROM ebb.instances GROUP BY workflow, version, status;
