-- name: types
-- PostgreSQL has more operators, conversions and forms of literals than conditions. Those that it has chosen
-- for a condition are compared with what Ebb's own reader has.

-- How a literal of a type may be written; NULL if this one is.
CREATE OR REPLACE FUNCTION ebb.rules_literal_fault(type regtype, word text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE
        WHEN $1 IN ('text'::regtype, 'boolean'::regtype, 'uuid'::regtype) THEN NULL
        WHEN $1 IN ('integer'::regtype, 'bigint'::regtype) THEN CASE
            WHEN $2 !~ E'^[ \t-\r]*[-+]?[0-9]+[ \t-\r]*$' THEN 'a whole number'
        END
        WHEN $1 IN ('numeric'::regtype, 'double precision'::regtype) THEN CASE
            WHEN $2 !~ '^ *[-+]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]{1,2})? *$' OR length($2) > 500
                THEN 'a decimal number'
        END
        WHEN $1 = 'date'::regtype THEN CASE
            WHEN $2 !~ '^ *[0-9]{4}-[0-9]{2}-[0-9]{2} *$' THEN 'a date, such as 2026-11-21'
        END
        WHEN $1 = 'timestamptz'::regtype THEN CASE
            WHEN $2 !~ ('^ *[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9]'
                || '(?:[.][0-9]{1,6})?)?(?:Z|[-+](?:0[0-9]|1[0-5])(?::?[0-5][0-9])?)?)? *$')
                OR left(btrim($2), 10) NOT BETWEEN '0001-01-02' AND '9999-12-30'
                THEN 'a time, such as 2026-11-21T08:30:00Z'
        END
        WHEN $1 = 'interval'::regtype THEN CASE
            WHEN $2 !~* ('^ *(?:-?[0-9]{1,4} *(?:y|yrs?|years?|mon|mons|months?|w|weeks?|d|days?) *'
                || '|-?[0-9]{1,6} *(?:h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms|msecs?|milliseconds?'
                || '|us|usecs?|microseconds?) *)*'
                || '(?:(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?)? *$')
                OR btrim($2, ' ') = '' THEN 'whole numbers with units, such as 3 days 2 hours'
        END
        ELSE 'another type'
    END
$work$;

-- The types of the literals of a condition: each is a parameter here, for which PostgreSQL finds the same type. One
-- that could have any is a text.
CREATE OR REPLACE FUNCTION ebb.rules_literal_types(tokens ebb.rules_token[], attributes jsonb, tables text)
RETURNS regtype[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    texts integer[] := '{}';
    types regtype[];
    number integer;
BEGIN
    LOOP
        BEGIN
            EXECUTE 'PREPARE ebb_rules_check AS SELECT true ' || $3 || ' WHERE ' || array_to_string(
                ebb.rules_pieces($1, ebb.rules_names($2), true, texts), ' '
            );
            types := (SELECT parameter_types FROM pg_prepared_statements WHERE name = 'ebb_rules_check');
            DEALLOCATE ebb_rules_check;
            RETURN types;
        EXCEPTION WHEN indeterminate_datatype THEN
            number := substring(SQLERRM FROM '[$]([0-9]+)')::integer;
            IF number IS NULL OR number = ANY (texts) OR cardinality(texts) = 64 THEN
                RAISE;
            END IF;
            texts := texts || number;
        END;
    END LOOP;
END $work$;

-- The first literal that is not written as its type wants it.
CREATE OR REPLACE FUNCTION ebb.rules_check_literals(tokens ebb.rules_token[], attributes jsonb, tables text)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    literals ebb.rules_token[];
    types regtype[];
    fault text;
BEGIN
    SELECT array_agg(t ORDER BY t.first) INTO literals FROM unnest($1) AS t WHERE t.kind = 'text';
    IF literals IS NULL THEN
        RETURN;
    END IF;
    types := ebb.rules_literal_types($1, $2, $3);
    FOR i IN 1 .. cardinality(literals) LOOP
        fault := ebb.rules_literal_fault(types[i], literals[i].word);
        IF fault IS NOT NULL THEN
            PERFORM ebb.rules_refuse(literals[i].first, format(
                '%L is not valid: allowed is %s.', left(literals[i].word, 60), fault
            ));
        END IF;
    END LOOP;
END $work$;

-- Whether conditions have an operator of PostgreSQL's.
CREATE OR REPLACE FUNCTION ebb.rules_has_operator(o pg_operator) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT $1.oprnamespace = 'pg_catalog'::regnamespace AND CASE
        WHEN $1.oprname IN ('=', '<>', '<', '<=', '>', '>=')
            THEN $1.oprleft = ANY (k.numbers || k.others) AND $1.oprright = ANY (k.numbers || k.others)
        WHEN $1.oprname IN ('||', '~~', '!~~', '~~*', '!~~*')
            THEN $1.oprleft = 'text'::regtype AND $1.oprright = 'text'::regtype
        WHEN $1.oprname IN ('+', '-', '*', '/', '%') AND $1.oprright = ANY (k.numbers)
            AND ($1.oprleft = ANY (k.numbers) OR ($1.oprname = '-' AND $1.oprleft = 0)) THEN true
        ELSE $1.oprname || concat_ws(' ', $1.oprleft::regtype, $1.oprright::regtype) IN (
            '+timestamp with time zone interval', '-timestamp with time zone interval',
            '+interval timestamp with time zone', '+date integer', '-date integer', '+integer date', '-date date'
        )
    END
    FROM (
        SELECT '{integer,bigint,numeric,double precision}'::regtype[]::oid[] AS numbers,
               '{boolean,text,timestamptz,date,uuid}'::regtype[]::oid[] AS others
    ) AS k
$work$;

-- Whether they have a function, or the conversion that it makes.
CREATE OR REPLACE FUNCTION ebb.rules_has_function(p pg_proc) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT $1.pronamespace = 'pg_catalog'::regnamespace AND (
        $1.oid::regprocedure::text = ANY (ARRAY[
            'lower(text)', 'upper(text)', 'length(text)', 'char_length(text)', 'btrim(text)', 'ltrim(text)',
            'rtrim(text)', 'btrim(text,text)', 'ltrim(text,text)', 'rtrim(text,text)', '"substring"(text,integer)',
            '"substring"(text,integer,integer)', 'substr(text,integer)', 'substr(text,integer,integer)',
            '"left"(text,integer)', '"right"(text,integer)', 'starts_with(text,text)', 'like_escape(text,text)',
            'abs(integer)', 'abs(bigint)', 'abs(numeric)', 'abs(double precision)', 'ceil(numeric)',
            'ceil(double precision)', 'ceiling(numeric)', 'ceiling(double precision)', 'floor(numeric)',
            'floor(double precision)', 'round(numeric)', 'round(double precision)', 'round(numeric,integer)',
            'jsonb_to_record(jsonb)'
        ])
        OR EXISTS (
            SELECT 1 FROM pg_cast AS c
            WHERE c.castfunc = $1.oid AND c.castsource <> c.casttarget AND (
                (
                    c.castsource = ANY ('{integer,bigint,numeric,double precision}'::regtype[]::oid[])
                    AND c.casttarget = ANY ('{integer,bigint,numeric,double precision}'::regtype[]::oid[])
                )
                OR (c.castsource::regtype || '>' || c.casttarget::regtype) IN (
                    'boolean>integer', 'integer>boolean', 'boolean>text', 'date>timestamp with time zone',
                    'timestamp with time zone>date'
                )
            )
        )
    )
$work$;

-- What PostgreSQL has chosen, as the rule of a view says it: the text of a literal is not in it, only bytes.
CREATE OR REPLACE FUNCTION ebb.rules_choice(printed text, tables text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    view_name text := '_rules_check_' || pg_backend_pid();
    chosen text;
BEGIN
    EXECUTE format('CREATE VIEW ebb.%I AS SELECT %s WHERE %s', view_name, $2, $1);
    chosen := (
        SELECT r.ev_action::text FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class
        WHERE c.oid = format('ebb.%I', view_name)::regclass
    );
    EXECUTE format('DROP VIEW ebb.%I', view_name);
    RETURN chosen;
END $work$;

-- Which operator, function or conversion conditions do not have; NULL if there is none.
CREATE OR REPLACE FUNCTION ebb.rules_choice_fault(chosen text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce((
        SELECT format('There is no %s of %s here.', o.oprname, concat_ws(' and ',
            nullif(o.oprleft, 0)::regtype, nullif(o.oprright, 0)::regtype))
        FROM regexp_matches($1, ':opno ([0-9]+)', 'g') AS m JOIN pg_operator AS o ON o.oid = m[1]::oid
        WHERE NOT ebb.rules_has_operator(o) LIMIT 1
    ), (
        SELECT CASE WHEN p.prorettype = ANY ('{text,integer,bigint,numeric,boolean}'::regtype[]::oid[])
            THEN format('There is no function %s here.', p.oid::regprocedure)
            ELSE format('There is no conversion to %s here.', p.prorettype::regtype) END
        FROM regexp_matches($1, ':funcid ([0-9]+)', 'g') AS m JOIN pg_proc AS p ON p.oid = m[1]::oid
        WHERE NOT ebb.rules_has_function(p) LIMIT 1
    ), (
        SELECT format('There is no conversion of text to %s here.', m[1]::oid::regtype)
        FROM regexp_matches($1, ':resulttype ([0-9]+) :resultcollid [0-9]+ :coerceformat', 'g') AS m
        WHERE m[1]::oid <> ALL ('{text,boolean,integer,bigint,numeric,double precision,uuid}'::regtype[]::oid[]) LIMIT 1
    ), (
        SELECT format('There is no conversion of %s to text here: it would depend on the session.', m[1]::oid::regtype)
        FROM regexp_matches(
            $1, '[{]COERCEVIAIO :arg [{][A-Z]+ (?::(?:varno|varattno|opno|opfuncid|funcid) [^ ]+ )*:[a-z]+type ([0-9]+)', 'g'
        ) AS m
        WHERE m[1]::oid = ANY ('{timestamptz,date,interval}'::regtype[]::oid[]) LIMIT 1
    ), (
        SELECT format('Values of %s cannot be compared.', m[1]::oid::regtype)
        FROM regexp_matches($1, ':minmaxtype ([0-9]+)', 'g') AS m WHERE m[1]::oid = 'interval'::regtype LIMIT 1
    ))
$work$;

-- A condition is checked as PostgreSQL and as Ebb read it.
CREATE OR REPLACE FUNCTION ebb.rules_check(source text, attributes jsonb, what text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    tokens ebb.rules_token[];
    pieces text[];
    printed text;
    parts text[];
    tables text := replace(ebb.rules_source($2), '($1)', '(''{}'')');
    answer boolean;
    ignored record;
    fault text;
BEGIN
    BEGIN
        tokens := ebb.rules_tokens($1);
        pieces := ebb.rules_pieces(tokens, ebb.rules_names($2), false, '{}');
        printed := array_to_string(pieces, ' ');
        EXECUTE format('SELECT true %s WHERE %s LIMIT 0', tables, printed) INTO answer;
        parts := ebb.rules_parts(tokens, pieces);
        FOR i IN 0 .. (cardinality(parts) - 1) / 1000 LOOP
            EXECUTE format(
                'SELECT %s %s LIMIT 0', array_to_string(parts[1000 * i + 1:1000 * i + 1000], ', '), tables
            ) INTO ignored;
        END LOOP;
        fault := ebb.rules_choice_fault(ebb.rules_choice(printed, tables));
        IF fault IS NULL THEN
            PERFORM ebb.rules_check_literals(tokens, $2, tables);
        END IF;
    EXCEPTION WHEN indeterminate_datatype THEN
        fault := 'A literal has no type here: cast it, such as ''x''::text.';
    WHEN syntax_error_or_access_rule_violation OR data_exception OR feature_not_supported THEN
        fault := replace(replace(SQLERRM, 'argument of WHERE', 'a condition'), 'COALESCE types', 'The types');
    WHEN SQLSTATE 'EB007' THEN
        RAISE EXCEPTION '%', replace(SQLERRM, 'The condition is', 'The condition of ' || $3 || ' is') USING
            ERRCODE = 'EB007', HINT = 'docs/reference/conditions.md says what conditions may contain.';
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'The condition of % is not valid: %', $3, fault USING ERRCODE = 'EB007';
    END IF;
END $work$;
