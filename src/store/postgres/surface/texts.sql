-- name: texts
-- What rules_decide writes as text: parts of the state and of events.

-- The text of a value of type double, as the state has it: numbers of jsonb have no exponent.
CREATE OR REPLACE FUNCTION ebb.rules_double(value jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET extra_float_digits = 1 AS $work$
DECLARE
    word text := ($1 #>> '{}')::double precision::text;
BEGIN
    RETURN coalesce(word || CASE WHEN word ~ '[.e]' THEN '' ELSE '.0' END, 'null');
END $work$;

-- Compact JSON text of an object of attributes, in the order of the names. `doubles`: those of type double.
CREATE OR REPLACE FUNCTION ebb.rules_text(vals jsonb, names text[], doubles jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    name text;
    result text := '';
BEGIN
    FOREACH name IN ARRAY $2 LOOP
        IF $1 ? name THEN
            result := result || ',"' || name || '":' || CASE
                WHEN $3 ? name THEN ebb.rules_double($1 -> name) ELSE ($1 -> name)::text
            END;
        END IF;
    END LOOP;
    RETURN '{' || substr(result, 2) || '}';
END $work$;

-- The names of triggers, by number, as a JSON list.
CREATE OR REPLACE FUNCTION ebb.rules_trigger_names(program jsonb, triggers integer[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $work$
    SELECT '[' || string_agg(($1 #> ARRAY['triggers', (t - 1)::text, 'name'])::text, ',' ORDER BY t) || ']'
    FROM unnest($2) AS t
$work$;

-- What the event of a write says of it.
CREATE OR REPLACE FUNCTION ebb.rules_written(
    program jsonb, names text[], write jsonb, merged ebb.rules_merged, fired integer[], armed integer[],
    disarmed integer[], final_name text
) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    name text;
    news text := '';
    was text := '';
    fires text := '';
    i integer;
BEGIN
    IF $4.changes <> '{}' THEN
        FOREACH name IN ARRAY $2 LOOP
            IF $4.changes ? name THEN
                IF $1 -> 'doubles' ? name THEN
                    news := news || ',"' || name || '":' || ebb.rules_double($4.now_values -> name);
                    was := was || ',"' || name || '":[' || ebb.rules_double($4.changes -> name -> 0) || ','
                        || ($4.changes -> name ->> 1) || ']';
                ELSE
                    news := news || ',"' || name || '":' || ($4.now_values -> name)::text;
                    was := was || ',"' || name || '":' || ($4.changes -> name)::text;
                END IF;
            END IF;
        END LOOP;
    END IF;
    FOREACH i IN ARRAY $5 LOOP
        fires := fires || ',' || ($1 #> ARRAY['triggers', (i - 1)::text, 'name'])::text;
    END LOOP;
    fires := substr(fires, 2) || ']';
    IF cardinality($6) > 0 THEN
        fires := fires || ',"armed":' || ebb.rules_trigger_names($1, $6);
    END IF;
    IF cardinality($7) > 0 THEN
        fires := fires || ',"disarmed":' || ebb.rules_trigger_names($1, $7);
    END IF;
    RETURN '{"values":{' || substr(news, 2) || '},"was":{' || substr(was, 2) || '},"fired":['
        || fires || coalesce(',"final":' || to_json($8)::text, '')
        || CASE WHEN cardinality($4.overwrote) > 0
            THEN ',"overwrote":' || array_to_json($4.overwrote)::text ELSE '' END
        || coalesce(',"by":' || to_json($3 ->> 'by')::text, '')
        || CASE WHEN $3 ->> 'source' = 'repair' THEN ',"repair":true}' ELSE '}' END;
END $work$;

-- The marks after an exception: nothing has fired.
CREATE OR REPLACE FUNCTION ebb.rules_unfired(marks jsonb, earlier jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $work$
    SELECT coalesce(jsonb_object_agg(m.key, (m.value - 'true') || jsonb_build_object('fires', least(
        (m.value ->> 'fires')::bigint, coalesce(($2 -> m.key ->> 'fires')::bigint, 0)
    ))), '{}') FROM jsonb_each($1) AS m
$work$;

-- The marks of triggers, in their order, without those that say nothing.
CREATE OR REPLACE FUNCTION ebb.rules_marks(marks jsonb, program jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $work$
    SELECT '{' || coalesce(string_agg(concat(
        t -> 'name', ':{"fires":', m -> 'fires', CASE WHEN m ? 'true' THEN ',"true":true' END,
        ',"failed":' || (m ->> 'failed'), '}'
    ), ',' ORDER BY n), '') || '}'
    FROM jsonb_array_elements($2 -> 'triggers') WITH ORDINALITY AS x (t, n)
    CROSS JOIN LATERAL (SELECT $1 -> (t ->> 'name') AS m) AS y
    WHERE m IS NOT NULL AND m <> '{"fires": 0}'
$work$;

-- Members of a state that no write of attributes changes, as they are written there.
CREATE OR REPLACE FUNCTION ebb.rules_kept(state json, is_end boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $work$
    SELECT concat(
        ',"records":' || ($1 ->> 'records'), ',"requests":' || ($1 ->> 'requests'),
        ',"labels":' || ($1 ->> 'labels'), ',"run":' || ($1 -> 'run')::text,
        CASE WHEN NOT $2 THEN concat(',"savepoint":' || ($1 ->> 'savepoint'), ',"signals":' || ($1 ->> 'signals')) END
    )
$work$;
