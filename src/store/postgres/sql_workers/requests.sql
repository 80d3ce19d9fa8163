-- name: requests
-- Requests to instances from any program that speaks SQL, in its own transaction. Each is a row of
-- ebb.inbox, which a process of Ebb decides. Rights are given with ebb.grant_requests.

-- Which requests a role may make to the instances of which workflows; '*' stands for all.
CREATE TABLE IF NOT EXISTS ebb.request_rights (
    role text NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    act text COLLATE "C" NOT NULL,
    PRIMARY KEY (role, workflow, act)
);
REVOKE ALL ON ebb.request_rights FROM PUBLIC;

-- Raises an exception unless the user who has logged in may do it.
CREATE OR REPLACE FUNCTION ebb.request_check_right(workflow text, act text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    PERFORM 1 FROM ebb.request_rights AS r JOIN pg_roles AS p ON p.rolname = r.role
    WHERE pg_has_role(session_user, p.oid, 'USAGE')
      AND r.workflow IN ($1, '*') AND r.act IN ($2, '*');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The role "%" may not % instances of the workflow "%".', session_user, $2, $1
            USING ERRCODE = '42501',
            HINT = 'The owner of the schema gives the right with grant_requests.';
    END IF;
END $work$;

CREATE OR REPLACE FUNCTION ebb.request_check_text(value text, what text, bytes integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF octet_length($1) > $3 THEN
        RAISE EXCEPTION 'The % has % bytes; % are allowed.', $2, octet_length($1), $3
            USING ERRCODE = 'EB011';
    END IF;
END $work$;

-- Puts mail into the inbox of an instance, and wakes the instance. As the statement send_mail does.
CREATE OR REPLACE FUNCTION ebb.request_put(
    id uuid, priority integer, sender text, kind text, body jsonb
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    now bigint := ebb.work_now();
BEGIN
    INSERT INTO ebb.inbox (instance_id, sender, sender_seq, kind, body, at)
    SELECT $1, $3, 0, $4, $5::text, greatest(now, max(m.at) + 1)
    FROM ebb.inbox AS m WHERE m.instance_id = $1
    ON CONFLICT (instance_id, sender, sender_seq) DO NOTHING;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF ebb.work_waits() THEN
        PERFORM ebb.work_watch(true);
    ELSE
        PERFORM ebb.work_ring(false);
    END IF;
    INSERT INTO ebb.tasks AS t (
        instance_id, token, handler, queue, due_at, rank, lane, lease_owner
    )
    VALUES (
        $1, -9223372036854775807, '', 'default', now, now - 2000000 * $2::bigint, 1, NULL
    )
    ON CONFLICT (instance_id, token) DO UPDATE SET
        due_at = CASE t.lane WHEN 0 THEN excluded.due_at ELSE t.due_at END,
        rank = CASE t.lane WHEN 0 THEN excluded.rank ELSE t.rank END,
        lane = CASE t.lane WHEN 2 THEN 2 ELSE 1 END;
    PERFORM ebb.work_watch(false);
END $work$;

CREATE OR REPLACE FUNCTION ebb.request_send(
    id uuid, act text, kind text, body jsonb, request_id text
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    addressee ebb.instances;
BEGIN
    PERFORM ebb.request_check_text($5, 'request id', 200);
    SELECT i.* INTO addressee FROM ebb.instances AS i WHERE i.id = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no instance %.', coalesce($1::text, 'NULL') USING ERRCODE = 'EB013';
    END IF;
    PERFORM ebb.request_check_right(addressee.workflow, $2);
    IF addressee.finished_at IS NOT NULL THEN
        RAISE EXCEPTION 'The instance % has ended: its status is %.', $1, addressee.status USING ERRCODE = 'EB014';
    END IF;
    PERFORM ebb.request_put(
        $1, addressee.priority, coalesce(nullif($5, ''), gen_random_uuid()::text), $3,
        $4 || jsonb_build_object('request_id', coalesce($5, ''))
    );
END $work$;

CREATE OR REPLACE FUNCTION ebb.signal(
    id uuid, name text, payload jsonb DEFAULT 'null', request_id text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $2 IS NULL OR octet_length($2) NOT BETWEEN 1 AND 128 THEN
        RAISE EXCEPTION 'The name of a signal has 1 to 128 bytes.' USING ERRCODE = 'EB011';
    END IF;
    PERFORM ebb.request_check_text($3::text, 'payload', 1048576);
    PERFORM ebb.request_send($1, 'signal', 'signal', jsonb_build_object(
        'name', $2, 'payload', coalesce($3, 'null')::text, 'by', session_user::text
    ), $4);
END $work$;

CREATE OR REPLACE FUNCTION ebb.decide(
    id uuid, node text, verdict text, by text DEFAULT NULL, role text DEFAULT '',
    comment text DEFAULT '', request_id text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $3 IS NULL OR $3 NOT IN ('confirm', 'reject') THEN
        RAISE EXCEPTION 'The verdict is confirm or reject, not "%".', left($3, 100)
            USING ERRCODE = 'EB011';
    END IF;
    PERFORM ebb.request_check_text($2, 'name of the node', 128);
    PERFORM ebb.request_check_text($4, 'name in by', 256);
    PERFORM ebb.request_check_text($5, 'role', 256);
    PERFORM ebb.request_check_text($6, 'comment', 8192);
    PERFORM ebb.request_send($1, 'decide', 'decision', jsonb_build_object(
        'node', coalesce($2, ''), 'verdict', $3, 'by', coalesce($4, session_user::text),
        'role', coalesce($5, ''), 'comment', coalesce($6, '')
    ), $7);
END $work$;

CREATE OR REPLACE FUNCTION ebb.cancel(id uuid, reason text DEFAULT '', by text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    PERFORM ebb.request_check_text($2, 'reason', 8192);
    PERFORM ebb.request_check_text($3, 'name in by', 256);
    PERFORM ebb.request_send($1, 'cancel', 'cancel', jsonb_build_object(
        'reason', coalesce($2, ''), 'by', coalesce($3, session_user::text)
    ), NULL);
END $work$;

CREATE OR REPLACE FUNCTION ebb.write(
    id uuid, attributes jsonb, by text DEFAULT NULL, request_id text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF jsonb_typeof($2) IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION 'The attributes are a JSON object.' USING ERRCODE = 'EB011';
    END IF;
    PERFORM ebb.request_check_text($2::text, 'write', 1048576);
    PERFORM ebb.request_check_text($3, 'name in by', 256);
    PERFORM ebb.request_send($1, 'write', 'write', jsonb_build_object(
        'values', $2::text, 'by', coalesce($3, session_user::text)
    ), $4);
END $work$;

-- An instance that has not begun, and the request to begin it. The one that has the key, if there is one.
CREATE OR REPLACE FUNCTION ebb.start(
    workflow text, input jsonb DEFAULT 'null', key text DEFAULT NULL, version integer DEFAULT NULL,
    priority integer DEFAULT NULL, by text DEFAULT NULL
) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    now bigint := ebb.work_now();
    id uuid := (
        lpad(to_hex(now / 1000), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14)
    )::uuid;
    rank integer := $5;
    newest ebb.workflows;
    known uuid;
BEGIN
    PERFORM ebb.request_check_right(coalesce($1, ''), 'start');
    PERFORM ebb.request_check_text($2::text, 'input', 1048576);
    PERFORM ebb.request_check_text($3, 'key', 256);
    PERFORM ebb.request_check_text($6, 'name in by', 256);
    IF $1 LIKE 'ebb:%' THEN
        RAISE EXCEPTION 'The workflow "%" is one of Ebb itself.', $1 USING ERRCODE = 'EB011';
    END IF;
    SELECT w.* INTO newest FROM ebb.workflows AS w
    WHERE w.name = $1 AND ($4 IS NULL OR w.version = $4) ORDER BY w.version DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no workflow "%"%.', left($1, 128),
            CASE WHEN $4 IS NULL THEN '' ELSE ' with version ' || $4 END USING ERRCODE = 'EB013';
    END IF;
    rank := coalesce(rank, (newest.definition::json ->> 'priority')::integer, 0);
    IF rank NOT BETWEEN -100 AND 100 THEN
        RAISE EXCEPTION 'The priority % is not allowed; it goes from -100 to 100.', rank
            USING ERRCODE = 'EB011';
    END IF;
    IF $3 <> '' THEN
        INSERT INTO ebb.keys AS k (key, workflow, instance_id) VALUES ($3, $1, id)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            SELECT k.instance_id INTO known FROM ebb.keys AS k
            WHERE k.key = $3 AND k.workflow = $1;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'Another transaction has just taken the key "%".', $3
                    USING ERRCODE = '40001';
            END IF;
            RETURN known;
        END IF;
    END IF;
    INSERT INTO ebb.instances (
        id, workflow, version, key, status, revision, priority, created_at, updated_at, state
    )
    VALUES (
        id, $1, newest.version, nullif($3, ''), 'running', 1, rank, now, now,
        '{"status":"running"}'
    );
    PERFORM ebb.request_put(id, rank, 'start', 'start', jsonb_build_object(
        'input', coalesce($2, 'null')::text, 'by', coalesce($6, session_user::text)
    ));
    RETURN id;
END $work$;

-- Only the owner changes rights: these two run with the rights of their caller.
CREATE OR REPLACE FUNCTION ebb.grant_requests(
    role text, workflow text DEFAULT '*', act text DEFAULT '*'
) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    name text;
    one regprocedure;
BEGIN
    SELECT p.rolname INTO name FROM pg_roles AS p WHERE p.rolname = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no role "%".', $1 USING ERRCODE = '42704';
    END IF;
    IF $3 IS NULL OR $3 NOT IN ('start', 'signal', 'decide', 'cancel', 'write', '*') THEN
        RAISE EXCEPTION 'A request is start, signal, decide, cancel, write or *, not "%".',
            left($3, 100) USING ERRCODE = 'EB011';
    END IF;
    INSERT INTO ebb.request_rights VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
    EXECUTE format(
        'GRANT USAGE ON SCHEMA %s TO %I',
        (SELECT c.relnamespace::regnamespace FROM pg_class AS c WHERE c.oid = 'ebb.tasks'::regclass),
        name
    );
    FOREACH one IN ARRAY ebb.request_public() LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', one, name);
    END LOOP;
END $work$;

CREATE OR REPLACE FUNCTION ebb.revoke_requests(
    role text, workflow text DEFAULT '*', act text DEFAULT '*'
) RETURNS boolean
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    DELETE FROM ebb.request_rights AS r WHERE r.role = $1 AND r.workflow = $2 AND r.act = $3;
    RETURN FOUND;
END $work$;

CREATE OR REPLACE FUNCTION ebb.request_public() RETURNS regprocedure[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT ARRAY[
        'ebb.start(text,jsonb,text,integer,integer,text)'::regprocedure,
        'ebb.signal(uuid,text,jsonb,text)'::regprocedure,
        'ebb.decide(uuid,text,text,text,text,text,text)'::regprocedure,
        'ebb.cancel(uuid,text,text)'::regprocedure,
        'ebb.write(uuid,jsonb,text,text)'::regprocedure
    ]
$work$;
