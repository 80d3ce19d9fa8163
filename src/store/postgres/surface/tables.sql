-- name: tables
-- The tables of a flow. The owner makes them with create_flow, and who may `define` fills them.
CREATE OR REPLACE FUNCTION ebb.rules_check_name(what text, name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $2 IS NULL OR $2 !~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$' OR $2 IN ('true', 'false', 'null', 'in') THEN
        RAISE EXCEPTION 'The name of a % is a letter and up to 62 letters, digits, "_", "-" and ".", not %.',
            $1, coalesce(quote_literal(left($2, 80)), 'NULL') USING ERRCODE = 'EB007';
    END IF;
END $work$;

CREATE OR REPLACE FUNCTION ebb.flow_changed(flow text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    UPDATE ebb.flows AS f SET is_dirty = true WHERE f.flow = $1 AND NOT f.is_dirty
$work$;

-- Before a row of wed_attr is written.
CREATE OR REPLACE FUNCTION ebb.surface_attribute() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $work$
DECLARE
    own text := TG_ARGV[0];
    initial jsonb;
    one jsonb;
BEGIN
    PERFORM ebb.flow_check_right(own, 'define');
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'The attribute "%" cannot be removed, because instances may have it.', OLD.aname
            USING ERRCODE = 'EB007', HINT = 'Disable it: attribute_toggle(''' || OLD.aname || ''').';
    END IF;
    PERFORM 1 FROM ebb.flows AS f WHERE f.flow = own FOR UPDATE;
    PERFORM ebb.rules_check_column(NEW.aname, NEW.atype);
    initial := ebb.rules_default(NEW.aname, NEW.atype, NEW.adv);
    IF TG_OP = 'INSERT' THEN
        NEW.earlier := '{}';
        EXECUTE format(
            'ALTER TABLE %I.wed_flow ADD COLUMN %I %s DEFAULT %L', own, NEW.aname,
            ebb.rules_column(NEW.atype), initial #>> '{}'
        );
    ELSE
        IF NEW.atype <> OLD.atype OR NEW.aid <> OLD.aid OR NEW.earlier <> OLD.earlier THEN
            RAISE EXCEPTION 'The type and the number of the attribute "%" stay as they are.', OLD.aname
                USING ERRCODE = 'EB007', HINT = 'Add an attribute of the other type.';
        END IF;
        IF NEW.aname <> OLD.aname THEN
            NEW.earlier := array_remove(OLD.earlier, NEW.aname) || OLD.aname;
            IF cardinality(NEW.earlier) > 16 THEN
                RAISE EXCEPTION 'The attribute "%" has had 16 names already.', OLD.aname USING ERRCODE = 'EB007';
            END IF;
            EXECUTE format('ALTER TABLE %I.wed_flow RENAME COLUMN %I TO %I', own, OLD.aname, NEW.aname);
        END IF;
        EXECUTE format(
            'ALTER TABLE %I.wed_flow ALTER COLUMN %I SET DEFAULT %L', own, NEW.aname, initial #>> '{}'
        );
        IF OLD.enabled AND NOT NEW.enabled THEN
            FOREACH one IN ARRAY ebb.flow_rows(own, 'wed_trig', 'tgid') LOOP
                IF OLD.aname = ANY (ebb.rules_reads(one ->> 'cpred')) THEN
                    RAISE EXCEPTION 'The attribute "%" is read by the condition of "%".', OLD.aname,
                        coalesce(one ->> 'trname', one ->> 'cname') USING ERRCODE = 'EB007',
                        HINT = 'Change that condition first.';
                END IF;
            END LOOP;
        END IF;
    END IF;
    PERFORM ebb.flow_changed(own);
    RETURN NEW;
END $work$;

-- After it: the conditions follow a new name.
CREATE OR REPLACE FUNCTION ebb.surface_renamed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    EXECUTE format(
        'UPDATE %I.wed_trig SET cpred = ebb.rules_renamed(cpred, $1, $2),'
        ' writes = array_replace(writes, $1, $2)', TG_ARGV[0]
    ) USING OLD.aname, NEW.aname;
    RETURN NULL;
END $work$;

-- The name of a trigger in the definition: that of its transition. Those that fire a transition which has a trigger
-- already have their own; a unique index forbids them unless set_flow allows many_triggers.
CREATE OR REPLACE FUNCTION ebb.flow_node(flow text, trname text, tgname text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    rows jsonb[] := ebb.flow_rows($1, 'wed_trig', 'tgid');
    node text := $2;
BEGIN
    IF to_regclass(format('%I.wed_trig_lower_trname_idx', $1)) IS NOT NULL THEN
        RETURN node;
    END IF;
    IF EXISTS (SELECT 1 FROM unnest(rows) AS r WHERE r ->> 'trname' = $2) THEN
        node := $3;
        PERFORM ebb.rules_check_name('trigger', node);
    END IF;
    IF EXISTS (SELECT 1 FROM unnest(rows) AS r WHERE coalesce(r ->> 'node', r ->> 'trname') = node) THEN
        RAISE EXCEPTION 'The name "%" is that of another trigger or transition.', node USING ERRCODE = 'EB007',
            HINT = 'Of several triggers of a transition, each has a tgname of its own.';
    END IF;
    RETURN node;
END $work$;

-- Before a row of wed_trig is written.
CREATE OR REPLACE FUNCTION ebb.surface_trigger() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    own text := TG_ARGV[0];
    attributes jsonb;
    shown text;
    strange text;
BEGIN
    PERFORM ebb.flow_check_right(own, 'define');
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'The trigger "%" cannot be removed, because its transition may be pending.', OLD.tgname
            USING ERRCODE = 'EB007', HINT = format('Disable it: trigger_toggle(%s).', OLD.tgid);
    END IF;
    PERFORM 1 FROM ebb.flows AS f WHERE f.flow = own FOR UPDATE;
    attributes := ebb.flow_attributes(own);
    IF TG_OP = 'UPDATE' AND (
        NEW.tgid <> OLD.tgid OR NEW.trname IS DISTINCT FROM OLD.trname OR NEW.cfinal <> OLD.cfinal
        OR NEW.cexcpt <> OLD.cexcpt OR NEW.cinv <> OLD.cinv OR NEW.node IS DISTINCT FROM OLD.node
    ) THEN
        RAISE EXCEPTION 'The trigger "%" keeps its tgid, its trname and its kind (trigger, final condition, exception or invariant).',
            OLD.tgname
            USING ERRCODE = 'EB007', HINT = 'Disable it, and add another one.';
    END IF;
    IF NEW.cfinal::integer + NEW.cexcpt::integer + NEW.cinv::integer > 1 THEN
        RAISE EXCEPTION 'A condition is final, an exception or an invariant, not several of them.'
            USING ERRCODE = 'EB007';
    END IF;
    IF NEW.cfinal OR NEW.cexcpt OR NEW.cinv THEN
        IF TG_OP = 'INSERT' THEN
            shown := CASE WHEN NEW.cfinal THEN '_FINAL' END;
            NEW.cname := coalesce(nullif(NEW.cname, ''), CASE
                WHEN NEW.cfinal THEN 'final_' WHEN NEW.cexcpt THEN 'exception_' ELSE 'invariant_'
            END || NEW.tgid);
            NEW.tgname := coalesce(shown, NEW.cname);
            NEW.trname := shown;
        END IF;
        NEW.timeout := NULL;
        NEW.after := NULL;
        NEW.node := NULL;
        PERFORM ebb.rules_check_name(format('condition (cname, tgid %s)', NEW.tgid), NEW.cname);
    ELSE
        PERFORM ebb.rules_check_name(format('transition (trname, tgid %s)', NEW.tgid), NEW.trname);
        IF TG_OP = 'INSERT' AND to_regclass(format('%I.wed_trig_lower_trname_idx', own)) IS NOT NULL AND EXISTS (
            SELECT 1 FROM unnest(ebb.flow_rows(own, 'wed_trig', 'tgid')) AS r
            WHERE lower(r ->> 'trname') = lower(NEW.trname)
        ) THEN
            RAISE EXCEPTION 'The transition "%" has a trigger already.', NEW.trname USING ERRCODE = '23505',
                HINT = format('ebb.set_flow(%L, ''many_triggers'', ''on'') allows several.', own);
        END IF;
        NEW.tgname := coalesce(NEW.tgname, NEW.trname);
        IF TG_OP = 'INSERT' THEN
            NEW.node := ebb.flow_node(own, NEW.trname, NEW.tgname);
        END IF;
        IF NEW.timeout IS NULL OR NEW.timeout < interval '1 ms' OR NEW.timeout > interval '100 years' THEN
            RAISE EXCEPTION 'The timeout of a transition is from 1 ms to 100 years, not %.',
                coalesce(NEW.timeout::text, 'NULL') USING ERRCODE = 'EB007';
        END IF;
        IF NEW.after < interval '1 ms' OR NEW.after > interval '100 years' THEN
            RAISE EXCEPTION 'after is from 1 ms to 100 years, or NULL, not %.', NEW.after USING ERRCODE = 'EB007';
        END IF;
        IF NEW.backoff IS NULL OR NEW.backoff < interval '0' OR NEW.backoff > interval '1 day' THEN
            RAISE EXCEPTION 'The backoff of a transition is from 0 to 1 day, not %.',
                coalesce(NEW.backoff::text, 'NULL') USING ERRCODE = 'EB007';
        END IF;
        IF NEW.mode IS NULL OR NEW.mode NOT IN ('level', 'edge', 'once') THEN
            RAISE EXCEPTION 'The mode of a trigger is level, edge or once, not "%".', left(NEW.mode, 80)
                USING ERRCODE = 'EB007';
        END IF;
        IF NEW.max_attempts IS NULL OR NEW.max_attempts NOT BETWEEN 1 AND 1000 THEN
            RAISE EXCEPTION 'max_attempts is from 1 to 1,000, not %.', NEW.max_attempts USING ERRCODE = 'EB007';
        END IF;
        SELECT w INTO strange FROM unnest(NEW.writes) AS w WHERE NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements(attributes) AS a WHERE a ->> 'name' = w
        ) LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'writes names "%", which is not an attribute.', left(strange, 64) USING ERRCODE = 'EB007';
        END IF;
        IF NEW.compensate IS NOT NULL THEN
            PERFORM ebb.rules_check_name(format('compensation (compensate, tgid %s)', NEW.tgid), NEW.compensate);
        END IF;
        IF NEW.queue IS NOT NULL THEN
            PERFORM ebb.rules_check_name(format('queue (queue, tgid %s)', NEW.tgid), NEW.queue);
        END IF;
    END IF;
    PERFORM ebb.rules_check(NEW.cpred, attributes, format('"%s"', NEW.tgname));
    PERFORM ebb.flow_changed(own);
    RETURN NEW;
END $work$;

-- At the commit of a transaction that has changed the definition.
CREATE OR REPLACE FUNCTION ebb.surface_defined() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    PERFORM ebb.flow_build(TG_ARGV[0]);
    RETURN NULL;
END $work$;

-- The schema of a flow, with the table of its instances.
CREATE OR REPLACE FUNCTION ebb.flow_make(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $1 IS NULL OR $1 !~ '^[a-z][a-z0-9_]{0,62}$' OR starts_with($1, 'pg_') OR $1 = 'ebb' THEN
        RAISE EXCEPTION 'The name of a flow is a lower-case letter and up to 62 lower-case letters, digits and "_", and not "ebb" or "pg_…", which are reserved; this is "%".',
            left($1, 80) USING ERRCODE = 'EB007';
    END IF;
    IF EXISTS (SELECT 1 FROM pg_namespace AS n WHERE n.nspname = $1) THEN
        RAISE EXCEPTION 'There is already a schema "%".', $1 USING ERRCODE = 'EB007',
            HINT = 'A flow has a schema of its own: rename or drop the other one.';
    END IF;
    IF NOT has_database_privilege(current_database(), 'CREATE') THEN
        RAISE EXCEPTION 'The role "%" may not make a schema in the database "%".', current_user, current_database()
            USING ERRCODE = '42501', HINT = format(
                'The owner of the database gives the right: GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user
            );
    END IF;
    EXECUTE format('CREATE SCHEMA %I', $1);
    EXECUTE format($body$
        CREATE TABLE %1$I.wed_flow (
            wid bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, instance_id uuid NOT NULL UNIQUE
        ) WITH (fillfactor = 60);
        REVOKE ALL ON %1$I.wed_flow FROM PUBLIC;
    $body$, $1);
END $work$;

-- From now on, writes of the rows are writes of instances, and the rows follow their instances.
CREATE OR REPLACE FUNCTION ebb.flow_guard(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    EXECUTE format($body$
        CREATE TRIGGER row_number BEFORE INSERT OR DELETE ON %1$I.wed_flow
            FOR EACH ROW EXECUTE FUNCTION ebb.surface_row(%2$L);
        CREATE TRIGGER rows_inserted AFTER INSERT ON %1$I.wed_flow REFERENCING NEW TABLE AS new_rows
            FOR EACH STATEMENT EXECUTE FUNCTION ebb.surface_insert(%2$L);
        CREATE TRIGGER rows_updated AFTER UPDATE ON %1$I.wed_flow
            REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
            FOR EACH STATEMENT EXECUTE FUNCTION ebb.surface_update(%2$L);
        CREATE TRIGGER %3$I AFTER DELETE ON ebb.instances
            FOR EACH ROW WHEN (OLD.workflow = %2$L) EXECUTE FUNCTION ebb.surface_purge(%2$L);
    $body$, $1, $1, 'flow_' || $1 || '_purge');
    PERFORM ebb.flow_watch_commits();
    PERFORM ebb.flow_keep_rows($1);
END $work$;

-- Makes a flow that is defined in its tables. Run by the owner, with the owner's rights.
CREATE OR REPLACE FUNCTION ebb.create_flow(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF EXISTS (SELECT 1 FROM ebb.workflows AS w WHERE w.name = $1) THEN
        RAISE EXCEPTION 'There is already a workflow "%".', $1 USING ERRCODE = 'EB007',
            HINT = format('`ebb rules install %s` gives it a surface. The name of a flow that was dropped stays taken, '
                'because its versions stay.', $1);
    END IF;
    PERFORM ebb.flow_make($1);
    INSERT INTO ebb.flows (flow) VALUES ($1);
    EXECUTE format($body$
        CREATE TABLE %1$I.wed_attr (
            aid integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            aname text NOT NULL, adv text, atype text NOT NULL DEFAULT 'text',
            enabled boolean NOT NULL DEFAULT true, external boolean NOT NULL DEFAULT false,
            earlier text[] NOT NULL DEFAULT '{}'
        );
        CREATE UNIQUE INDEX wed_attr_lower_name_idx ON %1$I.wed_attr (lower(aname));
        CREATE TABLE %1$I.wed_trig (
            tgid integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            tgname text, enabled boolean NOT NULL DEFAULT true, trname text, cname text,
            cpred text NOT NULL, cfinal boolean NOT NULL DEFAULT false,
            timeout interval DEFAULT '1 min', mode text NOT NULL DEFAULT 'level', writes text[],
            compensate text, max_attempts integer NOT NULL DEFAULT 1000,
            backoff interval NOT NULL DEFAULT '1 s', queue text,
            cexcpt boolean NOT NULL DEFAULT false, cinv boolean NOT NULL DEFAULT false, after interval,
            node text
        );
        CREATE UNIQUE INDEX wed_trig_lower_trname_idx ON %1$I.wed_trig (lower(trname)) WHERE NOT cfinal;
        CREATE TRIGGER attribute_written BEFORE INSERT OR UPDATE OR DELETE ON %1$I.wed_attr
            FOR EACH ROW EXECUTE FUNCTION ebb.surface_attribute(%2$L);
        CREATE TRIGGER attribute_renamed AFTER UPDATE OF aname ON %1$I.wed_attr
            FOR EACH ROW WHEN (OLD.aname <> NEW.aname) EXECUTE FUNCTION ebb.surface_renamed(%2$L);
        CREATE TRIGGER trigger_written BEFORE INSERT OR UPDATE OR DELETE ON %1$I.wed_trig
            FOR EACH ROW EXECUTE FUNCTION ebb.surface_trigger(%2$L);
        CREATE CONSTRAINT TRIGGER attributes_defined AFTER INSERT OR UPDATE ON %1$I.wed_attr
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ebb.surface_defined(%2$L);
        CREATE CONSTRAINT TRIGGER triggers_defined AFTER INSERT OR UPDATE ON %1$I.wed_trig
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ebb.surface_defined(%2$L);
        REVOKE ALL ON %1$I.wed_attr, %1$I.wed_trig FROM PUBLIC;
    $body$, $1, $1);
    PERFORM ebb.flow_guard($1);
    PERFORM ebb.flow_views($1);
END $work$;

-- Removes the surface. The table wed_flow stays, as a plain one, unless it is not wanted.
CREATE OR REPLACE FUNCTION ebb.drop_flow(flow text, keeps_rows boolean DEFAULT true) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one text;
    kind text;
BEGIN
    SELECT CASE f.source WHEN 'tables' THEN 'TABLE' ELSE 'VIEW' END INTO kind FROM ebb.flows AS f
    WHERE f.flow = $1 FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no flow "%".', left($1, 80) USING ERRCODE = 'EB013';
    END IF;
    EXECUTE format('DROP TRIGGER %I ON ebb.instances', 'flow_' || $1 || '_purge');
    IF NOT $2 THEN
        EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', $1);
    ELSE
        FOREACH one IN ARRAY ARRAY['row_number', 'rows_inserted', 'rows_updated', 'not_truncated'] LOOP
            EXECUTE format('DROP TRIGGER %I ON %I.wed_flow', one, $1);
        END LOOP;
        -- Nothing that is the user's own: what depends on these is an error.
        FOR one IN
            SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE n.nspname = $1 AND (p.proname ~ '^_match_[0-9]+$' OR p.proname IN (
                '_job', '_project', 'wed_claim', 'wed_complete', 'wed_fail', 'wed_release', 'wed_job',
                'wed_write', 'wed_rematch', 'wed_cancel', 'wed_recover', 'trigger_toggle', 'attribute_toggle',
                'pg_try_advisory_xact_lock'
            )) ORDER BY p.proname = '_job'
        LOOP
            EXECUTE format('DROP FUNCTION %s', one);
        END LOOP;
        EXECUTE format(
            'DROP VIEW %1$I.job_pool, %1$I.st_status, %1$I.wed_trace, %1$I.wed_cond, %1$I.wed_trans, %1$I.ready,'
            ' %1$I.running, %1$I.late, %1$I.failed, %1$I.locked', $1
        );
        EXECUTE format('DROP FUNCTION %I._begun(integer, jsonb)', $1);
        EXECUTE format('DROP %2$s %1$I.wed_attr, %1$I.wed_trig', $1, kind);
        -- No role starts an instance there any more.
        FOR one IN SELECT DISTINCT r.role FROM ebb.flow_rights AS r JOIN pg_roles AS p ON p.rolname = r.role WHERE r.flow = $1 LOOP
            EXECUTE format('REVOKE INSERT, UPDATE ON %I.wed_flow FROM %I', $1, one);
        END LOOP;
    END IF;
    DELETE FROM ebb.flow_behind AS b WHERE b.flow = $1;
    DELETE FROM ebb.flows AS f WHERE f.flow = $1;
    IF NOT EXISTS (SELECT 1 FROM ebb.flows) THEN
        DROP TRIGGER flows_started ON ebb.instances;
        DROP TRIGGER flows_committed ON ebb.instances;
    END IF;
    IF kind = 'VIEW' AND NOT EXISTS (SELECT 1 FROM ebb.flows AS f WHERE f.source = 'workflow') THEN
        DROP TRIGGER flows_registered ON ebb.workflows;
    END IF;
END $work$;

-- Whether a transition may have several triggers. Without them, an index says so, as in WED-SQL.
CREATE OR REPLACE FUNCTION ebb.flow_allow_many(flow text, may_have boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $2 THEN
        EXECUTE format('DROP INDEX IF EXISTS %I.wed_trig_lower_trname_idx', $1);
    ELSIF to_regclass(format('%I.wed_trig_lower_trname_idx', $1)) IS NULL THEN
        EXECUTE format(
            'CREATE UNIQUE INDEX wed_trig_lower_trname_idx ON %I.wed_trig (lower(trname)) WHERE NOT cfinal', $1
        );
    END IF;
EXCEPTION WHEN unique_violation THEN
    RAISE EXCEPTION 'A transition of the flow "%" has several triggers: many_triggers stays on.', $1
        USING ERRCODE = 'EB007';
END $work$;

CREATE OR REPLACE FUNCTION ebb.set_flow(flow text, option text, value text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $2 IS NULL OR $3 IS NULL OR NOT (CASE $2
        WHEN 'external_writes' THEN $3 IN ('none', 'declared', 'all')
        WHEN 'final_while_pending' THEN $3 IN ('refuse', 'wait')
        WHEN 'notify' THEN $3 IN ('wed', 'none') WHEN 'many_triggers' THEN $3 IN ('on', 'off') ELSE false
    END) THEN
        RAISE EXCEPTION 'An option is external_writes (none, declared, all), final_while_pending (refuse, wait), notify (wed, none) or many_triggers (on, off), not %=%.',
            left($2, 80), left($3, 80) USING ERRCODE = 'EB007';
    END IF;
    IF $2 <> 'notify' AND EXISTS (SELECT 1 FROM ebb.flows AS f WHERE f.flow = $1 AND f.source = 'workflow') THEN
        RAISE EXCEPTION 'The workflow "%" defines its %: change it there, in a new version.', $1, $2 USING ERRCODE = 'EB007';
    END IF;
    UPDATE ebb.flows AS f SET
        external_writes = CASE $2 WHEN 'external_writes' THEN $3 ELSE f.external_writes END,
        final_while_pending = CASE $2 WHEN 'final_while_pending' THEN $3 ELSE f.final_while_pending END,
        notify = CASE $2 WHEN 'notify' THEN $3 ELSE f.notify END,
        is_dirty = f.is_dirty OR $2 NOT IN ('notify', 'many_triggers')
    WHERE f.flow = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no flow "%".', left($1, 80) USING ERRCODE = 'EB013';
    END IF;
    IF $2 = 'many_triggers' THEN
        PERFORM ebb.flow_allow_many($1, $3 = 'on');
    END IF;
    PERFORM ebb.flow_build($1);
END $work$;
