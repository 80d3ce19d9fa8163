-- name: begin_reading
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL datestyle = 'ISO, YMD';
SET LOCAL intervalstyle = 'postgres'

-- name: enter_schema
SELECT set_config('search_path', 'pg_catalog, ' || quote_ident($1), true)

-- name: find_tables
-- What a flow of WED-SQL must have and does not; and what only its first and third version, or a flow of Ebb, has.
-- The server may be as old as PostgreSQL 9.5.
SELECT w.tab, w.col
FROM (VALUES
    ('wed_attr', 'aid'), ('wed_attr', 'aname'), ('wed_attr', 'adv'), ('wed_trig', 'tgid'), ('wed_trig', 'tgname'),
    ('wed_trig', 'enabled'), ('wed_trig', 'trname'), ('wed_trig', 'cname'), ('wed_trig', 'cpred'),
    ('wed_trig', 'cfinal'), ('wed_trig', 'timeout'), ('wed_flow', 'wid'), ('job_pool', 'wid'), ('job_pool', 'tgid'),
    ('job_pool', 'trname'), ('wed_trace', 'wid'), ('wed_trace', 'trw'), ('wed_trace', 'trf'), ('wed_trace', 'status'),
    ('wed_trace', 'tstmp'), ('wed_trace', 'state')
) AS w (tab, col)
WHERE NOT EXISTS (
    SELECT 1 FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = w.tab AND a.attname = w.col AND NOT a.attisdropped
)
UNION ALL
SELECT 'version', CASE
    WHEN c.relname = 'wed_pred' THEN '1' WHEN c.relkind = 'v' THEN '3' ELSE 'ebb'
END
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND (
    c.relname = 'wed_pred' OR (c.relname = 'wed_flow' AND (c.relkind = 'v' OR EXISTS (
        SELECT 1 FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attname = 'instance_id' AND NOT a.attisdropped
    )))
)

-- name: read_attributes
SELECT a.aid, a.aname, a.adv FROM wed_attr AS a ORDER BY a.aid

-- name: read_triggers
SELECT t.tgid, t.tgname, CASE WHEN NOT t.cfinal THEN t.trname END, t.cpred, t.cfinal, t.enabled,
       CASE WHEN NOT t.cfinal THEN (extract(epoch FROM t.timeout) * 1000000)::bigint END
FROM wed_trig AS t ORDER BY t.tgid

-- name: count_rows
SELECT (SELECT count(*) FROM wed_flow), (SELECT count(*) FROM job_pool), (
    SELECT count(*) FROM job_pool AS j WHERE EXISTS (
        SELECT 1 FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
          AND l.classid = j.wid::bigint::oid AND l.objid = j.tgid::bigint::oid
    )
)

-- name: other_columns
SELECT c.attname FROM pg_attribute AS c JOIN pg_class AS t ON t.oid = c.attrelid
JOIN pg_namespace AS n ON n.oid = t.relnamespace
WHERE n.nspname = $1 AND t.relname = 'wed_flow' AND c.attnum > 0 AND NOT c.attisdropped AND c.attname <> 'wid'
  AND c.attname NOT IN (SELECT a.aname::name FROM wed_attr AS a)
ORDER BY c.attnum

-- name: copy_attributes
COPY (SELECT a.aid, a.aname, a.adv FROM wed_attr AS a ORDER BY a.aid) TO STDOUT

-- name: copy_triggers
COPY (
    SELECT t.tgid, t.tgname, t.enabled, t.trname, t.cname, t.cpred, t.cfinal, t.timeout FROM wed_trig AS t
    ORDER BY t.tgid
) TO STDOUT

-- name: copy_jobs
COPY (SELECT j.wid, j.trname FROM job_pool AS j) TO STDOUT

-- name: copy_trace
-- In the order in which the rows are stored, which is that in which they were written.
COPY (
    SELECT t.wid, t.trw, t.trf, t.status, t.tstmp::timestamptz, t.state FROM wed_trace AS t ORDER BY t.ctid
) TO STDOUT

-- name: copy_instances
-- The statement that copies the instances: each flow has columns of its own.
SELECT format(
    'COPY (SELECT f.wid%s FROM wed_flow AS f ORDER BY f.wid) TO STDOUT',
    string_agg(format(', f.%I', a.aname), '' ORDER BY a.aid)
) FROM wed_attr AS a

-- name: has_import
SELECT EXISTS (
    SELECT 1 FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = $1 AND p.proname = 'import_wed'
)

-- name: make_tables
BEGIN;
SET LOCAL datestyle = 'ISO, YMD';
SET LOCAL intervalstyle = 'postgres';
CREATE TEMPORARY TABLE wed_attr (aid integer, aname text, adv text) ON COMMIT DROP;
CREATE TEMPORARY TABLE wed_trig (
    tgid integer, tgname text, enabled boolean, trname text, cname text, cpred text, cfinal boolean, timeout interval
) ON COMMIT DROP;
CREATE TEMPORARY TABLE job_pool (wid bigint, trname text) ON COMMIT DROP;
CREATE TEMPORARY TABLE wed_trace (
    wid bigint, trw text, trf text[], status text, tstmp timestamptz, state json
) ON COMMIT DROP

-- name: make_instances
DO $do$ BEGIN
    EXECUTE (
        SELECT format(
            'CREATE TEMPORARY TABLE wed_flow (wid bigint%s) ON COMMIT DROP',
            string_agg(format(', %I text', a.aname), '' ORDER BY a.aid)
        ) FROM pg_temp.wed_attr AS a
    );
END $do$

-- name: fill_attributes
COPY pg_temp.wed_attr FROM STDIN

-- name: fill_triggers
COPY pg_temp.wed_trig FROM STDIN

-- name: fill_jobs
COPY pg_temp.job_pool FROM STDIN

-- name: fill_trace
COPY pg_temp.wed_trace FROM STDIN

-- name: fill_instances
COPY pg_temp.wed_flow FROM STDIN

-- name: import_copy
SELECT ebb.import_wed($1, 'pg_temp')

-- name: commit
COMMIT
