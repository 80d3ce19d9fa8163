-- name: create_snapshots
-- A table of Refluxo's form, with the version that the optimistic lock compares. json, not jsonb:
-- payloads come back as they were, 1e2 as 1e2 and not as 100.
CREATE TABLE IF NOT EXISTS ebb.workflow_executions (
    id varchar(255) COLLATE "C" PRIMARY KEY,
    snapshot json NOT NULL,
    status varchar(50) COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    workflow text NOT NULL,
    next_retry_at timestamptz,
    next_due_at timestamptz,
    saved_by text NOT NULL,
    save_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    run_id text NOT NULL DEFAULT ''
);

CREATE INDEX IF NOT EXISTS workflow_executions_by_status
    ON ebb.workflow_executions (status, id);
CREATE INDEX IF NOT EXISTS workflow_executions_by_retry
    ON ebb.workflow_executions (next_retry_at, id) WHERE next_retry_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS workflow_executions_by_due
    ON ebb.workflow_executions (next_due_at, id) WHERE next_due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS workflow_executions_by_expiry
    ON ebb.workflow_executions (expires_at) WHERE expires_at IS NOT NULL;

-- name: add_run_id
-- Rows of before it have snapshots without a run id.
ALTER TABLE ebb.workflow_executions ADD COLUMN IF NOT EXISTS run_id text NOT NULL DEFAULT '';

-- name: columns_of_snapshots
SELECT column_name::text FROM information_schema.columns
WHERE table_schema = $1::text AND table_name = 'workflow_executions';

-- name: insert_snapshot
INSERT INTO ebb.workflow_executions AS old (
    id, status, version, workflow, next_retry_at, next_due_at, saved_by, save_id, snapshot,
    created_at, updated_at, expires_at, run_id
)
VALUES (
    $1::text, $2::text, $3::bigint, $4::text,
    ('epoch'::timestamptz + $5::bigint * interval '1 microsecond'),
    ('epoch'::timestamptz + $6::bigint * interval '1 microsecond'),
    $7::text, $8::text, $9::text::json,
    coalesce('epoch'::timestamptz + $10::bigint * interval '1 microsecond', now()),
    coalesce('epoch'::timestamptz + $10::bigint * interval '1 microsecond', now()),
    coalesce('epoch'::timestamptz + $10::bigint * interval '1 microsecond', now())
        + $11::bigint * interval '1 microsecond',
    $12::text
)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, version = excluded.version, workflow = excluded.workflow,
    next_retry_at = excluded.next_retry_at, next_due_at = excluded.next_due_at,
    saved_by = excluded.saved_by, save_id = excluded.save_id, snapshot = excluded.snapshot,
    created_at = excluded.created_at, updated_at = excluded.updated_at,
    expires_at = excluded.expires_at, run_id = excluded.run_id
WHERE old.expires_at <= excluded.updated_at;

-- name: update_snapshot
UPDATE ebb.workflow_executions
SET status = $2::text, version = $3::bigint, workflow = $4::text,
    next_retry_at = ('epoch'::timestamptz + $5::bigint * interval '1 microsecond'),
    next_due_at = ('epoch'::timestamptz + $6::bigint * interval '1 microsecond'),
    saved_by = $7::text, save_id = $8::text, snapshot = $9::text::json,
    updated_at = coalesce('epoch'::timestamptz + $10::bigint * interval '1 microsecond', now()),
    expires_at = coalesce('epoch'::timestamptz + $10::bigint * interval '1 microsecond', now())
        + $11::bigint * interval '1 microsecond'
WHERE id = $1::text AND run_id = $12::text AND version = $13::bigint
    AND (
        expires_at IS NULL
        OR expires_at > coalesce('epoch'::timestamptz + $10::bigint * interval '1 microsecond', now())
    );

-- fragment: snapshot_columns
id, status, version, workflow,
(extract(epoch FROM next_retry_at) * 1000000)::bigint,
(extract(epoch FROM next_due_at) * 1000000)::bigint,
saved_by, save_id,
(extract(epoch FROM created_at) * 1000000)::bigint,
(extract(epoch FROM updated_at) * 1000000)::bigint,
(extract(epoch FROM expires_at) * 1000000)::bigint, run_id

-- fragment: time_now
coalesce('epoch'::timestamptz + $now::bigint * interval '1 microsecond', now())

-- fragment: is_not_expired
(
    expires_at IS NULL
    OR expires_at > -- include: time_now
)

-- name: snapshot_info
-- parameters: id now
SELECT -- include: snapshot_columns
FROM ebb.workflow_executions
WHERE -- include: is_not_expired
    AND id = $id::text;

-- name: load_snapshot
-- parameters: id now
SELECT -- include: snapshot_columns,
    snapshot::text
FROM ebb.workflow_executions
WHERE -- include: is_not_expired
    AND id = $id::text;

-- name: remove_snapshot
-- parameters: id now version run
DELETE FROM ebb.workflow_executions
WHERE id = $id::text AND ($version::bigint IS NULL OR version = $version::bigint)
    AND ($run::text IS NULL OR run_id = $run::text)
    AND -- include: is_not_expired
RETURNING -- include: snapshot_columns

-- name: list_snapshots
-- parameters: after now limit
SELECT -- include: snapshot_columns
FROM ebb.workflow_executions
WHERE id > $after::text
    AND -- include: is_not_expired
ORDER BY id LIMIT $limit::integer;

-- name: list_snapshots_of_status
-- parameters: after now limit status
SELECT -- include: snapshot_columns
FROM ebb.workflow_executions
WHERE status = $status::text AND id > $after::text
    AND -- include: is_not_expired
ORDER BY id LIMIT $limit::integer;

-- name: due_snapshots
-- parameters: now at after pause limit
SELECT -- include: snapshot_columns
FROM ebb.workflow_executions
WHERE next_due_at <= -- include: time_now
    AND (next_due_at, id) > (
        coalesce('epoch'::timestamptz + $at::bigint * interval '1 microsecond', '-infinity'), $after::text
    )
    AND updated_at <= -- include: time_now
        - $pause::bigint * interval '1 microsecond'
    AND -- include: is_not_expired
ORDER BY next_due_at, id LIMIT $limit::integer;

-- name: due_retries
-- parameters: now at after pause limit
SELECT -- include: snapshot_columns
FROM ebb.workflow_executions
WHERE next_retry_at <= -- include: time_now
    AND (next_retry_at, id) > (
        coalesce('epoch'::timestamptz + $at::bigint * interval '1 microsecond', '-infinity'), $after::text
    )
    AND updated_at <= -- include: time_now
        - $pause::bigint * interval '1 microsecond'
    AND -- include: is_not_expired
ORDER BY next_retry_at, id LIMIT $limit::integer;

-- name: purge_snapshots
-- parameters: now limit
DELETE FROM ebb.workflow_executions WHERE id IN (
    SELECT id FROM ebb.workflow_executions
    WHERE expires_at <= -- include: time_now
    ORDER BY expires_at LIMIT $limit::integer
    FOR UPDATE SKIP LOCKED
);
