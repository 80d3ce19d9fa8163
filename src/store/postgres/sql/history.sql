-- name: events_of_instance
-- include: select_events
WHERE instance_id = $1::uuid AND seq = ANY ($2::bigint[])
ORDER BY seq;

-- name: history_forward
-- include: select_events_between
ORDER BY seq LIMIT $6::bigint;

-- name: history_backward
-- include: select_events_between
ORDER BY seq DESC LIMIT $6::bigint;
