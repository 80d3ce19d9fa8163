-- name: server_health
SELECT
    current_setting('server_version'),
    current_setting('autovacuum')::boolean,
    pg_database_size(current_database()),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    current_setting('max_connections')::integer;

-- name: table_health
SELECT
    s.relname::text,
    s.n_live_tup,
    s.n_dead_tup,
    NOT ('autovacuum_enabled=false' = ANY (coalesce(c.reloptions, '{}'))),
    coalesce(extract(epoch FROM greatest(s.last_vacuum, s.last_autovacuum)) * 1000000, 0)::bigint
FROM pg_stat_user_tables AS s
JOIN pg_class AS c ON c.oid = s.relid
WHERE s.schemaname = $1::text
ORDER BY s.relname;
