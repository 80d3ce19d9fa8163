-- name: catalog
-- The SQL surface of rules: a schema for each flow, whose tables its users write. Installed only on
-- request, after the functions for workers in SQL. Nothing here runs for other workflows.

-- is_dirty: wed_attr or wed_trig have changed since the version was made.
-- source: where the definition is written: in the tables wed_attr and wed_trig, or in a registered workflow.
CREATE TABLE IF NOT EXISTS ebb.flows (
    flow text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL DEFAULT 0,
    is_dirty boolean NOT NULL DEFAULT true,
    external_writes text NOT NULL DEFAULT 'none'
        CHECK (external_writes IN ('none', 'declared', 'all')),
    final_while_pending text NOT NULL DEFAULT 'refuse'
        CHECK (final_while_pending IN ('refuse', 'wait')),
    notify text NOT NULL DEFAULT 'wed' CHECK (notify IN ('wed', 'none')),
    source text NOT NULL DEFAULT 'tables' CHECK (source IN ('tables', 'workflow'))
);

-- What rules_decide must know of a version: the definition in ebb.workflows, prepared.
CREATE TABLE IF NOT EXISTS ebb.flow_versions (
    flow text COLLATE "C" NOT NULL REFERENCES ebb.flows ON DELETE CASCADE,
    version integer NOT NULL,
    program jsonb NOT NULL,
    PRIMARY KEY (flow, version)
);

CREATE TABLE IF NOT EXISTS ebb.flow_rights (
    role text NOT NULL,
    flow text COLLATE "C" NOT NULL REFERENCES ebb.flows ON DELETE CASCADE,
    allowed text COLLATE "C" NOT NULL,
    PRIMARY KEY (role, flow, allowed)
);

-- Rows of wed_flow that a commit could not bring up to date, because another transaction held them.
CREATE TABLE IF NOT EXISTS ebb.flow_behind (
    flow text COLLATE "C" NOT NULL,
    instance_id uuid NOT NULL
);
REVOKE ALL ON ebb.flows, ebb.flow_versions, ebb.flow_rights, ebb.flow_behind FROM PUBLIC;

-- Nothing keeps values of these types, and all functions that have them are made again.
DO $do$ BEGIN
    PERFORM set_config('client_min_messages', 'warning', true);
    -- Of an earlier installation.
    ALTER TABLE ebb.flows ADD COLUMN IF NOT EXISTS
        source text NOT NULL DEFAULT 'tables' CHECK (source IN ('tables', 'workflow'));
    DROP FUNCTION IF EXISTS ebb.flow_fail(text, text, text), ebb.flow_token(ebb.flows, text),
        ebb.flow_token(ebb.flows, text, bigint), ebb.flow_try_lock(text, bigint, bigint), ebb.flow_take(ebb.flows, uuid),
        ebb.flow_complete(ebb.flows, bigint, jsonb, jsonb, boolean, jsonb),
        ebb.flow_apply(ebb.flows, bigint, uuid, jsonb, jsonb, boolean, jsonb),
        ebb.rules_cause(jsonb, text, jsonb, text[]), ebb.rules_kept(json), ebb.rules_text(jsonb, text[]),
        ebb.rules_fired(jsonb, boolean[], text[], integer, integer[], integer, jsonb, boolean, jsonb);
    DROP TYPE IF EXISTS ebb.rules_token, ebb.rules_merged, ebb.rules_decision, ebb.rules_row, ebb.rules_put CASCADE;
    CREATE TYPE ebb.rules_token AS (kind text, word text, first integer, size integer);
    -- values: all attributes after the write. changes: those that it changes, as
    -- {name: [value before, number of the event that had written it]}.
    CREATE TYPE ebb.rules_merged AS (now_values jsonb, changes jsonb, overwrote text[]);
    -- An event of the history.
    CREATE TYPE ebb.rules_row AS (
        seq bigint, type text, node text, token bigint, visit bigint, attempt integer, ref bigint, worker text,
        started_at bigint, payload text
    );
    -- A task.
    -- due: of a timer, whose handler is empty.
    CREATE TYPE ebb.rules_put AS (token bigint, node text, handler text, queue text, due bigint);
    -- ends: the token whose task ends; drops: those of timers that are taken away.
    CREATE TYPE ebb.rules_decision AS (
        verdict text, status text, state text, events ebb.rules_row[], puts ebb.rules_put[], ends bigint,
        drops bigint[], finishing boolean
    );
END $do$;

