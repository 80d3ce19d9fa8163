-- name: list_retention
SELECT workflow, completed, failed, updated_at FROM ebb.retention ORDER BY workflow;

-- name: set_retention
INSERT INTO ebb.retention (workflow, completed, failed, updated_at)
VALUES ($1::text, $2::bigint, $3::bigint, $4::bigint)
ON CONFLICT (workflow) DO UPDATE SET
    completed = excluded.completed, failed = excluded.failed, updated_at = excluded.updated_at;

-- name: restart_sweep
UPDATE ebb.sweeps
SET number = number + 1, reached = '00000000-0000-0000-0000-000000000000', next_at = 0
WHERE id = 1;

-- name: clear_retention
WITH cleared AS (
    DELETE FROM ebb.retention WHERE workflow = $1::text RETURNING 1
)
UPDATE ebb.sweeps
SET number = number + 1, reached = '00000000-0000-0000-0000-000000000000', next_at = 0
WHERE id = 1 AND EXISTS (SELECT 1 FROM cleared)
RETURNING 1;

-- name: take_sweep
UPDATE ebb.sweeps
SET number = number + 1,
    next_at = coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) + $2::bigint
WHERE id = 1
  AND next_at <= coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
  AND (EXISTS (SELECT 1 FROM ebb.retention) OR EXISTS (SELECT 1 FROM ebb.partitioning)
       -- What a session has left that died while it divided the tables.
       OR EXISTS (
           SELECT 1 FROM pg_catalog.pg_constraint AS k
           WHERE k.conrelid = 'ebb.instances'::pg_catalog.regclass
             AND k.conname = 'instances_before'
       ))
RETURNING number, reached;

-- name: put_sweep
UPDATE ebb.sweeps
SET reached = $3::uuid,
    next_at = coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) + $4::bigint
WHERE id = 1 AND number = $2::bigint
RETURNING 1;

-- name: purge_instances
-- $2 instances are looked at from $1 on, as far up as any may be old enough: none was made after it
-- has ended, and an id tells when it was made. ($3, $4, $5) are workflows and how long what has
-- completed and what has not is kept there, $6 and $7 the same of all other workflows, $8 is the
-- shortest of these times. If there are partitions and $12, only those whose whole partition has
-- been over for as long are old. At the end the instance is compared once more, with the row as it is
-- then.
WITH clock AS MATERIALIZED (
    SELECT coalesce($11::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
page AS MATERIALIZED (
    SELECT i.id, i.workflow, i.status, i.revision, i.finished_at FROM ebb.instances AS i
    WHERE i.id > $1::uuid AND i.id < (
        SELECT (
            lpad(to_hex(greatest((c.now - $8::bigint) / 1000 + 1, 0)), 12, '0') || repeat('0', 20)
        )::uuid
        FROM clock AS c
    )
    ORDER BY i.id LIMIT $2::bigint + 1
),
aged AS (
    SELECT p.id, p.workflow, p.status, p.revision, p.finished_at, CASE
        WHEN p.status NOT IN ('completed', 'failed', 'cancelled', 'aborted') THEN NULL
        WHEN r.workflow IS NULL
        THEN CASE p.status WHEN 'completed' THEN $6::bigint ELSE $7::bigint END
        ELSE CASE p.status WHEN 'completed' THEN r.completed ELSE r.failed END
    END AS kept
    FROM page AS p
    LEFT JOIN unnest($3::text[], $4::bigint[], $5::bigint[]) AS r (workflow, completed, failed)
        ON r.workflow = p.workflow
),
judged AS (
    SELECT a.id, a.workflow, a.status, a.revision, row_number() OVER (ORDER BY a.id) AS place, (
        a.finished_at + a.kept <= c.now
        AND (NOT $12::boolean OR a.id < coalesce((
            SELECT (
                lpad(to_hex((greatest(extract(epoch FROM date_trunc(
                    n.period, to_timestamp((c.now - a.kept) / 1000000.0) AT TIME ZONE 'UTC'
                )), 0) * 1000)::bigint), 12, '0') || repeat('0', 20)
            )::uuid
            FROM ebb.partitioning AS n
        ), 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    ) IS TRUE AS is_old
    FROM aged AS a CROSS JOIN clock AS c
),
weighed AS (
    SELECT j.*, coalesce(sum(CASE WHEN j.is_old THEN j.revision ELSE 0 END) OVER (
        ORDER BY j.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS changes_before
    FROM judged AS j
),
batch AS MATERIALIZED (
    SELECT w.id, w.workflow, w.status, w.is_old FROM weighed AS w
    WHERE w.place <= $2::bigint AND w.changes_before < $9::bigint
),
gone AS (
    DELETE FROM ebb.instances AS i USING batch AS b
    WHERE i.id = b.id AND b.is_old AND NOT $10::boolean
      AND i.status IN ('completed', 'failed', 'cancelled', 'aborted')
      AND i.finished_at IS NOT NULL
    RETURNING i.id, i.workflow, i.status, i.key
),
freed AS (
    DELETE FROM ebb.keys AS k USING gone AS g
    WHERE k.key = g.key AND k.workflow = g.workflow AND k.instance_id = g.id
),
events AS (
    DELETE FROM ebb.history AS h USING gone AS g WHERE h.instance_id = g.id
),
awaited AS (
    DELETE FROM ebb.waits AS w USING gone AS g WHERE w.instance_id = g.id
),
failed AS (
    DELETE FROM ebb.failures AS f USING gone AS g WHERE f.instance_id = g.id
),
labeled AS (
    DELETE FROM ebb.labels AS l USING gone AS g WHERE l.instance_id = g.id
),
unread AS (
    DELETE FROM ebb.inbox AS m USING gone AS g WHERE m.instance_id = g.id
),
wakes AS (
    DELETE FROM ebb.tasks AS t USING gone AS g WHERE t.instance_id = g.id
)
SELECT NULL::text, NULL::text, 0::bigint,
       (SELECT b.id FROM batch AS b ORDER BY b.id DESC LIMIT 1),
       (SELECT count(*) FROM batch) = (SELECT count(*) FROM page)
UNION ALL
SELECT f.workflow, f.status, count(*), NULL, NULL
FROM (
    SELECT g.workflow, g.status FROM gone AS g
    UNION ALL
    SELECT b.workflow, b.status FROM batch AS b WHERE b.is_old AND $10::boolean
) AS f
GROUP BY f.workflow, f.status;

-- name: dead_tasks
-- The number of dead rows, and whether this user may vacuum the table.
SELECT pg_stat_get_dead_tuples(c.oid), pg_has_role(c.relowner, 'USAGE')
FROM pg_class AS c WHERE c.oid = 'ebb.tasks'::regclass;

-- name: vacuum_tasks
-- Waits for no other session, and none waits for it; the freed space is for the next tasks.
VACUUM (SKIP_LOCKED, TRUNCATE FALSE, PARALLEL 0) ebb.tasks;
