-- name: definition
-- What wed_attr and wed_trig of a flow say, as a version of its workflow. Each flow has functions of its
-- own in its schema, made here from printed conditions and quoted names.

-- The rows of the two tables. They are read by name, because each flow has its own.
CREATE OR REPLACE FUNCTION ebb.flow_rows(flow text, tab text, sorted text) RETURNS jsonb[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    found jsonb[];
BEGIN
    EXECUTE format(
        'SELECT coalesce(array_agg(to_jsonb(t) ORDER BY t.%I), ''{}'') FROM %I.%I AS t', $3, $1, $2
    ) INTO found;
    RETURN found;
END $work$;

-- A default is written as text.
CREATE OR REPLACE FUNCTION ebb.rules_default(name text, type text, adv text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $work$
BEGIN
    -- As in WED-SQL, an empty text means that there is none.
    IF $3 IS NULL OR $3 = '' THEN
        RETURN 'null';
    END IF;
    RETURN ebb.rules_value($1, $2, CASE
        WHEN $2 = 'boolean' THEN to_jsonb($3::boolean) WHEN $2 = 'integer' THEN to_jsonb($3::bigint)
        WHEN $2 = 'double' THEN to_jsonb($3::double precision)
        ELSE to_jsonb($3)
    END);
EXCEPTION WHEN data_exception OR SQLSTATE 'EB008' THEN
    RAISE EXCEPTION 'The attribute "%" (%) cannot have the default "%"; allowed is %.', $1, $2, left($3, 60),
        ebb.rules_allowed($2) USING ERRCODE = 'EB007';
END $work$;

CREATE OR REPLACE FUNCTION ebb.flow_attributes(flow text) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'name', a ->> 'aname', 'type', a ->> 'atype', 'enabled', a -> 'enabled',
        'external', a -> 'external', 'renamed_from', a -> 'earlier',
        'default', ebb.rules_default(a ->> 'aname', a ->> 'atype', a ->> 'adv')
    ) ORDER BY n), '[]')
    FROM unnest(ebb.flow_rows($1, 'wed_attr', 'aid')) WITH ORDINALITY AS x (a, n)
$work$;

