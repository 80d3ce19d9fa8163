-- name: find_key
SELECT id FROM ebb.instances WHERE key = $2::text AND workflow = $1::text;

-- name: load_instance
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state
FROM ebb.instances WHERE id = $1::uuid;

-- name: list_instances
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state
FROM ebb.instances
WHERE id < $1::uuid
  AND ($2::text IS NULL OR workflow = $2::text)
  AND ($3::integer IS NULL OR version = $3::integer)
ORDER BY id DESC LIMIT $4::bigint;

-- name: list_completed_instances
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state
FROM ebb.instances
WHERE id < $1::uuid
  AND ($2::text IS NULL OR workflow = $2::text)
  AND ($3::integer IS NULL OR version = $3::integer)
  AND status = 'completed'
ORDER BY id DESC LIMIT $4::bigint;

-- name: list_instances_by_status
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state
FROM ebb.instances
WHERE id < $1::uuid
  AND ($2::text IS NULL OR workflow = $2::text)
  AND ($3::integer IS NULL OR version = $3::integer)
  AND status = $5::text AND status <> 'completed'
ORDER BY id DESC LIMIT $4::bigint;

-- name: list_instances_by_key
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state
FROM ebb.instances
WHERE key = $5::text AND id < $1::uuid
  AND ($2::text IS NULL OR workflow = $2::text)
  AND ($3::integer IS NULL OR version = $3::integer)
ORDER BY id DESC LIMIT $4::bigint;

-- name: count_instances
SELECT workflow, status, count(*) FROM ebb.instances GROUP BY workflow, status;
