-- name: import_wed
-- Takes a flow of WED-SQL over, whose tables are in a schema of the same database: definitions, instances
-- with their numbers, pending jobs and trace.

-- What the trace of one instance makes of the import.
CREATE OR REPLACE FUNCTION ebb.wed_object(vals jsonb, names text[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce(jsonb_object_agg(n, coalesce($1 -> n, 'null')), '{}') FROM unnest($2) AS n
$work$;

-- The history and the state that the rows of the trace amount to. `trace`: {trw, trf, status, at, state}, the
-- oldest first.
CREATE OR REPLACE FUNCTION ebb.wed_replay(
    program jsonb, trace jsonb[], OUT events ebb.rules_row[], OUT times bigint[], OUT puts ebb.rules_put[],
    OUT state text, OUT status text, OUT vals jsonb
)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    names text[] := translate(($1 -> 'names')::text, '[]', '{}')::text[];
    marks jsonb := '{}';        -- when each attribute was written
    pending jsonb := '{}';      -- the token of each transition
    before jsonb := $1 -> 'defaults';
    row jsonb;
    own jsonb;
    written jsonb;
    name text;
    place integer;
    seq bigint := 0;
    token bigint := 0;
    raised bigint := 0;
    is_first boolean := true;
BEGIN
    events := '{}';
    times := '{}';
    puts := '{}';
    status := 'running';
    FOREACH row IN ARRAY $2 LOOP
        vals := ebb.wed_object(row -> 'state', names);
        SELECT coalesce(jsonb_object_agg(n, vals -> n), '{}') INTO written FROM unnest(names) AS n
        WHERE vals -> n <> before -> n;
        own := pending -> (row ->> 'trw');
        pending := pending - (row ->> 'trw');
        IF own IS NOT NULL THEN
            seq := seq + 1;
            events := events || ROW(
                seq, 'step_completed', row ->> 'trw', (own ->> 'id')::bigint, (own ->> 'id')::bigint, 1,
                (own ->> 'fired')::bigint, 'WED-SQL', row -> 'at', ebb.rules_text(written, names)
            )::ebb.rules_row;
        ELSIF NOT is_first THEN
            RAISE EXCEPTION 'The transition "%" has written without being fired.', row ->> 'trw'
                USING ERRCODE = 'EB007';
        END IF;
        seq := seq + 1;
        events := events || ROW(
            seq, CASE WHEN is_first THEN 'started' ELSE 'attributes_written' END, CASE WHEN NOT is_first THEN row ->> 'trw' END,
            (own ->> 'id')::bigint, (own ->> 'id')::bigint, CASE WHEN own IS NOT NULL THEN 1 END,
            CASE WHEN own IS NOT NULL THEN seq - 1 END, NULL, NULL,
            CASE WHEN is_first THEN ebb.rules_text(written, names) ELSE ebb.rules_written(
                $1, names, '{"source": "transition"}', (vals, (
                    SELECT coalesce(jsonb_object_agg(k, jsonb_build_array(before -> k, coalesce(marks -> k, '0'))), '{}')
                    FROM jsonb_object_keys(written) AS k
                ), '{}'::text[])::ebb.rules_merged, ARRAY(
                    SELECT x.n::integer FROM jsonb_array_elements($1 -> 'triggers') WITH ORDINALITY AS x (t, n)
                    WHERE row -> 'trf' ? (x.t ->> 'name') ORDER BY x.n
                ), '{}', '{}', CASE WHEN row ->> 'status' = 'F' THEN $1 #>> '{finals,0,name}' END
            ) END
        )::ebb.rules_row;
        SELECT marks || coalesce(jsonb_object_agg(k, seq), '{}') INTO marks FROM jsonb_object_keys(written) AS k;
        raised := 0;
        IF row ->> 'status' = 'F' THEN
            seq := seq + 1;
            status := 'completed';
            events := events || ROW(seq, 'completed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, ebb.rules_text(vals, names))::ebb.rules_row;
        ELSIF row ->> 'status' = 'E' THEN
            seq := seq + 2;
            raised := seq - 1;
            events := events || ROW(
                raised, 'exception_raised', row ->> 'trw', NULL, NULL, NULL, seq - 2, NULL, NULL,
                '{"code":"no_condition","message":"It was an exception in WED-SQL."}'
            )::ebb.rules_row || ROW(seq, 'input_resolved', '_EXCPT', NULL, NULL, NULL, NULL, NULL, NULL, format(
                '{"state":%s,"cause":"no_condition","message":"It was an exception in WED-SQL.","transition":%s,"fired_state":null}',
                ebb.rules_text(vals, names), to_json(row ->> 'trw')
            ))::ebb.rules_row;
            token := token + 1;
            pending := pending || jsonb_build_object('_EXCPT', jsonb_build_object('id', token, 'fired', seq));
        ELSIF jsonb_array_length(row -> 'trf') > 0 THEN
            seq := seq + 1;
            events := events || ROW(
                seq, 'state_written', NULL, NULL, NULL, NULL, seq - 1, NULL, NULL, ebb.rules_text(vals, names)
            )::ebb.rules_row;
            FOR name IN SELECT jsonb_array_elements_text(row -> 'trf') LOOP
                token := token + 1;
                pending := pending || jsonb_build_object(name, jsonb_build_object('id', token, 'fired', seq));
            END LOOP;
        END IF;
        WHILE cardinality(times) < cardinality(events) LOOP
            times := times || greatest((row ->> 'at')::bigint, coalesce(times[cardinality(times)], 0));
        END LOOP;
        before := vals;
        is_first := false;
    END LOOP;
    state := '';
    FOR name, own IN SELECT p.key, p.value FROM jsonb_each(pending) AS p ORDER BY (p.value ->> 'id')::bigint LOOP
        SELECT x.n, x.t INTO place, row FROM jsonb_array_elements($1 -> 'triggers') WITH ORDINALITY AS x (t, n)
        WHERE x.t ->> 'name' = name;
        place := coalesce(place, jsonb_array_length($1 -> 'triggers') + 1);
        state := state || format(
            ',{"id":%s,"node":%s,"branch":%s,"visit":%s,"attempt":1,"input":%s,"fired":%s}', own -> 'id',
            to_json(name), place, own -> 'id', own -> 'fired', own -> 'fired'
        );
        puts := puts || ROW((own ->> 'id')::bigint, name, name, coalesce(row ->> 'queue', 'default'), NULL)::ebb.rules_put;
    END LOOP;
    state := concat(
        '{"status":"', status, '","seq":', seq, ',"last_token":' || nullif(token, 0), ',"visit":' || nullif(token, 0),
        CASE WHEN status = 'completed' THEN ',"result":' || seq END, ',"tokens":[' || nullif(substr(state, 2), '') || ']',
        ',"rules":{"format":1,"values":', ebb.rules_text(vals, names), ',"written":', ebb.rules_text(marks, names),
        ',"marks":{}', ',"exception":' || nullif(raised, 0), '}}'
    );
END $work$;

-- Run by the owner. Answers with the number of instances.
CREATE OR REPLACE FUNCTION ebb.import_wed(flow text, source text) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    program jsonb;
    columns text;
    one record;
    r record;
    id uuid;
    count integer := 0;
    ignored text;
BEGIN
    PERFORM ebb.create_flow($1);
    EXECUTE format(
        'INSERT INTO %1$I.wed_attr (aid, aname, adv) SELECT aid, aname, adv FROM %2$I.wed_attr ORDER BY aid', $1, $2
    );
    EXECUTE format(
        'INSERT INTO %1$I.wed_trig (tgid, tgname, enabled, trname, cname, cpred, cfinal, timeout)'
        ' SELECT tgid, CASE WHEN NOT cfinal THEN tgname END, enabled, CASE WHEN NOT cfinal THEN trname END,'
        ' nullif(cname, ''_FINAL''), cpred, cfinal, CASE WHEN NOT cfinal THEN timeout END FROM %2$I.wed_trig ORDER BY tgid', $1, $2
    );
    PERFORM ebb.flow_build($1);
    SELECT v.program INTO program FROM ebb.flow_versions AS v WHERE v.flow = $1 AND v.version = 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The flow in the schema "%" has no attribute or no transition.', $2 USING ERRCODE = 'EB007';
    END IF;
    SELECT string_agg(format('%I', n), ', ') INTO columns FROM jsonb_array_elements_text(program -> 'names') AS n;
    FOR one IN EXECUTE format(
        'SELECT f.wid, to_jsonb(f) - ''wid'' AS vals,'
        ' ARRAY(SELECT jsonb_build_object(''trw'', t.trw, ''trf'', coalesce(to_jsonb(t.trf), ''[]''),'
        '   ''status'', t.status, ''at'', (extract(epoch FROM t.tstmp) * 1000000)::bigint, ''state'', t.state::jsonb)'
        '   FROM %1$I.wed_trace AS t WHERE t.wid = f.wid ORDER BY t.ctid) AS trace,'
        ' ARRAY(SELECT j.trname::text FROM %1$I.job_pool AS j WHERE j.wid = f.wid ORDER BY j.trname COLLATE "C") AS jobs'
        ' FROM %1$I.wed_flow AS f ORDER BY f.wid', $2
    ) LOOP
        r := ebb.wed_replay(program, one.trace);
        IF cardinality(one.trace) = 0 OR r.vals <> ebb.wed_object(one.vals, ARRAY(
            SELECT jsonb_array_elements_text(program -> 'names')
        )) OR one.jobs <> ARRAY(SELECT p.node FROM unnest(r.puts) AS p ORDER BY p.node COLLATE "C") THEN
            RAISE EXCEPTION 'The trace of the instance with the wid % does not lead to its attributes and jobs.', one.wid
                USING ERRCODE = 'EB007', HINT = 'Copy the tables of WED-SQL in one transaction.';
        END IF;
        id := (
            lpad(to_hex(r.times[1] / 1000), 12, '0') || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14)
        )::uuid;
        ignored := set_config('ebb_surface.deciding', id::text, true);
        INSERT INTO ebb.instances (
            id, workflow, version, status, revision, priority, created_at, updated_at, finished_at, state
        )
        VALUES (
            id, $1, 1, r.status, 1, 0, r.times[1], r.times[cardinality(r.times)],
            CASE WHEN r.status <> 'running' THEN r.times[cardinality(r.times)] END, r.state
        );
        ignored := set_config('ebb_surface.deciding', '', true);
        INSERT INTO ebb.history (
            instance_id, seq, type, node, token, visit, attempt, ref, worker, started_at, at, payload
        )
        SELECT id, e.seq, e.type, e.node, e.token, e.visit, e.attempt, e.ref, e.worker, e.started_at, r.times[e.seq], e.payload
        FROM unnest(r.events) AS e;
        INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)
        SELECT id, p.token, p.handler, p.queue, ebb.work_now(), ebb.work_now(), 1, NULL FROM unnest(r.puts) AS p;
        ignored := set_config('ebb_surface.projecting', id::text, true);
        EXECUTE format(
            'INSERT INTO %1$I.wed_flow (wid, instance_id, %2$s) SELECT $1, $2, %2$s'
            ' FROM jsonb_populate_record(NULL::%1$I.wed_flow, $3)', $1, columns
        ) USING one.wid, id, r.vals;
        ignored := set_config('ebb_surface.projecting', '', true);
        count := count + 1;
    END LOOP;
    FOR one IN SELECT * FROM (VALUES ('wed_attr', 'aid'), ('wed_trig', 'tgid'), ('wed_flow', 'wid')) AS t (name, number) LOOP
        EXECUTE format(
            'SELECT setval(pg_get_serial_sequence(%1$L, %2$L), greatest(max(%3$I), 1), max(%3$I) IS NOT NULL) FROM %1$s',
            format('%I.%I', $1, one.name), one.number, one.number
        );
    END LOOP;
    PERFORM ebb.work_ring(false);
    RETURN count;
END $work$;
