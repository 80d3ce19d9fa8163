-- name: install
-- Run by the owner of the schema, after each `ebb migrate`; repeating it changes nothing. Everything
-- here is for workers that speak SQL only. Rights are given with ebb.grant_work.

-- Which tasks a role may run; '*' stands for all.
CREATE TABLE IF NOT EXISTS ebb.work_rights (
    role text NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    handler text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    PRIMARY KEY (role, workflow, handler, queue)
);
REVOKE ALL ON ebb.work_rights FROM PUBLIC;

DO $do$ BEGIN
    IF to_regtype('ebb.work_job') IS NULL THEN
        CREATE TYPE ebb.work_job AS (
            job text, instance_id uuid, workflow text, version integer, key text, step text,
            handler text, queue text, attempt integer, max_attempts integer, idempotency_key text,
            input json, payload json, compensates json, deadline timestamptz
        );
        CREATE TYPE ebb.work_ask AS (job text, ask text);
    END IF;
END $do$;

-- Each call of a function that sets a setting costs several microseconds, and those of one call of a worker are many.
-- So only what users and triggers call is SECURITY DEFINER and sets its search_path; what these call has theirs, and is
-- for the owner alone.
--
-- A function of LANGUAGE sql is parsed and planned again in each statement that calls it, unless it becomes a part of
-- that statement. What workers call often is PL/pgSQL, which keeps its plans for the whole session. Each plan is made
-- once: perhaps while the tables are empty, so the functions that workers call ask for plans that go by the indexes.

-- Becomes a part of the statement: everything in it names its schema, so it needs no search_path.
CREATE OR REPLACE FUNCTION ebb.work_now() RETURNS bigint
LANGUAGE sql VOLATILE AS $work$
    SELECT pg_catalog.int8(
        pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000000::pg_catalog.float8
    )
$work$;

-- The channel on which the processes of Ebb tell each other of new work.
CREATE OR REPLACE FUNCTION ebb.work_channel() RETURNS text
LANGUAGE plpgsql STABLE AS $work$
BEGIN
    RETURN 'ebb_' || (parse_ident('ebb.tasks'))[1];
END $work$;

-- The rights of the user who has logged in, also those of roles that it is a member of.
CREATE OR REPLACE FUNCTION ebb.work_rights_here() RETURNS SETOF ebb.work_rights
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    RETURN QUERY SELECT r.* FROM ebb.work_rights AS r JOIN pg_roles AS p ON p.rolname = r.role
    WHERE pg_has_role(session_user, p.oid, 'USAGE');
END $work$;

-- The worker of a session. It must be one of the user who has logged in.
CREATE OR REPLACE FUNCTION ebb.work_session(session uuid) RETURNS ebb.workers
LANGUAGE plpgsql AS $work$
DECLARE
    worker ebb.workers;
BEGIN
    SELECT w.* INTO worker FROM ebb.workers AS w WHERE w.session = $1 AND w.role = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'This session of a worker does not exist, or has ended.' USING
            ERRCODE = 'EB010',
            HINT = 'Its lease has expired, or another worker has its name. Call work_join again.';
    END IF;
    RETURN worker;
END $work$;

-- A worker of an earlier release would call handlers again instead of deciding outcomes.
CREATE OR REPLACE FUNCTION ebb.work_check_engines() RETURNS void
LANGUAGE plpgsql AS $work$
DECLARE
    older text;
BEGIN
    SELECT w.id INTO older FROM ebb.workers AS w
    WHERE w.session IS NULL AND w.expires_at > ebb.work_now()
      AND w.decides_since IS DISTINCT FROM w.started_at
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The worker "%" is of an earlier release of Ebb, which does not know workers in SQL.', older
            USING ERRCODE = 'EB012', HINT = 'Replace it first: workers in SQL get no tasks while it runs.';
    END IF;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'Tasks are claimed in READ COMMITTED transactions only, not in %.',
            upper(current_setting('transaction_isolation')) USING ERRCODE = 'EB012';
    END IF;
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_prolong(worker ebb.workers) RETURNS void
LANGUAGE plpgsql AS $work$
BEGIN
    -- Rarely, so that a call does not cost a row more.
    IF $1.expires_at < ebb.work_now() + $1.lease * 2 / 3 THEN
        UPDATE ebb.workers AS w SET expires_at = ebb.work_now() + w.lease
        WHERE w.id = $1.id AND w.session = $1.session;
    END IF;
END $work$;

-- Tells the processes of Ebb that there is something to decide. While something waits for them, they
-- know: a NOTIFY makes commits wait for each other, so a loaded system sends none.
CREATE OR REPLACE FUNCTION ebb.work_ring(is_known boolean) RETURNS void
LANGUAGE plpgsql AS $work$
BEGIN
    IF NOT $1 THEN
        PERFORM pg_notify(ebb.work_channel(), '0000000000000000{"any":true}');
    END IF;
