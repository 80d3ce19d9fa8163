-- The parts of a call that hands in outcomes and claims tasks. Each transaction sets up each statement and each
-- expression of a function, which costs more than their work on one task. So the usual call has four statements, and
-- leaves rare cases to functions that look at more.

-- fragment: turn_variables
own record;
owner text;
ids uuid[];
tokens bigint[];
seen bigint;
leased integer;

-- fragment: look_at_session
-- `is_plain`: a claim only has to look at the due tasks of queues without limits.
SELECT w.id, w.handlers, w.queues, w AS worker, m.now,
       NOT (
           w.expires_at < m.now + w.lease * 2 / 3
           OR current_setting('transaction_isolation') <> 'read committed'
           OR EXISTS (SELECT 1 FROM ebb.queues)
           OR EXISTS (
               SELECT 1 FROM ebb.workers AS o
               WHERE o.session IS NULL AND o.expires_at > m.now AND o.decides_since IS DISTINCT FROM o.started_at
           )
           OR EXISTS (
               SELECT 1 FROM ebb.tasks AS t WHERE t.lane = 0 AND t.lease_owner IS NULL AND t.due_at <= m.now
           )
       ) AS is_plain,
       EXISTS (
           SELECT 1 FROM ebb.tasks AS t WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = ''
       ) AS is_known,
       statement_timestamp() <> transaction_timestamp() AS may_last
INTO own FROM ebb.workers AS w CROSS JOIN (SELECT ebb.work_now() AS now OFFSET 0) AS m
WHERE w.session = $1 AND w.role = session_user;
IF NOT FOUND THEN
    PERFORM ebb.work_session($1);
END IF;
owner := own.id;

-- fragment: claim_jobs
IF NOT own.is_plain OR (wanted BETWEEN 1 AND 1000) IS NOT TRUE THEN
    RETURN QUERY SELECT * FROM ebb.work_claim_for(own.worker, wanted);
    RETURN;
END IF;
-- As work_find_due, but only the first tasks are checked for whether this worker may run them. Other sessions look at
-- the same tasks, so there are more candidates than are wanted.
WITH RECURSIVE
-- include: due_places,
rights AS MATERIALIZED (
    SELECT r.handler, r.queue, r.workflow FROM ebb.work_rights AS r
    WHERE pg_has_role(session_user, to_regrole(quote_ident(r.role))::oid, 'USAGE')
),
candidates AS MATERIALIZED (
    SELECT c.* FROM found AS p CROSS JOIN LATERAL (
        SELECT t.rank, t.instance_id, t.token, t.handler, t.queue FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = p.handler AND t.queue = p.queue
        ORDER BY t.rank, t.instance_id, t.token LIMIT wanted + least(3 * wanted, 64) + 4
    ) AS c
    WHERE (own.queues = '{}' OR p.queue = ANY (own.queues)) AND EXISTS (
        SELECT 1 FROM rights AS r WHERE r.handler IN (p.handler, '*') AND r.queue IN (p.queue, '*')
    )
    ORDER BY c.rank, c.instance_id, c.token LIMIT wanted + least(3 * wanted, 64) + 4
)
SELECT array_agg(l.instance_id), array_agg(l.token), (SELECT count(*) FROM candidates)
INTO ids, tokens, seen FROM (
    SELECT f.* FROM candidates AS c CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token FROM ebb.tasks AS t
        WHERE t.instance_id = c.instance_id AND t.token = c.token
          AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
          AND t.handler = c.handler AND t.queue = c.queue
          AND (
              SELECT EXISTS (
                  SELECT 1 FROM rights AS r WHERE r.handler IN (c.handler, '*') AND r.queue IN (c.queue, '*')
                    AND r.workflow IN (i.workflow, '*')
              ) AND EXISTS (
                  SELECT 1 FROM ebb.calls AS k
                  WHERE k.workflow = i.workflow AND k.version = i.version AND k.handler = c.handler
              )
              FROM ebb.instances AS i WHERE i.id = c.instance_id
          )
        FOR UPDATE SKIP LOCKED
    ) AS f
    LIMIT wanted
) AS l;
IF seen = wanted + least(3 * wanted, 64) + 4 AND (cardinality(ids) < wanted) IS NOT FALSE THEN
    -- Other sessions have the first tasks, or this worker may not run them.
    RETURN QUERY SELECT * FROM ebb.work_claim_for(own.worker, wanted);
    RETURN;
END IF;
IF ids IS NULL THEN
    RETURN;
