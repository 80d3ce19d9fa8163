-- name: outcomes
-- Takes the text of a job apart.
CREATE OR REPLACE FUNCTION ebb.work_parts(
    job text, OUT instance_id uuid, OUT token bigint, OUT visit bigint, OUT attempt integer,
    OUT pauses integer
)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    parts text[] := regexp_match(
        $1, '^([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}):([0-9]{1,18}):([0-9]{1,18}):([0-9]{1,9}):([0-9]{1,9})$'
    );
BEGIN
    IF parts IS NULL THEN
        RAISE EXCEPTION 'This is not a job: "%". It must be as work_claim or wed_claim has said it.', left($1, 100)
            USING ERRCODE = 'EB011';
    END IF;
    instance_id := parts[1];
    token := parts[2];
    visit := parts[3];
    attempt := parts[4];
    pauses := parts[5];
END $work$;

-- Puts the outcome of a job on its task's row, if the session still holds it. The row is locked before
-- the state is looked at: a session that takes the token further must change the row.
CREATE OR REPLACE FUNCTION ebb.work_hand_in(session uuid, job text, outcome jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
#variable_conflict use_column
DECLARE
    worker ebb.workers := ebb.work_session($1);
    p record := ebb.work_parts($2);
    since bigint;
    first_text text;
BEGIN
    SELECT t.due_at INTO since FROM ebb.tasks AS t
    WHERE t.instance_id = p.instance_id AND t.token = p.token AND t.lease_owner = worker.id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'stale';
    END IF;
    PERFORM 1 FROM ebb.instances AS i CROSS JOIN LATERAL json_array_elements(
        CASE WHEN i.state LIKE '{%}' THEN i.state::json -> 'tokens' END
    ) AS k (token)
    WHERE i.id = p.instance_id AND i.finished_at IS NULL
      AND (k.token ->> 'id')::bigint = p.token AND (k.token ->> 'visit')::bigint = p.visit
      AND coalesce((k.token ->> 'attempt')::integer, 0) = p.attempt
      AND coalesce((k.token ->> 'pauses')::integer, 0) = p.pauses;
    IF NOT FOUND THEN
        RETURN 'stale';
    END IF;
    first_text := (
        jsonb_build_object(
            'visit', p.visit, 'attempt', p.attempt, 'pauses', p.pauses, 'worker', worker.id,
            'started_at', since
        ) || $3
    )::text;
    PERFORM ebb.work_ring(ebb.work_waits());
    PERFORM ebb.work_watch(true);
    UPDATE ebb.tasks AS t
    SET outcome = first_text, handler = '', lease_owner = NULL, lease_until = NULL,
        due_at = n.now, lane = 1, rank = n.now - 2000000 * (
            SELECT i.priority FROM ebb.instances AS i WHERE i.id = t.instance_id
        )
    FROM (SELECT ebb.work_now() AS now) AS n
    WHERE t.instance_id = p.instance_id AND t.token = p.token;
    PERFORM ebb.work_watch(false);
    RETURN 'handed_over';
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_check_size(value text, what text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF octet_length($1) > 1048576 THEN
        RAISE EXCEPTION 'The % has % bytes; 1,048,576 are allowed.', $2, octet_length($1)
            USING ERRCODE = 'EB011';
    END IF;
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_complete(
    session uuid, job text, output jsonb DEFAULT 'null', handle text DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    result text := coalesce($3, 'null')::text;
BEGIN
    PERFORM ebb.work_check_size(result, 'output');
    PERFORM ebb.work_check_size($4, 'handle');
    RETURN ebb.work_hand_in($1, $2, jsonb_strip_nulls(
        jsonb_build_object('type', 'step_completed', 'output', result, 'handle', nullif($4, ''))
    ));
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_fail(
    session uuid, job text, message text, code text DEFAULT 'error', permanent boolean DEFAULT false,
    retry_after interval DEFAULT NULL, details jsonb DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    pause bigint := (extract(epoch FROM $6) * 1000000)::bigint;
BEGIN
    PERFORM ebb.work_check_size($3, 'message');
    PERFORM ebb.work_check_size($7::text, 'details');
    IF $4 IS NOT NULL AND $4 !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        RAISE EXCEPTION 'A code is a letter and up to 63 letters, digits, ".", "_" and "-", not "%".',
            left($4, 100) USING ERRCODE = 'EB011';
    END IF;
    IF pause NOT BETWEEN 0 AND 31536000000000 THEN
        RAISE EXCEPTION 'retry_after is from 0 to 365 days, not %.', $6 USING ERRCODE = 'EB011';
    END IF;
    RETURN ebb.work_hand_in($1, $2, jsonb_strip_nulls(jsonb_build_object(
        'type', 'step_failed', 'code', coalesce($4, 'error'), 'message', coalesce($3, ''),
        'permanent', coalesce($5, false), 'retry_after', pause, 'details', $7::text
    )));
END $work$;

CREATE OR REPLACE FUNCTION ebb.work_pause(session uuid, job text) RETURNS text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    SELECT ebb.work_hand_in($1, $2, '{"type":"step_paused"}')
$work$;

-- Gives back jobs that were not begun. Returns how many the session still held.
CREATE OR REPLACE FUNCTION ebb.work_release(session uuid, jobs text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
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
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    SELECT format(
        '%s:%s:%s:%s:%s', i.id, $2, k.token ->> 'visit', coalesce(k.token ->> 'attempt', '0'),
        coalesce(k.token ->> 'pauses', '0')
    )
    FROM ebb.instances AS i CROSS JOIN LATERAL json_array_elements(
        CASE WHEN i.state LIKE '{%}' THEN i.state::json -> 'tokens' END
    ) AS k (token)
    WHERE i.id = $1 AND i.finished_at IS NULL AND (k.token ->> 'id')::bigint = $2
$work$;

CREATE OR REPLACE FUNCTION ebb.work_is_at(instance_id uuid, token bigint, job text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
    SELECT coalesce(ebb.work_job_of($1, $2) = $3, false)
$work$;

-- Prolongs the life of the worker with all its leases. Answers only with what concerns it: `stop` for
-- a job whose outcome is no longer wanted, `lost` for one of `jobs` that is no longer its own.
CREATE OR REPLACE FUNCTION ebb.work_beat(session uuid, jobs text[] DEFAULT '{}')
RETURNS SETOF ebb.work_ask
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
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

-- Hands in several outcomes and claims the next tasks, in one call. Each element of results has `job`
-- and either `output` (and perhaps `handle`), `error` {message, code, permanent, details}, or
-- `pause`: true. A stale one is ignored.
CREATE OR REPLACE FUNCTION ebb.work_next(session uuid, results jsonb, n integer DEFAULT 1)
RETURNS SETOF ebb.work_job
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $work$
DECLARE
    one jsonb;
BEGIN
    IF jsonb_typeof($2) IS DISTINCT FROM 'array' OR jsonb_array_length($2) > 1000 THEN
        RAISE EXCEPTION 'The results are a JSON array of at most 1,000 objects.'
            USING ERRCODE = 'EB011';
    END IF;
    -- Always in one order, so that two sessions cannot wait for each other.
    FOR one IN SELECT r.value FROM jsonb_array_elements($2) AS r ORDER BY r.value ->> 'job' LOOP
        IF one ? 'error' THEN
            PERFORM ebb.work_fail(
                $1, one ->> 'job', one #>> '{error,message}',
                coalesce(one #>> '{error,code}', 'error'),
                coalesce((one #>> '{error,permanent}')::boolean, false), NULL,
                one #> '{error,details}'
            );
        ELSIF one -> 'pause' = 'true' THEN
            PERFORM ebb.work_pause($1, one ->> 'job');
        ELSE
            PERFORM ebb.work_complete($1, one ->> 'job', one -> 'output', one ->> 'handle');
        END IF;
    END LOOP;
    IF $3 > 0 THEN
        RETURN QUERY SELECT * FROM ebb.work_claim($1, $3);
    END IF;
END $work$;