END $work$;

-- While this is on, tasks that are put are looked at again when the transaction commits, if it may take longer than its
-- statement: what made workers look soon may have been done by then. A transaction that has rung needs no such look.
CREATE OR REPLACE FUNCTION ebb.work_watch(is_on boolean) RETURNS void
LANGUAGE plpgsql AS $work$
BEGIN
    IF statement_timestamp() <> transaction_timestamp() THEN
        PERFORM set_config('ebb_work.is_watched', CASE WHEN $1 THEN 'on' ELSE '' END, true);
    END IF;
END $work$;

-- At the commit: does a task of the kind wait since before the transaction began? Then workers will look. Rows of
-- this transaction do not count: workers have skipped them.
CREATE OR REPLACE FUNCTION ebb.work_ring_late() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $work$
DECLARE
    is_waiting boolean;
    is_known boolean;
    ignored text;
BEGIN
    IF current_setting('ebb_work.rung', true) = NEW.handler || '/' || NEW.queue THEN
        RETURN NULL;
    END IF;
    SELECT EXISTS (
        SELECT 1 FROM ebb.tasks AS t
        WHERE t.instance_id = NEW.instance_id AND t.token = NEW.token AND t.lane = 1 AND t.lease_owner IS NULL
    ), EXISTS (
        SELECT 1 FROM ebb.tasks AS t
        WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = NEW.handler AND t.queue = NEW.queue
          AND t.due_at < (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint
          AND t.xmin <> pg_current_xact_id()::xid AND (t.instance_id, t.token) <> (NEW.instance_id, NEW.token)
    ) INTO is_waiting, is_known;
    IF is_waiting THEN
        ignored := set_config('ebb_work.rung', NEW.handler || '/' || NEW.queue, true);
        IF NOT is_known THEN
            PERFORM ebb.work_ring(false);
        END IF;
    END IF;
    RETURN NULL;
END $work$;

DO $do$ BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM pg_trigger AS t WHERE t.tgrelid = 'ebb.tasks'::regclass AND t.tgname = 'tasks_ring_late'
    ) THEN
        CREATE CONSTRAINT TRIGGER tasks_ring_late AFTER INSERT OR UPDATE OF rank ON ebb.tasks
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
            WHEN (NEW.lane = 1 AND NEW.lease_owner IS NULL AND current_setting('ebb_work.is_watched', true) = 'on')
            EXECUTE FUNCTION ebb.work_ring_late();
    END IF;
END $do$;

