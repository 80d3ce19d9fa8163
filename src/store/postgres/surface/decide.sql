-- name: decide
-- What a write means, exactly as the kernel decides it (src/core/rules/write.cpp): pure functions of
-- the state. A refusal is an exception with its SQLSTATE; EB009 says that only the kernel can decide.

-- The values of a write, one attribute after another, on the state as it is now. `given`: the state
-- when the transition fired, at the event `fired`: a value that equals the one given is not a write.
CREATE OR REPLACE FUNCTION ebb.rules_merge(
    program jsonb, rules jsonb, source text, wanted jsonb, trigger_name text, given jsonb, fired bigint
) RETURNS ebb.rules_merged
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    merged ebb.rules_merged;
    attribute jsonb;
    name text;
    value jsonb;
    seen jsonb;
    rule jsonb;
BEGIN
    merged.now_values := $2 -> 'values';
    merged.changes := '{}';
    merged.overwrote := '{}';
    IF $4 IS NULL OR jsonb_typeof($4) = 'null' THEN
        RETURN merged;
    END IF;
    IF jsonb_typeof($4) <> 'object' THEN
        RAISE EXCEPTION 'A write is a JSON object of attributes, or null for no change.'
            USING ERRCODE = 'EB008';
    END IF;
    SELECT k.key INTO name FROM jsonb_object_keys($4) AS k (key)
    WHERE NOT EXISTS (
        SELECT 1 FROM jsonb_array_elements($1 -> 'attributes') AS a
        WHERE a ->> 'name' = k.key OR a -> 'renamed_from' ? k.key
    ) ORDER BY k.key COLLATE "C" LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'There is no attribute "%".', left(name, 64) USING ERRCODE = 'EB008';
    END IF;
    SELECT t INTO rule FROM jsonb_array_elements($1 -> 'triggers') AS t WHERE t ->> 'name' = $5;
    FOR attribute IN SELECT a FROM jsonb_array_elements($1 -> 'attributes') AS a LOOP
        name := attribute ->> 'name';
        value := $4 -> name;
        seen := $6 -> name;
        IF value IS NULL THEN
            -- What was fired under an earlier version knows the earlier name.
            SELECT $4 -> e.name, coalesce(seen, $6 -> e.name) INTO value, seen
            FROM jsonb_array_elements_text(attribute -> 'renamed_from') WITH ORDINALITY AS e (name, ord)
            WHERE $4 ? e.name ORDER BY e.ord LIMIT 1;
        END IF;
        CONTINUE WHEN value IS NULL;
        IF jsonb_typeof(value) = 'object' THEN
            RAISE EXCEPTION 'The attribute "%" cannot be computed by an expression here.', name USING
                ERRCODE = 'EB009', HINT = 'ebb.work_complete leaves such a write to a process of Ebb.';
        END IF;
        value := ebb.rules_value(name, attribute ->> 'type', value);
        CONTINUE WHEN value = seen OR value = merged.now_values -> name;
        IF $3 = 'transition' AND jsonb_typeof(rule -> 'writes') = 'array'
            AND NOT rule -> 'writes' ? name
        THEN
            RAISE EXCEPTION 'The transition "%" wrote the attribute "%", which its "writes" does not name.',
                $5, name USING ERRCODE = 'EB008';
        END IF;
        IF $3 = 'outside' AND $1 ->> 'external_writes' = 'none' THEN
            RAISE EXCEPTION 'The rules allow no writes from outside (external_writes: none).'
                USING ERRCODE = 'EB003', HINT = 'Claim a job of the instance first.';
        ELSIF $3 = 'outside' AND $1 ->> 'external_writes' = 'declared'
            AND NOT (attribute ->> 'external')::boolean
        THEN
            RAISE EXCEPTION 'The attribute "%" cannot be written from outside: it is not external.', name
                USING ERRCODE = 'EB008';
        END IF;
        IF $7 <> 0 AND coalesce(($2 -> 'written' ->> name)::bigint, 0) > $7 THEN
            merged.overwrote := merged.overwrote || name;
        END IF;
        merged.changes := merged.changes || jsonb_build_object(name, jsonb_build_array(
            merged.now_values -> name, coalesce(($2 -> 'written' ->> name)::bigint, 0)
        ));
        merged.now_values := merged.now_values || jsonb_build_object(name, value);
    END LOOP;
    IF octet_length(merged.now_values::text) > 65536 THEN
        RAISE EXCEPTION 'The attributes would have more than 65,536 bytes.' USING
            ERRCODE = 'EB008', HINT = 'Keep larger documents in a table of yours.';
    END IF;
    RETURN merged;
