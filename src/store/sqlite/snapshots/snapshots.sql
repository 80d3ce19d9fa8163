-- name: create_snapshots
-- A table of Refluxo's form, with the version that the optimistic lock compares. Times are
-- microseconds since 1970.
CREATE TABLE IF NOT EXISTS workflow_executions (
    id TEXT PRIMARY KEY NOT NULL,
    status TEXT NOT NULL,
    version INTEGER NOT NULL,
    workflow TEXT NOT NULL,
    next_retry_at INTEGER,
    next_due_at INTEGER,
    saved_by TEXT NOT NULL,
    save_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    snapshot TEXT NOT NULL,
    run_id TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX IF NOT EXISTS workflow_executions_by_status ON workflow_executions (status, id);
CREATE INDEX IF NOT EXISTS workflow_executions_by_retry ON workflow_executions (next_retry_at, id)
    WHERE next_retry_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS workflow_executions_by_due ON workflow_executions (next_due_at, id)
    WHERE next_due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS workflow_executions_by_expiry ON workflow_executions (expires_at)
    WHERE expires_at IS NOT NULL;

-- name: add_run_id
-- Rows of before it have snapshots without a run id.
ALTER TABLE workflow_executions ADD COLUMN run_id TEXT NOT NULL DEFAULT '';

-- name: columns_of_snapshots
SELECT name FROM pragma_table_info('workflow_executions');

-- name: insert_snapshot
INSERT INTO workflow_executions (
    id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id,
    created_at, updated_at, expires_at, snapshot, run_id
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, version = excluded.version, workflow = excluded.workflow,
    next_retry_at = excluded.next_retry_at, next_due_at = excluded.next_due_at,
    saved_by = excluded.saved_by, save_id = excluded.save_id,
    created_at = excluded.created_at, updated_at = excluded.updated_at,
    expires_at = excluded.expires_at, snapshot = excluded.snapshot, run_id = excluded.run_id
WHERE workflow_executions.expires_at <= ?9;

-- name: update_snapshot
UPDATE workflow_executions
SET status = ?2, version = ?3, workflow = ?4, next_retry_at = ?5, next_due_at = ?6, saved_by = ?7,
    save_id = ?8, updated_at = ?9, expires_at = ?10, snapshot = ?11
WHERE id = ?1 AND run_id = ?12 AND version = ?13 AND (expires_at IS NULL OR expires_at > ?9);

-- name: snapshot_info
SELECT id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id, created_at,
    updated_at, expires_at, run_id
FROM workflow_executions
WHERE id = ?1 AND (expires_at IS NULL OR expires_at > ?2);

-- name: load_snapshot
SELECT id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id, created_at,
    updated_at, expires_at, run_id, snapshot
FROM workflow_executions
WHERE id = ?1 AND (expires_at IS NULL OR expires_at > ?2);

-- name: remove_snapshot
DELETE FROM workflow_executions WHERE id = ?1;

-- name: list_snapshots
SELECT id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id, created_at,
    updated_at, expires_at, run_id
FROM workflow_executions
WHERE id > ?1 AND (expires_at IS NULL OR expires_at > ?2)
ORDER BY id LIMIT ?3;

-- name: list_snapshots_of_status
SELECT id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id, created_at,
    updated_at, expires_at, run_id
FROM workflow_executions
WHERE status = ?4 AND id > ?1 AND (expires_at IS NULL OR expires_at > ?2)
ORDER BY id LIMIT ?3;

-- name: due_snapshots
SELECT id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id, created_at,
    updated_at, expires_at, run_id
FROM workflow_executions
WHERE next_due_at <= ?1 AND (next_due_at, id) > (?2, ?3) AND updated_at <= ?4
    AND (expires_at IS NULL OR expires_at > ?1)
ORDER BY next_due_at, id LIMIT ?5;

-- name: due_retries
SELECT id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id, created_at,
    updated_at, expires_at, run_id
FROM workflow_executions
WHERE next_retry_at <= ?1 AND (next_retry_at, id) > (?2, ?3) AND updated_at <= ?4
    AND (expires_at IS NULL OR expires_at > ?1)
ORDER BY next_retry_at, id LIMIT ?5;

-- name: purge_snapshots
DELETE FROM workflow_executions WHERE id IN (
    SELECT id FROM workflow_executions WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2
);
