-- name: now
SELECT coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint);

-- name: partitioning
-- The period, and whether this user may change the tables. No row if there are no partitions.
SELECT p.period, pg_catalog.pg_has_role(c.relowner, 'USAGE')
FROM ebb.partitioning AS p
JOIN pg_catalog.pg_class AS c ON c.oid = 'ebb.instances'::pg_catalog.regclass;

-- name: list_partitions
-- By name: the part of the table name after `instances_`, and the ids at which the partition begins
-- and ends. Without the default partition. The first partition may have no lower bound.
SELECT substr(c.relname, length('instances_') + 1), b.bounds[1]::uuid, b.bounds[2]::uuid
FROM pg_catalog.pg_inherits AS h
JOIN pg_catalog.pg_class AS c ON c.oid = h.inhrelid
CROSS JOIN LATERAL (
    SELECT pg_catalog.regexp_match(
        pg_catalog.pg_get_expr(c.relpartbound, c.oid),
        'FROM \((?:MINVALUE|''([0-9a-f-]{36})'')\) TO \(''([0-9a-f-]{36})''\)'
    ) AS bounds
) AS b
WHERE h.inhparent = 'ebb.instances'::pg_catalog.regclass AND b.bounds IS NOT NULL
ORDER BY b.bounds[2]::uuid;

-- name: describe_table
-- The properties of the table $1 that a copy by hand needs: storage parameters, the key, indexes and
-- rights.
SELECT d.kind, d.name, d.text
FROM pg_catalog.pg_class AS c
CROSS JOIN LATERAL (
    SELECT 1 AS place, 'options' AS kind, NULL::text AS name,
           pg_catalog.array_to_string(c.reloptions, ', ') AS text
    WHERE c.reloptions IS NOT NULL
    UNION ALL
    SELECT 2, 'key', i.relname::text, pg_catalog.pg_get_constraintdef(k.oid)
    FROM pg_catalog.pg_constraint AS k
    JOIN pg_catalog.pg_class AS i ON i.oid = k.conindid
    WHERE k.conrelid = c.oid AND k.contype = 'p'
    UNION ALL
    SELECT 3, 'index', i.relname::text, pg_catalog.pg_get_indexdef(x.indexrelid)
    FROM pg_catalog.pg_index AS x
    JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid
    WHERE x.indrelid = c.oid AND NOT x.indisprimary
    UNION ALL
    SELECT 4, 'grant', NULL, pg_catalog.format(
        'GRANT %s ON %s TO %s', a.privilege_type, c.oid::pg_catalog.regclass,
        CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END
    )
    FROM pg_catalog.aclexplode(c.relacl) AS a
    LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = a.grantee
    WHERE a.grantee <> c.relowner
) AS d
WHERE c.oid = pg_catalog.to_regclass($1::text)
ORDER BY d.place, d.name;

-- name: describe_views
SELECT c.oid::pg_catalog.regclass::text, pg_catalog.pg_get_viewdef(c.oid)
FROM pg_catalog.pg_class AS c
WHERE c.relkind = 'v' AND c.relnamespace = (
    SELECT t.relnamespace FROM pg_catalog.pg_class AS t
    WHERE t.oid = 'ebb.instances'::pg_catalog.regclass
)
ORDER BY c.oid;

-- name: greatest_id
-- The greatest existing id, and whether there is one.
SELECT i.id FROM ebb.instances AS i ORDER BY i.id DESC LIMIT 1;

-- name: begin_exchange
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL search_path = pg_catalog;
SET LOCAL lock_timeout = '2s';
LOCK TABLE ebb.instances, ebb.history IN ACCESS EXCLUSIVE MODE;

-- name: bound_table
-- A constraint that is then validated without blocking other sessions, so that the table becomes a
-- partition immediately.
ALTER TABLE ebb.{table} DROP CONSTRAINT IF EXISTS {table}_before;
ALTER TABLE ebb.{table} ADD CONSTRAINT {table}_before CHECK ({column} < '{bound}') NOT VALID;
COMMENT ON CONSTRAINT {table}_before ON ebb.{table} IS '{session}';

-- name: session
-- A name that no other session has, now or later.
SELECT pg_catalog.format('%s %s', a.pid, (extract(epoch FROM a.backend_start) * 1000000)::bigint)
FROM pg_catalog.pg_stat_activity AS a WHERE a.pid = pg_catalog.pg_backend_pid();

-- name: count_promises
-- The constraints of the session $1 that were validated.
SELECT count(*) FROM pg_catalog.pg_constraint AS k
WHERE k.conrelid IN (
    'ebb.instances'::pg_catalog.regclass, 'ebb.history'::pg_catalog.regclass
) AND k.conname IN ('instances_before', 'history_before') AND k.convalidated
  AND pg_catalog.obj_description(k.oid, 'pg_constraint') = $1::text;

-- name: broken_promises
-- Tables that have the bound of a session that is gone, or of $1, and that this user may change. Some
-- users cannot see when a session started. Its process id must then do.
SELECT c.relname::text
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.obj_description(k.oid, 'pg_constraint'), '') AS session
) AS p
WHERE c.oid IN ('ebb.instances'::pg_catalog.regclass, 'ebb.history'::pg_catalog.regclass)
  AND c.relkind = 'r' AND k.conname = c.relname || '_before'
  AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
  AND (p.session = $1::text OR NOT EXISTS (
      SELECT 1 FROM pg_catalog.pg_stat_activity AS a
      WHERE a.pid::text = split_part(p.session, ' ', 1)
        AND coalesce((extract(epoch FROM a.backend_start) * 1000000)::bigint::text, split_part(
            p.session, ' ', 2
        )) = split_part(p.session, ' ', 2)
  ))
