-- name: events_of_instance
SELECT seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
FROM ebb.history
WHERE instance_id = $1::uuid AND seq = ANY ($2::bigint[])
ORDER BY seq;

-- name: history_forward
SELECT seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
FROM ebb.history
WHERE instance_id = $1::uuid AND seq > $2::bigint AND seq < $3::bigint
  AND ($4::text[] IS NULL OR type = ANY ($4::text[]))
  AND ($5::text IS NULL OR node = $5::text)
ORDER BY seq LIMIT $6::bigint;

-- name: history_backward
SELECT seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
FROM ebb.history
WHERE instance_id = $1::uuid AND seq > $2::bigint AND seq < $3::bigint
  AND ($4::text[] IS NULL OR type = ANY ($4::text[]))
  AND ($5::text IS NULL OR node = $5::text)
ORDER BY seq DESC LIMIT $6::bigint;
