-- name: outcomes
-- Takes the text of a job apart. A regular expression that captures its parts would take as long as all the rest of
-- a call.
CREATE OR REPLACE FUNCTION ebb.work_parts(
    job text, OUT instance_id uuid, OUT token bigint, OUT visit bigint, OUT attempt integer,
    OUT pauses integer
)
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    parts text[] := string_to_array($1, ':');
BEGIN
    IF cardinality(parts) IS DISTINCT FROM 5
        OR translate(parts[1], '0123456789abcdef', 'xxxxxxxxxxxxxxxx') <> 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'
        OR translate(parts[2] || parts[3] || parts[4] || parts[5], '0123456789', '') <> ''
        OR length(parts[2]) NOT BETWEEN 1 AND 18 OR length(parts[3]) NOT BETWEEN 1 AND 18
        OR length(parts[4]) NOT BETWEEN 1 AND 9 OR length(parts[5]) NOT BETWEEN 1 AND 9
    THEN
        RAISE EXCEPTION 'This is not a job: "%". It must be as work_claim or wed_claim has said it.', left($1, 100)
            USING ERRCODE = 'EB011';
    END IF;
    instance_id := parts[1];
    token := parts[2];
    visit := parts[3];
    attempt := parts[4];
    pauses := parts[5];
END $work$;

-- Puts the outcomes of jobs on the rows of their tasks, as far as the worker still holds them. Answers which, by
-- their numbers. The rows are locked before the states are looked at: a session that takes a token further must change
-- its row.
CREATE OR REPLACE FUNCTION ebb.work_hand_in_all(worker ebb.workers, jobs text[], outcomes jsonb[]) RETURNS integer[]
LANGUAGE plpgsql AS $work$
#variable_conflict use_column
DECLARE
    p record;
    ids uuid[] := '{}';
    tokens bigint[] := '{}';
    fences text[] := '{}';
    held integer;
    handed integer[];
    is_watched boolean := statement_timestamp() <> transaction_timestamp();
BEGIN
    FOR i IN 1 .. cardinality($2) LOOP
        p := ebb.work_parts($2[i]);
        ids := ids || p.instance_id;
        tokens := tokens || p.token;
        fences := fences || (p.visit || ':' || p.attempt || ':' || p.pauses);
    END LOOP;
    -- Always in one order, so that two sessions cannot wait for each other.
    PERFORM 1 FROM ebb.tasks AS t JOIN unnest(ids, tokens) AS l (id, token) ON t.instance_id = l.id AND t.token = l.token
    WHERE t.lease_owner = $1.id ORDER BY t.instance_id, t.token FOR UPDATE OF t;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held = 0 THEN
        RETURN '{}';
    END IF;
    IF NOT ebb.work_waits() THEN
        PERFORM ebb.work_ring(false);
        is_watched := false;
    ELSIF is_watched THEN
        PERFORM ebb.work_watch(true);
    END IF;
    WITH put AS (
        UPDATE ebb.tasks AS t
        SET outcome = (jsonb_build_object(
                'visit', (k.token ->> 'visit')::bigint, 'attempt', coalesce((k.token ->> 'attempt')::integer, 0),
                'pauses', coalesce((k.token ->> 'pauses')::integer, 0), 'worker', $1.id, 'started_at', t.due_at
            ) || l.outcome)::text,
            handler = '', lease_owner = NULL, lease_until = NULL, due_at = l.moment, lane = 1,
            rank = l.moment - 2000000 * i.priority::bigint
        FROM (
            -- Of a job that is there twice, the first one counts.
            SELECT DISTINCT ON (u.id, u.token, u.fence) u.*, n.moment
            FROM unnest(ids, tokens, fences, $3) WITH ORDINALITY AS u (id, token, fence, outcome, number)
            CROSS JOIN (SELECT ebb.work_now() AS moment) AS n
            ORDER BY u.id, u.token, u.fence, u.number
        ) AS l JOIN ebb.instances AS i ON i.id = l.id AND i.finished_at IS NULL
        CROSS JOIN LATERAL json_array_elements(
            CASE WHEN i.state LIKE '{%}' THEN i.state::json -> 'tokens' END
        ) AS k (token)
        WHERE t.instance_id = l.id AND t.token = l.token AND t.lease_owner = $1.id
          AND (k.token ->> 'id')::bigint = l.token AND l.fence = (
              (k.token ->> 'visit') || ':' || coalesce(k.token ->> 'attempt', '0') || ':'
              || coalesce(k.token ->> 'pauses', '0')
          )
        RETURNING l.number
    )
    SELECT coalesce(array_agg(u.number::integer), '{}') INTO handed FROM put AS u;
    IF is_watched THEN
        PERFORM ebb.work_watch(false);
    END IF;
    RETURN handed;
