-- name: use_wal
-- Yields the mode that is in force, which differs if the file system cannot share memory.
PRAGMA journal_mode = WAL;

-- name: synchronous_full
PRAGMA synchronous = FULL;

-- name: synchronous_normal
PRAGMA synchronous = NORMAL;

-- name: size_cache
-- At most 64 MiB; only what is used is taken.
PRAGMA cache_size = -65536;

-- name: only_read
PRAGMA query_only = ON;

-- name: attached_files
SELECT name, file FROM pragma_database_list;

-- name: begin_write
-- Takes the write lock at once, so a transaction never fails half-way because another one was first.
BEGIN IMMEDIATE;

-- name: commit_write
COMMIT;

-- name: rollback_write
ROLLBACK;

-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

-- name: has_migrations
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations';

-- name: list_migrations
SELECT number, name, checksum, applied_at FROM migrations ORDER BY number;

-- name: has_compatible_with
SELECT count(*) FROM pragma_table_info('migrations') WHERE name = 'compatible_with';

-- name: incompatible_migrations
-- Those after ?1 that a program which knows the schema up to there cannot work with.
SELECT count(*) FROM migrations
WHERE number > ?1 AND (compatible_with IS NULL OR compatible_with > ?1);

-- name: set_compatible_with
UPDATE migrations SET compatible_with = ?2 WHERE number = ?1;

-- name: add_migration
INSERT INTO migrations (number, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4);
