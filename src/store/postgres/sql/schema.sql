-- name: begin_migration
-- Types, operators and functions have no schema in what follows, and are not to be somebody else's.
BEGIN;
SET LOCAL search_path = pg_catalog;

-- name: commit_migration
COMMIT;

-- name: rollback_migration
ROLLBACK;

-- name: create_schema
CREATE SCHEMA IF NOT EXISTS ebb;

-- name: create_migrations
CREATE TABLE IF NOT EXISTS ebb.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at bigint NOT NULL
);

-- name: has_schema
SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1::text;

-- name: has_migrations
SELECT count(*) FROM pg_catalog.pg_tables
WHERE schemaname = $1::text AND tablename = 'migrations';

-- name: list_migrations
SELECT number, name, checksum, applied_at FROM ebb.migrations ORDER BY number;

-- name: add_migration
-- Its key is the lock: of several processes that migrate at once, the others wait here and then
-- find that it is done.
INSERT INTO ebb.migrations (number, name, checksum, applied_at)
VALUES (
    $1::integer, $2::text, $3::text,
    coalesce($4::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
);
