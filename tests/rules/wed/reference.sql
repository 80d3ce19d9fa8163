-- The second judge of the scenarios: the draft's Algorithm 1 in a schema of its own, as WED-SQL v2 does it. It shares
-- nothing with Ebb. It trusts its user, evaluates conditions as text, and is for tests only.
--
-- psql -v flow=NAME -f reference.sql
\set ON_ERROR_STOP 1
CREATE SCHEMA :"flow";
SET search_path = :"flow", pg_catalog;

CREATE TABLE wed_attr (aid serial, aname text NOT NULL, adv text);
CREATE UNIQUE INDEX ON wed_attr (lower(aname));
CREATE TABLE wed_flow (wid serial PRIMARY KEY);
CREATE TABLE wed_trig (
    tgid serial PRIMARY KEY, tgname text, enabled boolean NOT NULL DEFAULT true, trname text NOT NULL, cname text,
    cpred text NOT NULL, cfinal boolean NOT NULL DEFAULT false, timeout interval DEFAULT '1 min');
CREATE UNIQUE INDEX ON wed_trig (lower(trname));
CREATE TABLE job_pool (
    wid int REFERENCES wed_flow, tgid int REFERENCES wed_trig, trname text, lckid text, timeout interval,
    payload json NOT NULL, PRIMARY KEY (wid, tgid));
CREATE TABLE st_status (wid int PRIMARY KEY REFERENCES wed_flow, status text NOT NULL);
CREATE TABLE wed_trace (
    wid int REFERENCES wed_flow, seq serial, trw text, trf text[], status text, tstmp timestamptz DEFAULT clock_timestamp(),
    state json);

CREATE FUNCTION refuse(state text, sentence text) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
    RAISE EXCEPTION '%', sentence USING ERRCODE = state;
END $f$;

CREATE FUNCTION on_attribute() RETURNS trigger LANGUAGE plpgsql AS $f$
DECLARE
    constant text := coalesce(quote_literal(nullif(NEW.adv, '')), 'NULL');
BEGIN
    IF TG_OP = 'INSERT' THEN
        EXECUTE format('ALTER TABLE wed_flow ADD COLUMN %I text DEFAULT %s', NEW.aname, constant);
    ELSE
        EXECUTE format('ALTER TABLE wed_flow ALTER COLUMN %I SET DEFAULT %s', NEW.aname, constant);
    END IF;
    RETURN NULL;
END $f$;
CREATE TRIGGER on_attribute AFTER INSERT OR UPDATE ON wed_attr FOR EACH ROW EXECUTE FUNCTION on_attribute();

CREATE FUNCTION on_definition() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
    IF NEW.cpred ~* '(create|drop|alter|grant|revoke|select|insert|update|delete|;)' THEN
        PERFORM refuse('EB007', 'Forbidden in cpred');
    END IF;
    IF NEW.cfinal THEN
        NEW.tgname := '_FINAL'; NEW.trname := '_FINAL'; NEW.cname := '_FINAL'; NEW.timeout := NULL;
    ELSIF NEW.trname LIKE '\_%' THEN
        PERFORM refuse('EB007', 'trname must not start with an underscore');
    END IF;
    RETURN NEW;
END $f$;
CREATE TRIGGER on_definition BEFORE INSERT OR UPDATE ON wed_trig FOR EACH ROW EXECUTE FUNCTION on_definition();

CREATE FUNCTION matched(instance int, predicate text) RETURNS boolean LANGUAGE plpgsql AS $f$
DECLARE
    found boolean;
BEGIN
    EXECUTE format('SELECT count(*) = 1 FROM wed_flow WHERE wid = %s AND (%s)', instance, predicate) INTO found;
    RETURN found;
EXCEPTION WHEN OTHERS THEN
    PERFORM refuse('EB006', 'PREDICATE MATCH ERROR: ' || predicate);
END $f$;

-- The pair (wid, tgid) that this session has locked: the oldest one, if there are several.
CREATE FUNCTION claim_of_session() RETURNS TABLE (wid int, tgid int) LANGUAGE sql AS $f$
    SELECT classid::bigint::int, objid::bigint::int FROM pg_locks
    WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted LIMIT 1
$f$;

