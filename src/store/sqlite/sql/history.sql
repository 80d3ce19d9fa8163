-- name: add_event
INSERT INTO history (
    instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- name: events_of_instance
-- ?2 is a JSON array of numbers.
-- include: select_events
WHERE instance_id = ?1 AND seq IN (SELECT value FROM json_each(?2))
ORDER BY seq;

-- name: history_forward
-- ?4 is a JSON array of types, or NULL for all.
-- include: select_events_between
ORDER BY seq LIMIT ?6;

-- name: history_backward
-- include: select_events_between
ORDER BY seq DESC LIMIT ?6;
