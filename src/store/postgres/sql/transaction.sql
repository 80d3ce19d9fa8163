-- name: begin_transaction
BEGIN ISOLATION LEVEL READ COMMITTED;

-- name: commit_transaction
COMMIT;

-- name: rollback_transaction
ROLLBACK;

-- name: load_instance_for_update
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state
FROM ebb.instances WHERE id = $1::uuid
FOR UPDATE;
