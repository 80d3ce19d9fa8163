-- name: claim
-- The (handler, queue) pairs that have due tasks and that this user may run for the worker; workflows
-- is NULL where it may run all of them.
CREATE OR REPLACE FUNCTION ebb.work_places(worker ebb.workers)
RETURNS TABLE (handler text, queue text, workflows text[], is_limited boolean)
LANGUAGE plpgsql VOLATILE AS $work$
#variable_conflict use_column
DECLARE
    own ebb.workers := $1;
BEGIN
    RETURN QUERY
    WITH RECURSIVE
    -- include: due_places
    SELECT f.handler, f.queue,
           CASE WHEN NOT bool_or(r.workflow = '*') THEN array_agg(r.workflow) END,
           EXISTS (SELECT 1 FROM ebb.queues AS q WHERE q.name = f.queue)
    FROM found AS f
    JOIN ebb.work_rights AS r ON r.handler IN (f.handler, '*') AND r.queue IN (f.queue, '*')
    JOIN pg_roles AS p ON p.rolname = r.role AND pg_has_role(session_user, p.oid, 'USAGE')
    WHERE f.queue IS NOT NULL AND (own.queues = '{}' OR f.queue = ANY (own.queues))
    GROUP BY f.handler, f.queue;
END $work$;

-- Locks up to n due tasks of queues without limits, the best first. Another session's are skipped. What else a task
-- must fulfil is asked as one value, so that the index of tasks goes ahead whatever the planner thinks of the sizes.
-- `has_lease`: one of them has the time of an earlier lease.
DO $do$ BEGIN
    PERFORM set_config('client_min_messages', 'warning', true);
    DROP FUNCTION IF EXISTS ebb.work_find(ebb.workers, integer);  -- of an earlier installation
END $do$;
CREATE OR REPLACE FUNCTION ebb.work_find_due(
    worker ebb.workers, n integer, OUT ids uuid[], OUT tokens bigint[], OUT has_lease boolean
)
LANGUAGE plpgsql AS $work$
DECLARE
    spare integer;
    seen bigint;
BEGIN
    -- Each candidate costs, so first only a few more than are wanted.
    FOREACH spare IN ARRAY ARRAY[4, 64] LOOP
        WITH candidates AS MATERIALIZED (
            SELECT c.* FROM ebb.work_places($1) AS p CROSS JOIN LATERAL (
                SELECT t.rank, t.instance_id, t.token, t.handler, t.queue FROM ebb.tasks AS t
                WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = p.handler AND t.queue = p.queue
                  AND (
                      SELECT (p.workflows IS NULL OR i.workflow = ANY (p.workflows)) AND EXISTS (
                          SELECT 1 FROM ebb.calls AS k
                          WHERE k.workflow = i.workflow AND k.version = i.version AND k.handler = t.handler
                      )
                      FROM ebb.instances AS i WHERE i.id = t.instance_id
                  )
                ORDER BY t.rank, t.instance_id, t.token LIMIT $2 + spare
            ) AS c
            WHERE NOT p.is_limited
            ORDER BY c.rank, c.instance_id, c.token LIMIT $2 + spare
        )
        SELECT coalesce(array_agg(l.instance_id), '{}'), coalesce(array_agg(l.token), '{}'),
               coalesce(bool_or(l.lease_until IS NOT NULL), false), (SELECT count(*) FROM candidates)
        INTO ids, tokens, has_lease, seen FROM (
            SELECT f.* FROM candidates AS c CROSS JOIN LATERAL (
                SELECT t.instance_id, t.token, t.lease_until FROM ebb.tasks AS t
                WHERE t.instance_id = c.instance_id AND t.token = c.token
                  AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = ''
                  AND t.handler = c.handler AND t.queue = c.queue
                FOR UPDATE SKIP LOCKED
            ) AS f
            LIMIT $2
        ) AS l;
        EXIT WHEN cardinality(ids) = $2 OR seen < $2 + spare;
    END LOOP;
END $work$;

