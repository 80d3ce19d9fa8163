-- name: claims
-- Jobs of a flow: claimed with a lease by wed_claim, or for the length of a transaction by
-- pg_try_advisory_xact_lock, as in WED-SQL.

-- The row of the instance that a job names, locked; its token, if it still stands there, and the user may run
-- the transition. `held`, `locked`: the number of the row and the instance, if this transaction has locked them
-- already.
CREATE OR REPLACE FUNCTION ebb.flow_token(
    f ebb.flows, job text, held bigint, INOUT locked ebb.instances, OUT wid bigint, OUT id uuid, OUT token jsonb
)
LANGUAGE plpgsql AS $work$
DECLARE
    p record := ebb.work_parts($2);
    handler text;
BEGIN
    id := p.instance_id;
    wid := $3;
    IF wid IS NULL THEN
        EXECUTE format(
            'SELECT wid FROM %I.wed_flow WHERE instance_id = $1 FOR NO KEY UPDATE', $1.flow
        ) INTO wid USING id;
    END IF;
    IF locked.id IS NULL THEN
        SELECT i.* INTO locked FROM ebb.instances AS i
        WHERE i.id = p.instance_id AND i.workflow = $1.flow FOR UPDATE;
    END IF;
    IF locked.workflow = $1.flow THEN
        token := jsonb_path_query_first(
            locked.state::jsonb, '$.tokens[*] ? (@.id == $id)', jsonb_build_object('id', p.token)
        );
    END IF;
    -- Of a compensation, its own handler.
    SELECT c.handler INTO handler FROM ebb.calls AS c WHERE c.workflow = $1.flow AND c.version = locked.version
        AND c.node = token ->> 'node' AND c.is_compensation = (token ? 'compensates');
    IF wid IS NULL OR token IS NULL OR (token ->> 'visit')::bigint <> p.visit
        OR coalesce((token ->> 'attempt')::integer, 0) <> p.attempt
        OR coalesce((token ->> 'pauses')::integer, 0) <> p.pauses
    THEN
        RAISE EXCEPTION 'The job is gone: it has been completed, or another worker has it.'
            USING ERRCODE = 'EB003';
    END IF;
    PERFORM ebb.flow_check_right($1.flow, 'work:' || coalesce(handler, token ->> 'node'));
END $work$;

