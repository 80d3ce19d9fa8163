-- name: claim
-- The (handler, queue) pairs that have due tasks and that this user may run for the worker; workflows
-- is NULL where it may run all of them.
CREATE OR REPLACE FUNCTION ebb.work_places(worker ebb.workers)
RETURNS TABLE (handler text, queue text, workflows text[], is_limited boolean)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    WITH RECURSIVE found AS (
        SELECT h.handler, (
            SELECT t.queue FROM ebb.tasks AS t
            WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = h.handler
            ORDER BY t.queue LIMIT 1
        ) AS queue
        FROM unnest($1.handlers) AS h (handler)
        UNION ALL
        SELECT f.handler, (
            SELECT t.queue FROM ebb.tasks AS t
            WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = f.handler
              AND t.queue > f.queue
            ORDER BY t.queue LIMIT 1
        )
        FROM found AS f WHERE f.queue IS NOT NULL
    )
    SELECT f.handler, f.queue,
           CASE WHEN NOT bool_or(r.workflow = '*') THEN array_agg(r.workflow) END,
           EXISTS (SELECT 1 FROM ebb.queues AS q WHERE q.name = f.queue)
    FROM found AS f
    JOIN ebb.work_rights_here() AS r
        ON r.handler IN (f.handler, '*') AND r.queue IN (f.queue, '*')
    WHERE f.queue IS NOT NULL AND ($1.queues = '{}' OR f.queue = ANY ($1.queues))
    GROUP BY f.handler, f.queue
$work$;

-- Locks up to n due tasks of queues without limits, the best first. Another session's are skipped.
CREATE OR REPLACE FUNCTION ebb.work_find(worker ebb.workers, n integer)
RETURNS TABLE (instance_id uuid, token bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    WITH candidates AS MATERIALIZED (
        SELECT c.* FROM ebb.work_places($1) AS p CROSS JOIN LATERAL (
            SELECT t.rank, t.instance_id, t.token, t.handler, t.queue
            FROM ebb.tasks AS t JOIN ebb.instances AS i ON i.id = t.instance_id
            WHERE t.lane = 1 AND t.lease_owner IS NULL
              AND t.handler = p.handler AND t.queue = p.queue
              AND (p.workflows IS NULL OR i.workflow = ANY (p.workflows))
              AND EXISTS (
                  SELECT 1 FROM ebb.calls AS k
                  WHERE k.workflow = i.workflow AND k.version = i.version
                    AND k.handler = t.handler
              )
            ORDER BY t.rank, t.instance_id, t.token LIMIT $2 + 64
        ) AS c
        WHERE NOT p.is_limited
        ORDER BY c.rank, c.instance_id, c.token LIMIT $2 + 64
    )
    SELECT f.instance_id, f.token FROM candidates AS c CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token FROM ebb.tasks AS t
        WHERE t.instance_id = c.instance_id AND t.token = c.token
          AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
          AND t.handler = c.handler AND t.queue = c.queue
        FOR UPDATE SKIP LOCKED
    ) AS f
    LIMIT $2
$work$;

