-- name: grants
-- Who may do what: the only place that gives rights to objects of the surface.

-- The functions of ebb that those of a flow call.
CREATE OR REPLACE FUNCTION ebb.flow_public() RETURNS regprocedure[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT ARRAY[
        'ebb.flow_claim(text,text,integer,text)'::regprocedure,
        'ebb.flow_end(text,text,jsonb)'::regprocedure,
        'ebb.flow_fail(text,text,text,boolean)'::regprocedure,
        'ebb.flow_release(text,text)'::regprocedure,
        'ebb.flow_write(text,bigint,jsonb,text,text)'::regprocedure,
        'ebb.flow_cancel(text,bigint)'::regprocedure,
        'ebb.flow_rematch(text)'::regprocedure,
        'ebb.flow_recover(text,bigint,bigint,text)'::regprocedure,
        'ebb.flow_toggle(text,text,text,text)'::regprocedure
    ]
$work$;

-- What each role needs that has any right to a flow: to read, and to call functions, which check its rights.
CREATE OR REPLACE FUNCTION ebb.flow_let(flow text, role text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    fn regprocedure;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', $1, $2);
    EXECUTE format(
        'GRANT USAGE ON SCHEMA %s TO %I',
        (SELECT c.relnamespace::regnamespace FROM pg_class AS c WHERE c.oid = 'ebb.tasks'::regclass), $2
    );
    FOREACH fn IN ARRAY ebb.flow_public() LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', fn, $2);
    END LOOP;
    FOR fn IN
        SELECT p.oid FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname = $1 AND NOT starts_with(p.proname, '_match_') AND p.proname <> '_project'
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', fn, $2);
    END LOOP;
    EXECUTE format(
        'GRANT SELECT ON %1$I.wed_flow, %1$I.wed_attr, %1$I.wed_trig, %1$I.job_pool, %1$I.st_status,'
        ' %1$I.wed_trace, %1$I.wed_cond, %1$I.wed_trans, %1$I.ready, %1$I.running, %1$I.late, %1$I.failed,'
        ' %1$I.locked TO %2$I', $1, $2
    );
END $work$;

-- Gives a role rights to a flow. Run by the owner, with the owner's rights.
CREATE OR REPLACE FUNCTION ebb.grant_flow(flow text, role text, rights text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one text;
BEGIN
    PERFORM 1 FROM ebb.flows AS f WHERE f.flow = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no flow "%".', left($1, 80) USING ERRCODE = 'EB013';
    END IF;
    PERFORM 1 FROM pg_roles AS p WHERE p.rolname = $2;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no role "%".', left($2, 80) USING ERRCODE = 'EB011';
    END IF;
    FOREACH one IN ARRAY $3 LOOP
        IF one IS NULL OR (one NOT IN ('define', 'start', 'write', 'recover', 'observe') AND one !~ '^work:.') THEN
            RAISE EXCEPTION 'A right is define, start, write, work:TRANSITION, work:*, recover or observe, not "%".',
                left(one, 80) USING ERRCODE = 'EB011';
        END IF;
        INSERT INTO ebb.flow_rights (role, flow, allowed) VALUES ($2, $1, one) ON CONFLICT DO NOTHING;
    END LOOP;
    PERFORM ebb.flow_let($1, $2);
    IF 'define' = ANY ($3) THEN
        PERFORM 1 FROM ebb.flows AS f WHERE f.flow = $1 AND f.source = 'workflow';
        IF FOUND THEN
            RAISE EXCEPTION 'The definition of the flow "%" is that of its workflow: no role can define it in SQL.', $1
                USING ERRCODE = 'EB007';
        END IF;
        EXECUTE format('GRANT INSERT, UPDATE ON %1$I.wed_attr, %1$I.wed_trig TO %2$I', $1, $2);
    END IF;
    IF 'start' = ANY ($3) THEN
        EXECUTE format('GRANT INSERT ON %1$I.wed_flow TO %2$I', $1, $2);
    END IF;
    IF EXISTS (SELECT 1 FROM unnest($3) AS r WHERE r = 'write' OR r LIKE 'work:%') THEN
        EXECUTE format('GRANT UPDATE ON %1$I.wed_flow TO %2$I', $1, $2);
    END IF;
END $work$;

CREATE OR REPLACE FUNCTION ebb.revoke_flow(flow text, role text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    DELETE FROM ebb.flow_rights AS r WHERE r.flow = $1 AND r.role = $2;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', $1, $2);
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM %I', $1, $2);
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', $1, $2);
    RETURN true;
END $work$;

-- PUBLIC may execute none of them.
DO $do$
DECLARE
    one regprocedure;
BEGIN
    FOR one IN
        SELECT p.oid FROM pg_proc AS p
        WHERE p.pronamespace = (
            SELECT c.relnamespace FROM pg_class AS c WHERE c.oid = 'ebb.tasks'::regclass
        ) AND (p.proname ~ '^(flow|rules|surface|wed)_'
            OR p.proname = 'import_wed'
            OR p.proname IN (
                'create_flow', 'drop_flow', 'set_flow', 'grant_flow', 'revoke_flow', 'install_flow', 'uninstall_flow'
            ))
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', one);
    END LOOP;
END $do$;

-- Flows of an earlier installation get what is new.
DO $do$
DECLARE
    one record;
BEGIN
    PERFORM set_config('client_min_messages', 'warning', true);
    FOR one IN SELECT f.flow, f.source FROM ebb.flows AS f LOOP
        IF one.source = 'tables' THEN
            EXECUTE format(
                'ALTER TABLE %I.wed_trig ADD COLUMN IF NOT EXISTS after interval, ADD COLUMN IF NOT EXISTS node text',
                one.flow
            );
        END IF;
        EXECUTE format('DROP TRIGGER IF EXISTS %I ON ebb.instances', 'flow_' || one.flow);
        EXECUTE format('DROP FUNCTION IF EXISTS %I._project(uuid, jsonb)', one.flow);
        PERFORM ebb.flow_keep_rows(one.flow);
        PERFORM ebb.flow_views(one.flow);
        PERFORM ebb.flow_projection(v.flow, ebb.flow_shape(v.flow, v.program -> 'attributes')) FROM ebb.flows AS f
        JOIN ebb.flow_versions AS v ON v.flow = f.flow AND v.version = f.version
        WHERE f.flow = one.flow;
        PERFORM ebb.flow_watch_commits();
    END LOOP;
    DROP FUNCTION IF EXISTS ebb.surface_commit(), ebb.flow_try_project(text, uuid, jsonb);
    FOR one IN
        SELECT DISTINCT r.flow, r.role FROM ebb.flow_rights AS r JOIN pg_roles AS p ON p.rolname = r.role
    LOOP
        PERFORM ebb.flow_let(one.flow, one.role);
    END LOOP;
    UPDATE ebb.flow_versions AS v SET program = v.program || ebb.rules_prepared(v.program)
    WHERE NOT v.program ? 'is_simple';
END $do$;
