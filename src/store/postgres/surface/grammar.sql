-- name: grammar
-- PostgreSQL's grammar allows more than Ebb's own reader of conditions, which decides for the flow as well.
-- What that one would refuse is refused here, with its place.

-- Whether a value ends with this token, so that a sign behind it is not one of its own.
CREATE OR REPLACE FUNCTION ebb.rules_ends_value(token ebb.rules_token, role text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce(
        $1.kind IN ('text', 'number', 'quoted') OR ($1.kind = 'symbol' AND $1.word = ')')
        OR $2 IN ('attribute', 'type')
        OR ($2 = 'keyword' AND $1.word IN ('null', 'true', 'false', 'unknown', 'end', 'precision', 'zone')), false
    )
$work$;

-- Whether a token may follow a test that is complete. A match, such as `a IN (1)`, may be compared again;
-- LIKE may have an ESCAPE.
CREATE OR REPLACE FUNCTION ebb.rules_may_follow(complete text, token ebb.rules_token, role text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE
        WHEN $2.kind = 'symbol' THEN $2.word IN (')', ',')
            OR ($1 <> 'test' AND $2.word IN ('=', '<>', '!=', '<', '>', '<=', '>='))
        WHEN $3 = 'keyword' THEN $2.word IN ('and', 'or', 'then', 'else', 'when', 'end', 'from', 'for', 'as')
            OR ($1 <> 'test' AND $2.word = 'is') OR ($1 = 'like' AND $2.word = 'escape')
        ELSE false
    END
$work$;

-- Why a token cannot stand where it is, whatever is around it; NULL if it can.
CREATE OR REPLACE FUNCTION ebb.rules_token_fault(token ebb.rules_token, role text, before ebb.rules_token) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
    SELECT CASE
        WHEN $1.kind = 'name' AND $2 = 'attribute' AND $1.word IN (
            'using', 'select', 'where', 'exists', 'any', 'all', 'some', 'with', 'order', 'user'
        ) THEN format('The word %1$s is reserved: for an attribute, write "%1$s" in double quotes.', $1.word)
        WHEN $2 = 'type' AND $1.word = 'double' AND $3.word IS DISTINCT FROM '::' AND $3.word IS DISTINCT FROM 'as'
            THEN 'Write a cast: ''1.5''::double precision.'
        WHEN $1.kind = 'number' AND (
            length($1.word) > 500 OR abs(coalesce(substring($1.word FROM '[eE](.*)$'), '0')::numeric) > 400
        ) THEN 'The number has too many digits.'
    END
$work$;

-- Whether the last character of a pattern is an escape character that is not escaped itself.
CREATE OR REPLACE FUNCTION ebb.rules_is_open_pattern(pattern text, escape text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $work$
    SELECT $2 <> '' AND (length($1) - length(rtrim($1, $2))) % 2 = 1
$work$;

-- Where a literal without a type stands, perhaps in parentheses: what follows it; NULL if none stands there.
CREATE OR REPLACE FUNCTION ebb.rules_bare_literal(tokens ebb.rules_token[], i integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    place integer := $2;
    depth integer := 0;
BEGIN
    WHILE $1[place].kind = 'symbol' AND $1[place].word = '(' LOOP
        place := place + 1;
        depth := depth + 1;
    END LOOP;
    IF coalesce($1[place].kind, '') <> 'text' AND NOT ($1[place].kind = 'name' AND $1[place].word = 'null') THEN
        RETURN NULL;
    END IF;
    FOR n IN 1 .. depth LOOP
        place := place + 1;
        IF $1[place].kind IS DISTINCT FROM 'symbol' OR $1[place].word <> ')' THEN
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN coalesce($1[place + 1].word, '');
END $work$;

-- One token after the other, with what is open: a part in parentheses, or a CASE. betweens: each BETWEEN
-- there whose AND is still to come.
CREATE OR REPLACE FUNCTION ebb.rules_grammar(tokens ebb.rules_token[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    token ebb.rules_token;
    before ebb.rules_token;
    role text;
    role_before text := '';
    word text;  -- of a keyword or symbol; otherwise empty
    word_before text := '';
    fault text;
    complete text := '';
    begins boolean := true;  -- a condition of its own can begin here
    kinds text[] := '{group}';
    betweens integer[] := '{0}';
    froms boolean[] := '{false}';
    top integer := 1;
BEGIN
    FOR i IN 1 .. cardinality($1) LOOP
        token := $1[i];
        role := CASE token.kind WHEN 'name' THEN ebb.rules_role($1, i) ELSE token.kind END;
        word := CASE WHEN role IN ('keyword', 'symbol') THEN token.word ELSE '' END;
        fault := ebb.rules_token_fault(token, role, before);
        IF fault IS NULL AND complete <> '' AND NOT ebb.rules_may_follow(complete, token, role) THEN
            fault := 'Only AND, OR or an end may follow here: put what stands before it into parentheses.';
        ELSIF fault IS NULL THEN
            fault := CASE
                WHEN word = 'not' AND word_before <> 'is' AND NOT begins
                    AND coalesce($1[i + 1].word, '') NOT IN ('in', 'between', 'like', 'ilike')
                    THEN 'NOT needs parentheses here, such as a = (not b).'
                WHEN word = '+' AND NOT ebb.rules_ends_value(before, role_before) THEN '"+" needs a value before it.'
                WHEN word = '-' AND NOT ebb.rules_ends_value(before, role_before)
                    AND coalesce(ebb.rules_bare_literal($1, i + 1), '::') <> '::'
                    THEN '"-" needs a number behind it.'
                WHEN role = 'function' AND token.word IN ('abs', 'ceil', 'ceiling', 'floor', 'round')
                    AND ebb.rules_bare_literal($1, i + 2) IN (')', ',')
                    THEN 'A function of numbers needs a number: cast the literal, such as ''1.5''::numeric.'
                WHEN role = 'text' AND word_before = 'escape' AND length(token.word) > 1
                    THEN 'ESCAPE takes one character, or an empty text for none.'
                WHEN role = 'text' AND word_before IN ('like', 'ilike') AND ebb.rules_is_open_pattern(
                    token.word, CASE WHEN $1[i + 1].kind = 'name' AND $1[i + 1].word = 'escape'
                        AND $1[i + 2].kind = 'text' THEN $1[i + 2].word ELSE E'\\' END
                ) THEN 'The pattern ends in its escape character.'
                WHEN betweens[top] > 0 AND word IN ('=', '<>', '!=', '<', '>', '<=', '>=', 'is')
                    THEN 'A comparison behind BETWEEN needs parentheses.'
                WHEN word = 'from' AND word_before = '(' THEN 'FROM needs a value before it.'
                WHEN word = 'for' AND NOT froms[top] THEN 'FOR must follow FROM.'
                WHEN word = ',' AND froms[top] THEN 'A list cannot follow FROM.'
            END;
        END IF;
        IF fault IS NOT NULL THEN
            PERFORM ebb.rules_refuse(token.first, fault);
        END IF;
        complete := CASE
            WHEN word IN ('null', 'true', 'false', 'unknown')
                AND (word_before = 'is' OR (word_before = 'not' AND $1[i - 2].word = 'is')) THEN 'test'
            WHEN role = 'text' AND word_before IN ('like', 'ilike') THEN 'like'
            WHEN role = 'text' AND word_before = 'escape' OR word = ')' AND kinds[top] = 'in' THEN 'match'
            ELSE ''
        END;
        begins := word IN ('(', ',', 'or', 'when', 'then', 'else', 'case', 'for') OR (word = 'not' AND begins)
            OR (word = 'and' AND betweens[top] = 0) OR (word = 'from' AND word_before <> 'distinct');
        IF word IN ('(', 'case') THEN
            top := top + 1;
            kinds[top] := CASE WHEN word_before = 'in' THEN 'in' ELSE 'group' END;
            betweens[top] := 0;
            froms[top] := false;
        ELSIF word IN (')', 'end') THEN
            top := greatest(top - 1, 1);
        ELSIF word = 'between' THEN
            betweens[top] := betweens[top] + 1;
        ELSIF word = 'and' THEN
            betweens[top] := greatest(betweens[top] - 1, 0);
        ELSIF word = 'from' AND word_before <> 'distinct' THEN
            froms[top] := true;
        END IF;
        before := token;
        role_before := role;
        word_before := word;
    END LOOP;
END $work$;

-- Parts that are checked by themselves. PostgreSQL leaves out what cannot change the result, such as all that
-- follows `false and`; Ebb's own reader computes everything that is constant. And that one wants a common type
-- of all that stands behind IN.
CREATE OR REPLACE FUNCTION ebb.rules_parts(tokens ebb.rules_token[], pieces text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    parts text[] := '{}';
    starts integer[] := '{1}';    -- of the part in each open parenthesis or CASE
    values_of integer[] := '{1}'; -- where the value begins that an operator, IN or BETWEEN follows
    betweens integer[] := '{0}';
    lists integer[] := '{0}';     -- of an open IN: where its value begins
    opened integer[] := '{0}';    -- and where its list does
    can_fail boolean[] := '{false}';
    top integer := 1;
    role text;
    word text;
    word_before text := '';
    in_value integer := 0;
BEGIN
    FOR i IN 1 .. cardinality($1) + 1 LOOP
        role := CASE $1[i].kind WHEN 'name' THEN ebb.rules_role($1, i) ELSE coalesce($1[i].kind, 'end') END;
        word := CASE WHEN role IN ('keyword', 'symbol') THEN $1[i].word ELSE '' END;
        IF word IN ('leading', 'trailing', 'both') THEN
            starts[top] := i + 1;
        ELSIF word IN ('+', '-', '*', '/', '%', '::', '||') OR role IN ('function', 'form') THEN
            can_fail[top] := true;
        END IF;
        IF role = 'end' OR word IN (')', 'end', ',', 'or', 'when', 'then', 'else', 'for', 'as')
            OR (word = 'and' AND betweens[top] = 0) OR (word = 'from' AND word_before <> 'distinct')
        THEN
            IF can_fail[top] AND i > starts[top] AND coalesce($1[starts[top] - 1].word, '') <> 'as' THEN
                parts := parts || ('(' || array_to_string($2[starts[top]:i - 1], ' ') || ')');
            END IF;
            starts[top] := i + 1;
            values_of[top] := i + 1;
            can_fail[top] := false;
        ELSIF word = 'and' THEN
            betweens[top] := betweens[top] - 1;
            values_of[top] := i + 1;
        ELSIF word = 'between' THEN
            betweens[top] := betweens[top] + 1;
            values_of[top] := i + 1;
        ELSIF word = 'in' THEN
            in_value := values_of[top];
        ELSIF word IN ('=', '<>', '!=', '<', '>', '<=', '>=', 'from', 'is')
            OR (word = 'not' AND word_before <> 'is' AND coalesce($1[i + 1].word, '') NOT IN ('in', 'between', 'like', 'ilike'))
        THEN
            values_of[top] := i + 1;
        END IF;
        IF word IN (')', 'end') AND top > 1 THEN
            IF lists[top] > 0 THEN
                parts := parts || format(
                    '(coalesce(%s, %s) IS NULL)', array_to_string($2[lists[top]:opened[top] - 1 - CASE
                        WHEN $1[opened[top] - 2].word = 'not' THEN 2 ELSE 1
                    END], ' '), array_to_string($2[opened[top] + 1:i - 1], ' ')
                );
            END IF;
            top := top - 1;
        ELSIF word IN ('(', 'case') THEN
            top := top + 1;
            starts[top] := i + 1;
            values_of[top] := i + 1;
            betweens[top] := 0;
            can_fail[top] := false;
            opened[top] := i;
            lists[top] := CASE WHEN word_before = 'in' THEN in_value ELSE 0 END;
        END IF;
        word_before := word;
    END LOOP;
    RETURN parts;
END $work$;
