-- name: merge
-- What a write makes of the attributes, exactly as the kernel does it (src/core/rules/write.cpp).
--
-- The functions rules_% and flow_% that are not SECURITY DEFINER have the search_path of the function of a
-- user that has called them: one of their own would be set and reset in each of the many calls of a write.
-- Those that begin a write plan its statements once, by index: a session that has begun with empty tables
-- would go on to scan them.

-- The values of a write, one attribute after another, on the state as it is now. `given`: the state
-- when the transition fired, at the event `fired`: a value that equals the one given is not a write.
CREATE OR REPLACE FUNCTION ebb.rules_merge(
    program jsonb, rules jsonb, source text, wanted jsonb, trigger_name text, given jsonb, fired bigint
) RETURNS ebb.rules_merged
LANGUAGE plpgsql IMMUTABLE AS $work$
#variable_conflict use_column
DECLARE
    merged ebb.rules_merged;
    now_values jsonb := $2 -> 'values';
    changes jsonb := '{}';
    overwrote text[] := '{}';
    attribute record;
    value jsonb;
    seen jsonb;
    since bigint;
    writes jsonb;
BEGIN
    IF $4 IS NULL OR jsonb_typeof($4) = 'null' THEN
        merged := (now_values, changes, overwrote)::ebb.rules_merged;
        RETURN merged;
    END IF;
    IF jsonb_typeof($4) <> 'object' THEN
        RAISE EXCEPTION 'A write is a JSON object of attributes, or null for no change.'
            USING ERRCODE = 'EB008';
    END IF;
    IF $4 - translate(($1 -> 'names')::text, '[]', '{}')::text[] <> '{}' THEN
        PERFORM ebb.rules_check_known($1, $4);
    END IF;
    IF $3 = 'transition' THEN
        writes := jsonb_path_query_first(
            $1, '$.triggers[*] ? (@.name == $name).writes', jsonb_build_object('name', $5)
        );
    END IF;
    FOR attribute IN
        SELECT a ->> 'name' AS name, a ->> 'type' AS type, (a ->> 'external')::boolean AS external,
               a -> 'renamed_from' AS earlier, $4 -> (a ->> 'name') AS value
        FROM jsonb_array_elements($1 -> 'attributes') AS a
        WHERE $4 ? (a ->> 'name') OR a -> 'renamed_from' <> '[]'
    LOOP
        value := attribute.value;
        seen := $6 -> attribute.name;
        IF value IS NULL THEN
            -- What was fired under an earlier version knows the earlier name.
            SELECT $4 -> e.name, coalesce(seen, $6 -> e.name) INTO value, seen
            FROM jsonb_array_elements_text(attribute.earlier) WITH ORDINALITY AS e (name, ord)
            WHERE $4 ? e.name ORDER BY e.ord LIMIT 1;
        END IF;
        CONTINUE WHEN value IS NULL;
        IF jsonb_typeof(value) = 'object' THEN
            RAISE EXCEPTION 'The attribute "%" cannot be computed by an expression here.', attribute.name USING
                ERRCODE = 'EB009', HINT = 'ebb.work_complete leaves such a write to a process of Ebb.';
        END IF;
        IF jsonb_typeof(value) <> 'null' AND NOT (attribute.type = 'text' AND jsonb_typeof(value) = 'string') THEN
            value := ebb.rules_value(attribute.name, attribute.type, value);
        END IF;
        CONTINUE WHEN value = seen OR value = now_values -> attribute.name;
        IF jsonb_typeof(writes) = 'array' AND NOT writes ? attribute.name THEN
            RAISE EXCEPTION 'The transition "%" wrote the attribute "%", which its "writes" does not name.',
                $5, attribute.name USING ERRCODE = 'EB008';
        END IF;
        IF $3 = 'outside' AND $1 ->> 'external_writes' = 'none' THEN
            RAISE EXCEPTION 'The rules allow no writes from outside (external_writes: none).'
                USING ERRCODE = 'EB003', HINT = 'Claim a job of the instance first.';
        ELSIF $3 = 'outside' AND $1 ->> 'external_writes' = 'declared' AND NOT attribute.external THEN
            RAISE EXCEPTION 'The attribute "%" cannot be written from outside: it is not external.', attribute.name
                USING ERRCODE = 'EB008';
        END IF;
        since := coalesce(($2 -> 'written' ->> attribute.name)::bigint, 0);
        IF $7 <> 0 AND since > $7 THEN
            overwrote := overwrote || attribute.name;
        END IF;
        changes := changes || jsonb_build_object(
            attribute.name, jsonb_build_array(now_values -> attribute.name, since)
        );
        now_values := now_values || jsonb_build_object(attribute.name, value);
    END LOOP;
    IF octet_length(now_values::text) > 65536 THEN
        PERFORM ebb.rules_too_large();
    END IF;
    merged := (now_values, changes, overwrote)::ebb.rules_merged;
    RETURN merged;
END $work$;

CREATE OR REPLACE FUNCTION ebb.rules_too_large() RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    RAISE EXCEPTION 'The attributes would have more than 65,536 bytes.' USING
        ERRCODE = 'EB008', HINT = 'Keep larger documents in a table of yours.';
END $work$;

-- Raises an exception if a name of a write is not an attribute, and has never been one.
CREATE OR REPLACE FUNCTION ebb.rules_check_known(program jsonb, wanted jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    name text;
BEGIN
    SELECT k.key INTO name FROM jsonb_object_keys($2) AS k (key)
    WHERE NOT EXISTS (
        SELECT 1 FROM jsonb_array_elements($1 -> 'attributes') AS a
        WHERE a ->> 'name' = k.key OR a -> 'renamed_from' ? k.key
    ) ORDER BY k.key COLLATE "C" LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'There is no attribute "%"; %.', left(name, 64), ebb.rules_known_names(ARRAY(
            SELECT a ->> 'name' FROM jsonb_array_elements($1 -> 'attributes') WITH ORDINALITY AS x (a, n) ORDER BY n
        )) USING ERRCODE = 'EB008';
    END IF;
END $work$;

-- The same for the values of a new instance: all attributes, as the state holds them.
CREATE OR REPLACE FUNCTION ebb.rules_begin(program jsonb, vals jsonb) RETURNS ebb.rules_merged
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    merged ebb.rules_merged;
    now_values jsonb := ($1 -> 'defaults') || $2;
    changes jsonb := '{}';
BEGIN
    IF now_values <> $1 -> 'defaults' THEN
        SELECT coalesce(jsonb_object_agg(d.key, jsonb_build_array(d.value, 0)), '{}') INTO changes
        FROM jsonb_each($1 -> 'defaults') AS d WHERE d.value <> now_values -> d.key;
        IF octet_length(now_values::text) > 65536 THEN
            PERFORM ebb.rules_too_large();
        END IF;
    END IF;
    merged := (now_values, changes, '{}'::text[])::ebb.rules_merged;
    RETURN merged;
END $work$;