-- A notification that is too long is lost, as in v2: workers look at the pool, too.
CREATE FUNCTION ring(transition text, content text) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM pg_notify(lower(transition), content);
EXCEPTION WHEN invalid_parameter_value THEN
    NULL;
END $f$;

-- Fires what holds on the new row and is not pending; says whether the final condition holds.
CREATE FUNCTION fire(instance int, content json, OUT fired text[], OUT is_final boolean) LANGUAGE plpgsql AS $f$
DECLARE
    t wed_trig;
BEGIN
    fired := '{}';
    is_final := false;
    FOR t IN SELECT * FROM wed_trig WHERE enabled AND cfinal LOOP
        is_final := matched(instance, t.cpred);
    END LOOP;
    FOR t IN SELECT * FROM wed_trig WHERE enabled AND NOT cfinal ORDER BY tgid LOOP
        IF NOT matched(instance, t.cpred) OR is_final THEN CONTINUE; END IF;
        INSERT INTO job_pool VALUES (instance, t.tgid, t.trname, NULL, t.timeout, content) ON CONFLICT DO NOTHING;
        IF FOUND THEN
            fired := fired || t.trname;
            PERFORM ring(t.trname, json_build_object(
                'wid', instance, 'tgid', t.tgid, 'timeout', t.timeout::text, 'payload', content::text)::text);
        END IF;
    END LOOP;
END $f$;

CREATE FUNCTION on_instance() RETURNS trigger LANGUAGE plpgsql AS $f$
DECLARE
    content json := (to_jsonb(NEW) - 'wid')::json;
    claim record;
    job job_pool;
    outcome record;
    verdict text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        outcome := fire(NEW.wid, content);
        IF NOT outcome.is_final AND outcome.fired = '{}' THEN
            PERFORM refuse('EB001', 'No predicate matches this initial WED-state');
        END IF;
        verdict := CASE WHEN outcome.is_final THEN 'F' ELSE 'R' END;
        INSERT INTO st_status VALUES (NEW.wid, verdict);
        INSERT INTO wed_trace (wid, trw, trf, status, state) VALUES (NEW.wid, '_INIT', outcome.fired, verdict, content);
        RETURN NULL;
    END IF;
    IF (SELECT status FROM st_status WHERE wid = NEW.wid) = 'F' THEN
        PERFORM refuse('EB002', 'Cannot modify a final WED-state');
    END IF;
    SELECT * INTO claim FROM claim_of_session();
    DELETE FROM job_pool j WHERE j.wid = claim.wid AND j.tgid = claim.tgid RETURNING j.* INTO job;
    IF job.wid IS NULL THEN PERFORM refuse('EB003', 'Job not found'); END IF;
    IF job.wid <> NEW.wid THEN PERFORM refuse('EB004', 'Invalid update'); END IF;
    outcome := fire(NEW.wid, content);
    verdict := CASE WHEN outcome.is_final THEN 'F' ELSE 'R' END;
    IF outcome.is_final AND EXISTS (SELECT FROM job_pool j WHERE j.wid = NEW.wid) THEN
        PERFORM refuse('EB005', 'Impossible to set a final WED-state if there are others pending');
    END IF;
    IF NOT outcome.is_final AND NOT EXISTS (SELECT FROM job_pool j WHERE j.wid = NEW.wid) THEN
        verdict := 'E';
        INSERT INTO job_pool VALUES (NEW.wid, job.tgid, '_EXCPT', NULL, '1 h', content);
        PERFORM ring('_EXCPT', json_build_object('wid', NEW.wid, 'tgid', job.tgid)::text);
    END IF;
    UPDATE st_status SET status = verdict WHERE wid = NEW.wid;
    INSERT INTO wed_trace (wid, trw, trf, status, state) VALUES (NEW.wid, job.trname, outcome.fired, verdict, content);
    RETURN NULL;
END $f$;
CREATE TRIGGER on_instance AFTER INSERT OR UPDATE ON wed_flow FOR EACH ROW EXECUTE FUNCTION on_instance();

CREATE FUNCTION trigger_toggle(which int) RETURNS boolean LANGUAGE sql AS $f$
    UPDATE wed_trig SET enabled = NOT enabled WHERE tgid = which RETURNING enabled
$f$;
