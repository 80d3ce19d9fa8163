-- name: apply
-- Writes what rules_decide has decided. Order of locks: the row of wed_flow, then its instance, then its
-- tasks. A commit of Ebb holds the instance and skips rows of wed_flow that others hold, so
-- the two never wait for each other.

-- The truth of all conditions of a version; those that fail say why.
CREATE OR REPLACE FUNCTION ebb.flow_match(
    flow text, version integer, program jsonb, vals jsonb, OUT truth boolean[], OUT faults text[]
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one boolean;
BEGIN
    faults := '{}';
    BEGIN
        EXECUTE format('SELECT %I.%I($1)', $1, '_match_' || $2) INTO truth USING $4;
        RETURN;
    EXCEPTION WHEN data_exception THEN
        truth := '{}';
    END;
    FOR i IN 1 .. cardinality(ebb.rules_conditions($3)) LOOP
        BEGIN
            EXECUTE format('SELECT %I.%I($1, $2)', $1, '_match_' || $2) INTO one USING $4, i;
            truth[i] := one;
        EXCEPTION WHEN data_exception THEN
            faults[i] := SQLERRM;
        END;
    END LOOP;
END $work$;

-- Puts the rows of a decision: history, tasks and, for its own sake, a bell.
CREATE OR REPLACE FUNCTION ebb.flow_write_rows(
    i ebb.instances, d ebb.rules_decision, moment bigint
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    is_known boolean;
BEGIN
    INSERT INTO ebb.history (
        instance_id, seq, type, node, token, visit, attempt, ref, worker, started_at, at, payload
    )
    SELECT $1.id, (e ->> 'seq')::bigint, e ->> 'type', e ->> 'node', (e ->> 'token')::bigint,
           (e ->> 'visit')::bigint, (e ->> 'attempt')::integer, (e ->> 'ref')::bigint, e ->> 'worker',
           (e ->> 'started_at')::bigint, $3, e ->> 'payload'
    FROM jsonb_array_elements($2.events) AS e;
    IF $2.status <> 'running' THEN
        DELETE FROM ebb.tasks AS t WHERE t.instance_id = $1.id AND t.token > -9223372036854775807;
        RETURN;
    END IF;
    IF $2.ends IS NOT NULL THEN
        DELETE FROM ebb.tasks AS t WHERE t.instance_id = $1.id AND t.token = $2.ends;
    END IF;
    IF $2.puts <> '[]' THEN
        -- Who serves a handler that has tasks already is awake.
        SELECT bool_and(EXISTS (
            SELECT 1 FROM ebb.tasks AS t
            WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = p ->> 'handler'
              AND t.queue = p ->> 'queue'
        )) INTO is_known FROM jsonb_array_elements($2.puts) AS p;
        INSERT INTO ebb.tasks AS t (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
        SELECT $1.id, (p ->> 'token')::bigint, p ->> 'handler', p ->> 'queue', $3,
               $3 - 2000000 * $1.priority::bigint, 1, NULL
        FROM jsonb_array_elements($2.puts) AS p
        ON CONFLICT (instance_id, token) DO UPDATE SET
            handler = excluded.handler, queue = excluded.queue, due_at = excluded.due_at,
            rank = excluded.rank, lane = excluded.lane, is_stop = false, was_lost = false,
            lost_by = NULL, lease_owner = NULL, concurrency_key = NULL, took_slot = NULL,
            outcome = NULL, lease_until = NULL;
        PERFORM ebb.work_ring(is_known);
    END IF;
END $work$;

-- As in WED-SQL: each transition that is fired sends a notification on the channel of its name.
CREATE OR REPLACE FUNCTION ebb.flow_tell(
    f ebb.flows, program jsonb, wid bigint, d ebb.rules_decision
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    put jsonb;
    payload text := ($4.state::json #> '{rules,values}')::text;
    rule jsonb;
BEGIN
    IF $1.notify <> 'wed' THEN
        RETURN;
    END IF;
    FOR put IN SELECT p FROM jsonb_array_elements($4.puts) AS p LOOP
        SELECT t INTO rule FROM jsonb_array_elements($2 -> 'triggers') AS t WHERE t ->> 'name' = put ->> 'node';
        PERFORM pg_notify(left(lower(put ->> 'node'), 63), jsonb_strip_nulls(jsonb_build_object(
            'wid', $3, 'tgid', coalesce(rule -> 'tgid', '0'),
            'timeout', make_interval(secs => coalesce((rule ->> 'timeout')::numeric, 3600000000)::double precision / 1000000)::text,
            'payload', CASE WHEN octet_length(payload) < 7000 THEN payload END
        ))::text);
    END LOOP;
END $work$;

-- A new instance, for a row that has been inserted.
CREATE OR REPLACE FUNCTION ebb.flow_start(
    f ebb.flows, wid bigint, id uuid, given jsonb, author text
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    program jsonb;
    merged ebb.rules_merged;
    m record;
    d ebb.rules_decision;
    i ebb.instances;
    input text;
    names text[];
    moment bigint := ebb.work_now();
BEGIN
    SELECT v.program INTO program FROM ebb.flow_versions AS v
    WHERE v.flow = $1.flow AND v.version = $1.version;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The flow "%" has no trigger yet.', $1.flow USING ERRCODE = 'EB007';
    END IF;
    SELECT array_agg(a ->> 'name' ORDER BY n) INTO names
    FROM jsonb_array_elements(program -> 'attributes') WITH ORDINALITY AS x (a, n);
    SELECT * INTO merged FROM ebb.rules_merge(program, jsonb_build_object('values', (
        SELECT jsonb_object_agg(a ->> 'name', a -> 'default')
        FROM jsonb_array_elements(program -> 'attributes') AS a
    )), 'start', $4, NULL, NULL, 0);
    SELECT * INTO m FROM ebb.flow_match($1.flow, $1.version, program, merged.now_values);
    d := ebb.rules_decide(
        program, '{"status":"running","seq":1}', '{"source":"start"}', merged, m.truth, m.faults
    );
    SELECT ebb.rules_text(coalesce(jsonb_object_agg(k, merged.now_values -> k), '{}'), names) INTO input
    FROM jsonb_object_keys(merged.changes) AS k;
    d.events := jsonb_build_array(ebb.rules_event(1, 'started', 0, input)
        || jsonb_build_object('worker', $5)) || d.events;
    PERFORM set_config('ebb_surface.deciding', $3::text, true);
    INSERT INTO ebb.instances (
        id, workflow, version, status, revision, priority, created_at, updated_at, finished_at, state
    )
    VALUES (
        $3, $1.flow, $1.version, d.status, 1, 0, moment, moment,
        CASE WHEN d.status <> 'running' THEN moment END, d.state
    )
    RETURNING * INTO i;
    PERFORM set_config('ebb_surface.deciding', '', true);
    PERFORM ebb.flow_write_rows(i, d, moment);
    PERFORM ebb.flow_tell($1, program, $2, d);
END $work$;

-- The instance as the reflex may change it, locked; with the newest version that it can follow to.
CREATE OR REPLACE FUNCTION ebb.flow_take(
    f ebb.flows, id uuid, OUT i ebb.instances, OUT program jsonb, OUT state json, OUT event jsonb
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    newer jsonb;
    next_state json;
    next_event jsonb;
    m record;
BEGIN
    SELECT o.* INTO i FROM ebb.instances AS o WHERE o.id = $2 AND o.workflow = $1.flow FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The instance % does not exist any more.', $2 USING ERRCODE = 'EB013';
    END IF;
    IF i.finished_at IS NOT NULL THEN
        RAISE EXCEPTION 'The instance % is %: it cannot be written to.', $2, i.status USING ERRCODE = 'EB002';
    END IF;
    state := i.state::json;
    IF i.status <> 'running' OR state -> 'rules' IS NULL OR state -> 'rollbacks' IS NOT NULL
        OR state -> 'scopes' IS NOT NULL OR EXISTS (
            SELECT 1 FROM json_array_elements(state -> 'tokens') AS t
            WHERE t ->> 'scope' IS NOT NULL OR t ->> 'compensates' IS NOT NULL
               OR t ->> 'stopping' IS NOT NULL OR t ->> 'status' = 'frozen'
        )
    THEN
        RAISE EXCEPTION 'The instance % is %: only a process of Ebb can continue it.', $2,
            CASE WHEN i.status = 'running' AND state -> 'rules' IS NULL THEN 'not begun' ELSE i.status END
            USING ERRCODE = 'EB009';
    END IF;
    IF i.lease_owner IS NOT NULL THEN
        INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
        VALUES (
            i.id, 1, coalesce(i.lease_handler, ''), coalesce(i.lease_queue, ''), i.created_at,
            i.created_at - 2000000 * i.priority::bigint, 1, i.lease_owner
        );
        UPDATE ebb.instances AS o SET lease_owner = NULL, lease_handler = NULL, lease_queue = NULL
        WHERE o.id = $2;
    END IF;
    SELECT v.program INTO program FROM ebb.flow_versions AS v
    WHERE v.flow = $1.flow AND v.version = i.version;
    SELECT v.program INTO newer FROM ebb.flow_versions AS v
    WHERE v.flow = $1.flow AND v.version = $1.version AND v.version > i.version;
    IF FOUND THEN
        SELECT o.followed, o.event INTO next_state, next_event
        FROM ebb.rules_follow(program, newer, state, i.version, $1.version) AS o;
        IF next_state IS NOT NULL THEN
            SELECT * INTO m FROM ebb.flow_match(
                $1.flow, $1.version, newer, (next_state #> '{rules,values}')::jsonb
            );
            FOR n IN 1 .. jsonb_array_length(newer -> 'invariants') LOOP
                IF m.faults[n] IS NOT NULL OR NOT m.truth[n] THEN
                    RETURN;
                END IF;
            END LOOP;
            program := newer;
            state := next_state;
            event := next_event;
            i.version := $1.version;
        END IF;
    END IF;
END $work$;

-- Decides and writes one write of an instance that exists. Answers R, F or E; NULL where nothing changes.
CREATE OR REPLACE FUNCTION ebb.flow_apply(
    f ebb.flows, wid bigint, id uuid, write jsonb, wanted jsonb, is_explicit boolean DEFAULT false
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    t record;
    merged ebb.rules_merged;
    m record;
    d ebb.rules_decision;
    own jsonb;
    given text;
    moment bigint;
BEGIN
    SELECT * INTO t FROM ebb.flow_take($1, $3);
    -- As seen by the one who waited for the lock.
    moment := ebb.work_now();
    IF $4 ->> 'source' = 'transition' THEN
        SELECT k::jsonb INTO own FROM json_array_elements(t.state -> 'tokens') AS k
        WHERE k ->> 'id' = $4 ->> 'token' AND k ->> 'visit' = $4 ->> 'visit'
          AND coalesce(k ->> 'attempt', '0') = $4 ->> 'attempt'
          AND coalesce(k ->> 'pauses', '0') = $4 ->> 'pauses'
          AND coalesce(k ->> 'status', 'ready') IN ('ready', 'retrying');
        IF NOT FOUND THEN
            RAISE EXCEPTION 'The job is gone: it has been completed, or another worker has it.'
                USING ERRCODE = 'EB003';
        END IF;
        SELECT h.payload INTO given FROM ebb.history AS h
        WHERE h.instance_id = $3 AND h.seq = (own ->> 'fired')::bigint;
        IF own ->> 'node' = '_EXCPT' THEN
            write := write || '{"source": "handler"}';
            given := (given::json -> 'state')::text;
        END IF;
        write := write || jsonb_build_object('fired_text', given);
    END IF;
    SELECT * INTO merged FROM ebb.rules_merge(
        t.program, (t.state -> 'rules')::jsonb, write ->> 'source', $5, own ->> 'node',
        CASE WHEN is_explicit THEN NULL ELSE given::jsonb END, coalesce((own ->> 'fired')::bigint, 0)
    );
    SELECT * INTO m FROM ebb.flow_match($1.flow, (t.i).version, t.program, merged.now_values);
    d := ebb.rules_decide(t.program, t.state, write, merged, m.truth, m.faults);
    -- A newer version may have a condition that holds without any change of an attribute.
    IF write ->> 'source' IN ('outside', 'repair') AND merged.changes = '{}' AND d.verdict = 'R'
        AND (d.state::jsonb #>> '{rules,finishing}') IS NOT DISTINCT FROM (t.state #>> '{rules,finishing}')
        AND (t.state #> '{rules,exception}') IS NULL AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements(d.puts) AS p WHERE p ->> 'node' <> '_EXCPT'
        )
    THEN
        IF t.event IS NULL OR write ->> 'source' = 'outside' THEN
            RETURN NULL;
        END IF;
        -- A request to ask all conditions moves the instance to the newest version, even if nothing fires.
        d.state := t.state::text;
        d.status := 'running';
        d.events := '[]';
        d.puts := '[]';
        d.ends := NULL;
    END IF;
    IF t.event IS NOT NULL THEN
        d.events := jsonb_build_array(t.event) || d.events;
    END IF;
    PERFORM set_config('ebb_surface.deciding', $3::text, true);
    UPDATE ebb.instances AS o
    SET revision = o.revision + 1, status = d.status, state = d.state, updated_at = moment,
        finished_at = CASE WHEN d.status <> 'running' THEN moment END, version = (t.i).version
    WHERE o.id = $3;
    PERFORM set_config('ebb_surface.deciding', '', true);
    PERFORM ebb.flow_write_rows(t.i, d, moment);
    PERFORM ebb.flow_tell($1, t.program, $2, d);
    RETURN d.verdict;
END $work$;

-- The flow, with a version of its newest definition.
CREATE OR REPLACE FUNCTION ebb.flow_of(flow text) RETURNS ebb.flows
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    f ebb.flows;
BEGIN
    SELECT o.* INTO f FROM ebb.flows AS o WHERE o.flow = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no flow "%".', left($1, 80) USING ERRCODE = 'EB013';
    END IF;
    IF f.is_dirty THEN
        PERFORM ebb.flow_build($1);
        SELECT o.* INTO f FROM ebb.flows AS o WHERE o.flow = $1;
    END IF;
    RETURN f;
END $work$;
