-- name: tokens
-- Conditions come from users and are run with the rights of the owner. So they are cut into tokens,
-- and printed again from an allow-list: names are attributes, and quoted; literals are quoted.
CREATE OR REPLACE FUNCTION ebb.rules_refuse(place integer, why text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    RAISE EXCEPTION 'The condition is not allowed, at character %: %', $1, $2 USING
        ERRCODE = 'EB007', HINT = 'docs/reference/conditions.md says what conditions may contain.';
END $work$;

-- What there is instead of an attribute that there is not, as the kernel says it (src/core/expression/names.cpp).
CREATE OR REPLACE FUNCTION ebb.rules_known_names(names text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE
        WHEN cardinality($1) = 0 THEN 'there are none'
        WHEN cardinality($1) = 1 THEN 'there is ' || $1[1]
        WHEN cardinality($1) > 16
            THEN format('there are %s and %s more', array_to_string($1[1:16], ', '), cardinality($1) - 16)
        ELSE format('there are %s and %s', array_to_string($1[1:cardinality($1) - 1], ', '), $1[cardinality($1)])
    END
$work$;

-- The next token of a condition; kind is text, name, quoted, number or symbol.
CREATE OR REPLACE FUNCTION ebb.rules_token_at(rest text, first integer) RETURNS ebb.rules_token
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    -- Patterns cost as much as the text behind the token is long, so only literals look at all of it.
    head text := left($1, 80);
    found text;
    tag text;
    size integer;
    decoded text;
BEGIN
    IF head ~ '^(--|/[*])' THEN
        PERFORM ebb.rules_refuse($2, 'A condition cannot contain comments.');
    END IF;
    IF head ~ '^[eE]''' THEN
        found := substring($1 FROM E'^[eE]''(?:[^''\\\\]|\\\\.|'''')*''');
    END IF;
    IF found IS NOT NULL THEN
        -- One literal, as the pattern has it: nothing else can be run here.
        EXECUTE 'SELECT ' || found INTO decoded;
        RETURN ('text', decoded, $2, length(found))::ebb.rules_token;
    END IF;
    IF head ~ '^''' THEN
        found := substring($1 FROM '^''(?:[^'']|'''')*''');
    END IF;
    IF found IS NOT NULL THEN
        RETURN (
            'text', replace(substr(found, 2, length(found) - 2), '''''', ''''), $2, length(found)
        )::ebb.rules_token;
    END IF;
    IF head ~ '^[$]' THEN
        tag := substring($1 FROM '^[$](?:[A-Za-z_][A-Za-z0-9_]*)?[$]');
        size := strpos(substr($1, length(tag) + 1), tag);
        IF coalesce(size, 0) = 0 THEN
            PERFORM ebb.rules_refuse($2, 'The text literal has no end.');
        END IF;
        RETURN ('text', substr($1, length(tag) + 1, size - 1), $2, 2 * length(tag) + size - 1)::ebb.rules_token;
    END IF;
    IF head ~ '^"' THEN
        found := substring($1 FROM '^"[^"]+"');
    END IF;
    IF found IS NOT NULL THEN
        RETURN ('quoted', substr(found, 2, length(found) - 2), $2, length(found))::ebb.rules_token;
    END IF;
    found := substring(head FROM '^[A-Za-z_][A-Za-z0-9_]*');
    IF length(found) = 80 THEN
        found := substring($1 FROM '^[A-Za-z_][A-Za-z0-9_]*');
    END IF;
    IF found IS NOT NULL THEN
        IF substr($1, length(found) + 1, 1) IN ('''', '$', '&') AND NOT (
            substr($1, length(found) + 1, 1) = '&' AND lower(found) <> 'u'
        ) THEN
            PERFORM ebb.rules_refuse($2, 'Only ''...'', E''...'' and $$...$$ are literals here.');
        END IF;
        RETURN ('name', lower(found COLLATE "C"), $2, length(found))::ebb.rules_token;
    END IF;
    IF head ~ '^[.]?[0-9]' THEN
        found := substring($1 FROM '^(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]+)?');
    END IF;
    IF found IS NOT NULL THEN
        IF substr($1, length(found) + 1, 1) ~ '[A-Za-z0-9_.]' THEN
            PERFORM ebb.rules_refuse($2, 'A number cannot be followed by a letter.');
        END IF;
        RETURN ('number', found, $2, length(found))::ebb.rules_token;
    END IF;
    found := coalesce(substring(head FROM '^::'), substring(head FROM '^[-+*/<>=~!@#%^&|`?]+'), left(head, 1));
    WHILE length(found) > 1 AND found !~ '[~!@#%^&|`?]' AND right(found, 1) IN ('+', '-') LOOP
        found := left(found, -1);
    END LOOP;
    IF found <> ALL (ARRAY[
        '+', '-', '*', '/', '%', '=', '<', '>', '<=', '>=', '<>', '!=', '(', ')', ',', '::', '||'
    ]) THEN
        PERFORM ebb.rules_refuse($2, format(
            '"%s" is not an operator of conditions; allowed are = <> != < <= > >= + - * / %% || ::.', found
        ) || coalesce(' Did you mean ' || CASE found
            WHEN '==' THEN '=' WHEN '!==' THEN '<>' WHEN '=<' THEN '<=' WHEN '=>' THEN '>=' WHEN '&&' THEN 'AND'
            WHEN '!' THEN 'NOT'
        END || '?', ''));
    END IF;
    RETURN ('symbol', found, $2, length(found))::ebb.rules_token;
END $work$;

CREATE OR REPLACE FUNCTION ebb.rules_tokens(source text) RETURNS ebb.rules_token[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    tokens ebb.rules_token[] := '{}';
    token ebb.rules_token;
    place integer := 1;
BEGIN
    IF $1 IS NULL OR octet_length($1) > 16384 THEN
        PERFORM ebb.rules_refuse(1, 'A condition has 1 to 16,384 bytes.');
    END IF;
    LOOP
        place := place + length(substr($1, place)) - length(ltrim(substr($1, place), E' \t\n\x0b\f\r'));
        EXIT WHEN place > length($1);
        token := ebb.rules_token_at(substr($1, place), place);
        tokens := tokens || token;
        place := place + token.size;
        IF cardinality(tokens) > 4096 THEN
            PERFORM ebb.rules_refuse(place, 'A condition has at most 4,096 words.');
        END IF;
    END LOOP;
    IF cardinality(tokens) = 0 THEN
        PERFORM ebb.rules_refuse(1, 'The condition is empty.');
    END IF;
    RETURN tokens;
END $work$;

-- What a name stands for where it is: keyword, type, function or attribute.
CREATE OR REPLACE FUNCTION ebb.rules_role(tokens ebb.rules_token[], i integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    word text := $1[$2].word;
    before text := CASE WHEN $1[$2 - 1].kind IN ('name', 'symbol') THEN $1[$2 - 1].word ELSE '' END;
    after text := CASE WHEN $1[$2 + 1].kind IN ('name', 'symbol') THEN $1[$2 + 1].word ELSE '' END;
    is_type boolean := word = ANY (ARRAY[
        'bool', 'boolean', 'int', 'int4', 'integer', 'int8', 'bigint', 'numeric', 'decimal',
        'float8', 'double', 'text', 'timestamp', 'timestamptz', 'date', 'uuid', 'interval'
    ]);
BEGIN
    IF before IN ('::', 'as') THEN
        RETURN CASE WHEN is_type AND after <> '(' THEN 'type' ELSE 'unknown' END;
    END IF;
    IF word = ANY (ARRAY[
        'and', 'or', 'not', 'is', 'in', 'between', 'like', 'ilike', 'escape', 'then', 'else', 'end',
        'when', 'from', 'for', 'as', 'distinct', 'null', 'true', 'false', 'case'
    ]) THEN
        RETURN 'keyword';
    END IF;
    IF (word = 'unknown' AND before IN ('is', 'not'))
        OR (word = 'precision' AND before = 'double')
        OR (word = 'with' AND before = 'timestamp' AND after = 'time')
        OR (word = 'time' AND before = 'with') OR (word = 'zone' AND before = 'time')
        OR (word IN ('leading', 'trailing', 'both') AND before = '(')
    THEN
        RETURN 'keyword';
    END IF;
    IF after = '(' THEN
        RETURN CASE WHEN word = ANY (ARRAY[
            'lower', 'upper', 'length', 'char_length', 'btrim', 'ltrim', 'rtrim', 'substr', 'left',
            'right', 'starts_with', 'abs', 'ceil', 'ceiling', 'floor', 'round'
        ]) THEN 'function' WHEN word = ANY (ARRAY[
            'trim', 'substring', 'cast', 'coalesce', 'nullif', 'greatest', 'least'
        ]) THEN 'form' ELSE 'unknown' END;
    END IF;
    IF is_type AND ($1[$2 + 1].kind = 'text' OR (word = 'double' AND after = 'precision')) THEN
        RETURN 'type';
    END IF;
    RETURN 'attribute';
END $work$;

-- Where the value begins that ends with the token number `last`, with its casts: a literal, a name, a part in
-- parentheses, a call or a CASE.
CREATE OR REPLACE FUNCTION ebb.rules_primary_start(tokens ebb.rules_token[], last integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    i integer := $2;
    depth integer := 0;
    role text;
BEGIN
    WHILE i > 0 LOOP
        role := CASE $1[i].kind WHEN 'name' THEN ebb.rules_role($1, i) ELSE $1[i].kind END;
        IF (role = 'symbol' AND $1[i].word = ')') OR (role = 'keyword' AND $1[i].word = 'end') THEN
            depth := depth + 1;
        ELSIF (role = 'symbol' AND $1[i].word = '(') OR (role = 'keyword' AND $1[i].word = 'case') THEN
            depth := depth - 1;
        END IF;
        EXIT WHEN depth <= 0 AND NOT (
            -- What belongs to it before: a function, the type of a literal, or an earlier cast.
            (role = 'symbol' AND $1[i].word = '::') OR (role = 'type' AND $1[i - 1].word = '::')
            OR (role = 'symbol' AND $1[i].word = '(' AND ebb.rules_role($1, i - 1) IN ('function', 'form'))
            OR (role = 'text' AND $1[i - 1].kind = 'name' AND ebb.rules_role($1, i - 1) = 'type')
            OR (role = 'keyword' AND $1[i].word IN ('precision', 'with', 'time', 'zone'))
        );
        i := i - 1;
    END LOOP;
    RETURN greatest(i, 1);
END $work$;

-- The condition as PostgreSQL, over columns with the names of the attributes, token by token; with a parameter
-- for each literal if has_parameters, of which those in `texts` are texts.
CREATE OR REPLACE FUNCTION ebb.rules_pieces(
    tokens ebb.rules_token[], attributes text[], has_parameters boolean, texts integer[]
) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    token ebb.rules_token;
    role text;
    pieces text[] := '{}';
    piece text;
    start integer;
    open_kinds text[] := '{}';  -- of the parentheses that are open
    -- How deep the kernel is here. It counts each parenthesis, two for a CASE, and each NOT and sign as far as its
    -- operand goes; of each parenthesis and CASE that is open, and outside of them:
    level integer := 1;
    bases integer[] := '{1}';
    nots integer[] := '{0}';      -- those whose operand is being read
    signs integer[] := '{0}';
    betweens integer[] := '{0}';  -- those that wait for their AND
    depth integer;
    is_value boolean;             -- the token before ends a value
    last_role text := '';
    parameters integer := 0;
BEGIN
    FOR i IN 1 .. cardinality(tokens) LOOP
        token := tokens[i];
        role := CASE token.kind WHEN 'name' THEN ebb.rules_role(tokens, i) ELSE token.kind END;
        IF role = 'unknown' THEN
            PERFORM ebb.rules_refuse(token.first, format('"%s" is not allowed here.', token.word));
        ELSIF role IN ('attribute', 'quoted') THEN
            IF token.word <> ALL ($2) THEN
                PERFORM ebb.rules_refuse(
                    token.first, format(
                        'There is no attribute "%s"; %s.', left(token.word, 64), ebb.rules_known_names($2)
                    ) || CASE role WHEN 'quoted' THEN ' A text stands in single quotes.' ELSE '' END
                );
            END IF;
            piece := '"' || token.word || '"';
        ELSIF role = 'text' AND $3 THEN
            parameters := parameters + 1;
            piece := '($' || parameters || CASE
                WHEN last_role <> 'type' THEN CASE WHEN parameters = ANY ($4) THEN '::text' ELSE '' END
                WHEN tokens[i - 1].word = 'timestamp' THEN '::timestamptz' ELSE '::' || tokens[i - 1].word
            END || ')';
        ELSIF role = 'text' THEN
            -- A type stands before it, or it takes the type that it is compared with.
            piece := quote_literal(token.word);
            IF last_role = 'type' AND tokens[i - 1].word = 'text' THEN
                pieces[i - 1] := '(' || pieces[i - 1];
                piece := piece || ' COLLATE "C")';
            END IF;
        ELSIF role = 'type' AND $3 AND tokens[i + 1].kind = 'text' THEN
            piece := '';  -- the parameter is cast
        ELSIF role = 'type' THEN
            piece := CASE token.word
                WHEN 'timestamp' THEN CASE
                    WHEN tokens[i + 1].word = 'with' AND tokens[i + 1].kind = 'name'
                    THEN 'timestamp' ELSE 'timestamptz'
                END
                ELSE token.word
            END;
            IF token.word = 'text' AND tokens[i - 1].word = '::' AND tokens[i + 1].word IS DISTINCT FROM '::' THEN
                -- In parentheses, because no collation can stand behind BETWEEN.
                start := ebb.rules_primary_start(tokens, i - 2);
                pieces[start] := '(' || pieces[start];
                piece := piece || ' COLLATE "C")';
            END IF;
        ELSIF role = 'function' THEN
            piece := 'pg_catalog.' || token.word;
        ELSIF role = 'keyword' AND token.word = 'unknown' THEN
            piece := 'null';  -- of every type
        ELSE
            piece := token.word;
        END IF;
        pieces[i] := piece;
        IF token.kind = 'name' AND token.word IN ('like', 'ilike', 'escape') AND role = 'keyword'
            AND tokens[i + 1].kind IS DISTINCT FROM 'text'
        THEN
            PERFORM ebb.rules_refuse(token.first, 'A text literal must follow here.');
        END IF;
        IF token.kind = 'symbol' AND token.word = '(' THEN
            open_kinds := open_kinds || CASE
                WHEN last_role IN ('function', 'form') OR (last_role = 'keyword' AND tokens[i - 1].word = 'in')
                THEN 'list' ELSE 'group'
            END;
        ELSIF token.kind = 'symbol' AND token.word = ')' THEN
            IF cardinality(open_kinds) = 0 THEN
                PERFORM ebb.rules_refuse(token.first, 'This parenthesis closes nothing.');
            END IF;
            open_kinds := open_kinds[1:cardinality(open_kinds) - 1];
        ELSIF token.kind = 'symbol' AND token.word = ','
            AND open_kinds[cardinality(open_kinds)] IS DISTINCT FROM 'list'
        THEN
            PERFORM ebb.rules_refuse(token.first, 'A list is allowed only behind IN or a function.');
        END IF;
        is_value := last_role IN ('attribute', 'quoted', 'number', 'text', 'type')
            OR (last_role = 'symbol' AND tokens[i - 1].word = ')')
            OR (last_role = 'keyword'
                AND tokens[i - 1].word IN ('end', 'null', 'true', 'false', 'unknown', 'zone', 'precision'));
        IF (role = 'symbol' AND token.word = '(') OR (role = 'keyword' AND token.word = 'case') THEN
            depth := bases[level] + nots[level] + signs[level] + CASE role WHEN 'symbol' THEN 1 ELSE 2 END;
            level := level + 1;
            bases[level] := depth;
            nots[level] := 0;
            signs[level] := 0;
            betweens[level] := 0;
        ELSIF (role = 'symbol' AND token.word = ')') OR (role = 'keyword' AND token.word = 'end') THEN
            level := greatest(level - 1, 1);
        ELSIF role = 'symbol' AND token.word = '-' AND NOT is_value THEN
            signs[level] := signs[level] + 1;
        ELSIF role = 'keyword' AND token.word = 'not' AND tokens[i - 1].word IS DISTINCT FROM 'is' AND NOT is_value THEN
            nots[level] := nots[level] + 1;
        ELSIF role = 'symbol' AND token.word <> '::' OR role = 'keyword' AND token.word NOT IN ('null', 'true', 'false') THEN
            signs[level] := 0;
            IF role = 'keyword' AND token.word = 'between' THEN
                betweens[level] := betweens[level] + 1;
            ELSIF role = 'keyword' AND token.word = 'and' AND betweens[level] > 0 THEN
                betweens[level] := betweens[level] - 1;
            ELSIF token.word IN (',', 'and', 'or', 'when', 'then', 'else') THEN
                nots[level] := 0;
            END IF;
        END IF;
        IF bases[level] + nots[level] + signs[level] > 64 THEN
            PERFORM ebb.rules_refuse(token.first, 'The condition is nested more than 64 deep.');
        END IF;
        last_role := role;
    END LOOP;
    IF cardinality(open_kinds) > 0 THEN
        token := tokens[cardinality(tokens)];
        PERFORM ebb.rules_refuse(token.first + token.size, 'A parenthesis is not closed.');
    END IF;
    IF NOT $3 THEN
        PERFORM ebb.rules_grammar(tokens);
    END IF;
    RETURN pieces;
END $work$;

CREATE OR REPLACE FUNCTION ebb.rules_print(source text, attributes text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT array_to_string(ebb.rules_pieces(ebb.rules_tokens($1), $2, false, '{}'), ' ')
$work$;

-- The attributes that a condition reads.
CREATE OR REPLACE FUNCTION ebb.rules_reads(source text) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    WITH all_tokens AS MATERIALIZED (SELECT ebb.rules_tokens($1) AS tokens)
    SELECT coalesce(array_agg(DISTINCT a.tokens[i].word), '{}')
    FROM all_tokens AS a, generate_series(1, cardinality(a.tokens)) AS i
    WHERE a.tokens[i].kind = 'quoted'
       OR (a.tokens[i].kind = 'name' AND ebb.rules_role(a.tokens, i) = 'attribute')
$work$;

-- The condition with another name of an attribute.
CREATE OR REPLACE FUNCTION ebb.rules_renamed(source text, was text, becomes text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    tokens ebb.rules_token[] := ebb.rules_tokens($1);
    result text := $1;
BEGIN
    FOR i IN REVERSE cardinality(tokens) .. 1 LOOP
        CONTINUE WHEN tokens[i].word <> $2 OR NOT (
            tokens[i].kind = 'quoted'
            OR (tokens[i].kind = 'name' AND ebb.rules_role(tokens, i) = 'attribute')
        );
        result := overlay(
            result PLACING '"' || $3 || '"' FROM tokens[i].first FOR tokens[i].size
        );
    END LOOP;
    RETURN result;
END $work$;
