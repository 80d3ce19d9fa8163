-- name: import_wed
-- Takes a flow of WED-SQL over, whose tables are in a schema of the same database: definitions, instances
-- with their numbers, pending jobs and trace.

-- What the trace of one instance makes of the import.
CREATE OR REPLACE FUNCTION ebb.wed_object(vals jsonb, names text[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce(jsonb_object_agg(n, coalesce($1 -> n, 'null')), '{}') FROM unnest($2) AS n
$work$;

-- Whether a row of the trace can follow when these transitions are pending. WED-SQL writes only what was fired,
-- fires nothing that is pending, and leaves nothing pending when an instance ends or is an exception.
CREATE OR REPLACE FUNCTION ebb.wed_fits(entry jsonb, pending text[], is_first boolean, is_last boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE WHEN $3 THEN $1 ->> 'trw' = '_INIT' ELSE $1 ->> 'trw' = ANY ($2) END
        AND NOT $1 -> 'trf' ?| array_remove($2, $1 ->> 'trw')
        AND ($4 OR $1 ->> 'status' <> 'F')
        AND ($1 ->> 'status' = 'R' OR $1 -> 'trf' = '[]' AND array_remove($2, $1 ->> 'trw') = '{}')
$work$;

-- The rows of the trace of an instance in an order that is possible and leads to these jobs; NULL if there is none.
-- The times of WED-SQL are those of the starts of transactions, so the order in which the rows were stored is tried
-- first: it is right unless a row has taken the place of one that was deleted.
CREATE OR REPLACE FUNCTION ebb.wed_ordered(trace jsonb[], jobs text[]) RETURNS jsonb[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    total integer := cardinality($1);
    depth integer := 0;
    chosen integer[] := '{}';   -- the row at each place
    offsets integer[] := '{}';  -- how many rows were tried there
    pendings text[] := '{}';    -- what is pending behind each place, as the text of an array
    pending text[] := '{}';
    tried integer := 0;         -- at the next place
    place integer;
    row jsonb;
BEGIN
    FOR step IN 1 .. 100000 + total LOOP
        IF depth = total AND ARRAY(SELECT p FROM unnest(pending) AS p ORDER BY p COLLATE "C")
            = ARRAY(SELECT j FROM unnest($2) AS j ORDER BY j COLLATE "C")
        THEN
            RETURN ARRAY(SELECT $1[c.place] FROM unnest(chosen) WITH ORDINALITY AS c (place, n) ORDER BY c.n);
        ELSIF depth = total OR tried = total THEN
            EXIT WHEN depth = 0;
            tried := offsets[depth];
            depth := depth - 1;
            chosen := chosen[1:depth];
            pending := coalesce(pendings[depth]::text[], '{}');
            CONTINUE;
        END IF;
        -- The row behind the one before comes first.
        place := (coalesce(chosen[depth], 0) + tried) % total + 1;
        tried := tried + 1;
        row := $1[place];
        CONTINUE WHEN place = ANY (chosen) OR NOT ebb.wed_fits(row, pending, depth = 0, depth + 1 = total);
        pending := array_remove(pending, row ->> 'trw') || CASE row ->> 'status'
            WHEN 'E' THEN '{_EXCPT}' ELSE ARRAY(SELECT jsonb_array_elements_text(row -> 'trf')) END;
        depth := depth + 1;
        chosen[depth] := place;
        offsets[depth] := tried;
        pendings[depth] := pending::text;
        tried := 0;
    END LOOP;
    RETURN NULL;
END $work$;

-- The history and the state that the rows of the trace amount to. `trace`: {trw, trf, status, at, state}, in order.
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
                (own ->> 'fired')::bigint, 'WED-SQL', row -> 'at', ebb.rules_text(written, names, NULL)
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
            CASE WHEN is_first THEN ebb.rules_text(written, names, NULL) ELSE ebb.rules_written(
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
            events := events || ROW(seq, 'completed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, ebb.rules_text(vals, names, NULL))::ebb.rules_row;
        ELSIF row ->> 'status' = 'E' THEN
            seq := seq + 2;
            raised := seq - 1;
            events := events || ROW(
                raised, 'exception_raised', row ->> 'trw', NULL, NULL, NULL, seq - 2, NULL, NULL,
                '{"code":"no_condition","message":"It was an exception in WED-SQL."}'
            )::ebb.rules_row || ROW(seq, 'input_resolved', '_EXCPT', NULL, NULL, NULL, NULL, NULL, NULL, format(
                '{"state":%s,"cause":"no_condition","message":"It was an exception in WED-SQL.","transition":%s,"fired_state":null}',
                ebb.rules_text(vals, names, NULL), to_json(row ->> 'trw')
            ))::ebb.rules_row;
            token := token + 1;
            pending := pending || jsonb_build_object('_EXCPT', jsonb_build_object('id', token, 'fired', seq));
        ELSIF jsonb_array_length(row -> 'trf') > 0 THEN
            seq := seq + 1;
            events := events || ROW(
                seq, 'state_written', NULL, NULL, NULL, NULL, seq - 1, NULL, NULL, ebb.rules_text(vals, names, NULL)
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
        ',"rules":{"format":1,"values":', ebb.rules_text(vals, names, NULL), ',"written":', ebb.rules_text(marks, names, NULL),
        ',"marks":{}', ',"exception":' || nullif(raised, 0), '}}'
    );
END $work$;

-- What is made of one instance. Raises an exception that says why nothing can be made of it.
CREATE OR REPLACE FUNCTION ebb.wed_taken(
    program jsonb, wid bigint, given jsonb, trace jsonb[], jobs text[],
    OUT events ebb.rules_row[], OUT times bigint[], OUT puts ebb.rules_put[], OUT state text, OUT status text,
    OUT vals jsonb
)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    names text[] := translate(($1 -> 'names')::text, '[]', '{}')::text[];
    -- Attributes that were added later are not in earlier rows. What the newest row lacks was never written.
    added jsonb := ($1 -> 'defaults') || coalesce((
        SELECT jsonb_object_agg(v.key, v.value) FROM jsonb_each($3) AS v
        WHERE NOT $4[cardinality($4)] -> 'state' ? v.key
    ), '{}');
    ordered jsonb[];
    strange text;
    fault text;
    r record;
BEGIN
    SELECT t INTO strange FROM unnest($4) AS x (e) CROSS JOIN LATERAL jsonb_array_elements_text(x.e -> 'trf') AS t
    WHERE NOT EXISTS (SELECT 1 FROM jsonb_array_elements($1 -> 'triggers') AS o WHERE o ->> 'name' = t) LIMIT 1;
    IF cardinality($4) = 0 THEN
        fault := 'it has no trace';
    ELSIF strange IS NOT NULL THEN
        fault := format('it has fired the transition "%s", which the flow does not have', strange);
    ELSE
        ordered := ebb.wed_ordered($4, $5);
        IF ordered IS NULL THEN
            fault := format(
                'in no order of its trace was each transition pending before it wrote, so that these jobs are left: %s',
                coalesce(nullif(array_to_string($5, ', '), ''), 'none')
            );
        END IF;
    END IF;
    IF fault IS NULL THEN
        r := ebb.wed_replay($1, ARRAY(
            SELECT x.e || jsonb_build_object('state', added || (x.e -> 'state'))
            FROM unnest(ordered) WITH ORDINALITY AS x (e, n) ORDER BY x.n
        ));
        SELECT n INTO strange FROM unnest(names) AS n
        WHERE r.vals -> n IS DISTINCT FROM ebb.wed_object($3, names) -> n LIMIT 1;
        IF FOUND THEN
            fault := format(
                'its trace ends with %s = %s, but wed_flow has %s', strange, r.vals -> strange,
                coalesce($3 -> strange, 'null')
            );
        END IF;
    END IF;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'The trace of the instance with the wid % does not lead to its attributes and jobs: %.', $2, fault
            USING ERRCODE = 'EB007', HINT = 'Copy the tables of WED-SQL in one transaction.';
    END IF;
    events := r.events;
    times := r.times;
    puts := r.puts;
    state := r.state;
    status := r.status;
    vals := r.vals;
END $work$;

-- Run by the owner. Answers with the number of instances.
CREATE OR REPLACE FUNCTION ebb.import_wed(flow text, source text) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
-- The tables of WED-SQL have no index for what is joined here.
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on AS $work$
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
        'SELECT f.wid, to_jsonb(f) - ''wid'' AS vals, coalesce(t.entries, ''{}'') AS trace, coalesce(j.names, ''{}'') AS jobs'
        ' FROM %1$I.wed_flow AS f LEFT JOIN ('
        '   SELECT o.wid, array_agg(jsonb_build_object(''trw'', o.trw, ''trf'', coalesce(to_jsonb(o.trf), ''[]''),'
        '     ''status'', o.status, ''at'', (extract(epoch FROM o.tstmp::timestamptz) * 1000000)::bigint,'
        '     ''state'', o.state::jsonb) ORDER BY o.ctid) AS entries FROM %1$I.wed_trace AS o GROUP BY o.wid'
        ' ) AS t ON t.wid = f.wid LEFT JOIN ('
        '   SELECT o.wid, array_agg(o.trname::text) AS names FROM %1$I.job_pool AS o GROUP BY o.wid'
        ' ) AS j ON j.wid = f.wid ORDER BY f.wid', $2
    ) LOOP
        r := ebb.wed_taken(program, one.wid, one.vals, one.trace, one.jobs);
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
