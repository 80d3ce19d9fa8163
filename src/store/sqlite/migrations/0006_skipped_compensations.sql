-- compatible with 5
-- A compensation that an operator has skipped has undone nothing: its step reads as it did when the
-- compensation had failed for good.
DROP VIEW steps;

CREATE VIEW steps AS
SELECT i.id AS instance_id, i.workflow, i.version,
       json_extract(s.value, '$.visit') AS visit, json_extract(s.value, '$.step') AS step,
       json_extract(s.value, '$.path') AS path,
       CASE
           WHEN json_extract(s.value, '$.is_live') OR (i.finished_at IS NULL AND NOT json_valid(i.state))
           THEN json_extract(s.value, '$.status')
           WHEN json_extract(s.value, '$.status') = 'waiting' THEN 'skipped'
           WHEN json_extract(s.value, '$.status') IN ('pending', 'running', 'retrying') THEN 'failed'
           ELSE json_extract(s.value, '$.status')
       END AS status,
       json_extract(s.value, '$.attempts') AS attempts, json_extract(s.value, '$.worker') AS worker,
       strftime(
           '%Y-%m-%dT%H:%M:%fZ', json_extract(s.value, '$.started_at') / 1e6, 'unixepoch'
       ) AS started_at,
       strftime(
           '%Y-%m-%dT%H:%M:%fZ', json_extract(s.value, '$.finished_at') / 1e6, 'unixepoch'
       ) AS finished_at,
       json_extract(s.value, '$.output') AS output, json_extract(s.value, '$.error') AS error
FROM instances AS i
JOIN json_each((
    SELECT json_group_array(json(v.visit)) FROM (
        SELECT json_object(
            'visit', r.visit,
            'step', substr(min(printf('%019d', r.seq) || r.step), 20),
            'path', substr(min(printf('%019d', r.seq) || r.path), 20),
            'status', coalesce(substr(max(printf('%019d', r.seq) || r.status), 20), 'pending'),
            'attempts', coalesce(max(r.attempt), 0),
            'worker', substr(max(printf('%019d', r.seq) || r.worker), 20),
            'started_at', min(r.started_at), 'finished_at', max(r.finished_at),
            'output', substr(max(printf('%019d', r.seq) || r.output), 20),
            'error', substr(max(printf('%019d', r.seq) || r.error), 20),
            'is_live', max(r.is_live)
        ) AS visit
        FROM (
            SELECT m.visit, m.seq, m.node AS step, m.path, m.status, m.attempt, m.worker,
                   CASE
                       WHEN m.status = 'waiting' THEN m.at
                       WHEN m.status IS NOT NULL THEN m.started_at
                   END AS started_at,
                   CASE WHEN m.status IN ('completed', 'failed', 'skipped') THEN m.at END
                       AS finished_at,
                   CASE WHEN m.status = 'completed' AND m.type <> 'branch_taken' THEN m.payload END
                       AS output,
                   CASE
                       WHEN m.type = 'step_stopped' THEN coalesce(
                           json_extract(m.payload, '$.error'),
                           '{"code":"stopped","message":"It was stopped while it was running."}'
                       )
                       WHEN m.status IN ('retrying', 'failed') THEN m.payload
                   END AS error,
                   0 AS is_live
            FROM (
                SELECT h.*, CASE
                    WHEN h.type IN (
                        'step_completed', 'branch_taken', 'scope_joined', 'loop_finished',
                        'timer_fired', 'decision_completed', 'signal_completed',
                        'savepoint_reached'
                    ) THEN 'completed'
                    WHEN h.type IN ('step_failed', 'step_stopped') THEN 'failed'
                    WHEN h.type = 'step_skipped' THEN 'skipped'
                    WHEN h.type = 'step_retried' THEN 'retrying'
                    WHEN h.type = 'lease_lost' THEN 'pending'
                    WHEN h.type = 'scope_opened' THEN 'running'
                    WHEN h.type IN ('timer_started', 'decision_awaited', 'signal_awaited')
                    THEN 'waiting'
                END AS status
                FROM history AS h
                WHERE h.instance_id = i.id AND h.visit IS NOT NULL
                  AND h.type NOT IN (
                      'compensation_retried', 'step_compensated', 'compensation_skipped',
                      'compensation_failed'
                  )
                  AND NOT (h.type = 'lease_lost' AND h.payload IS NOT NULL)
                  -- A failed step stays one that has failed when an edge leads away from it.
                  AND NOT (h.type = 'branch_taken' AND EXISTS (
                      SELECT 1 FROM history AS o
                      WHERE o.instance_id = h.instance_id AND o.seq = h.ref
                        AND o.visit = h.visit AND o.type = 'step_failed'
                  ))
            ) AS m
            WHERE m.status IS NOT NULL OR m.type = 'input_resolved'
            UNION ALL
            SELECT f.visit, h.seq, NULL, NULL,
                   CASE h.type
                       WHEN 'step_compensated' THEN 'compensated'
                       WHEN 'compensation_failed' THEN 'compensation_failed'
                       ELSE 'compensating'
                   END,
                   NULL, NULL, NULL, NULL, NULL, NULL, 0
            FROM history AS h
            JOIN history AS f ON f.instance_id = h.instance_id AND f.seq = h.ref
            WHERE h.instance_id = i.id AND (
                h.type IN (
                    'compensation_retried', 'step_compensated', 'compensation_failed'
                ) OR (h.type = 'lease_lost' AND h.payload IS NOT NULL)
            )
            UNION ALL
            SELECT coalesce(f.visit, json_extract(t.value, '$.visit')), 9223372036854775807,
                   CASE
                       WHEN f.seq IS NULL AND coalesce(json_extract(t.value, '$.status'), '') <> 'forked'
                       THEN json_extract(t.value, '$.node')
                   END,
                   NULL,
                   CASE
                       WHEN f.seq IS NOT NULL AND json_extract(t.value, '$.status') = 'frozen'
                       THEN 'compensation_failed'
                       WHEN f.seq IS NOT NULL THEN 'compensating'
                       WHEN json_extract(t.value, '$.status') IN (
                           'waiting_timer', 'waiting_decision', 'waiting_signal'
                       ) THEN 'waiting'
                       WHEN json_extract(t.value, '$.status') = 'forked' THEN 'running'
                       WHEN json_extract(t.value, '$.status') = 'frozen' THEN 'failed'
                       WHEN k.lease_owner IS NOT NULL THEN 'running'
                       WHEN json_extract(t.value, '$.status') = 'retrying' THEN 'retrying'
                       ELSE 'pending'
                   END,
                   CASE WHEN f.seq IS NULL THEN json_extract(t.value, '$.attempt') END,
                   CASE WHEN f.seq IS NULL THEN k.lease_owner END,
                   NULL, NULL, NULL, NULL, 1
            FROM json_each(
                CASE WHEN i.finished_at IS NULL AND json_valid(i.state) THEN i.state ELSE '{}' END,
                '$.tokens'
            ) AS t
            LEFT JOIN tasks AS k ON k.instance_id = i.id AND k.token = json_extract(t.value, '$.id')
            LEFT JOIN history AS f ON f.instance_id = i.id AND f.seq = json_extract(t.value, '$.compensates')
            WHERE json_extract(t.value, '$.visit') IS NOT NULL
        ) AS r
        GROUP BY r.visit
        HAVING max(r.step IS NOT NULL)
    ) AS v
)) AS s;
