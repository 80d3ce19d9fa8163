-- name: label_exists
EXISTS (SELECT 1 FROM ebb.labels AS l WHERE l.instance_id = i.id AND {condition})

-- name: failure_exists
EXISTS (SELECT 1 FROM ebb.failures AS f WHERE f.instance_id = i.id AND {condition})

-- name: search
-- The inner statement reads the first instances between two ids, at most $3. The outer one takes
-- those for which the filter holds, and the last that was read.
SELECT * FROM (
    SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority, i.created_at,
           i.updated_at, i.finished_at, i.state, {condition} AS holds,
           row_number() OVER (ORDER BY i.id {order}) AS n
    FROM ebb.instances AS i
    WHERE i.id < $1::uuid AND i.id >= $2::uuid ORDER BY i.id {order} LIMIT $3::bigint
) AS p WHERE p.holds OR p.n = $3::bigint ORDER BY p.id {order} LIMIT $4::bigint

-- name: search_labeled
-- The same, of those with a label that the index finds.
SELECT * FROM (
    SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority, i.created_at,
           i.updated_at, i.finished_at, i.state, {condition} AS holds,
           row_number() OVER (ORDER BY d.instance_id {order}) AS n
    FROM ebb.labels AS d JOIN ebb.instances AS i ON i.id = d.instance_id
    WHERE d.instance_id < $1::uuid AND d.instance_id >= $2::uuid AND {driver}
    ORDER BY d.instance_id {order} LIMIT $3::bigint
) AS p WHERE p.holds OR p.n = $3::bigint ORDER BY p.id {order} LIMIT $4::bigint

-- name: tally
SELECT p.workflow, p.status, count(*) FILTER (WHERE p.holds),
       min(CASE WHEN p.n = $3::bigint THEN p.id::text END)
FROM (
    SELECT i.id, i.workflow, i.status, {condition} AS holds,
           row_number() OVER (ORDER BY i.id DESC) AS n
    FROM ebb.instances AS i
    WHERE i.id < $1::uuid AND i.id >= $2::uuid ORDER BY i.id DESC LIMIT $3::bigint
) AS p GROUP BY p.workflow, p.status

-- name: tally_labeled
SELECT p.workflow, p.status, count(*) FILTER (WHERE p.holds),
       min(CASE WHEN p.n = $3::bigint THEN p.id::text END)
FROM (
    SELECT i.id, i.workflow, i.status, {condition} AS holds,
           row_number() OVER (ORDER BY d.instance_id DESC) AS n
    FROM ebb.labels AS d JOIN ebb.instances AS i ON i.id = d.instance_id
    WHERE d.instance_id < $1::uuid AND d.instance_id >= $2::uuid AND {driver}
    ORDER BY d.instance_id DESC LIMIT $3::bigint
) AS p GROUP BY p.workflow, p.status
