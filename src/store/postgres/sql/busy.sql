-- name: locked_instances
-- Of the instances $1: those whose row, or a task row of which, another session has locked; and the
-- session, if there is only one and it is visible.
WITH free AS MATERIALIZED (
    SELECT i.id FROM unnest($1::uuid[]) AS b (id) JOIN ebb.instances AS i ON i.id = b.id
    FOR UPDATE OF i SKIP LOCKED
),
free_tasks AS MATERIALIZED (
    SELECT t.instance_id, t.token
    FROM unnest($1::uuid[]) AS b (id) JOIN ebb.tasks AS t ON t.instance_id = b.id
    FOR UPDATE OF t SKIP LOCKED
),
locked AS (
    SELECT i.id, i.xmax AS holder
    FROM unnest($1::uuid[]) AS b (id) JOIN ebb.instances AS i ON i.id = b.id
    WHERE (i.id IN (SELECT f.id FROM free AS f)) IS NOT TRUE
    UNION ALL
    SELECT t.instance_id, t.xmax
    FROM unnest($1::uuid[]) AS b (id) JOIN ebb.tasks AS t ON t.instance_id = b.id
    WHERE ((t.instance_id, t.token) IN (
        SELECT f.instance_id, f.token FROM free_tasks AS f
    )) IS NOT TRUE
)
SELECT l.id, s.pid::bigint, coalesce(s.application_name, ''), coalesce(s.usename::text, ''),
       coalesce(s.state, ''),
       coalesce(extract(epoch FROM clock_timestamp() - s.xact_start), 0)::bigint
FROM locked AS l
LEFT JOIN LATERAL (
    SELECT a.pid, a.application_name, a.usename, a.state, a.xact_start
    FROM pg_catalog.pg_locks AS k JOIN pg_catalog.pg_stat_activity AS a ON a.pid = k.pid
    WHERE k.locktype = 'transactionid' AND k.granted AND k.transactionid = l.holder
    LIMIT 1
) AS s ON true
ORDER BY l.id;

-- name: committed_rows
-- By place: those of the instances $1 that are beyond the revision $2, or at the next revision with
-- the state $3; and whether it is the latter.
SELECT b.ord, i.revision = b.revision + 1
FROM (
    SELECT u.ord, u.id, ($2::bigint[])[u.ord] AS revision, ($3::text[])[u.ord] AS state
    FROM unnest($1::uuid[]) WITH ORDINALITY AS u (id, ord)
) AS b
JOIN ebb.instances AS i ON i.id = b.id
WHERE i.revision > b.revision + 1 OR (i.revision = b.revision + 1 AND i.state = b.state);

-- name: committed_events
-- By place: the events of the instances $1 between $2 and $3.
SELECT b.ord, h.seq, h.type, h.node, h.path, h.token, h.visit, h.attempt, h.ref, h.worker,
       h.started_at, h.at, h.payload
FROM (
    SELECT u.ord, u.id, ($2::bigint[])[u.ord] AS after, ($3::bigint[])[u.ord] AS before
    FROM unnest($1::uuid[]) WITH ORDINALITY AS u (id, ord)
) AS b
CROSS JOIN LATERAL (
    SELECT e.* FROM ebb.history AS e
    WHERE e.instance_id = b.id AND e.seq > b.after AND e.seq < b.before
    ORDER BY e.seq
) AS h
ORDER BY b.ord, h.seq;

-- name: leased_tasks
-- Of the instances $1: the tasks that are leased to the worker $2.
SELECT t.instance_id, t.token FROM ebb.all_tasks AS t
WHERE t.instance_id = ANY ($1::uuid[]) AND t.lease_owner = $2::text;