-- Ends a claimed job with these attributes. `held`: what the row of wed_flow holds, if that is known. `locked`: as
-- of flow_token.
CREATE OR REPLACE FUNCTION ebb.flow_complete(
    f ebb.flows, wid bigint, claim jsonb, wanted jsonb, is_explicit boolean, held jsonb,
    locked ebb.instances DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql AS $work$
DECLARE
    job text := $3 ->> 'job';
    p record := ebb.work_parts(job);
    place record := ebb.flow_token($1, job, $2, $7);
    task record;
BEGIN
    SELECT t.lease_owner, t.due_at, t.handler, w.role INTO task
    FROM ebb.tasks AS t LEFT JOIN ebb.workers AS w ON w.id = t.lease_owner
    WHERE t.instance_id = p.instance_id AND t.token = p.token FOR UPDATE OF t;
    IF NOT FOUND OR task.handler = '' OR (CASE
        WHEN ($3 ->> 'is_leased')::boolean THEN task.role IS DISTINCT FROM session_user
        ELSE task.lease_owner IS NOT NULL
    END) THEN
        RAISE EXCEPTION 'The job is not yours: its lease has ended, or another has claimed it.'
            USING ERRCODE = 'EB003';
    END IF;
    RETURN ebb.flow_apply($1, place.wid, place.id, jsonb_build_object(
        'source', 'transition', 'token', p.token, 'visit', p.visit, 'attempt', p.attempt,
        'pauses', p.pauses, 'worker', coalesce(task.lease_owner, session_user),
        'started_at', task.due_at, 'output', coalesce($4, 'null')::text
    ), $4, $5, $6, place.locked);
END $work$;

-- The worker row that a claim belongs to: it lives as long as its longest job may take.
CREATE OR REPLACE FUNCTION ebb.flow_worker(worker text, handler text, length bigint) RETURNS ebb.workers
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    name text := coalesce(nullif($1, ''), 'wed:' || session_user || ':' || pg_backend_pid());
    moment bigint := ebb.work_now();
    lease bigint := least(greatest($3 + 30000000, 60000000), 3153600000000000);
    own_row ebb.workers;
BEGIN
    -- Rarely written, so that a claim does not cost a row more.
    SELECT w.* INTO own_row FROM ebb.workers AS w WHERE w.id = name AND w.role = session_user
      AND $2 = ANY (w.handlers) AND w.lease >= lease AND w.expires_at > moment + lease - 20000000;
    IF FOUND THEN
        RETURN own_row;
    END IF;
    IF octet_length(name) > 200 OR name ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'The name of a worker has 1 to 200 bytes, without control characters.'
            USING ERRCODE = 'EB011';
    END IF;
    INSERT INTO ebb.workers AS o (
        id, host, pid, handlers, queues, capacity, started_at, expires_at, session, role, lease
    )
    VALUES (
        name, coalesce(host(inet_client_addr()), ''), pg_backend_pid(), ARRAY[$2], '{}', 1000, moment,
        moment + lease, gen_random_uuid(), session_user, lease
    )
    ON CONFLICT (id) DO UPDATE SET
        expires_at = greatest(o.expires_at, excluded.expires_at), lease = greatest(o.lease, excluded.lease),
        handlers = CASE WHEN $2 = ANY (o.handlers) THEN o.handlers ELSE o.handlers || $2 END
    WHERE o.role = session_user
    RETURNING * INTO own_row;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Another worker has the name "%".', name USING ERRCODE = 'EB011';
    END IF;
    RETURN own_row;
END $work$;

-- The number of the trigger that a token stands for, among those of its transition. An exception has none.
CREATE OR REPLACE FUNCTION ebb.flow_tgid(rules jsonb, id uuid, token bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $work$
BEGIN
    IF jsonb_array_length($1) < 2 THEN
        RETURN coalesce(($1 #>> '{0,tgid}')::bigint, 0);
    END IF;
    RETURN (
        SELECT (r ->> 'tgid')::bigint FROM ebb.instances AS i
        CROSS JOIN LATERAL jsonb_path_query(i.state::jsonb, '$.tokens[*]') AS k
        JOIN jsonb_array_elements($1) AS r ON r ->> 'name' = k ->> 'node'
        WHERE i.id = $2 AND (k ->> 'id')::bigint = $3
    );
END $work$;

-- Leases up to n jobs of a transition. Answers with their tokens.
CREATE OR REPLACE FUNCTION ebb.flow_claim(flow text, trname text, n integer, worker text)
RETURNS TABLE (instance_id uuid, token bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
#variable_conflict use_column
DECLARE
    f ebb.flows;
    rules jsonb;
    own ebb.workers;
    is_undo boolean;  -- the handler of a compensation has this name
    one record;
    ids uuid[] := '{}';
    tokens bigint[] := '{}';
BEGIN
    PERFORM ebb.flow_check_right($1, 'work:' || coalesce($2, ''));
    PERFORM ebb.work_check_engines();
    IF $3 IS NULL OR $3 NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'A claim takes 1 to 1,000 jobs, not %.', $3 USING ERRCODE = 'EB011';
    END IF;
    f := ebb.flow_of($1);
    -- Instances of a registered workflow may stay on earlier versions.
    SELECT coalesce(jsonb_agg(r.rule), '[]') INTO rules FROM (
        SELECT DISTINCT ON (x.rule -> 'tgid') x.rule FROM ebb.flow_versions AS v CROSS JOIN LATERAL jsonb_path_query(
            v.program, '$.triggers[*] ? (@.handler == $name)', jsonb_build_object('name', $2)
        ) AS x (rule)
        WHERE v.flow = $1 AND (v.version = f.version OR f.source = 'workflow')
        ORDER BY x.rule -> 'tgid', v.version DESC
    ) AS r;
    SELECT EXISTS (
        SELECT 1 FROM ebb.calls AS c
        WHERE c.workflow = $1 AND (c.version = f.version OR f.source = 'workflow') AND c.is_compensation AND c.handler = $2
    ) INTO is_undo;
    IF rules = '[]' AND NOT is_undo AND $2 IS DISTINCT FROM '_EXCPT' AND NOT EXISTS (
        SELECT 1 FROM ebb.flow_versions AS v WHERE v.flow = $1 AND v.program ->> 'handler' = $2
    ) THEN
        RAISE EXCEPTION 'The flow "%" has no transition "%".', $1, left($2, 80) USING ERRCODE = 'EB013',
            HINT = 'A transition has the name of its handler: the view wed_trans lists them.';
    END IF;
    IF EXISTS (SELECT 1 FROM ebb.flow_behind AS b WHERE b.flow = $1) THEN
        PERFORM ebb.flow_catch_up($1);
    END IF;
    WITH due AS (
        SELECT t.instance_id, t.token FROM ebb.tasks AS t
        WHERE t.lane = 0 AND t.lease_owner IS NULL AND t.due_at <= ebb.work_now()
        ORDER BY t.due_at LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
    UPDATE ebb.tasks AS t SET lane = 1 FROM due AS d
    WHERE t.instance_id = d.instance_id AND t.token = d.token;
    FOR one IN
        SELECT t.instance_id, t.token FROM ebb.flow_due($1, $2, $3 + 64) AS t
    LOOP
        EXIT WHEN cardinality(ids) >= $3;
        -- The session that holds the lock works on it, in a transaction that is open.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(
            ebb.flow_lock(one.instance_id, ebb.flow_tgid(rules, one.instance_id, one.token))
        );
        ids := ids || one.instance_id;
        tokens := tokens || one.token;
    END LOOP;
    IF cardinality(ids) = 0 THEN
        RETURN;
    END IF;
    own := ebb.flow_worker($4, $2, coalesce((
        SELECT max(coalesce((r ->> 'timeout')::bigint, 3600000000)) FROM jsonb_array_elements(rules) AS r
    ), 3600000000));
    IF NOT is_undo THEN
        RETURN QUERY SELECT l.instance_id, l.token FROM ebb.flow_lease(own.id, $2, ids, tokens) AS l;
        RETURN;
    END IF;
    RETURN QUERY SELECT l.instance_id, (ebb.work_parts(l.job)).token FROM ebb.work_lease(own, ids, tokens) AS l;
    PERFORM ebb.flow_give_up(ids, tokens);
END $work$;

-- What the rows of tasks say is not what the state wants, or an attempt was lost: the engine decides.
CREATE OR REPLACE FUNCTION ebb.flow_give_up(ids uuid[], tokens bigint[]) RETURNS void
LANGUAGE plpgsql AS $work$
DECLARE
    bad integer;
BEGIN
    UPDATE ebb.tasks AS t SET handler = '', lease_until = NULL
    FROM unnest($1, $2) AS l (id, token)
    WHERE t.instance_id = l.id AND t.token = l.token AND t.lease_owner IS NULL;
    GET DIAGNOSTICS bad = ROW_COUNT;
    IF bad > 0 THEN
        PERFORM ebb.work_ring(false);
    END IF;
END $work$;

-- Leases those of the locked tasks that can be called now, for the timeout of their version.
CREATE OR REPLACE FUNCTION ebb.flow_lease(worker text, trname text, ids uuid[], tokens bigint[])
RETURNS TABLE (instance_id uuid, token bigint)
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    moment bigint := ebb.work_now();
    bad integer;
BEGIN
    RETURN QUERY
    UPDATE ebb.tasks AS t
    SET lease_owner = $1, outcome = NULL, due_at = moment,
        lease_until = moment + coalesce(nullif(c.timeout, 0), 3600000000)
    FROM unnest($3, $4) AS l (id, token)
    JOIN ebb.instances AS i ON i.id = l.id
    CROSS JOIN LATERAL json_array_elements(i.state::json -> 'tokens') AS k
    JOIN ebb.calls AS c ON c.workflow = i.workflow AND c.version = i.version AND c.node = k ->> 'node'
        AND NOT c.is_compensation
    WHERE t.instance_id = l.id AND t.token = l.token AND i.status = 'running' AND NOT t.was_lost
      AND NOT t.is_stop AND (k ->> 'id')::bigint = l.token AND c.handler = $2
      AND coalesce(k ->> 'status', 'ready') IN ('ready', 'retrying')
      AND k ->> 'parked' IS NULL AND k ->> 'stopping' IS NULL AND k ->> 'compensates' IS NULL
    RETURNING t.instance_id, t.token;
    GET DIAGNOSTICS bad = ROW_COUNT;
    IF bad = cardinality($3) THEN
        RETURN;
    END IF;
    PERFORM ebb.flow_give_up($3, $4);
END $work$;

-- The due tasks of a transition, the best first, locked. Those of queues with limits are for work_claim.
CREATE OR REPLACE FUNCTION ebb.flow_due(flow text, trname text, n integer)
RETURNS TABLE (instance_id uuid, token bigint)
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
BEGIN
    -- One look into the index for each queue, however many tasks wait: the planner takes what else a task must fulfil
    -- as one value, so that the index goes ahead.
    RETURN QUERY
    WITH candidates AS MATERIALIZED (
        SELECT c.* FROM (
            SELECT DISTINCT k.queue FROM ebb.calls AS k
            WHERE k.workflow = $1 AND k.handler = $2
              AND NOT EXISTS (SELECT 1 FROM ebb.queues AS q WHERE q.name = k.queue)
        ) AS p CROSS JOIN LATERAL (
            SELECT t.rank, t.instance_id, t.token, t.queue FROM ebb.tasks AS t
            WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = $2 AND t.queue = p.queue
              AND (SELECT i.workflow FROM ebb.instances AS i WHERE i.id = t.instance_id) = $1
            ORDER BY t.rank, t.instance_id, t.token LIMIT $3
        ) AS c
        ORDER BY c.rank, c.instance_id, c.token LIMIT $3
    )
    SELECT l.instance_id, l.token FROM candidates AS c CROSS JOIN LATERAL (
        SELECT t.instance_id, t.token FROM ebb.tasks AS t
        WHERE t.instance_id = c.instance_id AND t.token = c.token
          AND t.lane + 0 = 1 AND coalesce(t.lease_owner, '') = '' AND t.handler = $2 AND t.queue = c.queue
        FOR UPDATE SKIP LOCKED
    ) AS l;
END $work$;

-- Ends a job. Answers R, F or E, or H where a process of Ebb decides.
CREATE OR REPLACE FUNCTION ebb.flow_end(flow text, job text, attributes jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
DECLARE
    f ebb.flows := ebb.flow_of($1);
BEGIN
    PERFORM ebb.work_check_size($3::text, 'attributes');
    RETURN ebb.flow_complete(f, NULL, jsonb_build_object('job', $2, 'is_leased', true), $3, false, NULL);
EXCEPTION WHEN SQLSTATE 'EB009' THEN
    IF ebb.work_complete(ebb.flow_session(f, $2), $2, $3) = 'stale' THEN
        RAISE;
    END IF;
    RETURN 'H';
END $work$;

-- The session of the worker that holds the job.
CREATE OR REPLACE FUNCTION ebb.flow_session(f ebb.flows, job text) RETURNS uuid
LANGUAGE plpgsql AS $work$
DECLARE
    p record := ebb.work_parts($2);
    own_row uuid;
BEGIN
    SELECT w.session INTO own_row FROM ebb.tasks AS t
    JOIN ebb.instances AS i ON i.id = t.instance_id AND i.workflow = $1.flow
    JOIN ebb.workers AS w ON w.id = t.lease_owner AND w.role = session_user
    WHERE t.instance_id = p.instance_id AND t.token = p.token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The job is not yours: its lease has ended, or another has claimed it.'
            USING ERRCODE = 'EB003';
    END IF;
    RETURN own_row;
END $work$;

CREATE OR REPLACE FUNCTION ebb.flow_fail(flow text, job text, message text, permanent boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    f ebb.flows := ebb.flow_of($1);
    place record := ebb.flow_token(f, $2, NULL, NULL);
    free record;
    tgid bigint;
    own ebb.workers;
    leased text;
BEGIN
    tgid := CASE place.token ->> 'node' WHEN '_EXCPT' THEN 0 ELSE (
        SELECT (t ->> 'tgid')::bigint FROM ebb.flow_versions AS v
        CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'triggers') AS t
        WHERE v.flow = $1 AND v.version = (place.locked).version AND t ->> 'name' = place.token ->> 'node'
    ) END;
    SELECT * INTO free FROM ebb.flow_free_job($1, place.id, tgid);
    IF free.job IS DISTINCT FROM $2 THEN
        RETURN ebb.work_fail(ebb.flow_session(f, $2), $2, $3, 'error', $4);
    END IF;
    -- It is not leased: this transaction has the lock, and leases the job for this failure. A setting may be
    -- forged, but not the lock.
    IF NOT coalesce(nullif(current_setting('ebb_surface.claims', true), '')::jsonb, '[]')
        @> jsonb_build_array(jsonb_build_object('flow', $1, 'job', $2))
        OR NOT pg_try_advisory_xact_lock(ebb.flow_lock(place.id, tgid))
    THEN
        RAISE EXCEPTION 'The job is not claimed.' USING ERRCODE = 'EB003',
            HINT = 'Claim it with wed_claim, or in this transaction with pg_try_advisory_xact_lock.';
    END IF;
    own := ebb.flow_worker(NULL, free.trname, free.timeout);
    SELECT l.job INTO leased FROM ebb.work_lease(own, ARRAY[place.id], ARRAY[free.token]) AS l;
    RETURN ebb.work_fail(own.session, leased, $3, 'error', $4);
END $work$;

CREATE OR REPLACE FUNCTION ebb.flow_release(flow text, job text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    RETURN ebb.work_release(ebb.flow_session(ebb.flow_of($1), $2), ARRAY[$2]) = 1;
END $work$;

-- The claim of WED-SQL: the lock first, and then, in a statement of its own, the job. Called by the function of the
-- flow, which knows the instance of the row.
CREATE OR REPLACE FUNCTION ebb.flow_try_lock(flow text, wid bigint, tgid bigint, instance uuid) RETURNS boolean
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    one uuid := $4;
    wanted bigint := $3;
    job text;
    trname text;
    token bigint;
    timeout bigint;
    claim jsonb;
    claims jsonb;
    ignored text;
BEGIN
    IF one IS NULL THEN
        RETURN true;  -- as there: what follows finds no job
    END IF;
    IF NOT pg_try_advisory_xact_lock(ebb.flow_lock(one, wanted)) THEN
        RETURN false;
    END IF;
    -- include: free_job
    IF job IS NOT NULL THEN
        PERFORM ebb.flow_check_right($1, 'work:' || trname);
        -- The server ends a session that overstays, and the job is free.
        ignored := set_config('idle_in_transaction_session_timeout', least(
            greatest(timeout / 1000, 1), 2147483647
        )::text, true);
    ELSIF EXISTS (
        -- One that is there and not free is claimed by a lease, or cannot be claimed now.
        SELECT 1 FROM ebb.instances AS i
        JOIN ebb.flow_versions AS v ON v.flow = i.workflow AND v.version = i.version
        CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'triggers' || '{"name": "_EXCPT", "tgid": 0}') AS r
        CROSS JOIN LATERAL jsonb_array_elements(i.state::jsonb -> 'tokens') AS k
        WHERE i.id = one AND i.finished_at IS NULL AND (r ->> 'tgid')::bigint = wanted AND k -> 'node' = r -> 'name'
    ) THEN
        RETURN false;
    END IF;
    -- As there, a job that does not exist can be locked; an UPDATE under this lock is refused.
    claim := jsonb_build_object('flow', $1, 'wid', $2, 'tgid', wanted, 'job', job, 'is_leased', false);
    claims := coalesce(nullif(current_setting('ebb_surface.claims', true), '')::jsonb, '[]');
    IF NOT claims @> jsonb_build_array(claim) THEN
        ignored := set_config('ebb_surface.claims', (claims || claim)::text, true);
    END IF;
    RETURN true;
END $work$;

-- The job of a trigger that no worker has leased; NULL if there is none. The timeout is in microseconds.
CREATE OR REPLACE FUNCTION ebb.flow_free_job(
    flow text, instance uuid, tgid bigint, OUT job text, OUT trname text, OUT token bigint, OUT timeout bigint
)
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    one uuid := $2;
    wanted bigint := $3;
BEGIN
    -- include: free_job
END $work$;

-- fragment: free_job
SELECT format('%s:%s:%s:%s:%s', i.id, k ->> 'id', k ->> 'visit', coalesce(k ->> 'attempt', '0'),
           coalesce(k ->> 'pauses', '0')),
       coalesce(r.rule ->> 'handler', r.name), t.token, coalesce((r.rule ->> 'timeout')::bigint, 3600000000)
INTO job, trname, token, timeout
FROM ebb.instances AS i
JOIN ebb.flow_versions AS v ON v.flow = i.workflow AND v.version = i.version
CROSS JOIN LATERAL (
    SELECT CASE WHEN wanted = 0 THEN '_EXCPT' ELSE x.rule ->> 'name' END AS name, x.rule FROM (
        SELECT jsonb_path_query_first(
            v.program, '$.triggers[*] ? (@.tgid == $tgid)', jsonb_build_object('tgid', wanted)
        ) AS rule
    ) AS x
) AS r
CROSS JOIN LATERAL jsonb_path_query(
    i.state::jsonb, '$.tokens[*] ? (@.node == $name)', jsonb_build_object('name', r.name)
) AS k
JOIN ebb.tasks AS t ON t.instance_id = i.id AND t.token = (k ->> 'id')::bigint
WHERE i.id = one AND i.workflow = $1 AND i.finished_at IS NULL AND t.lease_owner IS NULL AND t.handler <> ''
  AND coalesce(k ->> 'status', 'ready') IN ('ready', 'retrying') AND (k ->> 'status' IS NULL OR t.lane <> 0)
  AND k ->> 'compensates' IS NULL AND k ->> 'scope' IS NULL
LIMIT 1;
