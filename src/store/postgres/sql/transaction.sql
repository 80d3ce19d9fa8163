-- name: begin_transaction
BEGIN ISOLATION LEVEL READ COMMITTED;

-- name: commit_transaction
COMMIT;

-- name: rollback_transaction
ROLLBACK;

-- name: load_instance_for_update
-- include: instance_columns
FROM ebb.instances WHERE id = $1::uuid
FOR UPDATE;

-- name: pin_search_path
-- The first statement of each transaction in a session that others also use, and whose settings must
-- not change. Whatever the search path of the role and the database is, operators and functions are
-- those of PostgreSQL. The timeout prevents endless waits for a row that a person has locked.
SELECT pg_catalog.set_config('search_path', 'pg_catalog', true),
       pg_catalog.set_config('lock_timeout', '2s', true);

-- name: borrow_search_path
-- The same within the transaction of an application, which gets its own path back.
SELECT pg_catalog.set_config(
    'ebb_borrowed.search_path', pg_catalog.current_setting('search_path'), true
), pg_catalog.set_config('search_path', 'pg_catalog', true);

-- name: return_search_path
SELECT pg_catalog.set_config(
    'search_path', pg_catalog.current_setting('ebb_borrowed.search_path'), true
);