END $work$;

-- The same for one job of a session.
CREATE OR REPLACE FUNCTION ebb.work_hand_in(session uuid, job text, outcome jsonb) RETURNS text
LANGUAGE plpgsql AS $work$
BEGIN
    RETURN CASE
        WHEN ebb.work_hand_in_all(ebb.work_session($1), ARRAY[$2], ARRAY[$3]) = '{}' THEN 'stale' ELSE 'handed_over'
    END;
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_check_size(value text, what text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $work$
BEGIN
    IF octet_length($1) > 1048576 THEN
        RAISE EXCEPTION 'The % has % bytes; 1,048,576 are allowed.', $2, octet_length($1)
            USING ERRCODE = 'EB011';
    END IF;
END $work$;

-- What a step has yielded, as an outcome.
CREATE OR REPLACE FUNCTION ebb.work_completed(output jsonb, handle text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $work$
DECLARE
    result text := coalesce($1, 'null')::text;
BEGIN
    PERFORM ebb.work_check_size(result, 'output');
    PERFORM ebb.work_check_size($2, 'handle');
    RETURN jsonb_strip_nulls(
        jsonb_build_object('type', 'step_completed', 'output', result, 'handle', nullif($2, ''))
    );
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_complete(
    session uuid, job text, output jsonb DEFAULT 'null', handle text DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
BEGIN
    RETURN ebb.work_hand_in($1, $2, ebb.work_completed($3, $4));
END $work$;

-- Why an attempt has failed, as an outcome.
CREATE OR REPLACE FUNCTION ebb.work_failed(
    message text, code text, permanent boolean, retry_after interval, details jsonb
) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $work$
DECLARE
    pause bigint := (extract(epoch FROM $4) * 1000000)::bigint;
BEGIN
    PERFORM ebb.work_check_size($1, 'message');
    PERFORM ebb.work_check_size($5::text, 'details');
    IF $2 IS NOT NULL AND $2 !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        RAISE EXCEPTION 'A code is a letter and up to 63 letters, digits, ".", "_" and "-", not "%".',
            left($2, 100) USING ERRCODE = 'EB011';
    END IF;
    IF pause NOT BETWEEN 0 AND 31536000000000 THEN
        RAISE EXCEPTION 'retry_after is from 0 to 365 days, not %.', $4 USING ERRCODE = 'EB011';
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'type', 'step_failed', 'code', coalesce($2, 'error'), 'message', coalesce($1, ''),
        'permanent', coalesce($3, false), 'retry_after', pause, 'details', $5::text
    ));
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_fail(
    session uuid, job text, message text, code text DEFAULT 'error', permanent boolean DEFAULT false,
    retry_after interval DEFAULT NULL, details jsonb DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
BEGIN
    RETURN ebb.work_hand_in($1, $2, ebb.work_failed($3, $4, $5, $6, $7));
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_pause(session uuid, job text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
BEGIN
    RETURN ebb.work_hand_in($1, $2, '{"type":"step_paused"}');
END $work$;

-- Gives back jobs that were not begun. Returns how many the session still held.
CREATE OR REPLACE FUNCTION ebb.work_release(session uuid, jobs text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
#variable_conflict use_column
DECLARE
    worker ebb.workers := ebb.work_session($1);
    freed integer;
BEGIN
    WITH held AS (
        SELECT t.instance_id, t.token FROM unnest($2) AS j (job)
        CROSS JOIN LATERAL ebb.work_parts(j.job) AS p
        JOIN ebb.tasks AS t ON t.instance_id = p.instance_id AND t.token = p.token
        WHERE t.lease_owner = worker.id AND ebb.work_is_at(p.instance_id, p.token, j.job)
        ORDER BY t.instance_id, t.token FOR UPDATE OF t
    )
    UPDATE ebb.tasks AS t
    SET lease_owner = NULL, lease_until = NULL,
        handler = CASE WHEN t.is_stop THEN '' ELSE t.handler END
    FROM held AS h WHERE t.instance_id = h.instance_id AND t.token = h.token;
    GET DIAGNOSTICS freed = ROW_COUNT;
    IF freed > 0 THEN
        PERFORM ebb.work_ring(false);
    END IF;
    RETURN freed;
END $work$;

-- The job that the token waits for now; NULL if there is none.
CREATE OR REPLACE FUNCTION ebb.work_job_of(instance_id uuid, token bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $work$
BEGIN
    RETURN (
        SELECT format(
            '%s:%s:%s:%s:%s', i.id, $2, k.token ->> 'visit', coalesce(k.token ->> 'attempt', '0'),
            coalesce(k.token ->> 'pauses', '0')
        )
        FROM ebb.instances AS i CROSS JOIN LATERAL json_array_elements(
            CASE WHEN i.state LIKE '{%}' THEN i.state::json -> 'tokens' END
        ) AS k (token)
        WHERE i.id = $1 AND i.finished_at IS NULL AND (k.token ->> 'id')::bigint = $2
    );
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_is_at(instance_id uuid, token bigint, job text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $work$
BEGIN
    RETURN (
        SELECT coalesce(ebb.work_job_of($1, $2) = $3, false)
    );
END $work$;

-- Prolongs the life of the worker with all its leases. Answers only with what concerns it: `stop` for
-- a job whose outcome is no longer wanted, `lost` for one of `jobs` that is no longer its own.
CREATE OR REPLACE FUNCTION ebb.work_beat(session uuid, jobs text[] DEFAULT '{}')
RETURNS SETOF ebb.work_ask
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
#variable_conflict use_column
DECLARE
    worker ebb.workers := ebb.work_session($1);
BEGIN
    UPDATE ebb.workers AS w SET expires_at = ebb.work_now() + w.lease WHERE w.session = $1;
    RETURN QUERY
    SELECT ebb.work_job_of(t.instance_id, t.token), 'stop' FROM ebb.tasks AS t
    WHERE t.lease_owner = worker.id AND t.is_stop
    UNION ALL
    SELECT j.job, 'lost' FROM unnest($2) AS j (job) CROSS JOIN LATERAL ebb.work_parts(j.job) AS p
    WHERE NOT EXISTS (
        SELECT 1 FROM ebb.tasks AS t
        WHERE t.instance_id = p.instance_id AND t.token = p.token AND t.lease_owner = worker.id
    ) OR NOT ebb.work_is_at(p.instance_id, p.token, j.job);
END $work$;

-- Hands in the outcomes of a call one by one: for failures, pauses, jobs that occur twice, and jobs that the worker no
-- longer has.
CREATE OR REPLACE FUNCTION ebb.work_hand_in_each(worker ebb.workers, results jsonb) RETURNS void
LANGUAGE plpgsql AS $work$
DECLARE
    one jsonb;
    jobs text[] := '{}';
    outcomes jsonb[] := '{}';
BEGIN
    FOR i IN 0 .. jsonb_array_length($2) - 1 LOOP
        one := $2 -> i;
        jobs := array_append(jobs, one ->> 'job');
        IF one ? 'error' THEN
            outcomes := outcomes || ebb.work_failed(
                one #>> '{error,message}', coalesce(one #>> '{error,code}', 'error'),
                coalesce((one #>> '{error,permanent}')::boolean, false), NULL, one #> '{error,details}'
            );
        ELSIF one -> 'pause' = 'true' THEN
            outcomes := outcomes || jsonb '{"type":"step_paused"}';
        ELSE
            outcomes := outcomes || ebb.work_completed(one -> 'output', one ->> 'handle');
        END IF;
    END LOOP;
    PERFORM ebb.work_hand_in_all($1, jobs, outcomes);
END $work$;

-- Hands in several outcomes and claims the next tasks, in one call. Each element of results has `job`
-- and either `output` (and perhaps `handle`), `error` {message, code, permanent, details}, or
-- `pause`: true. A stale one is ignored.
CREATE OR REPLACE FUNCTION ebb.work_next(session uuid, results jsonb, n integer DEFAULT 1)
RETURNS SETOF ebb.work_job
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $work$
#variable_conflict use_column
DECLARE
    wanted integer := $3;
    outcomes integer := CASE WHEN jsonb_typeof($2) = 'array' THEN jsonb_array_length($2) END;
    handed integer;
    is_watched boolean;
    ignored text;
    -- include: turn_variables
BEGIN
    -- include: look_at_session
    IF (outcomes BETWEEN 0 AND 1000) IS NOT TRUE THEN
        RAISE EXCEPTION 'The results are a JSON array of at most 1,000 objects.'
            USING ERRCODE = 'EB011';
    END IF;
    IF outcomes > 0 THEN
        is_watched := own.is_known AND own.may_last;
        IF is_watched THEN
            ignored := set_config('ebb_work.is_watched', 'on', true);
        END IF;
        -- A row that has a newer version by now is not changed, because the state that was read may be older. The
        -- order is always the same, so that two sessions cannot wait for each other.
        WITH results AS MATERIALIZED (
            SELECT j.*, t.xmin AS row_version
            FROM (
                SELECT r.number, r.one ->> 'job' AS job, split_part(r.one ->> 'job', ':', 1)::uuid AS id,
                       split_part(r.one ->> 'job', ':', 2)::bigint AS token,
                       coalesce((r.one -> 'output')::text, 'null') AS output, r.one ->> 'handle' AS handle
                FROM jsonb_array_elements($2) WITH ORDINALITY AS r (one, number)
                WHERE r.one ->> 'job' ~ ('^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
                    || ':[0-9]{1,18}:[0-9]{1,18}:[0-9]{1,9}:[0-9]{1,9}$')
                  AND NOT r.one ? 'error' AND (r.one -> 'pause' = 'true') IS NOT TRUE
                OFFSET 0
            ) AS j
            JOIN ebb.tasks AS t ON t.instance_id = j.id AND t.token = j.token
            WHERE t.lease_owner = owner AND octet_length(j.output) <= 1048576
              AND (octet_length(j.handle) <= 1048576) IS NOT FALSE
            ORDER BY j.id, j.token, j.number
        )
        UPDATE ebb.tasks AS t
        SET outcome = '{"type":"step_completed","visit":' || (k.token ->> 'visit')
                || ',"attempt":' || coalesce(k.token ->> 'attempt', '0')
                || ',"pauses":' || coalesce(k.token ->> 'pauses', '0') || ',"worker":' || to_json(owner)::text
                || ',"started_at":' || t.due_at || ',"output":' || to_json(r.output)::text
                || coalesce(',"handle":' || to_json(nullif(r.handle, ''))::text, '') || '}',
            handler = '', lease_owner = NULL, lease_until = NULL, due_at = own.now, lane = 1,
            rank = own.now - 2000000 * i.priority::bigint
        FROM results AS r JOIN ebb.instances AS i ON i.id = r.id AND i.finished_at IS NULL
        CROSS JOIN LATERAL jsonb_array_elements(
            CASE WHEN i.state LIKE '{%}' THEN (i.state::json -> 'tokens')::jsonb END
        ) AS k (token)
        WHERE t.instance_id = r.id AND t.token = r.token AND t.xmin = r.row_version AND t.lease_owner = owner
          AND (k.token ->> 'id')::bigint = r.token AND (k.token ->> 'visit')::bigint = split_part(r.job, ':', 3)::bigint
          AND coalesce((k.token ->> 'attempt')::integer, 0) = split_part(r.job, ':', 4)::integer
          AND coalesce((k.token ->> 'pauses')::integer, 0) = split_part(r.job, ':', 5)::integer;
        GET DIAGNOSTICS handed = ROW_COUNT;
        IF is_watched THEN
            ignored := set_config('ebb_work.is_watched', '', true);
        ELSIF handed > 0 AND NOT own.is_known THEN
            PERFORM ebb.work_ring(false);
        END IF;
        IF handed < outcomes THEN
            PERFORM ebb.work_hand_in_each(own.worker, $2);
        END IF;
    END IF;
    IF wanted > 0 THEN
        -- include: claim_jobs
    END IF;
END $work$;
