-- name: rows
-- The triggers on wed_flow and on the instances of a flow.

-- A row of wed_flow as JSON, without its two numbers; values as the state holds them.
CREATE OR REPLACE FUNCTION ebb.flow_values(program jsonb, given jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    plain jsonb := $2 - '{wid,instance_id}'::text[];
BEGIN
    -- The table may have columns that are not attributes.
    IF ($1 ->> 'is_plain')::boolean AND plain - translate(($1 -> 'names')::text, '[]', '{}')::text[] = '{}' THEN
        RETURN plain;
    END IF;
    RETURN (
        SELECT coalesce(jsonb_object_agg(a ->> 'name', ebb.rules_value(
            a ->> 'name', a ->> 'type', CASE
                -- Digits, as they are written.
                WHEN a ->> 'type' = 'numeric' AND $2 -> (a ->> 'name') <> 'null' THEN to_jsonb($2 ->> (a ->> 'name'))
                ELSE $2 -> (a ->> 'name')
            END
        )), '{}')
        FROM jsonb_array_elements($1 -> 'attributes') AS a
        WHERE $2 ? (a ->> 'name')
    );
END $work$;

-- Is the row what a commit has just projected? A setting alone proves nothing.
CREATE OR REPLACE FUNCTION ebb.flow_is_projection(id uuid, given jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE AS $work$
DECLARE
    program jsonb;
    vals jsonb;
BEGIN
    IF position($1::text IN coalesce(current_setting('ebb_surface.projecting', true), '')) = 0 THEN
        RETURN false;
    END IF;
    SELECT v.program, i.state::jsonb #> '{rules,values}' INTO program, vals
    FROM ebb.instances AS i JOIN ebb.flow_versions AS v ON v.flow = i.workflow AND v.version = i.version
    WHERE i.id = $1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    RETURN $2 @> vals OR ebb.flow_values(program, $2) = (
        SELECT coalesce(jsonb_object_agg(k, vals -> k), '{}') FROM jsonb_object_keys(vals) AS k WHERE $2 ? k
    );
END $work$;

-- A column of an attribute that another version of the workflow has, but not this one, is not written to.
CREATE OR REPLACE FUNCTION ebb.flow_check_columns(f ebb.flows, program jsonb, was jsonb, becomes jsonb) RETURNS void
LANGUAGE plpgsql STABLE AS $work$
DECLARE
    strange text;
BEGIN
    IF $1.source = 'tables' THEN
        RETURN;
    END IF;
    SELECT a ->> 'name' INTO strange FROM jsonb_array_elements(ebb.flow_shape($1.flow, $2 -> 'attributes')) AS a
    WHERE NOT $2 -> 'names' ? (a ->> 'name')
        AND coalesce($3 -> (a ->> 'name'), 'null') <> coalesce($4 -> (a ->> 'name'), 'null') LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The version of the workflow that this instance has lacks the attribute "%".', strange
            USING ERRCODE = 'EB008';
    END IF;
END $work$;

CREATE OR REPLACE FUNCTION ebb.surface_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT 1 FROM ebb.instances AS i WHERE i.id = OLD.instance_id) THEN
            RAISE EXCEPTION 'A row of wed_flow is not deleted: it ends with its instance.' USING
                ERRCODE = 'EB009', HINT = 'wed_cancel(wid) undoes what it has done.';
        END IF;
        RETURN OLD;
    END IF;
    IF NEW.instance_id IS NULL
        OR position(NEW.instance_id::text IN coalesce(current_setting('ebb_surface.projecting', true), '')) = 0
    THEN
        NEW.instance_id := (
            lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
            || substr(replace(gen_random_uuid()::text, '-', ''), 14)
        )::uuid;
    END IF;
    RETURN NEW;
END $work$;

-- TRUNCATE runs no trigger of a row.
CREATE OR REPLACE FUNCTION ebb.surface_truncated() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    RAISE EXCEPTION 'The table % of the flow "%" is not truncated: its rows are those of instances and versions.',
        TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = 'EB009', HINT = 'drop_flow removes the flow.';
END $work$;

CREATE OR REPLACE FUNCTION ebb.flow_keep_rows(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one text;
BEGIN
    -- A view cannot be truncated.
    FOR one IN
        SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = to_regnamespace(quote_ident($1))
            AND c.relname IN ('wed_attr', 'wed_trig', 'wed_flow') AND c.relkind = 'r'
    LOOP
        CONTINUE WHEN EXISTS (
            SELECT 1 FROM pg_trigger AS t
            WHERE t.tgrelid = format('%I.%I', $1, one)::regclass AND t.tgname = 'not_truncated'
        );
        EXECUTE format(
            'CREATE TRIGGER not_truncated BEFORE TRUNCATE ON %I.%I'
            ' FOR EACH STATEMENT EXECUTE FUNCTION ebb.surface_truncated(%L)', $1, one, $1
        );
    END LOOP;
END $work$;

-- Starts an instance for each row.
CREATE OR REPLACE FUNCTION ebb.surface_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off
SET extra_float_digits = 1 AS $work$
DECLARE
    f ebb.flows;
    program jsonb;
    row jsonb;
    id uuid;
    ignored text;
    usual record;
    has_started boolean;
    is_known boolean;
    _projecting text := coalesce(current_setting('ebb_surface.projecting', true), '');
BEGIN
    IF _projecting = '' THEN
        -- The operator || unpacks it once: many expressions look into it.
        SELECT _f.flow, _f.version, _v.program || '{}' AS program, _n.ids,
               pg_has_role(session_user, current_user, 'USAGE') AS is_owner,
               EXISTS (SELECT 1 FROM ebb.flow_behind AS _b WHERE _b.flow = _f.flow) AS is_behind
        INTO usual
        FROM (SELECT string_agg(_new.instance_id::text, ',') AS ids, count(*) AS size FROM new_rows AS _new) AS _n
        JOIN ebb.flows AS _f ON _f.flow = TG_ARGV[0] AND NOT _f.is_dirty AND _f.notify = 'none'
        JOIN ebb.flow_versions AS _v ON _v.flow = _f.flow AND _v.version = _f.version
        WHERE _n.size BETWEEN 1 AND 256 AND (_v.program ->> 'is_simple')::boolean;
        IF FOUND THEN
            IF NOT usual.is_owner THEN
                PERFORM ebb.flow_check_right(TG_ARGV[0], 'start');
            END IF;
            -- include: plain_starts
            IF has_started THEN
                RETURN NULL;
            END IF;
        END IF;
    ELSIF NOT EXISTS (
        -- include: new_rows_that_are_no_projections
    ) THEN
        RETURN NULL;
    END IF;
    -- No attribute has a name with a leading underscore.
    FOR row IN SELECT to_jsonb(_new) FROM new_rows AS _new ORDER BY _new.wid LOOP
        id := row ->> 'instance_id';
        CONTINUE WHEN ebb.flow_is_projection(id, row);
        IF program IS NULL THEN
            PERFORM ebb.flow_check_right(TG_ARGV[0], 'start');
            f := ebb.flow_of(TG_ARGV[0]);
            SELECT v.program || '{}' INTO program FROM ebb.flow_versions AS v
            WHERE v.flow = f.flow AND v.version = f.version;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'The flow "%" has no trigger yet.', f.flow USING ERRCODE = 'EB007';
            END IF;
        END IF;
        PERFORM ebb.flow_check_columns(f, program, '{}', row);
        ignored := set_config('ebb_surface.deciding', id::text, true);
        PERFORM ebb.flow_start(
            f, program, (row ->> 'wid')::bigint, id, ebb.flow_values(program, row), session_user
        );
        ignored := set_config('ebb_surface.deciding', '', true);
    END LOOP;
    IF EXISTS (SELECT 1 FROM ebb.flow_behind AS b WHERE b.flow = TG_ARGV[0]) THEN
        PERFORM ebb.flow_catch_up(TG_ARGV[0]);
    END IF;
    RETURN NULL;
END $work$;

-- The claim of this transaction that the write of a row completes, as {job, trname}; NULL if there is
-- none. A job that wed_job() has named comes first.
CREATE OR REPLACE FUNCTION ebb.flow_claim_of(flow text, wid bigint, id uuid) RETURNS jsonb
LANGUAGE plpgsql AS $work$
DECLARE
    named text := nullif(current_setting('ebb_surface.job', true), '');
    claims jsonb := coalesce(nullif(current_setting('ebb_surface.claims', true), '')::jsonb, '[]');
    own jsonb;
BEGIN
    IF named IS NOT NULL THEN
        IF (ebb.work_parts(named)).instance_id <> $3 THEN
            RAISE EXCEPTION 'The job % is one of another instance.', named USING ERRCODE = 'EB004';
        END IF;
        PERFORM set_config('ebb_surface.job', '', true);
    END IF;
    SELECT coalesce(jsonb_agg(c), '[]') INTO own FROM jsonb_array_elements(claims) AS c
    WHERE c ->> 'flow' = $1 AND c ->> 'wid' = $2::text AND c ->> 'job' = coalesce(named, c ->> 'job');
    IF named IS NOT NULL AND own = '[]' THEN
        RETURN jsonb_build_object('job', named, 'is_leased', true);
    END IF;
    IF jsonb_array_length(own) > 1 THEN
        RAISE EXCEPTION 'This transaction has claimed several jobs of the instance %.', $2 USING
            ERRCODE = 'EB004', HINT = 'Name the one that the next UPDATE completes: wed_job(job).';
    ELSIF jsonb_array_length(own) = 0 THEN
        -- It could be locked, but does not exist.
        IF claims @> jsonb_build_array(jsonb_build_object('flow', $1, 'wid', $2, 'job', NULL)) THEN
            RAISE EXCEPTION 'The job that is claimed does not exist: it has been completed, or was never fired.'
                USING ERRCODE = 'EB003';
        END IF;
        IF EXISTS (SELECT 1 FROM jsonb_array_elements(claims) AS c WHERE c ->> 'flow' = $1) THEN
            RAISE EXCEPTION 'The job that is claimed is not one of the instance %.', $2 USING ERRCODE = 'EB004';
        END IF;
        RETURN NULL;
    END IF;
    PERFORM set_config('ebb_surface.claims', (
        SELECT coalesce(jsonb_agg(c), '[]')::text FROM jsonb_array_elements(claims) AS c WHERE c <> own -> 0
    ), true);
    -- The setting may be forged: the job must be one of this instance, and the session that holds the lock has the claim.
    IF starts_with(own -> 0 ->> 'job', $3::text || ':') IS NOT TRUE THEN
        RAISE EXCEPTION 'The job % is one of another instance.', own -> 0 ->> 'job' USING ERRCODE = 'EB004';
    END IF;
    IF NOT pg_try_advisory_xact_lock(ebb.flow_lock($3, (own -> 0 ->> 'tgid')::bigint)) THEN
        RAISE EXCEPTION 'The job is claimed by another.' USING ERRCODE = 'EB003';
    END IF;
    RETURN own -> 0;
END $work$;

-- The key of the advisory lock of a job. With casts by name it is really immutable, and so becomes a part of the
-- expression that calls it.
CREATE OR REPLACE FUNCTION ebb.flow_lock(id uuid, tgid bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $work$
    SELECT hashtextextended($1::text || '/' || $2::text, 3141592653)
$work$;

-- One row that has been updated: a completion of a claimed job, or a write from outside.
CREATE OR REPLACE FUNCTION ebb.flow_updated(f ebb.flows, was jsonb, becomes jsonb) RETURNS void
LANGUAGE plpgsql AS $work$
DECLARE
    instance uuid := becomes ->> 'instance_id';
    number bigint := (becomes ->> 'wid')::bigint;
    i ebb.instances;
    program jsonb;
    before jsonb;
    after jsonb;
    delta jsonb;
    vals jsonb;
    claim jsonb;
    strange text;
BEGIN
    SELECT o.* INTO i FROM ebb.instances AS o WHERE o.id = instance FOR UPDATE;
    SELECT v.program || '{}' INTO program FROM ebb.flow_versions AS v
    WHERE v.flow = $1.flow AND v.version = $1.version;
    IF program ->> 'evolution' = 'pin' THEN
        SELECT v.program || '{}' INTO program FROM ebb.flow_versions AS v WHERE v.flow = $1.flow AND v.version = i.version;
    END IF;
    PERFORM ebb.flow_check_columns($1, program, was, becomes);
    before := ebb.flow_values(program, was);
    after := ebb.flow_values(program, becomes);
    SELECT coalesce(jsonb_object_agg(k, v), '{}') INTO delta FROM jsonb_each(after) AS x (k, v) WHERE v <> before -> k;
    IF i.finished_at IS NOT NULL THEN
        RAISE EXCEPTION 'The instance with the wid % is %: it cannot be written to.', number, i.status
            USING ERRCODE = 'EB002', DETAIL = was::text;
    END IF;
    claim := ebb.flow_claim_of($1.flow, number, instance);
    IF claim IS NULL AND delta = '{}' THEN
        RETURN;
    END IF;
    -- A commit of Ebb that found the row locked has not written it: what was read is too old.
    vals := i.state::jsonb #> '{rules,values}';
    SELECT k INTO strange FROM jsonb_object_keys(delta) AS k
    WHERE vals ? k AND vals -> k <> before -> k LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The attribute "%" has been changed in the meantime.', strange USING
            ERRCODE = '40001', HINT = 'Try again.';
    END IF;
    IF claim IS NOT NULL THEN
        PERFORM ebb.flow_complete($1, number, claim, delta, true, after, i);
        RETURN;
    END IF;
    IF $1.external_writes = 'none' THEN
        RAISE EXCEPTION 'No job of the instance with the wid % is claimed.', number USING ERRCODE = 'EB003',
            HINT = 'Claim one with wed_claim or pg_try_advisory_xact_lock, or allow external_writes.';
    END IF;
    PERFORM ebb.flow_check_right($1.flow, 'write');
    PERFORM ebb.flow_apply(
        $1, number, instance, jsonb_build_object('source', 'outside', 'by', session_user), delta, false, after, i
    );
END $work$;

CREATE OR REPLACE FUNCTION ebb.surface_update() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off
SET extra_float_digits = 1 AS $work$
DECLARE
    f ebb.flows;
    pair record;
    _projecting text := coalesce(current_setting('ebb_surface.projecting', true), '');
BEGIN
    IF _projecting = '' THEN
        SELECT _f.flow, _f.version, _f.notify, _v.program || '{}' AS program, _new.wid, _new.instance_id,
               to_jsonb(_old) - '{wid,instance_id}'::text[] AS before,
               to_jsonb(_new) - '{wid,instance_id}'::text[] AS after
        INTO pair
        FROM new_rows AS _new JOIN old_rows AS _old ON _old.wid = _new.wid AND _old.instance_id = _new.instance_id
        JOIN ebb.flows AS _f ON _f.flow = TG_ARGV[0] AND NOT _f.is_dirty
        JOIN ebb.flow_versions AS _v ON _v.flow = _f.flow AND _v.version = _f.version
        WHERE (SELECT count(*) FROM new_rows) = 1;
        IF FOUND AND ebb.flow_complete_plain(
            pair.flow, pair.version, pair.notify, pair.program, pair.wid, pair.instance_id, pair.before, pair.after
        ) THEN
            RETURN NULL;
        END IF;
        -- A commit of Ebb locks many instances in the order of their ids, and so do the writes of one statement.
        PERFORM 1 FROM ebb.instances AS i
        WHERE i.id IN (SELECT _new.instance_id FROM new_rows AS _new) AND (SELECT count(*) FROM new_rows) > 1
        ORDER BY i.id FOR UPDATE;
    ELSIF NOT EXISTS (
        -- include: new_rows_that_are_no_projections
    ) THEN
        RETURN NULL;
    END IF;
    FOR pair IN
        SELECT to_jsonb(_old) AS was, to_jsonb(_new) AS becomes, _old.wid IS NULL AS is_new
        FROM new_rows AS _new
        LEFT JOIN old_rows AS _old ON _old.wid = _new.wid AND _old.instance_id = _new.instance_id
        ORDER BY _new.wid
    LOOP
        CONTINUE WHEN ebb.flow_is_projection((pair.becomes ->> 'instance_id')::uuid, pair.becomes);
        IF pair.is_new THEN
            RAISE EXCEPTION 'wid and instance_id of a row stay as they are.' USING ERRCODE = 'EB004';
        END IF;
        IF f.flow IS NULL THEN
            f := ebb.flow_of(TG_ARGV[0]);
        END IF;
        PERFORM ebb.flow_updated(f, pair.was, pair.becomes);
    END LOOP;
    RETURN NULL;
END $work$;

CREATE OR REPLACE FUNCTION ebb.surface_purge() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    EXECUTE format(
        'DELETE FROM %1$I.wed_flow WHERE wid = (SELECT wid FROM %1$I.wed_flow WHERE instance_id = $1 FOR UPDATE SKIP LOCKED)',
        TG_ARGV[0]
    ) USING OLD.id;
    RETURN NULL;
EXCEPTION WHEN integrity_constraint_violation THEN
    RETURN NULL;  -- rows of others refer to it
END $work$;

-- A constraint or trigger that users have given wed_flow may refuse a row. That must not undo what a
-- process of Ebb commits, which holds many other instances.
CREATE OR REPLACE FUNCTION ebb.flow_try_project(flow text, ids uuid[], vals jsonb[]) RETURNS boolean
LANGUAGE plpgsql AS $work$
BEGIN
    EXECUTE format('SELECT %I._project($1, $2)', $1) USING $2, $3;
    RETURN true;
EXCEPTION WHEN OTHERS THEN
    RETURN false;
END $work$;

-- Brings rows up to date that were locked when their instance was committed. Answers how many. Waits for
-- no lock: what is locked is for the next time.
CREATE OR REPLACE FUNCTION ebb.flow_catch_up(flow text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one uuid;
    vals jsonb;
    is_there boolean;
    caught integer := 0;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN 0;  -- In a snapshot, what others have changed is an error.
    END IF;
    FOR one IN SELECT DISTINCT b.instance_id FROM ebb.flow_behind AS b WHERE b.flow = $1 LIMIT 16 LOOP
        EXECUTE format(
            'SELECT true FROM %I.wed_flow WHERE instance_id = $1 FOR NO KEY UPDATE SKIP LOCKED', $1
        ) INTO is_there USING one;
        IF is_there IS NOT NULL THEN
            -- While the instance is locked, no commit of it can add to flow_behind.
            SELECT i.state::jsonb #> '{rules,values}' INTO vals FROM ebb.instances AS i
            WHERE i.id = one FOR UPDATE SKIP LOCKED;
            CONTINUE WHEN vals IS NULL;
            CONTINUE WHEN NOT ebb.flow_try_project($1, ARRAY[one], ARRAY[vals]);
            caught := caught + 1;
        ELSIF EXISTS (SELECT 1 FROM ebb.instances AS i WHERE i.id = one) THEN
            CONTINUE;
        END IF;
        DELETE FROM ebb.flow_behind AS b WHERE b.ctid = ANY (ARRAY(
            SELECT o.ctid FROM ebb.flow_behind AS o WHERE o.flow = $1 AND o.instance_id = one FOR UPDATE SKIP LOCKED
        ));
    END LOOP;
    RETURN caught;
END $work$;

-- Each commit of instances of flows, also one of a C++ worker, writes their rows; and rows that earlier ones could not.
-- The reflex itself sees to the rows of the instances that it names in `ebb_surface.deciding`.
CREATE OR REPLACE FUNCTION ebb.surface_committed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    deciding text := coalesce(current_setting('ebb_surface.deciding', true), '');
    one record;
BEGIN
    IF deciding <> '' AND NOT EXISTS (SELECT 1 FROM commits AS c WHERE position(c.id::text IN deciding) = 0) THEN
        RETURN NULL;
    END IF;
    FOR one IN
        SELECT c.flow, array_agg(c.id ORDER BY c.id) AS ids, array_agg(c.vals ORDER BY c.id) AS vals
        FROM (
            SELECT f.flow, o.id, (o.state::json #> '{rules,values}')::jsonb AS vals
            FROM commits AS o JOIN ebb.flows AS f ON f.flow = o.workflow
            JOIN ebb.flow_versions AS v ON v.flow = o.workflow AND v.version = o.version
            WHERE position(o.id::text IN deciding) = 0 OFFSET 0
        ) AS c
        WHERE c.vals IS NOT NULL GROUP BY c.flow ORDER BY c.flow
    LOOP
        IF EXISTS (SELECT 1 FROM ebb.flow_behind AS b WHERE b.flow = one.flow) THEN
            PERFORM ebb.flow_catch_up(one.flow);
        END IF;
        CONTINUE WHEN ebb.flow_try_project(one.flow, one.ids, one.vals);
        FOR i IN 1 .. cardinality(one.ids) LOOP
            IF NOT ebb.flow_try_project(one.flow, one.ids[i:i], one.vals[i:i]) THEN
                INSERT INTO ebb.flow_behind (flow, instance_id) VALUES (one.flow, one.ids[i]);
            END IF;
        END LOOP;
    END LOOP;
    RETURN NULL;
END $work$;

-- The triggers by which all flows see the commits of their instances. They run once for a statement, because a commit
-- of Ebb has many instances.
CREATE OR REPLACE FUNCTION ebb.flow_watch_commits() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    -- Of two sessions that make and drop flows, one waits here.
    LOCK TABLE ebb.instances IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (
        SELECT 1 FROM pg_trigger AS t WHERE t.tgrelid = 'ebb.instances'::regclass AND t.tgname = 'flows_committed'
    ) THEN
        RETURN;
    END IF;
    CREATE TRIGGER flows_started AFTER INSERT ON ebb.instances REFERENCING NEW TABLE AS commits
        FOR EACH STATEMENT EXECUTE FUNCTION ebb.surface_committed();
    CREATE TRIGGER flows_committed AFTER UPDATE ON ebb.instances REFERENCING NEW TABLE AS commits
        FOR EACH STATEMENT EXECUTE FUNCTION ebb.surface_committed();
END $work$;

-- fragment: new_rows_that_are_no_projections
-- What flow_is_projection finds for most rows, for all at once.
SELECT 1 FROM new_rows AS _new LEFT JOIN ebb.instances AS _i
    ON _i.id = _new.instance_id AND position(_i.id::text IN _projecting) > 0
WHERE (to_jsonb(_new) @> (_i.state::json #> '{rules,values}')::jsonb) IS NOT TRUE
