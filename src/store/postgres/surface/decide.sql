-- name: decide
-- What a write means, exactly as the kernel decides it (src/core/rules/write.cpp): pure functions of
-- the state. A refusal is an exception with its SQLSTATE; EB009 says that only the kernel can decide.
--
-- Each INSERT and UPDATE of an application pays for these functions. So they look at what they need by
-- expressions, which PL/pgSQL evaluates by itself, and not by statements, which it must begin and end.

-- Raises an exception if the condition number i has failed on these values.
CREATE OR REPLACE FUNCTION ebb.rules_check_fault(fault text, kind text, name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    IF $1 IS NOT NULL THEN
        RAISE EXCEPTION 'The condition of the % "%" fails: %', $2, $3, $1 USING ERRCODE = 'EB006';
    END IF;
END $work$;

-- The first of the conditions behind the number `after` that holds, or NULL. One that fails before it
-- refuses the write.
CREATE OR REPLACE FUNCTION ebb.rules_first(
    items jsonb, kind text, truth boolean[], faults text[], after integer
) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    FOR i IN 1 .. jsonb_array_length($1) LOOP
        IF $4[$5 + i] IS NOT NULL THEN
            PERFORM ebb.rules_check_fault($4[$5 + i], $2, $1 -> (i - 1) ->> 'name');
        END IF;
        IF $3[$5 + i] THEN
            RETURN $1 -> (i - 1);
        END IF;
    END LOOP;
    RETURN NULL;
END $work$;

CREATE OR REPLACE FUNCTION ebb.rules_check_invariants(items jsonb, truth boolean[], faults text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    item jsonb;
BEGIN
    FOR i IN 1 .. jsonb_array_length($1) LOOP
        item := $1 -> (i - 1);
        IF $3[i] IS NOT NULL THEN
            PERFORM ebb.rules_check_fault($3[i], 'invariant', item ->> 'name');
        END IF;
        IF NOT $2[i] THEN
            RAISE EXCEPTION 'The invariant "%" would be false: %.', item ->> 'name', item ->> 'when'
                USING ERRCODE = '23514';
        END IF;
    END LOOP;
END $work$;

-- The marks without those of triggers that a write releases: they were held back after a failure, and what
-- they read has changed.
CREATE OR REPLACE FUNCTION ebb.rules_released(program jsonb, marks jsonb, changes jsonb, all_of_them boolean)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    result jsonb := $2;
    rule jsonb;
BEGIN
    FOR rule IN SELECT t FROM jsonb_array_elements($1 -> 'triggers') AS t WHERE $2 -> (t ->> 'name') ? 'failed' LOOP
        IF $4 OR $3 ?| translate((rule -> 'reads')::text, '[]', '{}')::text[] THEN
            result := result || jsonb_build_object(rule ->> 'name', (result -> (rule ->> 'name')) - 'failed');
        END IF;
    END LOOP;
    RETURN result;
END $work$;

-- The triggers that fire, by number; those whose time begins to run, and those of `waiting` whose time is
-- stopped, because their condition is no longer true; and the marks afterwards.
CREATE OR REPLACE FUNCTION ebb.rules_fired(
    program jsonb, truth boolean[], faults text[], after integer, pending integer[], waiting integer[],
    own_branch integer, changes jsonb, asks_all boolean, INOUT marks jsonb, OUT fired integer[],
    OUT armed integer[], OUT disarmed integer[]
)
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    triggers jsonb := $1 -> 'triggers';
    edges integer[] := translate(($1 -> 'edges')::text, '[]', '{}')::integer[];
    rule jsonb;
    mark jsonb;
    becomes jsonb;
    is_true boolean;
    fires boolean;
BEGIN
    fired := '{}';
    armed := '{}';
    disarmed := '{}';
    FOR i IN 1 .. jsonb_array_length(triggers) LOOP
        is_true := coalesce($2[$4 + i], false);
        -- Nothing follows from one that is not true, unless it looks at the edge or its time runs.
        CONTINUE WHEN NOT is_true AND $3[$4 + i] IS NULL AND i <> ALL (edges) AND i <> ALL ($6);
        rule := triggers -> (i - 1);
        mark := coalesce(marks -> (rule ->> 'name'), '{"fires": 0}');
        CONTINUE WHEN NOT (
            $9 OR $7 = i OR $8 ?| translate((rule -> 'reads')::text, '[]', '{}')::text[]
        );
        IF NOT (rule ->> 'enabled')::boolean AND i = ANY ($6) THEN
            disarmed := disarmed || i;  -- its time began to run under an earlier version
        END IF;
        CONTINUE WHEN NOT (rule ->> 'enabled')::boolean OR mark ? 'failed';
        IF $3[$4 + i] IS NOT NULL THEN
            PERFORM ebb.rules_check_fault($3[$4 + i], 'trigger', rule ->> 'name');
        END IF;
        fires := is_true AND i <> ALL ($5);
        IF NOT is_true AND i = ANY ($6) THEN
            disarmed := disarmed || i;
        END IF;
        becomes := mark;
        IF rule ->> 'mode' = 'edge' THEN
            fires := fires AND NOT mark ? 'true';
            becomes := CASE WHEN is_true THEN mark || '{"true": true}' ELSE mark - 'true' END;
        ELSIF rule ->> 'mode' = 'once' AND fires THEN
            fires := (mark ->> 'fires')::bigint = 0;
        END IF;
        IF fires AND (rule ->> 'mode' = 'once' OR rule ?| '{by_kernel,max_fires}') THEN
            becomes := ebb.rules_counted(rule, becomes);
        END IF;
        IF becomes <> mark THEN
            marks := marks || jsonb_build_object(rule ->> 'name', becomes);
        END IF;
        IF fires AND rule ->> 'after' IS NOT NULL THEN
            armed := armed || i;
        ELSIF fires THEN
            fired := fired || i;
        END IF;
    END LOOP;
END $work$;

-- Only a process of Ebb can decide it.
CREATE OR REPLACE FUNCTION ebb.rules_hand_over(why text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    RAISE EXCEPTION '%: only a process of Ebb can decide this.', $1 USING ERRCODE = 'EB009',
        HINT = '`ebb start` and `ebb write` do it, and of a claimed job wed_complete.';
END $work$;

-- The mark of a trigger that fires, if it counts how often it does, or if not every trigger can be fired here.
CREATE OR REPLACE FUNCTION ebb.rules_counted(rule jsonb, mark jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    IF $1 ? 'by_kernel' THEN
        PERFORM ebb.rules_hand_over(format('The trigger "%s" would fire, which has %s', $1 ->> 'name', $1 ->> 'by_kernel'));
    ELSIF ($2 ->> 'fires')::bigint >= ($1 ->> 'max_fires')::bigint THEN
        PERFORM ebb.rules_hand_over(format('The trigger "%s" would fire more often than its max_fires', $1 ->> 'name'));
    END IF;
    IF $1 ->> 'after' IS NOT NULL OR NOT ($1 ->> 'mode' = 'once' OR $1 ? 'max_fires') THEN
        RETURN $2;
    END IF;
    RETURN $2 || jsonb_build_object('fires', ($2 ->> 'fires')::bigint + 1);
END $work$;

-- A savepoint that a write may have reached.
CREATE OR REPLACE FUNCTION ebb.rules_check_savepoints(
    program jsonb, truth boolean[], faults text[], after integer, changes jsonb, is_start boolean
) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    one jsonb;
BEGIN
    FOR i IN 1 .. jsonb_array_length($1 -> 'savepoints') LOOP
        one := $1 -> 'savepoints' -> (i - 1);
        CONTINUE WHEN NOT ($6 OR $5 ?| translate((one -> 'reads')::text, '[]', '{}')::text[]);
        PERFORM ebb.rules_check_fault($3[$4 + i], 'savepoint', one ->> 'name');
        IF $2[$4 + i] THEN
            PERFORM ebb.rules_hand_over(format('The savepoint "%s" would be reached', one ->> 'name'));
        END IF;
    END LOOP;
END $work$;

-- What the first triggers wait for.
CREATE OR REPLACE FUNCTION ebb.rules_needs(program jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $work$
    SELECT string_agg(format('%s needs %s.', t ->> 'name', left(t ->> 'when', 200)), ' ' ORDER BY n)
    FROM jsonb_array_elements($1 -> 'triggers') WITH ORDINALITY AS x (t, n)
    WHERE (t ->> 'enabled')::boolean AND n <= 5
$work$;

-- The transitions that a final condition would have to wait for: not those that wait for their time, and not the
-- handler of an exception.
CREATE OR REPLACE FUNCTION ebb.rules_pending_names(program jsonb, pending integer[], waiting integer[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $work$
    SELECT string_agg(n.name, ', ' ORDER BY n.branch) FILTER (WHERE n.place <= 8)
        || CASE WHEN count(*) > 8 THEN ', ...' ELSE '' END
    FROM (
        SELECT b AS branch, $1 -> 'triggers' -> (b - 1) ->> 'name' AS name, row_number() OVER (ORDER BY b) AS place
        FROM unnest($2) AS b WHERE b <> ALL ($3) AND b <= jsonb_array_length($1 -> 'triggers')
    ) AS n
$work$;

-- Nothing fires, and nothing is pending: why.
CREATE OR REPLACE FUNCTION ebb.rules_cause(
    marks jsonb, OUT cause text, OUT message text
)
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    SELECT m.key INTO cause FROM jsonb_each($1) AS m WHERE m.value ? 'failed'
    ORDER BY (m.value ->> 'failed')::bigint DESC LIMIT 1;
    IF FOUND THEN
        message := format('The transition "%s" has failed for good, and nothing else is pending.', cause);
        cause := 'failed:' || cause;
    ELSE
        cause := 'no_condition';
        message := 'No trigger and no final condition holds for the attributes, and nothing is pending.';
    END IF;
END $work$;

-- A time as the history has it.
CREATE OR REPLACE FUNCTION ebb.rules_time(moment bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $work$
    SELECT rtrim(rtrim(to_char(
        timestamp '1970-01-01' + $1 * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US'
    ), '0'), '.') || 'Z'
$work$;

-- The decision about one write.
--   write: source (start, transition, handler, outside, repair), token, by, worker, started_at,
--   output (text of what a transition has yielded), fired_text, fired, now (in microseconds)
--   truth, faults: of the invariants, finals, exceptions and triggers, in this order
CREATE OR REPLACE FUNCTION ebb.rules_decide(
    program jsonb, state_text text, write jsonb, merged ebb.rules_merged, truth boolean[], faults text[]
) RETURNS ebb.rules_decision
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    d ebb.rules_decision;
    state jsonb := $2;
    source text := $3 ->> 'source';
    is_start boolean := source = 'start';
    is_own boolean := source IN ('transition', 'handler');
    own_id bigint := coalesce(($3 ->> 'token')::bigint, 0);
    rules jsonb := coalesce(state -> 'rules', '{}');
    marks jsonb := coalesce(rules -> 'marks', '{}');
    names text[] := translate(($1 -> 'names')::text, '[]', '{}')::text[];
    handler_branch integer := jsonb_array_length($1 -> 'triggers') + 1;
    seq bigint := coalesce((state ->> 'seq')::bigint, 0);
    last_token bigint := coalesce((state ->> 'last_token')::bigint, 0);
    last_visit bigint := coalesce((state ->> 'visit')::bigint, 0);
    idle integer := coalesce((rules ->> 'idle')::integer, 0);
    raised bigint := coalesce((rules ->> 'exception')::bigint, 0);
    asks_all boolean;
    finishing boolean := false;
    is_end boolean := false;
    one jsonb;
    own jsonb;
    others text[] := '{}';      -- the other tokens
    ids bigint[] := '{}';
    pending integer[] := '{}';  -- their branches
    is_handling boolean;        -- the handler of exceptions is one of them; what ends the exception ends it, too
    waiting integer[] := '{}';  -- of these, the triggers whose time runs
    armed integer[] := '{}';
    disarmed integer[] := '{}';
    events ebb.rules_row[] := '{}';
    puts ebb.rules_put[] := '{}';
    write_seq bigint;
    written text := '';
    name text;
    cause text;
    message text;
    final_name text;
    number integer;
    rule jsonb;
    outcome record;
    fired integer[] := '{}';
    values_text text := ebb.rules_text($4.now_values, names, $1 -> 'doubles');
    ref bigint;
    own_text text;
    tokens text := '';
    due bigint;
    write_event bigint;
    own_branch integer := 0;
BEGIN
    d.status := 'running';
    FOR i IN 0 .. coalesce(jsonb_array_length(state -> 'tokens'), 0) - 1 LOOP
        one := state -> 'tokens' -> i;
        IF (one ->> 'id')::bigint = own_id THEN
            own := one;
            own_branch := CASE source WHEN 'transition' THEN (one ->> 'branch')::integer ELSE 0 END;
        ELSE
            others := others || one::text;
            ids := ids || (one ->> 'id')::bigint;
            pending := pending || (one ->> 'branch')::integer;
            -- One that is inside of a block waits for something else.
            IF one ->> 'status' = 'waiting_timer'
                AND one ->> 'node' = $1 -> 'triggers' -> ((one ->> 'branch')::integer - 1) ->> 'name'
            THEN
                waiting := waiting || (one ->> 'branch')::integer;
            END IF;
        END IF;
    END LOOP;
    is_handling := handler_branch = ANY (pending);
    -- The event that will represent the write: behind the one of the output, if there is one.
    write_seq := CASE WHEN is_start THEN seq WHEN is_own THEN seq + 2 ELSE seq + 1 END;
    asks_all := is_start OR source IN ('repair', 'handler') OR raised <> 0
        OR coalesce((rules ->> 'finishing')::boolean, false) OR coalesce((rules ->> 'asks_all')::boolean, false);
    IF marks <> '{}' THEN
        marks := ebb.rules_released($1, marks, $4.changes, source IN ('repair', 'handler'));
    END IF;

    number := jsonb_array_length($1 -> 'invariants');
    IF number > 0 THEN
        PERFORM ebb.rules_check_invariants($1 -> 'invariants', $5, $6);
    END IF;
    final_name := ebb.rules_first($1 -> 'finals', 'final condition', $5, $6, number) ->> 'name';
    number := number + jsonb_array_length($1 -> 'finals');
    IF final_name IS NOT NULL THEN
        is_end := cardinality(pending) - is_handling::integer = cardinality(waiting);
        disarmed := waiting;
        finishing := NOT is_end;
        IF finishing AND $1 ->> 'final_while_pending' = 'refuse' THEN
            RAISE EXCEPTION 'The final condition "%" would hold while other transitions are pending: %.', final_name,
                ebb.rules_pending_names($1, pending, waiting) USING ERRCODE = 'EB005';
        ELSIF finishing AND $1 ->> 'final_while_pending' = 'stop' THEN
            PERFORM ebb.rules_hand_over('Other transitions are pending, which the final condition "' || final_name || '" stops');
        ELSIF is_end AND $1 ? 'outputs' THEN
            PERFORM ebb.rules_hand_over('The instance would end, and the workflow has a template for its output');
        END IF;
    ELSE
        rule := ebb.rules_first($1 -> 'exceptions', 'exception', $5, $6, number);
        number := number + jsonb_array_length($1 -> 'exceptions');
        IF rule IS NOT NULL THEN
            cause := rule ->> 'name';
            message := format('The exception "%s" holds: %s.', cause, rule ->> 'when');
        ELSE
            IF $1 ? 'savepoints' THEN
                PERFORM ebb.rules_check_savepoints(
                    $1, $5, $6, number + jsonb_array_length($1 -> 'triggers'), $4.changes, is_start
                );
            END IF;
            outcome := ebb.rules_fired(
                $1, $5, $6, number, pending, waiting, own_branch, $4.changes, asks_all, marks
            );
            marks := outcome.marks;
            fired := outcome.fired;
            armed := outcome.armed;
            disarmed := outcome.disarmed;
            idle := CASE
                WHEN source = 'transition' AND $4.changes = '{}' AND own_branch = ANY (fired) THEN idle + 1 ELSE 0
            END;
            IF idle >= 100 THEN
                RAISE EXCEPTION 'A transition has run 100 times in a row without changing an attribute.'
                    USING ERRCODE = 'EB009';
            END IF;
            IF cardinality(fired) + cardinality(armed) = 0
                AND cardinality(pending) - is_handling::integer = cardinality(disarmed)
            THEN
                outcome := ebb.rules_cause(marks);
                IF outcome.cause = 'no_condition' AND $1 ->> 'on_idle' = 'wait' THEN
                    outcome.cause := NULL;
                ELSIF is_start THEN
                    RAISE EXCEPTION 'No trigger and no final condition holds for these attributes.' USING
                        ERRCODE = 'EB001', DETAIL = values_text, HINT = ebb.rules_needs($1);
                END IF;
                cause := outcome.cause;
                message := outcome.message;
            END IF;
        END IF;
    END IF;
    IF cause IS NOT NULL THEN
        IF $1 ->> 'on_exception' = 'kernel' THEN
            PERFORM ebb.rules_hand_over('The instance would be in the exception "' || cause || '"');
        END IF;
        idle := CASE WHEN source = 'handler' AND $4.changes = '{}'
            THEN coalesce((rules ->> 'idle')::integer, 0) + 1 ELSE 0 END;
        IF idle >= 100 THEN
            RAISE EXCEPTION 'The handler of exceptions has run 100 times in a row without changing an attribute.'
                USING ERRCODE = 'EB009';
        END IF;
        fired := '{}';
        armed := '{}';
        disarmed := waiting;
        IF marks <> '{}' THEN
            marks := ebb.rules_unfired(marks, coalesce(rules -> 'marks', '{}'));
        END IF;
    END IF;

    -- The history, and what is pending from now on.
    ref := CASE WHEN is_start THEN seq ELSE 0 END;
    IF is_own THEN
        seq := seq + 1;
        ref := seq;
        events := events || ROW(
            seq, 'step_completed', own ->> 'node', (own ->> 'id')::bigint, (own ->> 'visit')::bigint,
            (own ->> 'attempt')::integer, (own ->> 'input')::bigint, $3 ->> 'worker',
            ($3 ->> 'started_at')::bigint, coalesce($3 ->> 'output', 'null')
        )::ebb.rules_row;
    END IF;
    IF NOT is_start THEN
        seq := seq + 1;
        events := events || ROW(
            seq, 'attributes_written', own ->> 'node', (own ->> 'id')::bigint, (own ->> 'visit')::bigint,
            (own ->> 'attempt')::integer, nullif(ref, 0), $3 ->> 'by', NULL,
            ebb.rules_written($1, names, $3, $4, fired, armed, disarmed, final_name)
        )::ebb.rules_row;
        ref := seq;
    END IF;
    IF cardinality(disarmed) > 0 THEN
        disarmed := ARRAY(SELECT x FROM unnest(disarmed) AS x ORDER BY x);
        FOREACH number IN ARRAY disarmed LOOP
            one := others[array_position(pending, number)];
            seq := seq + 1;
            events := events || ROW(
                seq, 'step_skipped', one ->> 'node', (one ->> 'id')::bigint, (one ->> 'visit')::bigint,
                NULL, NULL, NULL, NULL, NULL
            )::ebb.rules_row;
            d.drops := d.drops || (one ->> 'id')::bigint;
        END LOOP;
        others := ARRAY(SELECT o FROM unnest(others, pending) AS x (o, b) WHERE b <> ALL (disarmed));
        ids := ARRAY(SELECT t FROM unnest(ids, pending) AS x (t, b) WHERE b <> ALL (disarmed));
        pending := ARRAY(SELECT b FROM unnest(pending) AS b WHERE b <> ALL (disarmed));
    END IF;
    IF is_handling AND cause IS NULL THEN
        number := array_position(pending, handler_branch);
        one := others[number];
        seq := seq + 1;
        events := events || ROW(
            seq, 'step_stopped', one ->> 'node', (one ->> 'id')::bigint, (one ->> 'visit')::bigint,
            (one ->> 'attempt')::integer, (one ->> 'input')::bigint, NULL, NULL, '{"outcome":"' || CASE
                WHEN one ->> 'status' = 'retrying' AND NOT one ? 'in_doubt'
                    AND (one ->> 'due')::bigint > ($3 ->> 'now')::bigint THEN 'failed'
                ELSE 'unknown'
            END || '"}'
        )::ebb.rules_row;
        d.drops := d.drops || (one ->> 'id')::bigint;
        others := others[1:number - 1] || others[number + 1:];
        ids := ids[1:number - 1] || ids[number + 1:];
        pending := pending[1:number - 1] || pending[number + 1:];
    END IF;
    IF own_id <> 0 THEN
        d.ends := own_id;
    END IF;
    d.verdict := CASE WHEN cause IS NOT NULL THEN 'E' WHEN is_end THEN 'F' ELSE 'R' END;
    IF cause IS NOT NULL THEN
        seq := seq + 1;
        events := events || ROW(
            seq, 'exception_raised', own ->> 'node', NULL, NULL, NULL, nullif(ref, 0), NULL, NULL,
            format('{"code":%s,"message":%s}', to_json(cause), to_json(message))
        )::ebb.rules_row;
        raised := seq;
        IF handler_branch <> ALL (pending) THEN
            seq := seq + 1;
            events := events || ROW(seq, 'input_resolved', '_EXCPT', NULL, NULL, NULL, NULL, NULL, NULL, format(
                '{"state":%s,"cause":%s,"message":%s,"transition":%s,"fired_state":%s}', values_text,
                to_json(cause), to_json(message), coalesce(to_json(own ->> 'node')::text, 'null'),
                coalesce($3 ->> 'fired_text', 'null')
            ))::ebb.rules_row;
            last_token := last_token + 1;
            last_visit := last_visit + 1;
            tokens := format(
                ',{"id":%s,"node":"_EXCPT","branch":%s,"visit":%s,"attempt":1,"input":%s,"fired":%s}',
                last_token, handler_branch, last_visit, seq, seq
            );
            puts := puts || ROW(
                last_token, '_EXCPT', coalesce($1 ->> 'handler', '_EXCPT'), $1 ->> 'queue', NULL
            )::ebb.rules_put;
        END IF;
    ELSIF is_end THEN
        raised := 0;
        seq := seq + 1;
        events := events || ROW(
            seq, 'completed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, values_text
        )::ebb.rules_row;
        d.status := 'completed';
        others := '{}';
    ELSE
        raised := 0;
        IF cardinality(armed) > 0 THEN
            fired := ARRAY(SELECT x FROM unnest(fired || armed) AS x ORDER BY x);
        END IF;
        IF cardinality(fired) > 0 THEN
            seq := seq + 1;
            events := events || ROW(
                seq, 'state_written', NULL, NULL, NULL, NULL, nullif(ref, 0), NULL, NULL, values_text
            )::ebb.rules_row;
        END IF;
        write_event := seq;
        FOR i IN 1 .. cardinality(fired) LOOP
            rule := $1 -> 'triggers' -> (fired[i] - 1);
            due := CASE WHEN fired[i] = ANY (armed) THEN ($3 ->> 'now')::bigint + (rule ->> 'after')::bigint END;
            last_visit := last_visit + 1;
            IF i > 1 OR own_id = 0 THEN
                last_token := last_token + 1;
            END IF;
            own_text := '{"id":' || CASE WHEN i = 1 AND own_id <> 0 THEN own_id ELSE last_token END
                || ',"node":' || (rule -> 'name')::text || ',"branch":' || fired[i] || ',"visit":' || last_visit
                || CASE
                    WHEN due IS NULL THEN ',"attempt":1' ELSE ',"status":"waiting_timer","due":' || due
                END || ',"input":' || write_event || ',"fired":' || write_event || '}';
            IF i = 1 AND own_id <> 0 THEN
                -- The first takes the place of the token that has ended; tokens are sorted.
                d.ends := NULL;
                number := (SELECT count(*) FROM unnest(ids) AS x WHERE x < own_id);
                others := others[1:number] || own_text || others[number + 1:];
            ELSE
                tokens := tokens || ',' || own_text;
            END IF;
            puts := puts || ROW(
                CASE WHEN i = 1 AND own_id <> 0 THEN own_id ELSE last_token END, rule ->> 'name',
                CASE WHEN due IS NULL THEN rule ->> 'handler' ELSE '' END,
                CASE WHEN due IS NULL THEN rule ->> 'queue' ELSE '' END, due
            )::ebb.rules_put;
            IF due IS NOT NULL THEN
                seq := seq + 1;
                events := events || ROW(
                    seq, 'timer_started', rule ->> 'name', puts[cardinality(puts)].token, last_visit, NULL, write_event,
                    NULL, NULL, format('{"due":"%s"}', ebb.rules_time(due))
                )::ebb.rules_row;
            END IF;
        END LOOP;
    END IF;
    IF last_visit > ($1 ->> 'step_budget')::bigint THEN
        RAISE EXCEPTION 'The instance would visit more nodes than its step_budget allows.'
            USING ERRCODE = 'EB009';
    END IF;
    FOREACH name IN ARRAY names LOOP
        IF $4.changes ? name THEN
            written := written || ',"' || name || '":' || write_seq;
        ELSIF rules -> 'written' ? name THEN
            written := written || ',"' || name || '":' || (rules -> 'written' ->> name);
        END IF;
    END LOOP;
    tokens := substr(CASE WHEN cardinality(others) > 0 THEN ',' ELSE '' END || array_to_string(others, ',') || tokens, 2);
    d.state := '{"status":"' || d.status || '","seq":' || seq
        || coalesce(',"last_token":' || nullif(last_token, 0), '')
        || coalesce(',"last_scope":' || (state ->> 'last_scope'), '')
        || coalesce(',"visit":' || nullif(last_visit, 0), '') || coalesce(',"deadline":' || (state ->> 'deadline'), '')
        || CASE WHEN is_end THEN ',"result":' || seq ELSE '' END
        || CASE WHEN tokens <> '' THEN ',"tokens":[' || tokens || ']' ELSE '' END
        || CASE WHEN state ?| '{records,requests,labels,run,savepoint,signals}' THEN ebb.rules_kept($2::json, is_end) ELSE '' END
        || ',"rules":{"format":1,"values":' || values_text || ',"written":{' || substr(written, 2)
        || '},"marks":' || CASE WHEN marks = '{}' THEN '{}' ELSE ebb.rules_marks(marks, $1) END
        || coalesce(',"idle":' || nullif(idle, 0), '') || CASE WHEN finishing THEN ',"finishing":true' ELSE '' END
        || CASE WHEN raised <> 0 AND NOT is_end THEN ',"exception":' || raised ELSE '' END || '}}';
    d.finishing := finishing;
    d.events := events;
    d.puts := puts;
    RETURN d;
END $work$;
