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

-- name: find_admin
SELECT name, document, expires_at FROM admin WHERE kind = ?1 AND name = ?2;

-- name: list_admin
SELECT name, document, expires_at FROM admin WHERE kind = ?1 ORDER BY name;

-- name: remove_admin
DELETE FROM admin WHERE kind = ?1 AND name = ?2;

-- name: expire_admin
DELETE FROM admin WHERE expires_at < ?1;