END IF;
-- include: leased_jobs
GET DIAGNOSTICS leased = ROW_COUNT;
IF leased < cardinality(ids) THEN
    -- What the row says is not what the state wants, or an attempt was lost: the engine decides.
    UPDATE ebb.tasks AS t SET handler = '', lease_until = NULL
    FROM unnest(ids, tokens) AS l (id, token)
    WHERE t.instance_id = l.id AND t.token = l.token AND t.lease_owner IS NULL;
    PERFORM ebb.work_ring(false);
END IF;

-- fragment: due_places
-- The (handler, queue) pairs that have due tasks, from the index: one look for each pair. `own`: the worker.
found AS (
    SELECT h.handler, (
        SELECT t.queue FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = h.handler
        ORDER BY t.queue LIMIT 1
    ) AS queue
    FROM unnest(own.handlers) AS h (handler)
    UNION ALL
    SELECT f.handler, (
        SELECT t.queue FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = f.handler
          AND t.queue > f.queue
        ORDER BY t.queue LIMIT 1
    )
    FROM found AS f WHERE f.queue IS NOT NULL
)

-- fragment: leased_jobs
RETURN QUERY
WITH leased AS (
    UPDATE ebb.tasks AS t
    SET lease_owner = owner, outcome = NULL, due_at = c.now,
        lease_until = CASE WHEN c.timeout > 0 THEN c.now + c.timeout ELSE 9223372036854775807 END
    FROM (
        SELECT i.id, i.workflow, i.version, i.key, k.token AS state, l.token, m.now, s.handler, s.queue,
               s.is_compensation, s.timeout, s.max_attempts,
               coalesce(i.state::json ->> 'run', i.id::text) AS key_root,
               least(
                   (k.token ->> 'deadline')::bigint, (i.state::json ->> 'deadline')::bigint,
                   CASE WHEN s.timeout > 0 THEN m.now + s.timeout END
               ) AS deadline
        FROM unnest(ids, tokens) AS l (id, token)
        JOIN ebb.instances AS i ON i.id = l.id
        CROSS JOIN (SELECT ebb.work_now() AS now OFFSET 0) AS m
        CROSS JOIN LATERAL jsonb_array_elements(
            CASE WHEN i.state LIKE '{%}' THEN (i.state::json -> 'tokens')::jsonb END
        ) AS k (token)
        JOIN ebb.calls AS s
            ON s.workflow = i.workflow AND s.version = i.version AND s.node = k.token ->> 'node'
            AND s.is_compensation = (k.token ->> 'compensates' IS NOT NULL)
        WHERE i.status IN ('running', 'compensating') AND (k.token ->> 'id')::bigint = l.token
          AND coalesce(k.token ->> 'status', 'ready') IN ('ready', 'retrying')
          AND k.token ->> 'parked' IS NULL AND k.token ->> 'stopping' IS NULL
        OFFSET 0
    ) AS c
    WHERE t.instance_id = c.id AND t.token = c.token AND c.handler = t.handler AND c.queue = t.queue
      AND NOT t.was_lost AND NOT t.is_stop
    RETURNING c.*, t.rank
)
SELECT c.id || ':' || c.token || ':' || (c.state ->> 'visit') || ':' || (c.state ->> 'attempt') || ':'
           || coalesce(c.state ->> 'pauses', '0'),
       c.id, c.workflow, c.version, c.key, c.state ->> 'node', c.handler, c.queue,
       (c.state ->> 'attempt')::integer,
       c.max_attempts + coalesce((c.state ->> 'attempt_base')::integer, 0),
       c.key_root || CASE
           WHEN c.is_compensation THEN ':undo:' || (c.state ->> 'compensates')
           ELSE ':' || (c.state ->> 'visit')
       END,
       CASE
           WHEN c.is_compensation
           THEN ebb.work_undone(c.id, (c.state ->> 'compensates')::bigint)
           ELSE coalesce((
               -- Most events have a payload of their own.
               SELECT nullif(h.payload, '') FROM ebb.history AS h
               WHERE h.instance_id = c.id AND h.seq = (c.state ->> 'input')::bigint
           )::json, ebb.work_payload(c.id, (c.state ->> 'input')::bigint))
       END,
       CASE
           WHEN c.state ->> 'payload' IS NOT NULL
           THEN ebb.work_payload(c.id, (c.state ->> 'payload')::bigint)
       END,
       CASE WHEN c.is_compensation THEN (
           SELECT json_build_object('idempotency_key', c.key_root || ':' || h.visit, 'step', h.node)
           FROM ebb.history AS h WHERE h.instance_id = c.id AND h.seq = (c.state ->> 'compensates')::bigint
       ) END,
       to_timestamp(c.deadline / 1000000.0)
FROM leased AS c ORDER BY c.rank, c.id, c.token;