-- Is something waiting for the engine?
CREATE OR REPLACE FUNCTION ebb.work_waits() RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $work$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM ebb.tasks AS t WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = ''
    );
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_join(
    worker text, handlers text[], queues text[] DEFAULT '{}', capacity integer DEFAULT 1,
    lease interval DEFAULT '30 s', host text DEFAULT '', pid bigint DEFAULT 0,
    OUT session uuid, OUT channel text, OUT protocol integer
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    name text := $1;
    wanted text[] := $2;
    started bigint := ebb.work_now();
    lease_us bigint := (extract(epoch FROM $5) * 1000000)::bigint;
    denied text;
    other ebb.workers;
BEGIN
    PERFORM ebb.work_check_engines();
    IF name IS NULL OR name = '' OR octet_length(name) > 200 OR name ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'The name of a worker has 1 to 200 bytes, without control characters.'
            USING ERRCODE = 'EB011';
    END IF;
    IF cardinality(wanted) IS NULL OR cardinality(wanted) NOT BETWEEN 1 AND 1000
        OR array_position(wanted, NULL) IS NOT NULL OR '' = ANY (wanted)
        OR array_position($3, NULL) IS NOT NULL
    THEN
        RAISE EXCEPTION 'A worker has 1 to 1,000 handlers, none of them empty or NULL.'
            USING ERRCODE = 'EB011';
    END IF;
    IF lease_us IS NULL OR lease_us NOT BETWEEN 1000000 AND 3600000000 THEN
        RAISE EXCEPTION 'A lease lasts from 1 second to 1 hour, not %.', $5 USING ERRCODE = 'EB011';
    END IF;
    IF $4 IS NULL OR $4 NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'A worker has a capacity from 1 to 10,000, not %.', $4
            USING ERRCODE = 'EB011';
    END IF;
    SELECT h.handler INTO denied FROM unnest(wanted) AS h (handler)
    WHERE NOT EXISTS (
        SELECT 1 FROM ebb.work_rights_here() AS r WHERE r.handler IN (h.handler, '*')
    ) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The role "%" may not run the handler "%".', session_user, denied USING
            ERRCODE = '42501', HINT = 'The owner of the schema gives the right with grant_work.';
    END IF;
    SELECT w.* INTO other FROM ebb.workers AS w WHERE w.id = name FOR UPDATE;
    IF FOUND AND other.role IS DISTINCT FROM session_user THEN
        RAISE EXCEPTION 'Another worker has the name "%".', name USING ERRCODE = 'EB011';
    END IF;
    -- What an earlier process of this name held may have been called.
    PERFORM ebb.work_lose(name);
    session := gen_random_uuid();
    channel := ebb.work_channel();
    protocol := 1;
    INSERT INTO ebb.workers AS o (
        id, host, pid, handlers, queues, capacity, started_at, expires_at, session, role, lease
    )
    VALUES (
        name, coalesce(left($6, 200), ''), coalesce($7, 0), wanted, coalesce($3, '{}'), $4, started,
        started + lease_us, session, session_user, lease_us
    )
    ON CONFLICT (id) DO UPDATE SET
        host = excluded.host, pid = excluded.pid, handlers = excluded.handlers,
        queues = excluded.queues, capacity = excluded.capacity, started_at = excluded.started_at,
        expires_at = excluded.expires_at, session = excluded.session, lease = excluded.lease
    WHERE o.role = excluded.role;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Another worker has the name "%".', name USING ERRCODE = 'EB011';
    END IF;
END $work$;

-- Takes the leases of a worker in SQL away. The engine decides what the loss means.
CREATE OR REPLACE FUNCTION ebb.work_lose(worker text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    UPDATE ebb.tasks AS t
    SET was_lost = t.was_lost OR t.handler <> '',
        lost_by = CASE WHEN t.handler <> '' THEN t.lease_owner ELSE t.lost_by END,
        handler = '', lease_until = NULL, lease_owner = NULL
    WHERE t.lease_owner = $1
$work$;

CREATE OR REPLACE FUNCTION ebb.work_leave(session uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    worker ebb.workers := ebb.work_session($1);
BEGIN
    PERFORM ebb.work_lose(worker.id);
    DELETE FROM ebb.workers AS w WHERE w.session = $1;
    PERFORM ebb.work_ring(false);
END $work$;

-- name: roles
-- Only the owner changes rights: these two run with the rights of their caller.
CREATE OR REPLACE FUNCTION ebb.grant_work(
    role text, workflow text DEFAULT '*', handler text DEFAULT '*', queue text DEFAULT '*'
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
    INSERT INTO ebb.work_rights VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;
    EXECUTE format(
        'GRANT USAGE ON SCHEMA %s TO %I',
        (SELECT c.relnamespace::regnamespace FROM pg_class AS c WHERE c.oid = 'ebb.tasks'::regclass),
        name
    );
    FOREACH one IN ARRAY ebb.work_public() LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', one, name);
    END LOOP;
END $work$;

CREATE OR REPLACE FUNCTION ebb.revoke_work(
    role text, workflow text DEFAULT '*', handler text DEFAULT '*', queue text DEFAULT '*'
) RETURNS boolean
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    DELETE FROM ebb.work_rights AS r
    WHERE r.role = $1 AND r.workflow = $2 AND r.handler = $3 AND r.queue = $4;
    RETURN FOUND;
END $work$;

-- The functions for workers. No others are for them.
CREATE OR REPLACE FUNCTION ebb.work_public() RETURNS regprocedure[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT ARRAY[
        'ebb.work_join(text,text[],text[],integer,interval,text,bigint)'::regprocedure,
        'ebb.work_claim(uuid,integer)'::regprocedure,
        'ebb.work_complete(uuid,text,jsonb,text)'::regprocedure,
        'ebb.work_fail(uuid,text,text,text,boolean,interval,jsonb)'::regprocedure,
        'ebb.work_pause(uuid,text)'::regprocedure,
        'ebb.work_release(uuid,text[])'::regprocedure,
        'ebb.work_beat(uuid,text[])'::regprocedure,
        'ebb.work_next(uuid,jsonb,integer)'::regprocedure,
        'ebb.work_leave(uuid)'::regprocedure
    ]
$work$;

DO $do$
DECLARE
    one regprocedure;
BEGIN
    FOR one IN
        SELECT p.oid FROM pg_proc AS p
        WHERE p.pronamespace = (
            SELECT c.relnamespace FROM pg_class AS c WHERE c.oid = 'ebb.tasks'::regclass
        ) AND (starts_with(p.proname, 'work_') OR starts_with(p.proname, 'request_') OR p.proname IN (
            'grant_work', 'revoke_work', 'grant_requests', 'revoke_requests',
            'start', 'signal', 'decide', 'cancel', 'write'
        ))
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', one);
    END LOOP;
END $do$;
