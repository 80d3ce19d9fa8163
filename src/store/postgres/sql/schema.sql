-- name: begin_migration
-- The statements that follow name types, operators and functions without a schema. They must not
-- resolve to another user's objects.
BEGIN;
SET LOCAL search_path = pg_catalog;
SET LOCAL lock_timeout = '10s';

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
    applied_at bigint NOT NULL,
    compatible_with integer
);
ALTER TABLE ebb.migrations ADD COLUMN IF NOT EXISTS compatible_with integer;

-- name: has_schema
SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1::text;

-- name: has_migrations
SELECT count(*) FROM pg_catalog.pg_tables
WHERE schemaname = $1::text AND tablename = 'migrations';

-- name: has_compatible_with
SELECT count(*) FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace AS s ON s.oid = c.relnamespace
WHERE s.nspname = $1::text AND c.relname = 'migrations' AND a.attname = 'compatible_with';

-- name: list_migrations
-- compatible_with: programs that know the schema up to that number can continue with this migration;
-- NULL means none. The column was added after the table.
SELECT m.number, m.name, m.checksum, m.applied_at,
       (pg_catalog.to_jsonb(m) ->> 'compatible_with')::integer
FROM ebb.migrations AS m ORDER BY m.number;

-- name: add_migration
-- The key serves as the lock. If several processes migrate at the same time, the others wait here and
-- then find that the work is done.
INSERT INTO ebb.migrations (number, name, checksum, applied_at, compatible_with)
VALUES (
    $1::integer, $2::text, $3::text,
    coalesce($4::bigint, (extract(epoch FROM now()) * 1000000)::bigint), $5::integer
);

-- name: missing_rights
-- The rights that a worker needs for its work and does not have, as the statements that grant them.
-- They are fewer than the grants of its role: a worker that starts and purges no instances needs no
-- more.
WITH needed (name, verb) AS (
    VALUES ('migrations', 'SELECT'), ('workflows', 'SELECT'), ('all_tasks', 'SELECT'),
        ('instances', 'SELECT'), ('instances', 'UPDATE'),
        ('tasks', 'SELECT'), ('tasks', 'INSERT'), ('tasks', 'UPDATE'), ('tasks', 'DELETE'),
        ('history', 'SELECT'), ('history', 'INSERT'),
        ('workers', 'SELECT'), ('workers', 'INSERT'), ('workers', 'UPDATE'), ('workers', 'DELETE'),
        ('waits', 'SELECT'), ('waits', 'INSERT'), ('waits', 'UPDATE'), ('waits', 'DELETE'),
        ('failures', 'SELECT'), ('failures', 'INSERT'), ('failures', 'UPDATE'),
        ('failures', 'DELETE'), ('queues', 'SELECT'), ('queues', 'UPDATE'),
        ('queue_starts', 'SELECT'), ('queue_starts', 'INSERT'), ('queue_starts', 'UPDATE'),
        ('queue_starts', 'DELETE'), ('subscriptions', 'SELECT'), ('outbox', 'SELECT'),
        ('outbox', 'INSERT'), ('outbox', 'DELETE'), ('inbox', 'SELECT'), ('inbox', 'DELETE'),
        ('calls', 'INSERT')
),
missing AS (
    SELECT n.name, string_agg(n.verb, ', ' ORDER BY n.verb) AS verbs
    FROM needed AS n
    JOIN pg_catalog.pg_class AS c ON c.relname = n.name
    JOIN pg_catalog.pg_namespace AS s ON s.oid = c.relnamespace AND s.nspname = $1::text
    WHERE NOT has_table_privilege(c.oid, n.verb)
      -- Only a worker that may register workflows writes down what they call.
      AND (n.name <> 'calls' OR EXISTS (
          SELECT 1 FROM pg_catalog.pg_class AS w
          WHERE w.relnamespace = s.oid AND w.relname = 'workflows'
            AND has_table_privilege(w.oid, 'INSERT')
      ))
    GROUP BY n.name
),
grants (number, name, text) AS (
    SELECT 1, '', format('GRANT USAGE ON SCHEMA %I TO %I;', s.nspname, current_user)
    FROM pg_catalog.pg_namespace AS s
    WHERE s.nspname = $1::text AND NOT has_schema_privilege(s.oid, 'USAGE')
    UNION ALL
    SELECT 2, m.name, format('GRANT %s ON %I.%I TO %I;', m.verbs, $1::text, m.name, current_user)
    FROM missing AS m
)
SELECT current_user, coalesce(string_agg(g.text, ' ' ORDER BY g.number, g.name), '') FROM grants AS g;
