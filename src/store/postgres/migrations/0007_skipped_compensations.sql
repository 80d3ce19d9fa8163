-- compatible with 6
-- A compensation that an operator has skipped has undone nothing: its step reads as it did when the
-- compensation had failed for good.
CREATE OR REPLACE VIEW ebb.steps AS
SELECT i.id AS instance_id, i.workflow, i.version, s.visit, s.step, s.path,
       CASE
           WHEN s.is_live OR i.finished_at IS NULL AND i.state NOT LIKE '{%}' THEN s.status
           WHEN s.status = 'waiting' THEN 'skipped'
           WHEN s.status IN ('pending', 'running', 'retrying') THEN 'failed'
           ELSE s.status
       END AS status,
       coalesce(s.attempts, 0) AS attempts, s.worker,
       to_timestamp(s.started_at / 1000000.0) AS started_at,
       to_timestamp(s.finished_at / 1000000.0) AS finished_at,
       s.output, s.error
FROM ebb.instances AS i
CROSS JOIN LATERAL (
    SELECT r.visit,
           (array_agg(r.step ORDER BY r.seq) FILTER (WHERE r.step IS NOT NULL))[1] AS step,
           (array_agg(r.path ORDER BY r.seq) FILTER (WHERE r.path IS NOT NULL))[1] AS path,
           coalesce(
               (array_agg(r.status ORDER BY r.seq DESC) FILTER (WHERE r.status IS NOT NULL))[1],
               'pending'
           ) AS status,
           max(r.attempt) AS attempts,
           (array_agg(r.worker ORDER BY r.seq DESC) FILTER (WHERE r.worker IS NOT NULL))[1]
               AS worker,
           min(r.started_at) AS started_at,
           max(r.finished_at) AS finished_at,
           (array_agg(r.output ORDER BY r.seq DESC) FILTER (WHERE r.output IS NOT NULL))[1]
               AS output,
           (array_agg(r.error ORDER BY r.seq DESC) FILTER (WHERE r.error IS NOT NULL))[1] AS error,
           bool_or(r.is_live) AS is_live
    FROM (
        SELECT h.visit, h.seq, h.node AS step, h.path, m.status, h.attempt, h.worker,
               CASE
                   WHEN m.status = 'waiting' THEN h.at
                   WHEN m.status IS NOT NULL THEN h.started_at
               END AS started_at,
               CASE WHEN m.status IN ('completed', 'failed', 'skipped') THEN h.at END
                   AS finished_at,
               CASE WHEN m.status = 'completed' AND h.type <> 'branch_taken' THEN h.payload END
                   AS output,
               CASE
                   WHEN h.type = 'step_stopped' THEN coalesce(
                       h.payload::json ->> 'error',
                       '{"code":"stopped","message":"It was stopped while it was running."}'
                   )
                   WHEN m.status IN ('retrying', 'failed') THEN h.payload
               END AS error,
               false AS is_live
        FROM ebb.history AS h
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN h.type IN (
                    'step_completed', 'branch_taken', 'scope_joined', 'loop_finished',
                    'timer_fired', 'decision_completed', 'signal_completed', 'savepoint_reached'
                ) THEN 'completed'
                WHEN h.type IN ('step_failed', 'step_stopped') THEN 'failed'
                WHEN h.type = 'step_skipped' THEN 'skipped'
                WHEN h.type = 'step_retried' THEN 'retrying'
                WHEN h.type = 'lease_lost' THEN 'pending'
                WHEN h.type = 'scope_opened' THEN 'running'
                WHEN h.type IN ('timer_started', 'decision_awaited', 'signal_awaited')
                THEN 'waiting'
            END AS status
        ) AS m
        WHERE h.instance_id = i.id AND h.visit IS NOT NULL
          AND (m.status IS NOT NULL OR h.type = 'input_resolved')
          AND h.type NOT IN (
              'compensation_retried', 'step_compensated', 'compensation_skipped',
              'compensation_failed'
          )
          AND NOT (h.type = 'lease_lost' AND h.payload IS NOT NULL)
          -- A failed step stays one that has failed when an edge leads away from it.
          AND NOT (h.type = 'branch_taken' AND EXISTS (
              SELECT 1 FROM ebb.history AS o
              WHERE o.instance_id = h.instance_id AND o.seq = h.ref
                AND o.visit = h.visit AND o.type = 'step_failed'
          ))
        UNION ALL
        SELECT f.visit, h.seq, NULL, NULL,
               CASE h.type
                   WHEN 'step_compensated' THEN 'compensated'
                   WHEN 'compensation_failed' THEN 'compensation_failed'
                   ELSE 'compensating'
               END,
               NULL, NULL, NULL, NULL, NULL, NULL, false
        FROM ebb.history AS h
        JOIN ebb.history AS f ON f.instance_id = h.instance_id AND f.seq = h.ref
        WHERE h.instance_id = i.id AND (
            h.type IN (
                'compensation_retried', 'step_compensated', 'compensation_failed'
            ) OR (h.type = 'lease_lost' AND h.payload IS NOT NULL)
        )
        UNION ALL
        SELECT coalesce(f.visit, (t.token ->> 'visit')::bigint), 9223372036854775807,
               CASE
                   WHEN f.seq IS NULL AND coalesce(t.token ->> 'status', '') <> 'forked'
                   THEN t.token ->> 'node'
               END,
               NULL,
               CASE
                   WHEN f.seq IS NOT NULL AND t.token ->> 'status' = 'frozen'
                   THEN 'compensation_failed'
                   WHEN f.seq IS NOT NULL THEN 'compensating'
                   WHEN t.token ->> 'status' IN (
                       'waiting_timer', 'waiting_decision', 'waiting_signal'
                   ) THEN 'waiting'
                   WHEN t.token ->> 'status' = 'forked' THEN 'running'
                   WHEN t.token ->> 'status' = 'frozen' THEN 'failed'
                   WHEN k.lease_owner IS NOT NULL THEN 'running'
                   WHEN t.token ->> 'status' = 'retrying' THEN 'retrying'
                   ELSE 'pending'
               END,
               CASE WHEN f.seq IS NULL THEN (t.token ->> 'attempt')::integer END,
               CASE WHEN f.seq IS NULL THEN k.lease_owner END,
               NULL, NULL, NULL, NULL, true
        FROM json_array_elements(
            CASE
                WHEN i.finished_at IS NULL AND i.state LIKE '{%}' THEN i.state::json -> 'tokens'
            END
        ) AS t (token)
        LEFT JOIN ebb.all_tasks AS k
            ON k.instance_id = i.id AND k.token = (t.token ->> 'id')::bigint
        LEFT JOIN ebb.history AS f
            ON f.instance_id = i.id AND f.seq = (t.token ->> 'compensates')::bigint
        WHERE t.token ->> 'visit' IS NOT NULL
    ) AS r
    GROUP BY r.visit
) AS s
WHERE s.step IS NOT NULL;
