-- name: make_admin
-- What `ebb serve` keeps. Only a server makes it, so a database that none serves does not have it.
-- Asked for first: a user without the right to create tables may still use what is there.
CREATE TABLE IF NOT EXISTS ebb.admin (
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    document text NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (kind, name)
);

-- name: has_admin
SELECT 1 WHERE to_regclass('ebb.admin') IS NOT NULL;

-- name: add_admin
INSERT INTO ebb.admin (kind, name, document, expires_at)
VALUES ($1::text, $2::text, $3::text, $4::bigint)
ON CONFLICT (kind, name) DO NOTHING
RETURNING 1;

-- name: put_admin
INSERT INTO ebb.admin (kind, name, document, expires_at)
VALUES ($1::text, $2::text, $3::text, $4::bigint)
ON CONFLICT (kind, name) DO UPDATE SET
    document = excluded.document, expires_at = excluded.expires_at;

-- name: change_admin
UPDATE ebb.admin SET document = $3::text, expires_at = $4::bigint
WHERE kind = $1::text AND name = $2::text
RETURNING 1;

-- name: find_admin
SELECT name, document, expires_at FROM ebb.admin WHERE kind = $1::text AND name = $2::text;

-- name: list_admin
SELECT name, document, expires_at FROM ebb.admin WHERE kind = $1::text ORDER BY name;

-- name: remove_admin
DELETE FROM ebb.admin WHERE kind = $1::text AND name = $2::text RETURNING 1;

-- name: expire_admin
DELETE FROM ebb.admin WHERE expires_at < $1::bigint;

-- name: has_audit
SELECT 1 WHERE to_regclass('ebb.audit') IS NOT NULL;

-- name: make_audit
-- Rows are only ever added. Their order is that of their ids.
CREATE TABLE IF NOT EXISTS ebb.audit (
    at bigint NOT NULL,
    number bigint NOT NULL,
    id text COLLATE "C" PRIMARY KEY,
    principal text COLLATE "C" NOT NULL,
    credential text COLLATE "C" NOT NULL,
    remote text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    detail text NOT NULL,
    chain text COLLATE "C" NOT NULL,
    prev text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL
);

-- name: index_audit
CREATE INDEX IF NOT EXISTS audit_by_target ON ebb.audit (target, id);

-- name: add_audit
INSERT INTO ebb.audit (
    id, at, principal, credential, remote, request_id, action, target, workflow, outcome, detail,
    chain, number, prev, hash
)
VALUES (
    $1::text, $2::bigint, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text,
    $10::text, $11::text, $12::text, $13::bigint, $14::text, $15::text
)
ON CONFLICT (id) DO NOTHING;

-- name: list_audit_backward
SELECT id, at, principal, credential, remote, request_id, action, target, workflow, outcome, detail,
       chain, number, prev, hash
FROM ebb.audit
WHERE id < $1::text
  AND ($2::text IS NULL OR principal = $2::text) AND ($3::text IS NULL OR action = $3::text)
  AND ($4::text IS NULL OR target = $4::text)
  AND ($5::text[] IS NULL OR workflow = ANY ($5::text[])) AND at >= $6::bigint
ORDER BY id DESC LIMIT $7::bigint;

-- name: list_audit_forward
SELECT id, at, principal, credential, remote, request_id, action, target, workflow, outcome, detail,
       chain, number, prev, hash
FROM ebb.audit
WHERE id > $1::text
  AND ($2::text IS NULL OR principal = $2::text) AND ($3::text IS NULL OR action = $3::text)
  AND ($4::text IS NULL OR target = $4::text)
  AND ($5::text[] IS NULL OR workflow = ANY ($5::text[])) AND at >= $6::bigint
ORDER BY id LIMIT $7::bigint;

-- name: remove_audit
DELETE FROM ebb.audit WHERE id <= $1::text RETURNING 1;
