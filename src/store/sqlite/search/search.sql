-- name: label_exists
EXISTS (SELECT 1 FROM labels AS l WHERE l.instance_id = i.id AND {condition})

-- name: failure_exists
EXISTS (SELECT 1 FROM failures AS f WHERE f.instance_id = i.id AND {condition})

-- name: search
-- The instances between two ids, in one of two orders, and whether the filter holds.
SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority, i.created_at,
       i.updated_at, i.finished_at, i.state, {condition}
FROM instances AS i WHERE i.id < ?1 AND i.id >= ?2 ORDER BY i.id {order}

-- name: search_labeled
-- The same, of those with a label that the index finds.
SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority, i.created_at,
       i.updated_at, i.finished_at, i.state, {condition}
FROM labels AS d CROSS JOIN instances AS i ON i.id = d.instance_id
WHERE d.instance_id < ?1 AND d.instance_id >= ?2 AND {driver} ORDER BY d.instance_id {order}

-- name: tally
SELECT i.id, i.workflow, i.status, {condition}
FROM instances AS i WHERE i.id < ?1 AND i.id >= ?2 ORDER BY i.id DESC

-- name: tally_labeled
SELECT i.id, i.workflow, i.status, {condition}
FROM labels AS d CROSS JOIN instances AS i ON i.id = d.instance_id
WHERE d.instance_id < ?1 AND d.instance_id >= ?2 AND {driver} ORDER BY d.instance_id DESC
