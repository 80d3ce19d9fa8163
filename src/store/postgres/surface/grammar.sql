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
                WHEN word = '-' AND NOT ebb.rules_ends_value(before, role_before) AND $1[i + 1].kind = 'text'
                    THEN '"-" needs a number behind it.'
                WHEN word_before IN ('/', '%') AND token.kind = 'number' AND token.word::numeric = 0
                    THEN 'Division by zero.'
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
