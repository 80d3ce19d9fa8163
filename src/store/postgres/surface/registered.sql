-- name: registered
-- A surface for a workflow that is defined in a file or a program. What is registered stays the only
-- definition: wed_attr and wed_trig only show it, and each new version is taken over when it is registered.

-- A duration as definitions write it, in microseconds.
CREATE OR REPLACE FUNCTION ebb.rules_span(length text) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT sum(m[1]::numeric * CASE m[2]
        WHEN 'us' THEN 1 WHEN 'ms' THEN 1000 WHEN 's' THEN 1000000 WHEN 'm' THEN 60000000
        WHEN 'h' THEN 3600000000 ELSE 86400000000
    END)::bigint
    FROM regexp_matches($1, '([0-9.]+)(us|ms|[smhd])', 'g') AS m
$work$;

-- Why only a process of Ebb can call what a trigger has; NULL if a row of ebb.tasks says all.
CREATE OR REPLACE FUNCTION ebb.rules_call_fault(call jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE
        WHEN $1 ? 'steps' THEN 'steps' WHEN $1 ? 'input' THEN 'a template for its input'
        WHEN $1 ? 'concurrency_key' THEN 'a concurrency_key' WHEN $1 ? 'step_timeout' THEN 'a step_timeout'
    END
$work$;

-- The trigger of a definition as rules_decide wants it.
CREATE OR REPLACE FUNCTION ebb.rules_registered_trigger(t jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT jsonb_build_object(
        'name', $1 -> 'trigger', 'when', $1 -> 'when', 'mode', coalesce($1 ->> 'mode', 'level'),
        'handler', CASE WHEN NOT $1 ? 'steps' THEN coalesce($1 ->> 'do', $1 ->> 'trigger') END,
        'enabled', coalesce($1 -> 'enabled', 'true'), 'queue', coalesce($1 ->> 'queue', 'default'),
        'writes', CASE WHEN $1 ? 'writes' THEN (
            SELECT coalesce(jsonb_agg(CASE jsonb_typeof(w) WHEN 'object' THEN w -> 'attribute' ELSE w END ORDER BY n), '[]')
            FROM jsonb_array_elements($1 -> 'writes') WITH ORDINALITY AS x (w, n)
        ) END,
        'reads', to_jsonb(ebb.rules_reads($1 ->> 'when')), 'timeout', ebb.rules_span($1 ->> 'timeout'),
        'backoff', coalesce($1 #>> '{backoff,initial}', '1s'), 'after', ebb.rules_span($1 ->> 'after'),
        'max_attempts', coalesce(
            ($1 ->> 'max_attempts')::integer, CASE WHEN ($1 ->> 'non_idempotent')::boolean THEN 1 ELSE 3 END
        ),
        'compensate', CASE jsonb_typeof($1 -> 'compensate')
            WHEN 'object' THEN $1 #> '{compensate,handler}' ELSE $1 -> 'compensate'
        END
    ) || jsonb_strip_nulls(jsonb_build_object(
        'max_fires', $1 -> 'max_fires', 'by_kernel', ebb.rules_call_fault($1),
        'sets', CASE WHEN $1 ? 'set' THEN true END
    ))
$work$;

-- A definition as rules_decide wants it, without the numbers of its attributes and conditions.
CREATE OR REPLACE FUNCTION ebb.rules_registered(definition jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT jsonb_build_object(
        'attributes', (
            SELECT jsonb_agg(jsonb_build_object(
                'name', a -> 'attribute', 'type', coalesce(a ->> 'type', 'text'),
                'enabled', coalesce(a -> 'enabled', 'true'), 'external', coalesce(a -> 'external', 'false'),
                'renamed_from', coalesce(a -> 'renamed_from', '[]'), 'default', ebb.rules_value(
                    a ->> 'attribute', coalesce(a ->> 'type', 'text'), a -> 'default'
                )
            ) ORDER BY n)
            FROM jsonb_array_elements(r -> 'attributes') WITH ORDINALITY AS x (a, n)
        ),
        'triggers', (
            SELECT jsonb_agg(ebb.rules_registered_trigger(t) ORDER BY n)
            FROM jsonb_array_elements(r -> 'triggers') WITH ORDINALITY AS x (t, n)
        ),
        'step_budget', coalesce(($1 ->> 'step_budget')::bigint, 1000000), 'priority', coalesce(($1 ->> 'priority')::integer, 0),
        'queue', coalesce(r #>> '{on_exception,queue}', 'default'),
        'external_writes', coalesce(r ->> 'external_writes', 'declared'),
        'final_while_pending', coalesce(r ->> 'final_while_pending', 'wait'),
        'evolution', coalesce(r ->> 'evolution', 'pin'), 'on_idle', coalesce(r ->> 'on_idle', 'exception'),
        'on_exception', CASE
            WHEN jsonb_typeof(r -> 'on_exception') = 'object' AND ebb.rules_call_fault(r -> 'on_exception') IS NULL
            THEN 'handle' ELSE 'kernel'
        END
    ) || (
        SELECT jsonb_object_agg(k.kind, (
            SELECT coalesce(jsonb_agg(jsonb_build_object('name', c -> k.word, 'when', c -> 'when') || CASE k.kind
                WHEN 'savepoints' THEN jsonb_build_object('reads', to_jsonb(ebb.rules_reads(c ->> 'when'))) ELSE '{}'
            END ORDER BY n), '[]')
            FROM jsonb_array_elements(r -> k.member) WITH ORDINALITY AS x (c, n)
        ))
        FROM (VALUES ('finals', 'final', 'final'), ('exceptions', 'exceptions', 'exception'),
            ('invariants', 'invariants', 'invariant'), ('savepoints', 'savepoints', 'savepoint')) AS k (kind, member, word)
    ) || jsonb_strip_nulls(jsonb_build_object(
        'handler', CASE jsonb_typeof(r -> 'on_exception')
            WHEN 'object' THEN coalesce(r #>> '{on_exception,do}', '_EXCPT')
        END,
        'outputs', CASE WHEN $1 ? 'output' THEN true END,
        'has_sets', CASE WHEN jsonb_path_exists(r, '$.triggers[*] ? (exists(@.set) || exists(@.steps))') THEN true END,
        -- Templates may read how many attempts a transition has had: the state then keeps it.
        'counts', CASE WHEN concat($1 -> 'output', r -> 'triggers', r -> 'on_exception') ~ '[.]attempts' THEN true END,
        'starts_by_kernel', CASE
            WHEN $1 ? 'labels' THEN 'labels' WHEN $1 ? 'deadline' THEN 'a deadline'
            WHEN $1 ? 'input_schema' THEN 'an input_schema'
        END
    ))
    FROM (SELECT $1 -> 'rules' AS r) AS o
$work$;

-- The same with its numbers: what has had a number in another version keeps it.
CREATE OR REPLACE FUNCTION ebb.flow_numbered(flow text, program jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    WITH places AS (
        SELECT * FROM (VALUES ('attributes', 1), ('triggers', 2), ('finals', 2), ('exceptions', 2), ('invariants', 2))
            AS k (kind, series)
    ), known AS (
        SELECT DISTINCT p.kind, p.series, c ->> 'name' AS name, (c ->> 'tgid')::integer AS number
        FROM ebb.flow_versions AS v CROSS JOIN places AS p CROSS JOIN LATERAL jsonb_array_elements(v.program -> p.kind) AS c
        WHERE v.flow = $1
    ), numbered AS (
        SELECT p.kind, x.n, x.c || jsonb_build_object('tgid', coalesce(k.number, (
            SELECT coalesce(max(o.number), 0) FROM known AS o WHERE o.series = p.series
        ) + row_number() OVER (PARTITION BY p.series, k.number IS NULL ORDER BY array_position(
            '{attributes,triggers,finals,exceptions,invariants}'::text[], p.kind
        ), x.n))) AS item
        FROM places AS p CROSS JOIN LATERAL jsonb_array_elements($2 -> p.kind) WITH ORDINALITY AS x (c, n)
        LEFT JOIN known AS k ON k.kind = p.kind AND k.name = x.c ->> 'name'
    )
    SELECT $2 || coalesce((
        SELECT jsonb_object_agg(o.kind, o.items) FROM (
            SELECT i.kind, jsonb_agg(i.item ORDER BY i.n) AS items FROM numbered AS i GROUP BY i.kind
        ) AS o
    ), '{}')
$work$;

-- What a surface cannot have of a definition: raises an exception.
CREATE OR REPLACE FUNCTION ebb.flow_check_registered(flow text, version integer, definition jsonb) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one record;
BEGIN
    IF NOT $3 ? 'rules' THEN
        RAISE EXCEPTION 'Version % of the workflow "%" has steps and no rules.', $2, $1 USING ERRCODE = 'EB007';
    END IF;
    FOR one IN
        SELECT a ->> 'attribute' AS name, coalesce(a ->> 'type', 'text') AS type, (
            SELECT format('"%s" in version %s', o ->> 'type', v.version)
            FROM ebb.flow_versions AS v CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'attributes') AS o
            WHERE v.flow = $1 AND o ->> 'name' = a ->> 'attribute' AND o ->> 'type' <> coalesce(a ->> 'type', 'text')
            ORDER BY v.version DESC LIMIT 1
        ) AS other, EXISTS (
            SELECT 1 FROM pg_attribute AS c WHERE c.attrelid = to_regclass(format('%I.wed_flow', $1))
                AND c.attname = a ->> 'attribute' AND NOT c.attisdropped
        ) AND NOT EXISTS (
            SELECT 1 FROM ebb.flow_versions AS v CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'attributes') AS o
            WHERE v.flow = $1 AND o ->> 'name' = a ->> 'attribute'
        ) AS is_taken
        FROM jsonb_array_elements($3 #> '{rules,attributes}') AS a
    LOOP
        -- A worker's role may have written the definition without any check, and functions of the owner are made of it.
        PERFORM ebb.rules_check_column(one.name, one.type);
        IF one.other IS NOT NULL THEN
            RAISE EXCEPTION 'The attribute "%" has the type "%" in version % and %: one column cannot have both.',
                one.name, one.type, $2, one.other USING ERRCODE = 'EB007', HINT = 'Give the new one another name.';
        ELSIF one.is_taken THEN
            RAISE EXCEPTION 'The attribute "%" needs a column, but %.wed_flow has a column of this name that is not an attribute.',
                one.name, $1 USING ERRCODE = 'EB007';
        END IF;
    END LOOP;
END $work$;

-- The columns of a version. Those of earlier ones stay, for the instances that have these.
CREATE OR REPLACE FUNCTION ebb.flow_columns(flow text, program jsonb, is_newest boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one jsonb;
BEGIN
    FOR one IN SELECT a FROM jsonb_array_elements($2 -> 'attributes') WITH ORDINALITY AS x (a, n) ORDER BY n LOOP
        CONTINUE WHEN EXISTS (
            SELECT 1 FROM pg_attribute AS c WHERE c.attrelid = to_regclass(format('%I.wed_flow', $1))
                AND c.attname = one ->> 'name' AND NOT c.attisdropped
        );
        -- Instances of other versions do not have it, so the default is for new rows alone.
        EXECUTE format('ALTER TABLE %I.wed_flow ADD COLUMN %I %s', $1, one ->> 'name', ebb.rules_column(one ->> 'type'));
    END LOOP;
    IF NOT $3 THEN
        RETURN;
    END IF;
    -- Only those that change: each needs a lock that all users of the table wait for.
    FOR one IN
        SELECT jsonb_build_object('name', a -> 'name', 'becomes', $2 -> 'defaults' -> (a ->> 'name'))
        FROM jsonb_array_elements(ebb.flow_shape($1, $2 -> 'attributes')) AS a
        LEFT JOIN (
            ebb.flow_versions AS v JOIN ebb.flows AS f ON f.flow = v.flow AND f.version = v.version
        ) ON v.flow = $1
        WHERE $2 -> 'defaults' ->> (a ->> 'name') IS DISTINCT FROM v.program -> 'defaults' ->> (a ->> 'name')
    LOOP
        EXECUTE format(
            'ALTER TABLE %I.wed_flow ALTER COLUMN %I SET DEFAULT %L', $1, one ->> 'name', one ->> 'becomes'
        );
    END LOOP;
END $work$;

-- Takes a registered version over.
CREATE OR REPLACE FUNCTION ebb.flow_adopt(flow text, version integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $work$
DECLARE
    definition jsonb := (SELECT w.definition FROM ebb.workflows AS w WHERE w.name = $1 AND w.version = $2);
    program jsonb;
    one jsonb;
    is_newest boolean := NOT EXISTS (SELECT 1 FROM ebb.flow_versions AS v WHERE v.flow = $1 AND v.version > $2);
BEGIN
    PERFORM ebb.flow_check_registered($1, $2, definition);
    program := ebb.flow_numbered($1, ebb.rules_registered(definition));
    program := program || ebb.rules_prepared(program);
    FOR one IN
        SELECT c FROM unnest(ARRAY['invariants', 'finals', 'exceptions', 'triggers', 'savepoints']) AS g (name)
        CROSS JOIN LATERAL jsonb_array_elements(program -> g.name) AS x (c)
    LOOP
        PERFORM ebb.rules_check(one ->> 'when', program -> 'attributes', format('"%s"', one ->> 'name'));
    END LOOP;
    PERFORM ebb.flow_columns($1, program, is_newest);
    INSERT INTO ebb.flow_versions (flow, version, program) VALUES ($1, $2, program);
    PERFORM ebb.flow_functions($1, $2, program);
    UPDATE ebb.flows AS f SET version = greatest(f.version, $2), is_dirty = false WHERE f.flow = $1;
END $work$;

-- A new version is registered in the transaction that also gives it to the surface, or not at all.
CREATE OR REPLACE FUNCTION ebb.surface_registered() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    PERFORM 1 FROM ebb.flows AS f WHERE f.flow = NEW.name AND f.source = 'workflow' FOR UPDATE;
    IF FOUND THEN
        PERFORM ebb.flow_adopt(NEW.name, NEW.version);
    END IF;
    RETURN NULL;
EXCEPTION WHEN SQLSTATE 'EB007' THEN
    RAISE EXCEPTION 'Version % of the workflow "%" does not fit its surface in SQL: %', NEW.version, NEW.name, SQLERRM
        USING ERRCODE = 'EB007', HINT = format('`ebb rules uninstall %s` removes the surface.', NEW.name);
END $work$;

-- A write to what only shows the definition.
CREATE OR REPLACE FUNCTION ebb.surface_shown() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    RAISE EXCEPTION 'The flow "%" is defined by version % of its workflow: % only shows it.', TG_ARGV[0],
        (SELECT f.version FROM ebb.flows AS f WHERE f.flow = TG_ARGV[0]), TG_TABLE_NAME USING ERRCODE = 'EB007',
        HINT = 'Change the file or the program that defines the workflow, give it a new version, and register it.';
END $work$;

-- What the tables of a flow show of its newest version.
CREATE OR REPLACE FUNCTION ebb.flow_shown(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one text;
BEGIN
    EXECUTE format($body$
        CREATE OR REPLACE VIEW %1$I.wed_attr AS
        SELECT (a ->> 'tgid')::integer AS aid, a ->> 'name' AS aname, a ->> 'default' AS adv, a ->> 'type' AS atype,
               (a ->> 'enabled')::boolean AS enabled, (a ->> 'external')::boolean AS external,
               ARRAY(SELECT jsonb_array_elements_text(a -> 'renamed_from')) AS earlier
        FROM ebb.flows AS f JOIN ebb.flow_versions AS v ON v.flow = f.flow AND v.version = f.version
        CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'attributes') AS a WHERE f.flow = %2$L;

        CREATE OR REPLACE VIEW %1$I.wed_trig AS
        SELECT (t ->> 'tgid')::integer AS tgid,
               CASE k.kind WHEN 'finals' THEN '_FINAL' ELSE t ->> 'name' END AS tgname,
               coalesce((t ->> 'enabled')::boolean, true) AS enabled, CASE k.kind
                   WHEN 'finals' THEN '_FINAL' WHEN 'triggers' THEN coalesce(t ->> 'handler', t ->> 'name')
               END AS trname,
               CASE WHEN k.kind <> 'triggers' THEN t ->> 'name' END AS cname, t ->> 'when' AS cpred,
               k.kind = 'finals' AS cfinal, (t ->> 'timeout')::bigint * interval '1 microsecond' AS timeout,
               coalesce(t ->> 'mode', 'level') AS mode, CASE WHEN jsonb_typeof(t -> 'writes') = 'array' THEN
                   ARRAY(SELECT jsonb_array_elements_text(t -> 'writes'))
               END AS writes,
               t ->> 'compensate' AS compensate, (t ->> 'max_attempts')::integer AS max_attempts,
               ebb.rules_span(t ->> 'backoff') * interval '1 microsecond' AS backoff,
               nullif(t ->> 'queue', 'default') AS queue, k.kind = 'exceptions' AS cexcpt, k.kind = 'invariants' AS cinv,
               (t ->> 'after')::bigint * interval '1 microsecond' AS after,
               CASE k.kind WHEN 'triggers' THEN t ->> 'name' END AS node
        FROM ebb.flows AS f JOIN ebb.flow_versions AS v ON v.flow = f.flow AND v.version = f.version
        CROSS JOIN unnest('{triggers,finals,exceptions,invariants}'::text[]) AS k (kind)
        CROSS JOIN LATERAL jsonb_array_elements(v.program -> k.kind) AS t WHERE f.flow = %2$L;
    $body$, $1, $1);
    FOREACH one IN ARRAY ARRAY['wed_attr', 'wed_trig'] LOOP
        EXECUTE format(
            'CREATE TRIGGER only_shown INSTEAD OF INSERT OR UPDATE OR DELETE ON %I.%I'
            ' FOR EACH ROW EXECUTE FUNCTION ebb.surface_shown(%L)', $1, one, $1
        );
    END LOOP;
END $work$;

-- The rows of the instances that there are, in the order in which they were started. Before its triggers exist.
CREATE OR REPLACE FUNCTION ebb.flow_fill(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    columns text := (
        SELECT string_agg(format('%I', a ->> 'name'), ', ' ORDER BY n)
        FROM jsonb_array_elements(ebb.flow_shape($1, '[]')) WITH ORDINALITY AS x (a, n)
    );
BEGIN
    EXECUTE format(
        'INSERT INTO %1$I.wed_flow (instance_id, %2$s) SELECT i.id, %2$s FROM ebb.instances AS i'
        ' JOIN ebb.flow_versions AS v ON v.flow = i.workflow AND v.version = i.version'
        ' CROSS JOIN LATERAL jsonb_populate_record(NULL::%1$I.wed_flow, i.state::jsonb #> ''{rules,values}'') AS r'
        ' WHERE i.workflow = %1$L AND i.state::jsonb ? ''rules'' ORDER BY i.created_at, i.id', $1, columns
    );
END $work$;

-- Takes over all registered versions that a surface can have: the newest, and those of instances, must be among them.
CREATE OR REPLACE FUNCTION ebb.flow_adopt_all(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT w.version, row_number() OVER (ORDER BY w.version DESC) = 1 OR EXISTS (
            SELECT 1 FROM ebb.instances AS i
            WHERE i.workflow = $1 AND i.version = w.version AND w.definition::jsonb ? 'rules'
        ) AS is_needed
        FROM ebb.workflows AS w WHERE w.name = $1 AND NOT EXISTS (
            SELECT 1 FROM ebb.flow_versions AS v WHERE v.flow = $1 AND v.version = w.version
        ) ORDER BY w.version DESC
    LOOP
        BEGIN
            PERFORM ebb.flow_adopt($1, one.version);
        EXCEPTION WHEN SQLSTATE 'EB007' THEN
            IF one.is_needed THEN
                RAISE;
            END IF;
        END;
    END LOOP;
END $work$;

-- Makes the surface of a registered workflow, or brings it up to date. Run by the owner, with the owner's rights.
CREATE OR REPLACE FUNCTION ebb.install_flow(flow text, dialect text DEFAULT 'ebb', role text DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    f ebb.flows;
    was ebb.flows;
    count bigint;
BEGIN
    IF $2 IS NULL OR $2 NOT IN ('ebb', 'wed') THEN
        RAISE EXCEPTION 'A dialect is ebb or wed, not "%".', left($2, 80) USING ERRCODE = 'EB011';
    END IF;
    -- What is registered or started meanwhile waits, and is seen by the triggers.
    LOCK TABLE ebb.workflows, ebb.instances IN SHARE ROW EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT 1 FROM ebb.workflows AS w WHERE w.name = $1) THEN
        RAISE EXCEPTION 'There is no workflow "%" in this database.', left($1, 80) USING ERRCODE = 'EB013';
    END IF;
    SELECT o.* INTO was FROM ebb.flows AS o WHERE o.flow = $1 FOR UPDATE;
    IF was.source = 'tables' THEN
        RAISE EXCEPTION 'The flow "%" is defined in its own tables wed_attr and wed_trig: it has a surface already.', $1
            USING ERRCODE = 'EB007';
    END IF;
    IF was.flow IS NULL THEN
        PERFORM ebb.flow_make($1);
        INSERT INTO ebb.flows (flow, source, is_dirty) VALUES ($1, 'workflow', false);
        PERFORM ebb.flow_adopt_all($1);
        PERFORM ebb.flow_fill($1);
        PERFORM ebb.flow_shown($1);
        PERFORM ebb.flow_guard($1);
        PERFORM ebb.flow_views($1);
        PERFORM ebb.flow_watch_registrations();
    ELSE
        PERFORM ebb.flow_adopt_all($1);
    END IF;
    UPDATE ebb.flows AS o
    SET notify = CASE $2 WHEN 'wed' THEN 'wed' ELSE 'none' END,
        -- The definition decides what else is allowed; as in WED-SQL, an UPDATE needs a claim.
        external_writes = CASE WHEN $2 = 'wed' AND (
            SELECT v.program ->> 'external_writes' FROM ebb.flow_versions AS v
            WHERE v.flow = $1 AND v.version = o.version
        ) <> 'all' THEN 'none' ELSE 'all' END
    WHERE o.flow = $1 RETURNING o.* INTO f;
    IF $3 IS NOT NULL THEN
        PERFORM ebb.flow_admit($1, $3);
    END IF;
    EXECUTE format('SELECT count(*) FROM %I.wed_flow', $1) INTO count;
    RETURN jsonb_build_object(
        'flow', $1, 'version', f.version, 'instances', count, 'is_new', was.flow IS NULL, 'dialect', $2, 'role', $3
    );
END $work$;

-- The trigger by which flows see versions that are registered.
CREATE OR REPLACE FUNCTION ebb.flow_watch_registrations() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM pg_trigger AS t WHERE t.tgrelid = 'ebb.workflows'::regclass AND t.tgname = 'flows_registered'
    ) THEN
        CREATE TRIGGER flows_registered AFTER INSERT ON ebb.workflows
            FOR EACH ROW EXECUTE FUNCTION ebb.surface_registered();
    END IF;
END $work$;

-- Gives a role what WED-SQL's one role has, as far as nothing is defined in SQL, and makes the schema the first of its
-- search_path in this database.
CREATE OR REPLACE FUNCTION ebb.flow_admit(flow text, role text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    PERFORM ebb.grant_flow($1, $2, '{start,write,work:*,recover,observe}');
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = %I, pg_catalog', $2, current_database(), $1);
EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'The role "%" may not set the search_path of the role "%": %.', current_user, $2, SQLERRM
        USING ERRCODE = '42501', HINT = format(
            'Install without a role; an administrator runs: ALTER ROLE %I IN DATABASE %I SET search_path = %I, pg_catalog',
            $2, current_database(), $1
        );
END $work$;

-- Removes the surface of a workflow. The table wed_flow stays, with the last values of all instances.
CREATE OR REPLACE FUNCTION ebb.uninstall_flow(flow text) RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    f ebb.flows;
    live bigint;
    count bigint;
BEGIN
    -- No instance is started meanwhile.
    LOCK TABLE ebb.instances IN SHARE ROW EXCLUSIVE MODE;
    SELECT o.* INTO f FROM ebb.flows AS o WHERE o.flow = $1 FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no flow "%".', left($1, 80) USING ERRCODE = 'EB013';
    END IF;
    SELECT count(*) INTO live FROM ebb.instances AS i WHERE i.workflow = $1 AND i.finished_at IS NULL;
    IF f.source = 'tables' AND live > 0 THEN
        RAISE EXCEPTION 'The flow "%" is defined in its own tables, and % of its instances have not ended: nothing could change its definition any more, and no SQL could continue them.',
            $1, live USING ERRCODE = 'EB009', HINT = format(
                'End or cancel them first. `SELECT ebb.drop_flow(%L)` removes the surface nevertheless.', $1
            );
    END IF;
    WHILE ebb.flow_catch_up($1) > 0 LOOP
        NULL;
    END LOOP;
    PERFORM ebb.drop_flow($1);
    EXECUTE format('SELECT count(*) FROM %I.wed_flow', $1) INTO count;
    RETURN jsonb_build_object('flow', $1, 'version', f.version, 'rows', count, 'live', live);
END $work$;