-- Raises an exception unless session_user has the right. The owner of the schema has every right.
CREATE OR REPLACE FUNCTION ebb.flow_check_right(flow text, wanted text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    -- This function runs as the owner.
    IF pg_has_role(session_user, current_user, 'USAGE') THEN
        RETURN;
    END IF;
    PERFORM 1 FROM ebb.flow_rights AS r JOIN pg_roles AS p ON p.rolname = r.role
    WHERE pg_has_role(session_user, p.oid, 'USAGE') AND r.flow = $1
      AND (r.allowed = $2 OR ($2 LIKE 'work:%' AND r.allowed = 'work:*'));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The role "%" has no right "%" in the flow "%".', session_user, $2, $1
            USING ERRCODE = '42501', HINT = 'The owner of the schema gives it with grant_flow.';
    END IF;
END $work$;

-- What values of a type are, as a sentence ends.
CREATE OR REPLACE FUNCTION ebb.rules_allowed(type text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE $1
        WHEN 'text' THEN 'a text' WHEN 'boolean' THEN 'true or false' WHEN 'integer' THEN 'a whole number of 64 bits'
        WHEN 'double' THEN 'a number'
        WHEN 'numeric' THEN 'a decimal number of at most 1,000 digits before and after the point'
        WHEN 'uuid' THEN 'a text with a uuid'
        WHEN 'date' THEN 'a text with a date of the years 1 to 9999, such as 2026-11-21'
        ELSE 'a text with a time of the years 1 to 9999 (UTC), such as 2026-11-21T08:30:00Z'
    END
$work$;

CREATE OR REPLACE FUNCTION ebb.rules_refuse_value(name text, type text, given jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    RAISE EXCEPTION 'The attribute "%" (%) cannot be %; allowed is %.', $1, $2, left($3::text, 60), ebb.rules_allowed($2)
        USING ERRCODE = 'EB008';
END $work$;

-- A value of a type that must be read, as the state holds it. PostgreSQL's types have more values than the kernel can
-- read.
CREATE OR REPLACE FUNCTION ebb.rules_read(name text, type text, given jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
SET extra_float_digits = 1 AS $work$
DECLARE
    kind text := jsonb_typeof($3);
    word text := $3 #>> '{}';
    moment timestamptz;
    number numeric;
BEGIN
    CASE $2
        WHEN 'integer' THEN
            IF kind = 'number' AND word::numeric = trunc(word::numeric) THEN
                RETURN to_jsonb(word::numeric::bigint);
            END IF;
        WHEN 'numeric' THEN
            -- A number of JSON is a binary one, as in the kernel.
            IF kind = 'number' AND NOT (word ~ '^-?[0-9]{1,18}$') THEN
                word := word::double precision::text;
                word := word || CASE WHEN word ~ '[.e]' THEN '' ELSE '.0' END;
            END IF;
            IF kind IN ('number', 'string') AND word ~ '^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?[[:space:]]*$' THEN
                number := word::numeric;
                IF abs(number) < 1e1000 AND scale(number) <= 1000 THEN
                    RETURN to_jsonb(number::text);
                END IF;
            END IF;
        WHEN 'double' THEN
            IF kind = 'number' THEN
                RETURN to_jsonb(word::double precision);
            END IF;
        WHEN 'uuid' THEN
            IF kind = 'string' THEN
                RETURN to_jsonb(word::uuid::text);
            END IF;
        WHEN 'date' THEN
            IF kind = 'string' AND word ~ '^[[:space:]]*[0-9]{4,}-[0-9]{1,2}-[0-9]{1,2}[[:space:]]*$'
                AND word::date BETWEEN '0001-01-01' AND '9999-12-31'
            THEN
                RETURN to_jsonb(to_char(word::date, 'YYYY-MM-DD'));
            END IF;
        WHEN 'timestamp' THEN
            -- A row has the time as its session shows it: in its zone, the year may be another one than in UTC.
            IF kind = 'string' AND word ~ '^[[:space:]]*[0-9]{4,}-[0-9]{1,2}-[0-9]{1,2}' THEN
                moment := word::timestamptz;
                IF moment >= '0001-01-01 00:00:00Z' AND moment < '10000-01-01 00:00:00Z' THEN
                    RETURN to_jsonb(
                        to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                    );
                END IF;
            END IF;
        ELSE
            NULL;
    END CASE;
    PERFORM ebb.rules_refuse_value($1, $2, $3);
EXCEPTION WHEN data_exception THEN
    PERFORM ebb.rules_refuse_value($1, $2, $3);
END $work$;

-- A value as the state holds it: `given` is JSON, or the JSON text of what a column holds.
CREATE OR REPLACE FUNCTION ebb.rules_value(name text, type text, given jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    kind text := jsonb_typeof($3);
BEGIN
    IF kind IS NULL OR kind = 'null' THEN
        RETURN 'null';
    ELSIF (kind = 'string' AND $2 = 'text') OR (kind = 'boolean' AND $2 = 'boolean') THEN
        RETURN $3;
    ELSIF kind = 'number' AND $2 = 'integer' AND length($3::text) < 18 AND translate($3::text, '-0123456789', '') = '' THEN
        RETURN $3;
    END IF;
    RETURN ebb.rules_read($1, $2, $3);
END $work$;

-- The type of the column of an attribute. Text compares by its bytes, as conditions do everywhere.
CREATE OR REPLACE FUNCTION ebb.rules_column(type text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE $1
        WHEN 'text' THEN 'text COLLATE "C"' WHEN 'boolean' THEN 'boolean'
        WHEN 'integer' THEN 'bigint' WHEN 'double' THEN 'double precision' WHEN 'numeric' THEN 'numeric'
        WHEN 'uuid' THEN 'uuid'
        WHEN 'date' THEN 'date' WHEN 'timestamp' THEN 'timestamptz'
    END
$work$;

-- An attribute of a flow is a column, and each table has columns of its own.
CREATE OR REPLACE FUNCTION ebb.rules_check_column(name text, type text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF $1 IS NULL OR $1 !~ '^[a-z][a-z0-9_]{0,62}$' OR $1 IN ('wid', 'instance_id') THEN
        RAISE EXCEPTION 'The name of an attribute is a lower-case letter and up to 62 lower-case letters, digits and "_", and not wid or instance_id; this is %.',
            coalesce(quote_literal(left($1, 80)), 'NULL') USING ERRCODE = 'EB007';
    ELSIF ebb.rules_column($2) IS NULL THEN
        RAISE EXCEPTION 'An attribute of a flow has the type text, boolean, integer, double, numeric, timestamp, date or uuid; "%" has "%".',
            $1, left($2, 80) USING ERRCODE = 'EB007', HINT = 'A document is kept as a text, or in a table of yours.';
    ELSIF $1 IN ('tableoid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax') THEN
        RAISE EXCEPTION 'An attribute cannot have the name "%": each table of PostgreSQL has a column of this name.', $1
            USING ERRCODE = 'EB007', HINT = 'Give the attribute another name.';
    END IF;
END $work$;
