-- name: list_retention
SELECT workflow, completed, failed, updated_at FROM retention ORDER BY workflow;

-- name: set_retention
INSERT INTO retention (workflow, completed, failed, updated_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (workflow) DO UPDATE SET
    completed = excluded.completed, failed = excluded.failed, updated_at = excluded.updated_at;

-- name: clear_retention
DELETE FROM retention WHERE workflow = ?1;

-- name: restart_sweep
UPDATE sweeps
SET number = number + 1, reached = '00000000-0000-0000-0000-000000000000', next_at = 0;

-- name: due_sweep
SELECT number, reached FROM sweeps
WHERE next_at <= ?1 AND EXISTS (SELECT 1 FROM retention);

-- name: take_sweep
UPDATE sweeps SET number = number + 1, next_at = ?2 WHERE number = ?1;

-- name: put_sweep
UPDATE sweeps SET reached = ?2, next_at = ?3 WHERE number = ?1;

-- name: purge_page
SELECT id, workflow, status, revision, finished_at FROM instances
WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3;

-- name: purge_instance
-- The caller has read the instance before it chose it, so the values are compared again.
DELETE FROM instances
WHERE id = ?1 AND finished_at <= ?2 AND status IN ('completed', 'failed', 'cancelled', 'aborted');

-- name: purge_history
DELETE FROM history WHERE instance_id = ?1;
