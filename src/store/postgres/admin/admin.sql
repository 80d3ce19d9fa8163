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

-- name: find_admin
SELECT name, document, expires_at FROM ebb.admin WHERE kind = $1::text AND name = $2::text;

-- name: list_admin
SELECT name, document, expires_at FROM ebb.admin WHERE kind = $1::text ORDER BY name;

-- name: remove_admin
DELETE FROM ebb.admin WHERE kind = $1::text AND name = $2::text RETURNING 1;

-- name: expire_admin
DELETE FROM ebb.admin WHERE expires_at < $1::bigint;
