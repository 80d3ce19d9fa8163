-- fragment: select_events
SELECT seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
FROM history

-- fragment: select_events_between
-- include: select_events
WHERE instance_id = ?1 AND seq > ?2 AND seq < ?3
  AND (?4 IS NULL OR type IN (SELECT value FROM json_each(?4)))
  AND (?5 IS NULL OR node = ?5)

-- fragment: select_wait_columns
SELECT w.instance_id, w.token, i.version, i.key, i.status, w.kind, w.workflow, w.node, w.signal,
       w.visit, w.since, w.deadline_at, w.quorum, w.confirmed, (
           SELECT json_group_array(r.role) FROM waits AS r
           WHERE r.instance_id = w.instance_id AND r.token = w.token AND r.role <> ''
       )

-- fragment: between_and_of_workflows
WHERE id < ?before AND id >= ?from
  AND CASE WHEN ?workflows IS NULL THEN workflow NOT GLOB 'ebb:*'
           ELSE ?workflows = '["*"]' OR workflow IN (SELECT value FROM json_each(?workflows)) END
  AND (?version IS NULL OR version = ?version)

-- fragment: instance_columns
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state