END $work$;

-- Whether the condition number i holds. One that fails on these values refuses the write.
CREATE OR REPLACE FUNCTION ebb.rules_holds(
    truth boolean[], faults text[], i integer, kind text, name text
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $2[$3] IS NOT NULL THEN
        RAISE EXCEPTION 'The condition of the % "%" fails: %', $4, $5, $2[$3] USING ERRCODE = 'EB006';
    END IF;
    RETURN $1[$3];
END $work$;

-- One event of the history, as a JSON object of its columns.
CREATE OR REPLACE FUNCTION ebb.rules_event(
    seq bigint, type text, ref bigint, payload text, node text DEFAULT NULL, at_token jsonb DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    RETURN (
        SELECT jsonb_build_object(
            'seq', $1, 'type', $2, 'ref', nullif($3, 0), 'payload', $4, 'node', coalesce($6 ->> 'node', $5),
            'token', $6 -> 'id', 'visit', $6 -> 'visit', 'attempt', $6 -> 'attempt'
        )
    );
END $work$;

-- The decision about one write.
--   write: source (start, transition, handler, outside, repair), token, by, worker, started_at,
--   output (text of what a transition has yielded), fired_text, fired
--   truth, faults: of the invariants, finals, exceptions and triggers, in this order
CREATE OR REPLACE FUNCTION ebb.rules_decide(
    program jsonb, state json, write jsonb, merged ebb.rules_merged, truth boolean[], faults text[]
) RETURNS ebb.rules_decision
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    d ebb.rules_decision;
    source text := write ->> 'source';
    is_start boolean := source = 'start';
    own_id bigint := coalesce((write ->> 'token')::bigint, 0);
    rules jsonb := state::jsonb -> 'rules';
    marks jsonb := coalesce(rules -> 'marks', '{}');
    names text[];
    handler_branch integer := jsonb_array_length(program -> 'triggers') + 1;
    seq bigint := coalesce((state ->> 'seq')::bigint, 0);
    last_token bigint := coalesce((state ->> 'last_token')::bigint, 0);
    last_visit bigint := coalesce((state ->> 'visit')::bigint, 0);
    idle integer := coalesce((rules ->> 'idle')::integer, 0);
    raised bigint := coalesce((rules ->> 'exception')::bigint, 0);
    was_finishing boolean := coalesce((rules ->> 'finishing')::boolean, false);
    asks_all boolean;
    finishing boolean := false;
    is_end boolean := false;
    own jsonb;
    others json[] := '{}';      -- the other tokens
    pending integer[] := '{}';  -- their branches
    written jsonb := coalesce(rules -> 'written', '{}');
    write_seq bigint;
    cause text;
    message text;
    final_name text;
    rule jsonb;
    rule_name text;
    mark jsonb;
    fired integer[] := '{}';
    cond integer := 0;
    is_true boolean;
    fires boolean;
    one json;
    item jsonb;
    text_now text;
    ref bigint;
    tokens text[] := '{}';
    placed text := '';
    released_all boolean := source IN ('repair', 'handler');
BEGIN
    d.events := '[]';
    d.puts := '[]';
    d.status := 'running';
    SELECT array_agg(a ->> 'name' ORDER BY n) INTO names
    FROM jsonb_array_elements(program -> 'attributes') WITH ORDINALITY AS x (a, n);
    names := coalesce(names, '{}');
    FOR one IN SELECT t FROM json_array_elements(state -> 'tokens') AS t LOOP
        IF (one ->> 'id')::bigint = own_id THEN
            own := one::jsonb;
        ELSE
            others := others || one;
            pending := pending || (one ->> 'branch')::integer;
        END IF;
    END LOOP;
    -- The event that will represent the write: behind the one of the output, if there is one.
    write_seq := CASE
        WHEN is_start THEN seq WHEN source IN ('transition', 'handler') THEN seq + 2 ELSE seq + 1
    END;
    SELECT written || coalesce(jsonb_object_agg(k, write_seq), '{}') INTO written
    FROM jsonb_object_keys(merged.changes) AS k;
    asks_all := is_start OR released_all OR was_finishing OR raised <> 0
        OR coalesce((rules ->> 'asks_all')::boolean, false);

    -- Triggers that were held back are released by a change of what they read.
    FOR rule IN SELECT t FROM jsonb_array_elements(program -> 'triggers') AS t LOOP
        mark := marks -> (rule ->> 'name');
        IF mark ? 'failed' AND (released_all OR merged.changes ?| ARRAY(
            SELECT jsonb_array_elements_text(rule -> 'reads')
        )) THEN
            marks := marks || jsonb_build_object(rule ->> 'name', mark - 'failed');
        END IF;
    END LOOP;

    FOR item IN SELECT x FROM jsonb_array_elements(program -> 'invariants') AS x LOOP
        cond := cond + 1;
        IF NOT ebb.rules_holds(truth, faults, cond, 'invariant', item ->> 'name') THEN
            RAISE EXCEPTION 'The invariant "%" would be false: %.', item ->> 'name', item ->> 'when'
                USING ERRCODE = '23514';
        END IF;
    END LOOP;
    FOR item IN SELECT x FROM jsonb_array_elements(program -> 'finals') AS x LOOP
        cond := cond + 1;
        IF final_name IS NULL
            AND ebb.rules_holds(truth, faults, cond, 'final condition', item ->> 'name')
        THEN
            final_name := item ->> 'name';
        END IF;
    END LOOP;
    IF final_name IS NOT NULL THEN
        is_end := cardinality(pending) = 0;
        IF NOT is_end AND program ->> 'final_while_pending' = 'refuse' THEN
            RAISE EXCEPTION 'The final condition "%" would hold while other transitions are pending.', final_name
                USING ERRCODE = 'EB005';
        END IF;
        finishing := NOT is_end;
    ELSE
        FOR item IN SELECT x FROM jsonb_array_elements(program -> 'exceptions') AS x LOOP
            cond := cond + 1;
            IF cause IS NULL
                AND ebb.rules_holds(truth, faults, cond, 'exception', item ->> 'name')
            THEN
                cause := item ->> 'name';
                message := format('The exception "%s" holds: %s.', cause, item ->> 'when');
            END IF;
        END LOOP;
    END IF;
    IF final_name IS NULL AND cause IS NULL THEN
        FOR i IN 1 .. handler_branch - 1 LOOP
            cond := cond + 1;
            rule := program -> 'triggers' -> (i - 1);
            rule_name := rule ->> 'name';
            mark := coalesce(marks -> rule_name, '{"fires": 0}');
            CONTINUE WHEN NOT (rule ->> 'enabled')::boolean OR mark ? 'failed';
            CONTINUE WHEN NOT (
                asks_all OR (source = 'transition' AND (own ->> 'branch')::integer = i)
                OR merged.changes ?| ARRAY(SELECT jsonb_array_elements_text(rule -> 'reads'))
            );
            is_true := coalesce(ebb.rules_holds(truth, faults, cond, 'trigger', rule_name), false);
            fires := is_true AND i <> ALL (pending);
            IF rule ->> 'mode' = 'edge' THEN
                fires := fires AND NOT mark ? 'true';
                mark := CASE WHEN is_true THEN mark || '{"true": true}' ELSE mark - 'true' END;
            ELSIF rule ->> 'mode' = 'once' AND fires THEN
                fires := (mark ->> 'fires')::bigint = 0;
                IF fires THEN
                    mark := mark || '{"fires": 1}';
                END IF;
            END IF;
            marks := marks || jsonb_build_object(rule_name, mark);
            IF fires THEN
                fired := fired || i;
            END IF;
        END LOOP;
        IF source = 'transition' AND merged.changes = '{}' AND (own ->> 'branch')::integer = ANY (fired) THEN
            idle := idle + 1;
        ELSE
            idle := 0;
        END IF;
        IF idle >= 100 THEN
            RAISE EXCEPTION 'A transition has run 100 times in a row without changing an attribute.'
                USING ERRCODE = 'EB009';
        END IF;
        IF cardinality(fired) = 0 AND cardinality(pending) = 0 THEN
            SELECT m.key INTO cause FROM jsonb_each(marks) AS m WHERE m.value ? 'failed'
            ORDER BY (m.value ->> 'failed')::bigint DESC LIMIT 1;
            IF FOUND THEN
                message := format(
                    'The transition "%s" has failed for good, and nothing else is pending.', cause
                );
                cause := 'failed:' || cause;
            ELSIF is_start THEN
                RAISE EXCEPTION 'No trigger and no final condition holds for these attributes.' USING
                    ERRCODE = 'EB001', DETAIL = ebb.rules_text(merged.now_values, names);
            ELSE
                cause := 'no_condition';
                message := 'No trigger and no final condition holds for the attributes, and nothing '
                    'is pending.';
            END IF;
        END IF;
    END IF;
    IF cause IS NOT NULL THEN
        idle := CASE WHEN source = 'handler' AND merged.changes = '{}'
            THEN coalesce((rules ->> 'idle')::integer, 0) + 1 ELSE 0 END;
        IF idle >= 100 THEN
            RAISE EXCEPTION 'The handler of exceptions has run 100 times in a row without changing an attribute.'
                USING ERRCODE = 'EB009';
        END IF;
        fired := '{}';
        SELECT coalesce(jsonb_object_agg(m.key, (m.value - 'true') || jsonb_build_object('fires', least(
            (m.value ->> 'fires')::bigint, coalesce((rules -> 'marks' -> m.key ->> 'fires')::bigint, 0)
        ))), '{}') INTO marks FROM jsonb_each(marks) AS m;
    END IF;

    -- The history, and what is pending from now on.
    text_now := ebb.rules_text(merged.now_values, names);
    ref := CASE WHEN is_start THEN seq ELSE 0 END;
    IF source IN ('transition', 'handler') THEN
        seq := seq + 1;
        ref := seq;
        d.events := d.events || (ebb.rules_event(
            seq, 'step_completed', (own ->> 'input')::bigint, coalesce(write ->> 'output', 'null'), NULL, own
        ) || jsonb_build_object('worker', write -> 'worker', 'started_at', write -> 'started_at'));
    END IF;
    IF NOT is_start THEN
        seq := seq + 1;
        d.events := d.events || (ebb.rules_event(seq, 'attributes_written', ref, concat(
            '{"values":', ebb.rules_text((
                SELECT coalesce(jsonb_object_agg(k, merged.now_values -> k), '{}')
                FROM jsonb_object_keys(merged.changes) AS k
            ), names),
            ',"was":{', (
                SELECT string_agg(format(
                    '%s:[%s,%s]', to_json(n), merged.changes -> n -> 0, merged.changes -> n ->> 1
                ), ',' ORDER BY ord)
                FROM unnest(names) WITH ORDINALITY AS x (n, ord) WHERE merged.changes ? n
            ), '},"fired":[', (
                SELECT string_agg((program #> ARRAY['triggers', (f - 1)::text, 'name'])::text, ',' ORDER BY f)
                FROM unnest(fired) AS f
            ), ']', ',"final":' || to_json(final_name)::text,
            ',"overwrote":' || CASE WHEN cardinality(merged.overwrote) > 0
                THEN array_to_json(merged.overwrote)::text END,
            ',"by":' || to_json(write ->> 'by')::text,
            CASE WHEN source = 'repair' THEN ',"repair":true' END, '}'
        ), NULL, own) || jsonb_build_object('worker', write -> 'by'));
        ref := seq;
    END IF;
    FOREACH one IN ARRAY others LOOP
        tokens := tokens || one::text;
    END LOOP;
    IF own_id <> 0 THEN
        d.ends := own_id;
    END IF;
    IF cause IS NOT NULL THEN
        seq := seq + 1;
        d.events := d.events || ebb.rules_event(
            seq, 'exception_raised', ref,
            format('{"code":%s,"message":%s}', to_json(cause), to_json(message)), own ->> 'node'
        );
        raised := seq;
        IF handler_branch <> ALL (pending) THEN
            seq := seq + 1;
            d.events := d.events || ebb.rules_event(seq, 'input_resolved', 0, format(
                '{"state":%s,"cause":%s,"message":%s,"transition":%s,"fired_state":%s}', text_now,
                to_json(cause), to_json(message), coalesce(to_json(own ->> 'node')::text, 'null'),
                coalesce(write ->> 'fired_text', 'null')
            ), '_EXCPT');
            last_token := last_token + 1;
            last_visit := last_visit + 1;
            tokens := tokens || format(
                '{"id":%s,"node":"_EXCPT","branch":%s,"visit":%s,"attempt":1,"input":%s,"fired":%s}',
                last_token, handler_branch, last_visit, seq, seq
            );
            d.puts := d.puts || jsonb_build_object(
                'token', last_token, 'node', '_EXCPT', 'handler', '_EXCPT', 'queue', program ->> 'queue'
            );
        END IF;
        d.verdict := 'E';
    ELSIF is_end THEN
        raised := 0;
        seq := seq + 1;
        d.events := d.events || ebb.rules_event(seq, 'completed', 0, text_now);
        d.status := 'completed';
        d.verdict := 'F';
        tokens := '{}';
    ELSE
        raised := 0;
        d.verdict := 'R';
        IF cardinality(fired) > 0 THEN
            seq := seq + 1;
            d.events := d.events || ebb.rules_event(seq, 'state_written', ref, text_now);
        END IF;
        FOR i IN 1 .. cardinality(fired) LOOP
            rule := program -> 'triggers' -> (fired[i] - 1);
            last_visit := last_visit + 1;
            IF i = 1 AND own_id <> 0 THEN
                d.ends := NULL;
            ELSE
                last_token := last_token + 1;
            END IF;
            placed := format(
                '{"id":%s,"node":%s,"branch":%s,"visit":%s,"attempt":1,"input":%s,"fired":%s}',
                CASE WHEN i = 1 AND own_id <> 0 THEN own_id ELSE last_token END, rule -> 'name', fired[i],
                last_visit, seq, seq
            );
            tokens := tokens || placed;
            d.puts := d.puts || jsonb_build_object(
                'token', placed::jsonb -> 'id', 'node', rule -> 'name', 'handler', rule -> 'handler',
                'queue', rule -> 'queue'
            );
        END LOOP;
        SELECT coalesce(array_agg(t ORDER BY (t::json ->> 'id')::bigint), '{}') INTO tokens
        FROM unnest(tokens) AS t;
    END IF;
    IF last_visit > (program ->> 'step_budget')::bigint THEN
        RAISE EXCEPTION 'The instance would visit more nodes than its step_budget allows.'
            USING ERRCODE = 'EB009';
    END IF;
    d.state := concat(
        '{"status":"', d.status, '","seq":', seq, ',"last_token":' || nullif(last_token, 0),
        ',"last_scope":' || (state ->> 'last_scope'), ',"visit":' || nullif(last_visit, 0),
        ',"deadline":' || (state ->> 'deadline'), ',"result":' || CASE WHEN is_end THEN seq END,
        ',"tokens":[' || CASE WHEN cardinality(tokens) > 0 THEN array_to_string(tokens, ',') || ']' END,
        ',"records":' || (state ->> 'records'), ',"requests":' || (state ->> 'requests'),
        ',"labels":' || (state ->> 'labels'), ',"run":' || (state -> 'run')::text,
        ',"rules":{"format":1,"values":', text_now,
        ',"written":', ebb.rules_text(written, names),
        ',"marks":', ebb.rules_marks(marks, program), ',"idle":' || nullif(idle, 0),
        CASE WHEN finishing THEN ',"finishing":true' END,
        ',"exception":' || CASE WHEN NOT is_end THEN nullif(raised, 0) END, '}}'
    );
    RETURN d;
END $work$;

-- The marks of triggers, in their order, without those that say nothing.
CREATE OR REPLACE FUNCTION ebb.rules_marks(marks jsonb, program jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    RETURN (
        SELECT '{' || coalesce(string_agg(concat(
            t -> 'name', ':{"fires":', m -> 'fires', CASE WHEN m ? 'true' THEN ',"true":true' END,
            ',"failed":' || (m ->> 'failed'), '}'
        ), ',' ORDER BY n), '') || '}'
        FROM jsonb_array_elements($2 -> 'triggers') WITH ORDINALITY AS x (t, n)
        CROSS JOIN LATERAL (SELECT $1 -> (t ->> 'name') AS m) AS y
        WHERE m IS NOT NULL AND m <> '{"fires": 0}'
    );
END $work$;
