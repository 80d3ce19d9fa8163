-- name: steering
-- What applications and operators do to instances by the number of their row, and to definitions.

-- A write by the number of the row: from outside, or a check of all conditions.
CREATE OR REPLACE FUNCTION ebb.flow_write(
    flow text, wid bigint, attributes jsonb, by text, source text
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
DECLARE
    f ebb.flows := ebb.flow_of($1);
    own_row uuid;
BEGIN
    PERFORM ebb.flow_check_right($1, CASE $5 WHEN 'repair' THEN 'recover' ELSE 'write' END);
    PERFORM ebb.request_check_text($4, 'name in by', 256);
    PERFORM ebb.work_check_size($3::text, 'attributes');
    EXECUTE format(
        'SELECT instance_id FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', $1
    ) INTO own_row USING $2;
    IF own_row IS NULL THEN
        RAISE EXCEPTION 'No instance has the wid %.', $2 USING ERRCODE = 'EB013';
    END IF;
    RETURN ebb.flow_apply(f, $2, own_row, jsonb_build_object(
        'source', $5, 'by', coalesce($4, session_user)
    ), $3, false, NULL);
END $work$;

-- Checks all conditions of all instances that have not ended, in the order in which commits of Ebb lock them.
-- Answers how many have changed. Those that only a process of Ebb can continue are left as they are.
CREATE OR REPLACE FUNCTION ebb.flow_rematch(flow text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
DECLARE
    f ebb.flows := ebb.flow_of($1);
    one record;
    changed integer := 0;
BEGIN
    PERFORM ebb.flow_check_right($1, 'recover');
    FOR one IN EXECUTE format(
        'SELECT f.wid, f.instance_id FROM %I.wed_flow AS f JOIN ebb.instances AS i ON i.id = f.instance_id'
        ' WHERE i.finished_at IS NULL ORDER BY f.instance_id', $1
    ) LOOP
        BEGIN
            EXECUTE format('SELECT 1 FROM %I.wed_flow WHERE wid = $1 FOR NO KEY UPDATE', $1) USING one.wid;
            IF ebb.flow_apply(f, one.wid, one.instance_id, jsonb_build_object(
                'source', 'repair', 'by', session_user
            ), NULL, false, NULL) IS NOT NULL THEN
                changed := changed + 1;
            END IF;
        EXCEPTION WHEN SQLSTATE 'EB002' OR SQLSTATE 'EB009' THEN
            CONTINUE;
        END;
    END LOOP;
    RETURN changed;
END $work$;

-- A request that only a process of Ebb can decide.
CREATE OR REPLACE FUNCTION ebb.flow_send(flow text, wid bigint, kind text, body jsonb) RETURNS void
LANGUAGE plpgsql AS $work$
DECLARE
    i ebb.instances;
    own_row uuid;
BEGIN
    PERFORM ebb.flow_check_right($1, 'recover');
    EXECUTE format('SELECT instance_id FROM %I.wed_flow WHERE wid = $1', $1) INTO own_row USING $2;
    SELECT o.* INTO i FROM ebb.instances AS o WHERE o.id = own_row;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'No instance has the wid %.', $2 USING ERRCODE = 'EB013';
    ELSIF i.finished_at IS NOT NULL THEN
        RAISE EXCEPTION 'The instance with the wid % has ended: its status is %.', $2, i.status USING ERRCODE = 'EB002';
    END IF;
    PERFORM ebb.request_put(i.id, i.priority, gen_random_uuid()::text, $3, $4 || jsonb_build_object(
        'by', session_user, 'request_id', ''
    ));
END $work$;

CREATE OR REPLACE FUNCTION ebb.flow_cancel(flow text, wid bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    PERFORM ebb.flow_send($1, $2, 'cancel', '{"reason": ""}');
END $work$;

-- Takes an instance back to the write number `to_seq` of wed_trace.
CREATE OR REPLACE FUNCTION ebb.flow_recover(flow text, wid bigint, to_seq bigint, after text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    is_write boolean;
BEGIN
    IF $4 IS NULL OR $4 NOT IN ('rematch', 'stop') THEN
        RAISE EXCEPTION 'What wed_recover does in the end is "rematch" or "stop", not "%".', left($4, 80)
            USING ERRCODE = 'EB011';
    END IF;
    PERFORM ebb.flow_check_right($1, 'recover');
    EXECUTE format(
        'SELECT true FROM %I.wed_flow AS f JOIN ebb.history AS h ON h.instance_id = f.instance_id'
        ' WHERE f.wid = $1 AND h.seq = $2 AND h.type IN (''started'', ''attributes_written'')', $1
    ) INTO is_write USING $2, $3;
    IF is_write IS NULL THEN
        RAISE EXCEPTION 'The number % is not that of a start or a write of the instance %.', $3, $2
            USING ERRCODE = 'EB011', HINT = 'The view wed_trace has them in the column seq.';
    END IF;
    PERFORM ebb.flow_send($1, $2, 'recover', jsonb_build_object('to', $3, 'then', $4));
END $work$;

-- trigger_toggle and attribute_toggle: the new value.
CREATE OR REPLACE FUNCTION ebb.flow_toggle(flow text, tab text, col text, name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    becomes boolean;
BEGIN
    PERFORM ebb.flow_check_right($1, 'define');
    EXECUTE format(
        'UPDATE %I.%I SET enabled = NOT enabled WHERE %I::text = $1 RETURNING enabled', $1, $2, $3
    ) INTO becomes USING $4;
    IF becomes IS NULL THEN
        RAISE EXCEPTION '%', CASE $3
            WHEN 'tgid' THEN format('There is no trigger with the tgid %s.', coalesce(left($4, 80), 'NULL'))
            ELSE format('There is no attribute "%s"; %s.', left($4, 80), ebb.rules_known_names(ARRAY(
                SELECT a ->> 'name' FROM jsonb_array_elements(ebb.flow_attributes($1)) WITH ORDINALITY AS x (a, n)
                ORDER BY n
            )))
        END USING ERRCODE = 'EB013';
    END IF;
    RETURN becomes;
END $work$;