CREATE OR REPLACE FUNCTION ebb.rules_names(attributes jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce(array_agg(a ->> 'name'), '{}') FROM jsonb_array_elements($1) AS a
    WHERE (a ->> 'enabled')::boolean
$work$;

-- FROM clause in which each attribute is a column.
CREATE OR REPLACE FUNCTION ebb.rules_source(attributes jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE WHEN count(*) = 0 THEN '' ELSE 'FROM jsonb_to_record($1) AS r (' || string_agg(
        format('%I %s', a ->> 'name', ebb.rules_column(a ->> 'type')), ', '
    ) || ')' END
    FROM jsonb_array_elements($1) AS a
$work$;

-- An interval as the definition writes it.
CREATE OR REPLACE FUNCTION ebb.rules_duration(length interval) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT (extract(epoch FROM $1) * 1000000)::bigint || 'us'
$work$;

-- What each write would have to find out of a definition again. is_plain: a row of wed_flow as JSON holds the
-- values as the state has them. edges: the triggers that look at the edge, by number.
CREATE OR REPLACE FUNCTION ebb.rules_prepared(program jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT jsonb_build_object(
        'names', coalesce(jsonb_agg(a -> 'name' ORDER BY n), '[]'),
        'defaults', coalesce(jsonb_object_agg(a ->> 'name', a -> 'default'), '{}'),
        'doubles', coalesce(jsonb_agg(a -> 'name') FILTER (WHERE a ->> 'type' = 'double'), '[]'),
        'is_plain', coalesce(bool_and(a ->> 'type' IN ('text', 'boolean', 'integer', 'uuid')), true),
        'edges', (
            SELECT coalesce(jsonb_agg(n), '[]')
            FROM jsonb_array_elements($1 -> 'triggers') WITH ORDINALITY AS t (t, n) WHERE t ->> 'mode' = 'edge'
        ),
        -- No condition but those of triggers, which fire while they are true, and final ones.
        'is_simple', NOT $1 ?| '{outputs,has_sets,counts,starts_by_kernel}' AND coalesce($1 -> 'priority', '0') = '0'
            AND coalesce($1 -> 'savepoints', '[]') = '[]' AND $1 -> 'invariants' = '[]' AND $1 -> 'exceptions' = '[]' AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements($1 -> 'triggers') AS t (t)
            WHERE t ->> 'mode' <> 'level' OR t ->> 'after' IS NOT NULL OR t ?| '{by_kernel,max_fires}'
        ) AND bool_and(a ->> 'type' IN ('text', 'boolean', 'integer', 'uuid'))
    )
    FROM jsonb_array_elements($1 -> 'attributes') WITH ORDINALITY AS x (a, n)
$work$;

-- What rules_decide must know.
CREATE OR REPLACE FUNCTION ebb.flow_program(f ebb.flows) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    WITH trigs AS MATERIALIZED (
        SELECT t, n FROM unnest(ebb.flow_rows($1.flow, 'wed_trig', 'tgid')) WITH ORDINALITY AS x (t, n)
    )
    SELECT p || ebb.rules_prepared(p) FROM (SELECT jsonb_build_object(
        'attributes', ebb.flow_attributes($1.flow), 'step_budget', 1000000, 'queue', 'default',
        'external_writes', $1.external_writes, 'final_while_pending', $1.final_while_pending,
        'invariants', (
            SELECT coalesce(jsonb_agg(jsonb_build_object(
                'name', t ->> 'cname', 'when', t ->> 'cpred'
            ) ORDER BY n), '[]') FROM trigs WHERE (t ->> 'cinv')::boolean AND (t ->> 'enabled')::boolean
        ),
        'finals', (
            SELECT coalesce(jsonb_agg(jsonb_build_object(
                'name', t ->> 'cname', 'when', t ->> 'cpred'
            ) ORDER BY n), '[]') FROM trigs WHERE (t ->> 'cfinal')::boolean AND (t ->> 'enabled')::boolean
        ),
        'exceptions', (
            SELECT coalesce(jsonb_agg(jsonb_build_object(
                'name', t ->> 'cname', 'when', t ->> 'cpred'
            ) ORDER BY n), '[]') FROM trigs WHERE (t ->> 'cexcpt')::boolean AND (t ->> 'enabled')::boolean
        ),
        'triggers', (
            SELECT coalesce(jsonb_agg(jsonb_build_object(
                'name', coalesce(t ->> 'node', t ->> 'trname'), 'handler', t ->> 'trname', 'when', t ->> 'cpred',
                'tgid', t -> 'tgid', 'mode', t ->> 'mode', 'enabled', t -> 'enabled',
                'queue', coalesce(t ->> 'queue', 'default'), 'writes', t -> 'writes',
                'reads', to_jsonb(ebb.rules_reads(t ->> 'cpred')),
                'timeout', (extract(epoch FROM (t ->> 'timeout')::interval) * 1000000)::bigint,
                'backoff', ebb.rules_duration((t ->> 'backoff')::interval),
                'after', (extract(epoch FROM (t ->> 'after')::interval) * 1000000)::bigint,
                'max_attempts', t -> 'max_attempts', 'compensate', t -> 'compensate'
            ) ORDER BY n), '[]') FROM trigs
            WHERE NOT ((t ->> 'cfinal')::boolean OR (t ->> 'cexcpt')::boolean OR (t ->> 'cinv')::boolean)
        )
    ) AS p) AS x
$work$;

-- The same as the definition of a workflow.
CREATE OR REPLACE FUNCTION ebb.flow_workflow(flow text, version integer, program jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT jsonb_build_object(
        'workflow', $1, 'version', $2, 'on_error', 'exception', 'rules', jsonb_build_object(
            'attributes', (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'attribute', a -> 'name', 'type', a -> 'type', 'default', a -> 'default',
                    'external', a -> 'external', 'enabled', a -> 'enabled'
                ) || CASE WHEN jsonb_array_length(a -> 'renamed_from') > 0
                    THEN jsonb_build_object('renamed_from', a -> 'renamed_from') ELSE '{}' END
                ORDER BY n), '[]')
                FROM jsonb_array_elements($3 -> 'attributes') WITH ORDINALITY AS x (a, n)
            ),
            'triggers', (
                SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                    'trigger', t -> 'name', 'do', nullif(t -> 'handler', t -> 'name'), 'when', t -> 'when',
                    'mode', t -> 'mode',
                    'enabled', t -> 'enabled', 'timeout', (t ->> 'timeout') || 'us',
                    'backoff', jsonb_build_object('strategy', 'fixed', 'initial', t -> 'backoff'),
                    'max_attempts', t -> 'max_attempts', 'after', (t ->> 'after') || 'us',
                    'queue', nullif(t ->> 'queue', 'default'), 'compensate', t -> 'compensate',
                    'writes', t -> 'writes'
                )) ORDER BY n)
                FROM jsonb_array_elements($3 -> 'triggers') WITH ORDINALITY AS x (t, n)
            ),
            'final', (
                SELECT coalesce(jsonb_agg(jsonb_build_object('final', c -> 'name', 'when', c -> 'when')), '[]')
                FROM jsonb_array_elements($3 -> 'finals') AS c
            ),
            'exceptions', (
                SELECT coalesce(jsonb_agg(jsonb_build_object('exception', c -> 'name', 'when', c -> 'when')), '[]')
                FROM jsonb_array_elements($3 -> 'exceptions') AS c
            ),
            'invariants', (
                SELECT coalesce(jsonb_agg(jsonb_build_object('invariant', c -> 'name', 'when', c -> 'when')), '[]')
                FROM jsonb_array_elements($3 -> 'invariants') AS c
            ),
            'on_exception', '{"do": "_EXCPT", "timeout": "1h", "max_attempts": 1000}'::jsonb,
            'external_writes', $3 -> 'external_writes', 'evolution', 'follow',
            'final_while_pending', $3 -> 'final_while_pending'
        )
    )