-- The same in one queue with limits, which is locked, as far as they allow. Each task that is found
-- takes its slot at once.
CREATE OR REPLACE FUNCTION ebb.work_find_limited(worker ebb.workers, queue text, n integer)
RETURNS TABLE (instance_id uuid, token bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    limits ebb.queues;
    room bigint := $3;
    slice bigint;
    taken bigint := 0;
    one record;
BEGIN
    SELECT q.* INTO limits FROM ebb.queues AS q WHERE q.name = $2 FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- 64 slices of a period, as for every worker.
    slice := greatest(limits.rate_period / 64, 1);
    room := least(room, limits.concurrency - (
        SELECT count(*) FROM ebb.tasks AS t
        WHERE t.took_slot AND t.lease_owner IS NOT NULL AND t.queue = $2
    ), limits.rate_starts - (
        SELECT coalesce(sum(s.starts), 0) FROM ebb.queue_starts AS s
        WHERE s.queue = $2 AND s.at > ebb.work_now() - limits.rate_period
    ));
    FOR one IN
        SELECT c.* FROM ebb.work_places($1) AS p CROSS JOIN LATERAL (
            SELECT t.rank, t.instance_id, t.token, t.handler, t.concurrency_key
            FROM ebb.tasks AS t JOIN ebb.instances AS i ON i.id = t.instance_id
            WHERE t.lane = 1 AND t.lease_owner IS NULL
              AND t.handler = p.handler AND t.queue = p.queue
              AND (p.workflows IS NULL OR i.workflow = ANY (p.workflows))
              AND EXISTS (
                  SELECT 1 FROM ebb.calls AS k
                  WHERE k.workflow = i.workflow AND k.version = i.version
                    AND k.handler = t.handler
              )
            ORDER BY t.rank, t.instance_id, t.token LIMIT 1000
        ) AS c
        WHERE p.queue = $2 ORDER BY c.rank, c.instance_id, c.token
    LOOP
        EXIT WHEN taken >= room;
        CONTINUE WHEN limits.concurrency_per_key <= (
            SELECT count(*) FROM ebb.tasks AS t
            WHERE t.took_slot AND t.lease_owner IS NOT NULL AND t.queue = $2
              AND t.concurrency_key = one.concurrency_key
        ) AND one.concurrency_key IS NOT NULL;
        PERFORM 1 FROM ebb.tasks AS t
        WHERE t.instance_id = one.instance_id AND t.token = one.token
          AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = '' AND t.handler = one.handler
          AND t.queue = $2
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        UPDATE ebb.tasks AS t SET lease_owner = $1.id, took_slot = true
        WHERE t.instance_id = one.instance_id AND t.token = one.token;
        taken := taken + 1;
        instance_id := one.instance_id;
        token := one.token;
        RETURN NEXT;
    END LOOP;
    IF limits.rate_starts IS NOT NULL AND taken > 0 THEN
        INSERT INTO ebb.queue_starts AS s (queue, at, starts)
        VALUES ($2, (ebb.work_now() / slice + 1) * slice, taken)
        ON CONFLICT (queue, at) DO UPDATE SET starts = s.starts + excluded.starts;
    END IF;
END $work$;

-- The payload of an event; an event without one refers to the one that has it.
CREATE OR REPLACE FUNCTION ebb.work_payload(instance_id uuid, seq bigint) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    WITH RECURSIVE step AS (
        SELECT h.payload, h.ref FROM ebb.history AS h WHERE h.instance_id = $1 AND h.seq = $2
        UNION ALL
        SELECT h.payload, h.ref FROM step AS s
        JOIN ebb.history AS h ON h.instance_id = $1 AND h.seq = s.ref
        WHERE s.payload IS NULL OR s.payload = ''
    )
    SELECT coalesce((SELECT s.payload FROM step AS s WHERE s.payload <> '' LIMIT 1), 'null')::json
$work$;

-- What a compensation gets: the step's input, output, error and outcome.
CREATE OR REPLACE FUNCTION ebb.work_undone(instance_id uuid, seq bigint) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    SELECT json_build_object(
        'input', ebb.work_payload($1, h.ref),
        'output', CASE WHEN h.type = 'step_completed' THEN coalesce(nullif(h.payload, ''), 'null')::json END,
        'error', CASE
            WHEN h.type = 'step_failed' THEN h.payload::json
            WHEN h.type <> 'step_completed' THEN coalesce(
                nullif(h.payload, '')::json -> 'error',
                '{"code":"stopped","message":"It was stopped before it had completed."}'
            )
        END,
        'outcome', CASE h.type
            WHEN 'step_completed' THEN 'completed' WHEN 'step_failed' THEN 'failed' ELSE 'unknown'
        END
    )
    FROM ebb.history AS h WHERE h.instance_id = $1 AND h.seq = $2
$work$;

CREATE OR REPLACE FUNCTION ebb.work_claim(session uuid, n integer DEFAULT 1)
RETURNS SETOF ebb.work_job
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    worker ebb.workers := ebb.work_session($1);
    rest integer := least($2, 1000);
    limited text;
    ids uuid[] := '{}';
    tokens bigint[] := '{}';
    more record;
    bad integer;
BEGIN
    PERFORM ebb.work_check_engines();
    IF $2 IS NULL OR $2 NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'A claim takes 1 to 1,000 tasks, not %.', $2 USING ERRCODE = 'EB011';
    END IF;
    PERFORM ebb.work_prolong(worker);
    -- What has become due, if no process of Ebb has woken it yet.
    WITH due AS (
        SELECT t.instance_id, t.token FROM ebb.tasks AS t
        WHERE t.lane = 0 AND t.lease_owner IS NULL AND t.due_at <= ebb.work_now()
        ORDER BY t.due_at LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
    UPDATE ebb.tasks AS t SET lane = 1 FROM due AS d
    WHERE t.instance_id = d.instance_id AND t.token = d.token;
    FOR limited IN
        SELECT DISTINCT p.queue FROM ebb.work_places(worker) AS p WHERE p.is_limited ORDER BY 1
    LOOP
        EXIT WHEN rest = 0;
        FOR more IN SELECT * FROM ebb.work_find_limited(worker, limited, rest) LOOP
            ids := ids || more.instance_id;
            tokens := tokens || more.token;
            rest := rest - 1;
        END LOOP;
    END LOOP;
    FOR more IN SELECT * FROM ebb.work_find(worker, rest) LOOP
        ids := ids || more.instance_id;
        tokens := tokens || more.token;
    END LOOP;
    IF cardinality(ids) = 0 THEN
        RETURN;
    END IF;
    -- A Put leaves the column of an earlier lease as it was.
    UPDATE ebb.tasks AS t SET lease_until = NULL FROM unnest(ids, tokens) AS l (id, token)
    WHERE t.instance_id = l.id AND t.token = l.token AND t.lease_until IS NOT NULL;
    RETURN QUERY SELECT * FROM ebb.work_lease(worker, ids, tokens);
    -- What the row says is not what the state wants, or an attempt was lost: the engine decides.
    UPDATE ebb.tasks AS t
    SET handler = '', lease_owner = NULL, lease_until = NULL
    FROM unnest(ids, tokens) AS l (id, token)
    WHERE t.instance_id = l.id AND t.token = l.token AND t.lease_until IS NULL;
    GET DIAGNOSTICS bad = ROW_COUNT;
    IF bad > 0 THEN
        PERFORM ebb.work_ring(false);
    END IF;
END $work$;

-- Leases those of the locked tasks that can be called now, and says what the calls get.
CREATE OR REPLACE FUNCTION ebb.work_lease(worker ebb.workers, ids uuid[], tokens bigint[])
RETURNS SETOF ebb.work_job
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    WITH calls AS MATERIALIZED (
        SELECT i.id, i.workflow, i.version, i.key, t.rank, t.token, t.handler, t.queue,
               k.token AS state, c.is_compensation, c.timeout, c.max_attempts, n.now,
               coalesce(i.state::json ->> 'run', i.id::text) AS key_root,
               least(
                   (k.token ->> 'deadline')::bigint, (i.state::json ->> 'deadline')::bigint,
                   CASE WHEN c.timeout > 0 THEN n.now + c.timeout END
               ) AS deadline
        FROM unnest($2, $3) AS l (id, token)
        JOIN ebb.tasks AS t ON t.instance_id = l.id AND t.token = l.token
        JOIN ebb.instances AS i ON i.id = l.id
        CROSS JOIN (SELECT ebb.work_now() AS now) AS n
        CROSS JOIN LATERAL json_array_elements(
            CASE WHEN i.state LIKE '{%}' THEN i.state::json -> 'tokens' END
        ) AS k (token)
        JOIN ebb.calls AS c
            ON c.workflow = i.workflow AND c.version = i.version AND c.node = k.token ->> 'node'
            AND c.is_compensation = (k.token ->> 'compensates' IS NOT NULL)
            AND c.handler = t.handler AND c.queue = t.queue
        WHERE i.status IN ('running', 'compensating') AND NOT t.was_lost AND NOT t.is_stop
          AND (k.token ->> 'id')::bigint = l.token
          AND coalesce(k.token ->> 'status', 'ready') IN ('ready', 'retrying')
          AND k.token ->> 'parked' IS NULL AND k.token ->> 'stopping' IS NULL
    ),
    leased AS (
        UPDATE ebb.tasks AS t
        SET lease_owner = $1.id, outcome = NULL, due_at = c.now,
            lease_until = CASE
                WHEN c.timeout > 0 THEN c.now + c.timeout ELSE 9223372036854775807
            END
        FROM calls AS c WHERE t.instance_id = c.id AND t.token = c.token
        RETURNING t.instance_id, t.token
    )
    SELECT format(
               '%s:%s:%s:%s:%s', c.id, c.token, c.state ->> 'visit', c.state ->> 'attempt',
               coalesce(c.state ->> 'pauses', '0')
           ),
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
               ELSE ebb.work_payload(c.id, (c.state ->> 'input')::bigint)
           END,
           CASE
               WHEN c.state ->> 'payload' IS NOT NULL
               THEN ebb.work_payload(c.id, (c.state ->> 'payload')::bigint)
           END,
           CASE
               WHEN c.is_compensation
               THEN json_build_object('idempotency_key', c.key_root || ':' || h.visit, 'step', h.node)
           END,
           to_timestamp(c.deadline / 1000000.0)
    FROM leased AS l JOIN calls AS c ON c.id = l.instance_id AND c.token = l.token
    LEFT JOIN ebb.history AS h
        ON h.instance_id = c.id AND h.seq = (c.state ->> 'compensates')::bigint
    ORDER BY c.rank, c.id, c.token
$work$;
