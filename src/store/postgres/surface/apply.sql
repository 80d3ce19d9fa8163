-- name: apply
-- Writes what rules_decide has decided. Order of locks: the row of wed_flow, then its instance, then its
-- tasks. A commit of Ebb holds the instance and skips rows of wed_flow that others hold, so
-- the two never wait for each other.

-- The truth of all conditions of a version; those that fail say why.
CREATE OR REPLACE FUNCTION ebb.flow_match(
    flow text, version integer, program jsonb, vals jsonb, OUT truth boolean[], OUT faults text[]
)
LANGUAGE plpgsql AS $work$
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
LANGUAGE plpgsql AS $work$
DECLARE
    is_known boolean;
BEGIN
    IF $2.status <> 'running' THEN
        DELETE FROM ebb.tasks AS t WHERE t.instance_id = $1.id AND t.token > -9223372036854775807;
    ELSIF $2.ends IS NOT NULL THEN
        DELETE FROM ebb.tasks AS t WHERE t.instance_id = $1.id AND t.token = $2.ends;
    END IF;
    IF $2.drops IS NOT NULL THEN
        DELETE FROM ebb.tasks AS t WHERE t.instance_id = $1.id AND t.token = ANY ($2.drops);
    END IF;
    -- A worker that serves a handler with tasks is already awake.
    WITH events AS (
        INSERT INTO ebb.history (
            instance_id, seq, type, node, token, visit, attempt, ref, worker, started_at, at, payload
        )
        SELECT $1.id, e.seq, e.type, e.node, e.token, e.visit, e.attempt, e.ref, e.worker, e.started_at, $3, e.payload
        FROM unnest($2.events) AS e
    )
    SELECT bool_and(EXISTS (
        SELECT 1 FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = p.handler AND t.queue = p.queue
    )) INTO is_known FROM unnest($2.puts) AS p;
    IF is_known IS NULL THEN
        RETURN;  -- nothing is put
    ELSIF is_known THEN
        PERFORM ebb.work_watch(true);
    ELSE
        PERFORM ebb.work_ring(false);
    END IF;
    INSERT INTO ebb.tasks AS t (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
    SELECT $1.id, p.token, p.handler, p.queue, coalesce(p.due, $3),
           coalesce(p.due, $3) - 2000000 * $1.priority::bigint, CASE WHEN p.due > $3 THEN 0 ELSE 1 END, NULL
    FROM unnest($2.puts) AS p
    ON CONFLICT (instance_id, token) DO UPDATE SET
        handler = excluded.handler, queue = excluded.queue, due_at = excluded.due_at,
        rank = excluded.rank, lane = excluded.lane, is_stop = false, was_lost = false,
        lost_by = NULL, lease_owner = NULL, concurrency_key = NULL, took_slot = NULL,
        outcome = NULL, lease_until = NULL;
    IF is_known THEN
        PERFORM ebb.work_watch(false);
    END IF;
END $work$;

-- As in WED-SQL: each transition that is fired sends a notification on the channel of its name.
CREATE OR REPLACE FUNCTION ebb.flow_tell(program jsonb, wid bigint, vals jsonb, puts ebb.rules_put[]) RETURNS void
LANGUAGE plpgsql AS $work$
DECLARE
    put ebb.rules_put;
    payload text := $3::text;
    rule jsonb;
BEGIN
    FOREACH put IN ARRAY $4 LOOP
        CONTINUE WHEN put.due IS NOT NULL;
        rule := jsonb_path_query_first(
            $1, '$.triggers[*] ? (@.name == $name)', jsonb_build_object('name', put.node)
        );
        PERFORM pg_notify(left(lower(put.handler), 63), jsonb_strip_nulls(jsonb_build_object(
            'wid', $2, 'tgid', coalesce(rule -> 'tgid', '0'),
            'timeout', make_interval(secs => coalesce((rule ->> 'timeout')::numeric, 3600000000)::double precision / 1000000)::text,
            'payload', CASE WHEN octet_length(payload) < 7000 THEN payload END
        ))::text);
    END LOOP;
END $work$;

-- A new instance, for a row that has been inserted with these values.
CREATE OR REPLACE FUNCTION ebb.flow_start(
    f ebb.flows, program jsonb, wid bigint, id uuid, vals jsonb, author text
) RETURNS void
LANGUAGE plpgsql AS $work$
DECLARE
    merged ebb.rules_merged := ebb.rules_begin($2, $5);
    m record := ebb.flow_match($1.flow, $1.version, $2, merged.now_values);
    d ebb.rules_decision;
    i ebb.instances;
    news jsonb := merged.now_values - ARRAY(
        SELECT n FROM jsonb_object_keys(merged.now_values) AS n WHERE NOT merged.changes ? n
    );
    moment bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
BEGIN
    IF $2 ? 'starts_by_kernel' THEN
        PERFORM ebb.rules_hand_over(format('The workflow "%s" has %s', $1.flow, $2 ->> 'starts_by_kernel'));
    END IF;
    d := ebb.rules_decide(
        $2, '{"status":"running","seq":1}', jsonb_build_object('source', 'start', 'now', moment), merged, m.truth,
        m.faults
    );
    d.events := ROW(
        1, 'started', NULL, NULL, NULL, NULL, NULL, $6, NULL,
        ebb.rules_text(news, translate(($2 -> 'names')::text, '[]', '{}')::text[], $2 -> 'doubles')
    )::ebb.rules_row || d.events;
    i.id := $4;
    i.priority := coalesce(($2 ->> 'priority')::integer, 0);
    INSERT INTO ebb.instances (
        id, workflow, version, status, revision, priority, created_at, updated_at, finished_at, state
    )
    VALUES (
        $4, $1.flow, $1.version, d.status, 1, i.priority, moment, moment,
        CASE WHEN d.status <> 'running' THEN moment END, d.state
    );
    PERFORM ebb.flow_write_rows(i, d, moment);
    IF $1.notify = 'wed' THEN
        PERFORM ebb.flow_tell($2, $3, merged.now_values, d.puts);
    END IF;
END $work$;

-- The instance as the reflex may change it, locked; with the newest version that it can follow to. `locked`: the
-- instance, if this transaction has locked and read it already.
CREATE OR REPLACE FUNCTION ebb.flow_take(
    f ebb.flows, id uuid, locked ebb.instances, OUT i ebb.instances, OUT program jsonb, OUT state jsonb, OUT event ebb.rules_row
)
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    newer jsonb;
    next record;
    m record;
BEGIN
    i := $3;
    IF i.id IS NULL THEN
        SELECT o.* INTO i FROM ebb.instances AS o WHERE o.id = $2 AND o.workflow = $1.flow FOR UPDATE;
    END IF;
    IF i.workflow IS DISTINCT FROM $1.flow THEN
        RAISE EXCEPTION 'The instance % does not exist any more.', $2 USING ERRCODE = 'EB013';
    END IF;
    IF i.finished_at IS NOT NULL THEN
        RAISE EXCEPTION 'The instance % is %: it cannot be written to.', $2, i.status USING ERRCODE = 'EB002';
    END IF;
    state := i.state::jsonb;
    IF i.status <> 'running' OR NOT state ? 'rules' OR state ?| '{rollbacks,scopes}' OR jsonb_path_exists(
        state, '$.tokens[*] ? (exists(@.scope) || exists(@.compensates) || exists(@.stopping) || @.status == "frozen")'
    ) THEN
        RAISE EXCEPTION 'The instance % is %: only a process of Ebb can continue it.', $2,
            CASE WHEN i.status = 'running' AND NOT state ? 'rules' THEN 'not begun' ELSE i.status END
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
    SELECT v.program || '{}' INTO program FROM ebb.flow_versions AS v
    WHERE v.flow = $1.flow AND v.version = i.version;
    IF i.version >= $1.version OR program ->> 'evolution' = 'pin' THEN
        RETURN;
    END IF;
    SELECT v.program || '{}' INTO newer FROM ebb.flow_versions AS v WHERE v.flow = $1.flow AND v.version = $1.version;
    next := ebb.rules_follow(program, newer, i.state::json, i.version, $1.version);
    IF next.followed IS NULL THEN
        RETURN;
    END IF;
    m := ebb.flow_match($1.flow, $1.version, newer, (next.followed #> '{rules,values}')::jsonb);
    FOR n IN 1 .. jsonb_array_length(newer -> 'invariants') LOOP
        IF m.faults[n] IS NOT NULL OR NOT m.truth[n] THEN
            RETURN;
        END IF;
    END LOOP;
    program := newer;
    state := next.followed;
    event := next.event;
    i.version := $1.version;
    i.state := next.followed;
END $work$;

-- The token that a job names, and the text of what it was given; an exception if it does not stand there
-- any more.
CREATE OR REPLACE FUNCTION ebb.flow_own(
    id uuid, state jsonb, write jsonb, OUT own jsonb, OUT given text
)
LANGUAGE plpgsql AS $work$
BEGIN
    own := jsonb_path_query_first(
        $2, '$.tokens[*] ? (@.id == $id)', jsonb_build_object('id', $3 -> 'token')
    );
    IF own IS NULL OR own -> 'visit' IS DISTINCT FROM $3 -> 'visit'
        OR coalesce(own ->> 'attempt', '0') <> $3 ->> 'attempt'
        OR coalesce(own ->> 'pauses', '0') <> $3 ->> 'pauses'
        OR coalesce(own ->> 'status', 'ready') NOT IN ('ready', 'retrying')
    THEN
        RAISE EXCEPTION 'The job is gone: it has been completed, or another worker has it.'
            USING ERRCODE = 'EB003';
    END IF;
    SELECT h.payload INTO given FROM ebb.history AS h
    WHERE h.instance_id = $1 AND h.seq = (own ->> 'fired')::bigint;
    IF own ->> 'node' = '_EXCPT' THEN
        given := (given::json -> 'state')::text;
    END IF;
END $work$;

-- Whether a transition can end here.
CREATE OR REPLACE FUNCTION ebb.rules_check_end(program jsonb, own jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    rule jsonb := $1 -> 'triggers' -> (($2 ->> 'branch')::integer - 1);
BEGIN
    IF $1 ? 'counts' THEN
        PERFORM ebb.rules_hand_over('A template of the workflow reads how many attempts a transition has had');
    ELSIF $2 ? 'deadline' THEN
        PERFORM ebb.rules_hand_over(format('The transition "%s" has a step_timeout', $2 ->> 'node'));
    ELSIF $2 ->> 'node' <> '_EXCPT' AND (rule ? 'sets' OR rule ->> 'name' <> $2 ->> 'node') THEN
        PERFORM ebb.rules_hand_over(format(
            'The transition "%s" has %s', rule ->> 'name',
            CASE WHEN rule ? 'sets' THEN 'a template for what it writes' ELSE 'steps' END
        ));
    END IF;
END $work$;

-- Decides and writes one write of an instance that exists. `held`: what its row of wed_flow holds, if that is
-- known. `locked`: as of flow_take. Answers R, F or E; NULL where nothing changes.
CREATE OR REPLACE FUNCTION ebb.flow_apply(
    f ebb.flows, wid bigint, id uuid, write jsonb, wanted jsonb, is_explicit boolean, held jsonb,
    locked ebb.instances DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql AS $work$
DECLARE
    t record := ebb.flow_take($1, $3, $8);
    -- As seen by the one who waited for the lock.
    moment bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    asked jsonb := $4 || jsonb_build_object('now', moment);
    rules jsonb := t.state -> 'rules';
    source text := asked ->> 'source';
    own record;
    fired bigint := 0;
    given jsonb;
    node text;
    merged ebb.rules_merged;
    m record;
    d ebb.rules_decision;
    is_behind boolean;
    ignored text;
BEGIN
    IF source = 'transition' THEN
        own := ebb.flow_own($3, t.state, asked);
        node := own.own ->> 'node';
        fired := (own.own ->> 'fired')::bigint;
        given := CASE WHEN NOT $6 THEN own.given::jsonb END;
        source := CASE node WHEN '_EXCPT' THEN 'handler' ELSE source END;
        IF t.program ?| '{counts,has_sets}' OR own.own ? 'deadline' THEN
            PERFORM ebb.rules_check_end(t.program, own.own);
        END IF;
        asked := asked || jsonb_build_object('source', source, 'fired_text', own.given);
    END IF;
    merged := ebb.rules_merge(t.program, rules, source, $5, node, given, fired);
    m := ebb.flow_match($1.flow, (t.i).version, t.program, merged.now_values);
    d := ebb.rules_decide(t.program, (t.i).state, asked, merged, m.truth, m.faults);
    -- A newer version may have a condition that holds without any change of an attribute.
    IF source IN ('outside', 'repair') AND merged.changes = '{}' AND d.verdict = 'R'
        AND d.finishing = coalesce((rules ->> 'finishing')::boolean, false) AND NOT rules ? 'exception'
        AND cardinality(d.puts) = 0
    THEN
        IF (t.event).seq IS NULL OR source = 'outside' THEN
            RETURN NULL;
        END IF;
        -- A request to ask all conditions moves the instance to the newest version, even if nothing fires.
        d.state := (t.i).state;
        d.status := 'running';
        d.events := '{}';
        d.ends := NULL;
        d.drops := NULL;
    END IF;
    IF (t.event).seq IS NOT NULL THEN
        d.events := t.event || d.events;
    END IF;
    ignored := set_config('ebb_surface.deciding', $3::text, true);
    UPDATE ebb.instances AS o
    SET revision = o.revision + 1, status = d.status, state = d.state, updated_at = moment,
        finished_at = CASE WHEN d.status <> 'running' THEN moment END, version = (t.i).version
    WHERE o.id = $3 RETURNING EXISTS (SELECT 1 FROM ebb.flow_behind AS b WHERE b.flow = $1.flow) INTO is_behind;
    ignored := set_config('ebb_surface.deciding', '', true);
    IF $7 IS NULL OR NOT $7 @> merged.now_values THEN
        EXECUTE format('SELECT %I._project($1, $2)', $1.flow) USING ARRAY[$3], ARRAY[merged.now_values];
    END IF;
    PERFORM ebb.flow_write_rows(t.i, d, moment);
    IF is_behind THEN
        PERFORM ebb.flow_catch_up($1.flow);
    END IF;
    IF $1.notify = 'wed' THEN
        PERFORM ebb.flow_tell(t.program, $2, merged.now_values, d.puts);
    END IF;
    RETURN d.verdict;
END $work$;

-- The flow, with a version of its newest definition.
CREATE OR REPLACE FUNCTION ebb.flow_of(flow text) RETURNS ebb.flows
LANGUAGE plpgsql AS $work$
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