$work$;

-- The conditions of a version, in the order that rules_decide counts.
CREATE OR REPLACE FUNCTION ebb.rules_conditions(program jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce(array_agg(c ->> 'when' ORDER BY k, n), '{}')
    FROM unnest(ARRAY['invariants', 'finals', 'exceptions', 'triggers', 'savepoints']) WITH ORDINALITY AS g (name, k)
    CROSS JOIN LATERAL jsonb_array_elements($1 -> g.name) WITH ORDINALITY AS x (c, n)
$work$;

-- The attributes that are columns: those of the newest version, and of a workflow that is registered, of all others.
CREATE OR REPLACE FUNCTION ebb.flow_shape(flow text, newest jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT $2 || coalesce((
        SELECT jsonb_agg(o.a ORDER BY o.number) FROM (
            SELECT DISTINCT ON (a ->> 'name') a, (a ->> 'tgid')::integer AS number
            FROM ebb.flows AS f JOIN ebb.flow_versions AS v ON v.flow = f.flow
            CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'attributes') AS a
            WHERE f.flow = $1 AND f.source = 'workflow' AND NOT jsonb_path_exists(
                $2, '$[*] ? (@.name == $name)', jsonb_build_object('name', a -> 'name')
            )
            ORDER BY a ->> 'name', v.version DESC
        ) AS o
    ), '[]')
$work$;

-- The function _project in the schema of the flow, which brings the rows of instances up to date with one statement. A
-- row that another transaction holds is written down as behind. Of an instance of an earlier version, columns of other
-- attributes stay as they are.
CREATE OR REPLACE FUNCTION ebb.flow_projection(flow text, attributes jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    -- Each with %s instead of the name of the attribute.
    shapes text[] := ARRAY['%1$I', 'CASE WHEN p.vals ? %1$L THEN r.%1$I ELSE f.%1$I END', 'f.%1$I', 'r.%1$I'];
    lists text[] := ARRAY(
        SELECT string_agg(format(s, a ->> 'name'), ', ' ORDER BY n)
        FROM unnest(shapes) WITH ORDINALITY AS y (s, number)
        CROSS JOIN jsonb_array_elements($2) WITH ORDINALITY AS x (a, n)
        GROUP BY number ORDER BY number
    );
BEGIN
    EXECUTE format(
        $body$CREATE OR REPLACE FUNCTION %1$I._project(ids uuid[], vals jsonb[]) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
        SET plan_cache_mode = force_generic_plan SET jit = off
        SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
        AS $project$
        DECLARE
            was text := current_setting('ebb_surface.projecting', true);
            ignored text;
            _rest uuid[];  -- no attribute has a name like this
        BEGIN
            ignored := set_config('ebb_surface.projecting', array_to_string($1, ','), true);
            WITH written AS (
                UPDATE %1$I.wed_flow AS f SET (%2$s) = ROW(%3$s)
                FROM unnest($1, $2) AS p (id, vals)
                CROSS JOIN LATERAL jsonb_populate_record(NULL::%1$I.wed_flow, p.vals) AS r
                CROSS JOIN LATERAL (
                    SELECT o.wid FROM %1$I.wed_flow AS o WHERE o.instance_id = p.id FOR NO KEY UPDATE SKIP LOCKED
                ) AS l
                WHERE f.wid = l.wid AND ROW(%3$s) IS DISTINCT FROM ROW(%4$s)
                RETURNING f.instance_id
            )
            SELECT array_agg(p.id ORDER BY p.id) INTO _rest FROM unnest($1) AS p (id)
            WHERE p.id NOT IN (SELECT w.instance_id FROM written AS w);
            IF _rest IS NOT NULL THEN
                INSERT INTO %1$I.wed_flow (instance_id, %2$s)
                SELECT p.id, %5$s FROM unnest($1, $2) AS p (id, vals)
                CROSS JOIN LATERAL jsonb_populate_record(NULL::%1$I.wed_flow, p.vals) AS r
                WHERE p.id = ANY (_rest) AND NOT EXISTS (
                    SELECT 1 FROM %1$I.wed_flow AS f WHERE f.instance_id = p.id
                );
                -- The others are as they should be.
                INSERT INTO ebb.flow_behind (flow, instance_id)
                SELECT %6$L, p.id FROM unnest(_rest) AS p (id) WHERE NOT EXISTS (
                    SELECT 1 FROM %1$I.wed_flow AS f WHERE f.instance_id = p.id FOR NO KEY UPDATE SKIP LOCKED
                );
            END IF;
            ignored := set_config('ebb_surface.projecting', coalesce(was, ''), true);
        END $project$$body$,
        $1, lists[1], lists[2], lists[3], lists[4], $1
    );
    EXECUTE format('REVOKE ALL ON FUNCTION %I._project(uuid[], jsonb[]) FROM PUBLIC', $1);
END $work$;

-- The functions of a version in the schema of the flow: _match_N answers all conditions, or with a
-- number one of them.
CREATE OR REPLACE FUNCTION ebb.flow_functions(flow text, version integer, program jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    attributes jsonb := $3 -> 'attributes';
    printed text[] := ARRAY(
        SELECT '(' || ebb.rules_print(c, ebb.rules_names(attributes)) || ')::boolean'
        FROM unnest(ebb.rules_conditions($3)) WITH ORDINALITY AS x (c, n) ORDER BY n
    );
    -- Each attribute is a variable, so that PL/pgSQL evaluates the conditions without a statement.
    opened text := 'LANGUAGE plpgsql IMMUTABLE ' || CASE
        WHEN array_to_string(printed, ' ') ~* 'date|time|interval' OR jsonb_path_exists(
            attributes, '$[*] ? (@.type == "date" || @.type == "timestamp")'
        ) THEN 'SET timezone = ''UTC'' SET datestyle = ''ISO, YMD'' ' ELSE ''
    END || 'AS ';
    variables text := 'DECLARE ' || (SELECT string_agg(format(
        '"%s" %s := ($1 ->> %L)::%s;', a ->> 'name', ebb.rules_column(a ->> 'type'), a ->> 'name',
        replace(ebb.rules_column(a ->> 'type'), ' COLLATE "C"', '')
    ), ' ' ORDER BY n) FROM jsonb_array_elements(attributes) WITH ORDINALITY AS x (a, n)) || ' BEGIN RETURN ';
BEGIN
    EXECUTE format('CREATE FUNCTION %I.%I(jsonb) RETURNS boolean[] ', $1, '_match_' || $2) || opened
        || quote_literal(variables || 'ARRAY[' || array_to_string(printed, ', ') || ']::boolean[]; END');
    EXECUTE format('CREATE FUNCTION %I.%I(jsonb, integer) RETURNS boolean ', $1, '_match_' || $2) || opened
        || quote_literal(variables || 'CASE $2' || (
            SELECT string_agg(format(' WHEN %s THEN %s', n, c), '' ORDER BY n)
            FROM unnest(printed) WITH ORDINALITY AS x (c, n)
        ) || ' END; END');
    EXECUTE format('REVOKE ALL ON FUNCTION %1$I.%2$I(jsonb), %1$I.%2$I(jsonb, integer) FROM PUBLIC', $1, '_match_' || $2);
    PERFORM ebb.flow_projection($1, ebb.flow_shape($1, attributes));
END $work$;

-- A new version, if the definition has changed. Answers with the newest.
CREATE OR REPLACE FUNCTION ebb.flow_build(flow text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    f ebb.flows;
    program jsonb;
    definition jsonb;
    one jsonb;
    checked text[];  -- conditions of the version before, over the same attributes
BEGIN
    SELECT o.* INTO f FROM ebb.flows AS o WHERE o.flow = $1 AND o.is_dirty FOR UPDATE;
    IF NOT FOUND THEN
        RETURN (SELECT o.version FROM ebb.flows AS o WHERE o.flow = $1);
    END IF;
    program := ebb.flow_program(f);
    IF jsonb_array_length(program -> 'triggers') = 0 OR jsonb_array_length(program -> 'attributes') = 0 THEN
        RETURN f.version;  -- it is not complete yet
    END IF;
    IF jsonb_array_length(program -> 'triggers') > 256 OR jsonb_array_length(program -> 'attributes') > 256
        OR jsonb_array_length(program -> 'finals') > 16 OR jsonb_array_length(program -> 'exceptions') > 16
        OR jsonb_array_length(program -> 'invariants') > 64
    THEN
        RAISE EXCEPTION 'A flow has at most 256 attributes, 256 triggers, 16 final conditions, 16 exceptions and 64 invariants.'
            USING ERRCODE = 'EB007';
    END IF;
    checked := coalesce((
        SELECT ebb.rules_conditions(v.program) FROM ebb.flow_versions AS v
        WHERE v.flow = $1 AND v.version = f.version
            AND ebb.rules_source(v.program -> 'attributes') = ebb.rules_source(program -> 'attributes')
            AND ebb.rules_names(v.program -> 'attributes') = ebb.rules_names(program -> 'attributes')
    ), '{}');
    FOR one IN
        SELECT c FROM unnest(ARRAY['invariants', 'finals', 'exceptions', 'triggers']) AS g (name)
        CROSS JOIN LATERAL jsonb_array_elements(program -> g.name) AS x (c)
        WHERE c ->> 'when' IS NULL OR c ->> 'when' <> ALL (checked)
    LOOP
        PERFORM ebb.rules_check(one ->> 'when', program -> 'attributes', format('"%s"', one ->> 'name'));
    END LOOP;
    SELECT greatest(f.version, coalesce(max(w.version), 0)) + 1 INTO f.version
    FROM ebb.workflows AS w WHERE w.name = $1;
    definition := ebb.flow_workflow($1, f.version, program);
    INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)
    VALUES (
        $1, f.version, definition::text, encode(sha256(convert_to(definition::text, 'UTF8')), 'hex'),
        ebb.work_now()
    );
    INSERT INTO ebb.calls (workflow, version, node, is_compensation, handler, queue, timeout, max_attempts)
    SELECT $1, f.version, t ->> 'name', false, t ->> 'handler', t ->> 'queue',
           (t ->> 'timeout')::bigint, (t ->> 'max_attempts')::integer
    FROM jsonb_array_elements(program -> 'triggers') AS t
    UNION ALL
    SELECT $1, f.version, t ->> 'name', true, t ->> 'compensate', t ->> 'queue', 0, 3
    FROM jsonb_array_elements(program -> 'triggers') AS t WHERE t ->> 'compensate' IS NOT NULL
    UNION ALL
    SELECT $1, f.version, '_EXCPT', false, '_EXCPT', 'default', 3600000000, 1000;
    INSERT INTO ebb.flow_versions (flow, version, program) VALUES ($1, f.version, program);
    PERFORM ebb.flow_functions($1, f.version, program);
    UPDATE ebb.flows AS o SET version = f.version, is_dirty = false WHERE o.flow = $1;
    RETURN f.version;
END $work$;

-- The name that an attribute has in another version; NULL if it is new.
CREATE OR REPLACE FUNCTION ebb.rules_earlier(attribute jsonb, program jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE WHEN $2 -> 'names' ? ($1 ->> 'name') THEN $1 ->> 'name' ELSE (
        SELECT e FROM jsonb_array_elements_text($1 -> 'renamed_from') WITH ORDINALITY AS x (e, n)
        WHERE $2 -> 'names' ? e ORDER BY n LIMIT 1
    ) END
$work$;

-- Whether what is pending can end in a newer version as if nothing had changed: with the same handler and queue, and
-- writing what it may write now.
CREATE OR REPLACE FUNCTION ebb.rules_can_follow(was jsonb, becomes jsonb, token jsonb, rule jsonb, later jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT ($4 ->> 'handler' = $5 ->> 'handler' AND $4 ->> 'queue' = $5 ->> 'queue'
            OR coalesce($3 ->> 'status', 'ready') NOT IN ('ready', 'retrying'))
        AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements($1 -> 'attributes') AS a
            WHERE (coalesce($4 -> 'writes', 'null') = 'null' OR $4 -> 'writes' ? (a ->> 'name')) AND NOT EXISTS (
                SELECT 1 FROM jsonb_array_elements($2 -> 'attributes') AS b
                WHERE ebb.rules_earlier(b, $1) = a ->> 'name'
                    AND (coalesce($5 -> 'writes', 'null') = 'null' OR $5 -> 'writes' ? (b ->> 'name'))
            )
        )
$work$;

-- Whether a newer version of a registered workflow can compensate what this one has called.
CREATE OR REPLACE FUNCTION ebb.rules_can_undo(was jsonb, becomes jsonb, state jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $3 ?| '{records,savepoint}' OR jsonb_path_exists($1, '$.triggers[*] ? (exists(@.by_kernel))') THEN
        PERFORM ebb.rules_hand_over('The instance would go on with a newer version of the workflow');
    END IF;
    RETURN NOT EXISTS (
        SELECT 1 FROM jsonb_array_elements($1 -> 'triggers') AS t WHERE t ->> 'compensate' IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements($2 -> 'triggers') AS o
            WHERE o -> 'name' = t -> 'name' AND o ->> 'compensate' IS NOT NULL
        )
    );
END $work$;

-- An instance continues on a newer version, if nothing stands against it: what is pending must be a
-- transition there too.
CREATE OR REPLACE FUNCTION ebb.rules_follow(
    was jsonb, becomes jsonb, state json, from_version integer, to_version integer,
    OUT followed json, OUT event ebb.rules_row
)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    handler_was integer := jsonb_array_length($1 -> 'triggers') + 1;
    handler_is integer := jsonb_array_length($2 -> 'triggers') + 1;
    rules jsonb := $3::jsonb -> 'rules';
    seq bigint := ($3 ->> 'seq')::bigint + 1;
    tokens text[] := '{}';
    one jsonb;
    rule jsonb;
    later jsonb;
    place bigint;
    vals jsonb := '{}';
    written jsonb := '{}';
    changed jsonb := '{}';
    a jsonb;
    earlier text;
BEGIN
    IF $1 ? 'evolution' AND NOT ebb.rules_can_undo($1, $2, $3::jsonb) THEN
        RETURN;
    END IF;
    FOR one IN SELECT t FROM jsonb_array_elements($3::jsonb -> 'tokens') AS t LOOP
        place := (one ->> 'branch')::bigint;
        IF place = handler_was THEN
            IF ROW($1 -> 'handler', $1 -> 'queue') IS DISTINCT FROM ROW($2 -> 'handler', $2 -> 'queue') THEN
                RETURN;
            END IF;
            place := handler_is;
        ELSE
            rule := $1 -> 'triggers' -> (place - 1)::integer;
            SELECT x.n, x.t INTO place, later
            FROM jsonb_array_elements($2 -> 'triggers') WITH ORDINALITY AS x (t, n)
            WHERE x.t ->> 'name' = rule ->> 'name';
            IF NOT FOUND OR NOT ebb.rules_can_follow($1, $2, one, rule, later) THEN
                RETURN;
            END IF;
        END IF;
        tokens := tokens || (one || jsonb_build_object('branch', place))::text;
    END LOOP;
    FOR a IN SELECT x FROM jsonb_array_elements($2 -> 'attributes') AS x LOOP
        earlier := ebb.rules_earlier(a, $1);
        vals := vals || jsonb_build_object(a ->> 'name', coalesce(rules -> 'values' -> earlier, a -> 'default'));
        IF earlier IS DISTINCT FROM a ->> 'name' THEN
            changed := changed || jsonb_build_object(a ->> 'name', vals -> (a ->> 'name'));
        END IF;
        IF rules -> 'written' ? coalesce(earlier, '') THEN
            written := written || jsonb_build_object(a ->> 'name', rules -> 'written' -> earlier);
        END IF;
    END LOOP;
    event := ROW(seq, 'migrated', NULL, NULL, NULL, NULL, NULL, NULL, NULL, concat(
        '{"from":', $4, ',"to":', $5,
        ',"values":' || CASE WHEN changed <> '{}' THEN ebb.rules_text(changed, ARRAY(
            SELECT x ->> 'name' FROM jsonb_array_elements($2 -> 'attributes') WITH ORDINALITY AS o (x, n) ORDER BY n
        ), $2 -> 'doubles') END, '}'
    ))::ebb.rules_row;
    followed := ($3::jsonb || jsonb_build_object(
        'seq', seq, 'tokens', to_jsonb(tokens), 'rules', rules || jsonb_build_object(
            'values', vals, 'written', written, 'asks_all', true, 'marks', (
                SELECT coalesce(jsonb_object_agg(m.key, m.value), '{}')
                FROM jsonb_each(coalesce(rules -> 'marks', '{}')) AS m
                WHERE EXISTS (SELECT 1 FROM jsonb_array_elements($2 -> 'triggers') AS t WHERE t ->> 'name' = m.key)
            )
        )
    ) || jsonb_build_object('tokens', coalesce((SELECT jsonb_agg(t::jsonb) FROM unnest(tokens) AS t), '[]')))::json;
END $work$;