-- The same in one queue with limits, which is locked, as far as they allow. Each task that is found
-- takes its slot at once.
CREATE OR REPLACE FUNCTION ebb.work_find_limited(worker ebb.workers, queue text, n integer)
RETURNS TABLE (instance_id uuid, token bigint)
LANGUAGE plpgsql AS $work$
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
            FROM ebb.tasks AS t
            WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = p.handler AND t.queue = p.queue
              AND (
                  SELECT (p.workflows IS NULL OR i.workflow = ANY (p.workflows)) AND EXISTS (
                      SELECT 1 FROM ebb.calls AS k
                      WHERE k.workflow = i.workflow AND k.version = i.version AND k.handler = t.handler
                  )
                  FROM ebb.instances AS i WHERE i.id = t.instance_id
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
LANGUAGE plpgsql STABLE AS $work$
DECLARE
    place bigint := $2;
    content text;
BEGIN
    LOOP
        SELECT h.payload, h.ref INTO content, place FROM ebb.history AS h
        WHERE h.instance_id = $1 AND h.seq = place;
        EXIT WHEN NOT FOUND OR content <> '';
    END LOOP;
    RETURN coalesce(nullif(content, ''), 'null')::json;
END $work$;

-- What a compensation gets: the step's input, output, error and outcome.
CREATE OR REPLACE FUNCTION ebb.work_undone(instance_id uuid, seq bigint) RETURNS json
LANGUAGE plpgsql STABLE AS $work$
BEGIN
    RETURN (
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
    );
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_claim(session uuid, n integer DEFAULT 1)
RETURNS SETOF ebb.work_job
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
#variable_conflict use_column
DECLARE
    wanted integer := $2;
    -- include: turn_variables
BEGIN
    -- include: look_at_session
    -- include: claim_jobs
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_claim_for(worker ebb.workers, n integer) RETURNS SETOF ebb.work_job
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    rest integer := least($2, 1000);
    limited text;
    ids uuid[] := '{}';
    tokens bigint[] := '{}';
    has_lease boolean := false;
    more record;
    leased integer;
BEGIN
    PERFORM ebb.work_check_engines();
    IF $2 IS NULL OR $2 NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'A claim takes 1 to 1,000 tasks, not %.', $2 USING ERRCODE = 'EB011';
    END IF;
    PERFORM ebb.work_prolong($1);
    -- What has become due, if no process of Ebb has woken it yet.
    IF EXISTS (
        SELECT 1 FROM ebb.tasks AS t WHERE t.lane = 0 AND t.lease_owner IS NULL AND t.due_at <= ebb.work_now()
    ) THEN
        WITH due AS (
            SELECT t.instance_id, t.token FROM ebb.tasks AS t
            WHERE t.lane = 0 AND t.lease_owner IS NULL AND t.due_at <= ebb.work_now()
            ORDER BY t.due_at LIMIT 1000 FOR UPDATE SKIP LOCKED
        )
        UPDATE ebb.tasks AS t SET lane = 1 FROM due AS d
        WHERE t.instance_id = d.instance_id AND t.token = d.token;
    END IF;
    IF EXISTS (SELECT 1 FROM ebb.queues) THEN
        FOR limited IN
            SELECT DISTINCT p.queue FROM ebb.work_places($1) AS p WHERE p.is_limited ORDER BY 1
        LOOP
            EXIT WHEN rest = 0;
            FOR more IN SELECT * FROM ebb.work_find_limited($1, limited, rest) LOOP
                ids := ids || more.instance_id;
                tokens := tokens || more.token;
                has_lease := true;
                rest := rest - 1;
            END LOOP;
        END LOOP;
    END IF;
    IF rest > 0 THEN
        more := ebb.work_find_due($1, rest);
        ids := ids || more.ids;
        tokens := tokens || more.tokens;
        has_lease := has_lease OR more.has_lease;
    END IF;
    IF cardinality(ids) = 0 THEN
        RETURN;
    END IF;
    IF has_lease THEN
        -- A Put leaves the column of an earlier lease as it was.
        UPDATE ebb.tasks AS t SET lease_until = NULL FROM unnest(ids, tokens) AS l (id, token)
        WHERE t.instance_id = l.id AND t.token = l.token AND t.lease_until IS NOT NULL;
    END IF;
    RETURN QUERY SELECT * FROM ebb.work_lease($1, ids, tokens);
    GET DIAGNOSTICS leased = ROW_COUNT;
    IF leased < cardinality(ids) THEN
        -- What the row says is not what the state wants, or an attempt was lost: the engine decides.
        UPDATE ebb.tasks AS t
        SET handler = '', lease_owner = NULL, lease_until = NULL
        FROM unnest(ids, tokens) AS l (id, token)
        WHERE t.instance_id = l.id AND t.token = l.token AND t.lease_until IS NULL;
        PERFORM ebb.work_ring(false);
    END IF;
END $work$;

-- Leases those of the locked tasks that can be called now, and says what the calls get.
CREATE OR REPLACE FUNCTION ebb.work_lease(worker ebb.workers, ids uuid[], tokens bigint[])
RETURNS SETOF ebb.work_job
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    owner text := $1.id;
BEGIN
    -- include: leased_jobs
END $work$;