ORDER BY c.relname DESC;

-- name: begin_withdrawal
-- The lock waits for long statements and makes other sessions wait behind it, so its timeout is
-- short.
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL search_path = pg_catalog;
SET LOCAL lock_timeout = '500ms';

-- name: withdraw_promise
ALTER TABLE ebb.{table} DROP CONSTRAINT IF EXISTS {table}_before;

-- name: check_bound
ALTER TABLE ebb.{table} VALIDATE CONSTRAINT {table}_before;

-- name: rename_table
ALTER TABLE ebb.{table} RENAME TO {table}_before;

-- name: rename_index
ALTER INDEX ebb.{name} RENAME TO {name}_before;

-- name: make_parent
CREATE TABLE ebb.{table} (
    LIKE ebb.{table}_before INCLUDING DEFAULTS INCLUDING STORAGE, {key}
) PARTITION BY RANGE ({column});
CREATE TABLE ebb.{table}_default PARTITION OF ebb.{table} DEFAULT {options};

-- name: attach_before
ALTER TABLE ebb.{table} ATTACH PARTITION ebb.{table}_before
    FOR VALUES FROM (MINVALUE) TO ('{bound}');
ALTER TABLE ebb.{table}_before DROP CONSTRAINT IF EXISTS {table}_before;

-- name: drop_before
DROP TABLE ebb.{table}_before;

-- name: replace_view
CREATE OR REPLACE VIEW {name} AS {text}

-- name: note_partitioning
INSERT INTO ebb.partitioning (id, period) VALUES (1, '{period}');

-- name: change_period
UPDATE ebb.partitioning SET period = $1::text WHERE id = 1 AND period <> $1::text;

-- name: end_exchange
COMMIT;

-- name: give_up
ROLLBACK;

-- name: begin_attaching
-- A session that waits for this lock makes all other sessions wait behind it, so its timeout is
-- short.
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL search_path = pg_catalog;
SET LOCAL lock_timeout = '200ms';
SET LOCAL idle_in_transaction_session_timeout = '5s';

-- name: attach_partition
CREATE TABLE ebb.{table}_{name} (LIKE ebb.{table} INCLUDING ALL) {options};
ALTER TABLE ebb.{table} ATTACH PARTITION ebb.{table}_{name}
    FOR VALUES FROM ('{from}') TO ('{to}');

-- name: has_young_ones
-- Is there an instance from the id $1 to $2 that must be kept? The rules are those of
-- purge_instances. First the instances that have not ended, which an index finds.
SELECT EXISTS (
    SELECT 1 FROM ebb.instances AS i
    WHERE i.id >= $1::uuid AND i.id < $2::uuid
      AND i.status IN ('running', 'paused', 'compensating', 'dead_letter')
) OR EXISTS (
    SELECT 1 FROM ebb.instances AS i
    LEFT JOIN unnest($3::text[], $4::bigint[], $5::bigint[]) AS r (workflow, completed, failed)
        ON r.workflow = i.workflow
    WHERE i.id >= $1::uuid AND i.id < $2::uuid
      AND (i.finished_at + CASE
          WHEN r.workflow IS NULL
          THEN CASE i.status WHEN 'completed' THEN $6::bigint ELSE $7::bigint END
          ELSE CASE i.status WHEN 'completed' THEN r.completed ELSE r.failed END
      END <= $8::bigint) IS NOT TRUE
);

-- name: begin_dropping
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL search_path = pg_catalog;
SET LOCAL lock_timeout = '200ms';
SET LOCAL idle_in_transaction_session_timeout = '5s';

-- name: free_keys
-- This takes long if there are many keys, so it comes before the lock for which all other sessions
-- wait. If the partition stays, this is rolled back with the rest.
DELETE FROM ebb.keys AS k USING ebb.instances AS i
WHERE i.id >= $1::uuid AND i.id < $2::uuid AND i.key IS NOT NULL
  AND k.key = i.key AND k.workflow = i.workflow AND k.instance_id = i.id;

-- name: free_waits
DELETE FROM ebb.waits WHERE instance_id >= $1::uuid AND instance_id < $2::uuid;

-- name: free_failures
DELETE FROM ebb.failures WHERE instance_id >= $1::uuid AND instance_id < $2::uuid;

-- name: free_labels
DELETE FROM ebb.labels WHERE instance_id >= $1::uuid AND instance_id < $2::uuid;

-- name: free_mail
DELETE FROM ebb.inbox WHERE instance_id >= $1::uuid AND instance_id < $2::uuid;

-- name: free_wakes
DELETE FROM ebb.tasks
WHERE instance_id >= $1::uuid AND instance_id < $2::uuid AND token = -9223372036854775807;

-- name: drop_partition
-- An ended instance stays ended. So one more look, while no other session can write, is enough to see
-- whether an instance has begun in the meantime. If so, the division by zero aborts everything.
LOCK TABLE ONLY ebb.instances, ONLY ebb.history IN ACCESS EXCLUSIVE MODE;
SELECT 1 / CASE WHEN EXISTS (
    SELECT 1 FROM ebb.instances_{name} AS i
    WHERE i.status IN ('running', 'paused', 'compensating', 'dead_letter')
) THEN 0 ELSE 1 END;
DROP TABLE ebb.instances_{name}, ebb.history_{name};
