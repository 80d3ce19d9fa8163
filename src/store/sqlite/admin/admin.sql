-- name: make_admin
-- What `ebb serve` keeps. Only a server makes it, so a database that none serves does not have it.
CREATE TABLE IF NOT EXISTS admin (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- name: add_admin
INSERT INTO admin (kind, name, document, expires_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (kind, name) DO NOTHING;

-- name: put_admin
INSERT INTO admin (kind, name, document, expires_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (kind, name) DO UPDATE SET
    document = excluded.document, expires_at = excluded.expires_at;

-- name: change_admin
UPDATE admin SET document = ?3, expires_at = ?4 WHERE kind = ?1 AND name = ?2;

-- name: find_admin
SELECT name, document, expires_at FROM admin WHERE kind = ?1 AND name = ?2;

-- name: list_admin
SELECT name, document, expires_at FROM admin WHERE kind = ?1 ORDER BY name;

-- name: remove_admin
DELETE FROM admin WHERE kind = ?1 AND name = ?2;

-- name: expire_admin
DELETE FROM admin WHERE expires_at < ?1;

-- name: make_audit
-- Rows are only ever added. Their order is that of their ids.
CREATE TABLE IF NOT EXISTS audit (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    principal TEXT NOT NULL,
    credential TEXT NOT NULL,
    remote TEXT NOT NULL,
    request_id TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    workflow TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL,
    chain TEXT NOT NULL,
    number INTEGER NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- name: index_audit
CREATE INDEX IF NOT EXISTS audit_by_target ON audit (target, id);

-- name: add_audit
INSERT INTO audit (
    id, at, principal, credential, remote, request_id, action, target, workflow, outcome, detail,
    chain, number, prev, hash
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (id) DO NOTHING;

-- name: list_audit_backward
SELECT id, at, principal, credential, remote, request_id, action, target, workflow, outcome, detail,
       chain, number, prev, hash
FROM audit
WHERE id < ?1 AND (?2 IS NULL OR principal = ?2) AND (?3 IS NULL OR action = ?3)
  AND (?4 IS NULL OR target = ?4)
  AND (?5 IS NULL OR workflow IN (SELECT value FROM json_each(?5))) AND at >= ?6
ORDER BY id DESC LIMIT ?7;

-- name: list_audit_forward
SELECT id, at, principal, credential, remote, request_id, action, target, workflow, outcome, detail,
       chain, number, prev, hash
FROM audit
WHERE id > ?1 AND (?2 IS NULL OR principal = ?2) AND (?3 IS NULL OR action = ?3)
  AND (?4 IS NULL OR target = ?4)
  AND (?5 IS NULL OR workflow IN (SELECT value FROM json_each(?5))) AND at >= ?6
ORDER BY id LIMIT ?7;

-- name: remove_audit
DELETE FROM audit WHERE id <= ?1;
