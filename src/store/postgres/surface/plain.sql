-- name: plain
-- The usual completion of a claimed job by an UPDATE, decided and written with three statements. A completion is usual
-- if nothing but the job is pending, nothing has happened since the job fired, and one transition follows or the
-- instance ends. rules_decide and flow_apply decide all other completions. They cost twice as much, because each
-- transaction sets up each expression and each statement of PL/pgSQL that it runs. A test compares both ways with the
-- kernel.

-- Returns whether the completion was a usual one; otherwise it writes nothing. `before`, `after`: the attributes of the
-- row.
CREATE OR REPLACE FUNCTION ebb.flow_complete_plain(
    flow text, version integer, notify text, program jsonb, wid bigint, id uuid, before jsonb, after jsonb
) RETURNS boolean
LANGUAGE plpgsql AS $work$
#variable_conflict use_variable
DECLARE
    i record;
    d record;
    ignored text;
BEGIN
    SELECT o.state::jsonb AS state, o.priority, o.status = 'running' AND o.lease_owner IS NULL AND o.version = $2 AS is_plain
    INTO i FROM ebb.instances AS o WHERE o.id = $6 FOR UPDATE;
    SELECT w.*, '{"status":' || CASE
               WHEN w.final_name IS NULL THEN '"running","seq":' || w.seq + 3
                   || coalesce(',"last_token":' || nullif(w.last_token, 0), '') || ',"visit":' || w.last_visit + 1
                   || ',"tokens":[{"id":' || w.token || ',"node":' || (w.rule -> 'name')::text || ',"branch":' || w.branch
                   || ',"visit":' || w.last_visit + 1 || ',"attempt":1,"input":' || w.seq + 3 || ',"fired":' || w.seq + 3
                   || '}]'
               ELSE '"completed","seq":' || w.seq + 3 || coalesce(',"last_token":' || nullif(w.last_token, 0), '')
                   || coalesce(',"visit":' || nullif(w.last_visit, 0), '') || ',"result":' || w.seq + 3
           END || ',"rules":{"format":1,"values":' || w.vals || ',"written":{' || substr(w.written, 2)
               || '},"marks":{}}}' AS state,
           '{"values":{' || substr(w.news, 2) || '},"was":{' || substr(w.was, 2) || '},"fired":['
               || CASE WHEN w.final_name IS NULL THEN (w.rule -> 'name')::text ELSE '' END || ']'
               || coalesce(',"final":' || to_json(w.final_name)::text, '') || '}' AS payload,
           statement_timestamp() <> transaction_timestamp() AND EXISTS (
               SELECT 1 FROM ebb.tasks AS t
               WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = w.rule ->> 'handler'
                 AND t.queue = w.rule ->> 'queue'
           ) AS is_watched,
           EXISTS (SELECT 1 FROM ebb.flow_behind AS b WHERE b.flow = $1) AS is_behind,
           pg_has_role(session_user, current_user, 'USAGE') AS is_owner, ebb.work_now() AS moment
    INTO d
    FROM (
        SELECT x.token, x.own ->> 'node' AS node, x.visit, (x.own ->> 'attempt')::integer AS attempt,
               (x.own ->> 'input')::bigint AS input, x.seq, coalesce((i.state ->> 'last_token')::bigint, 0) AS last_token,
               coalesce((i.state ->> 'visit')::bigint, 0) AS last_visit, x.handler, x.tgid,
               '{' || substr(n.vals, 2) || '}' AS vals, n.written, n.news, n.was, n.delta, k.due_at,
               program -> 'finals' -> (r.ended - 1) ->> 'name' AS final_name, r.first - x.finals AS branch,
               program -> 'triggers' -> (r.first - x.finals - 1) AS rule
        FROM (
            SELECT z.*, (z.own ->> 'id')::bigint AS token, (z.own ->> 'visit')::bigint AS visit,
                   (i.state ->> 'seq')::bigint AS seq, z.rule ->> 'handler' AS handler, (z.claim ->> 'tgid')::bigint AS tgid,
                   jsonb_array_length(program -> 'finals') AS finals
            FROM (
                SELECT i.state -> 'rules' AS rules, s.own, s.claims, s.claims -> 0 AS claim,
                       program -> 'triggers' -> ((s.own ->> 'branch')::integer - 1) AS rule
                FROM (
                    SELECT nullif(current_setting('ebb_surface.claims', true), '')::jsonb AS claims,
                           i.state -> 'tokens' -> 0 AS own
                    WHERE i.is_plain AND (program ->> 'is_simple')::boolean
                      AND coalesce(current_setting('ebb_surface.job', true), '') = ''
                ) AS s
                OFFSET 0
            ) AS z
            WHERE i.state - '{status,seq,last_token,visit,tokens,rules}'::text[] = '{}'
              AND jsonb_array_length(i.state -> 'tokens') = 1
              AND z.own - '{id,node,branch,visit,attempt,input,fired}'::text[] = '{}'
              AND z.own -> 'fired' = i.state -> 'seq' AND z.own -> 'node' = z.rule -> 'name'
              AND coalesce(z.rule -> 'writes', 'null') = 'null'
              AND z.rules - '{format,values,written,marks}'::text[] = '{}' AND z.rules -> 'marks' = '{}'
              AND z.rules -> 'values' = before AND before <> after
              AND (i.state ->> 'visit')::bigint < (program ->> 'step_budget')::bigint
              AND jsonb_array_length(z.claims) = 1 AND z.claim -> 'is_leased' = 'false'
              AND z.claim ->> 'flow' = $1 AND z.claim ->> 'wid' = $5::text
              AND z.claim ->> 'job' = (
                  $6 || ':' || (z.own ->> 'id') || ':' || (z.own ->> 'visit') || ':' || (z.own ->> 'attempt') || ':0'
              )
            OFFSET 0
        ) AS x
        JOIN ebb.tasks AS k ON k.instance_id = $6 AND k.token = x.token AND k.lease_owner IS NULL AND k.handler <> ''
        CROSS JOIN LATERAL ebb.flow_match($1, $2, program, after) AS m
        CROSS JOIN LATERAL (
            SELECT string_agg(',"' || a.name || '":' || (after -> a.name)::text, '') AS vals,
                   string_agg(',"' || a.name || '":' || CASE
                       WHEN after -> a.name <> before -> a.name THEN x.seq + 2
                       ELSE (x.rules -> 'written' ->> a.name)::bigint
                   END, '') AS written,
                   string_agg(',"' || a.name || '":' || (after -> a.name)::text, '')
                       FILTER (WHERE after -> a.name <> before -> a.name) AS news,
                   string_agg(',"' || a.name || '":' || jsonb_build_array(
                       before -> a.name, coalesce((x.rules -> 'written' ->> a.name)::bigint, 0)
                   )::text, '') FILTER (WHERE after -> a.name <> before -> a.name) AS was,
                   jsonb_object_agg(a.name, after -> a.name)
                       FILTER (WHERE after -> a.name <> before -> a.name) AS delta
            FROM jsonb_array_elements_text(program -> 'names') AS a (name)
        ) AS n
        CROSS JOIN LATERAL (
            SELECT min(q.n) FILTER (WHERE q.n <= x.finals) AS ended, count(*) FILTER (WHERE q.fires) AS fired,
                   min(q.n) FILTER (WHERE q.fires) AS first
            FROM (
                SELECT q.n, q.n > x.finals AND program -> 'triggers' -> (q.n - x.finals - 1) -> 'enabled' = 'true' AND (
                    q.n - x.finals = (x.own ->> 'branch')::integer OR n.delta ?| translate(
                        (program -> 'triggers' -> (q.n - x.finals - 1) -> 'reads')::text, '[]', '{}'
                    )::text[]
                ) AS fires
                FROM generate_subscripts(m.truth, 1) AS q (n) WHERE m.truth[q.n]
            ) AS q
        ) AS r
        WHERE m.faults = '{}' AND octet_length(n.vals) < 65000 AND (r.ended IS NOT NULL OR r.fired = 1)
        FOR UPDATE OF k
    ) AS w;
    -- A session can forge the setting, but not the lock.
    IF NOT FOUND OR NOT pg_try_advisory_xact_lock(ebb.flow_lock($6, d.tgid)) THEN
        RETURN false;
    END IF;
    IF NOT d.is_owner THEN
        PERFORM ebb.flow_check_right($1, 'work:' || d.handler);
    END IF;
    ignored := set_config('ebb_surface.claims', '[]', true) || set_config('ebb_surface.deciding', $6::text, true)
        || set_config('ebb_work.is_watched', CASE WHEN d.is_watched AND d.final_name IS NULL THEN 'on' ELSE '' END, true);
    IF d.final_name IS NOT NULL THEN
        WITH events AS (
            -- include: plain_events
                $6, d.seq + 3, 'completed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, d.moment, d.vals
            )
        ), ended AS (
            DELETE FROM ebb.tasks AS t WHERE t.instance_id = $6 AND t.token > -9223372036854775807
        )
        UPDATE ebb.instances AS o
        SET revision = o.revision + 1, status = 'completed', state = d.state, updated_at = d.moment, finished_at = d.moment
        WHERE o.id = $6;
    ELSE
        WITH events AS (
            -- include: plain_events
                $6, d.seq + 3, 'state_written', NULL, NULL, NULL, NULL, d.seq + 2, NULL, NULL, d.moment, d.vals
            )
        ), put AS (
            UPDATE ebb.tasks AS t
            SET handler = d.rule ->> 'handler', queue = d.rule ->> 'queue', due_at = d.moment,
                rank = d.moment - 2000000 * i.priority::bigint, lane = 1, is_stop = false, was_lost = false,
                lost_by = NULL, concurrency_key = NULL, took_slot = NULL, outcome = NULL, lease_until = NULL
            WHERE t.instance_id = $6 AND t.token = d.token
        )
        UPDATE ebb.instances AS o SET revision = o.revision + 1, state = d.state, updated_at = d.moment WHERE o.id = $6;
        IF NOT d.is_watched THEN
            PERFORM ebb.work_ring(EXISTS (
                SELECT 1 FROM ebb.tasks AS t
                WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = d.rule ->> 'handler'
                  AND t.queue = d.rule ->> 'queue' AND t.instance_id <> $6
            ));
        END IF;
        IF notify = 'wed' THEN
            PERFORM ebb.flow_tell(program, $5, after, ARRAY[
                ROW(d.token, d.rule ->> 'name', d.rule ->> 'handler', d.rule ->> 'queue', NULL)::ebb.rules_put
            ]);
        END IF;
    END IF;
    ignored := set_config('ebb_surface.deciding', '', true) || set_config('ebb_work.is_watched', '', true);
    IF d.is_behind THEN
        PERFORM ebb.flow_catch_up($1);
    END IF;
    RETURN true;
END $work$;

-- fragment: plain_events
INSERT INTO ebb.history (
    instance_id, seq, type, node, token, visit, attempt, ref, worker, started_at, at, payload
)
VALUES (
    $6, d.seq + 1, 'step_completed', d.node, d.token, d.visit, d.attempt, d.input, session_user::text, d.due_at,
    d.moment, d.delta::text
), (
    $6, d.seq + 2, 'attributes_written', d.node, d.token, d.visit, d.attempt, d.seq + 1, NULL, NULL, d.moment,
    d.payload
), (

-- fragment: plain_starts
-- Starts the instances of new rows, if each of them fires a transition and none of them ends at once. `usual`: the flow.
ignored := set_config('ebb_surface.deciding', usual.ids, true) || set_config(
    'ebb_work.is_watched', CASE WHEN statement_timestamp() <> transaction_timestamp() THEN 'on' ELSE '' END, true
);
WITH decided AS MATERIALIZED (
    SELECT x.id, x.now, x.names, '{' || substr(n.vals, 2) || '}' AS vals, substr(n.written, 2) AS written,
           '{' || coalesce(substr(n.news, 2), '') || '}' AS news, r.fired, r.tokens, r.is_known,
           m.faults = '{}' AND r.fired IS NOT NULL AND NOT r.is_final AND octet_length(n.vals) < 65000
               AND x.vals - x.names = '{}' AS is_usual
    FROM (
        SELECT _new.instance_id AS id, ebb.work_now() AS now, to_jsonb(_new) - '{wid,instance_id}'::text[] AS vals,
               translate((usual.program -> 'names')::text, '[]', '{}')::text[] AS names
        FROM new_rows AS _new
        OFFSET 0
    ) AS x
    CROSS JOIN LATERAL ebb.flow_match(usual.flow, usual.version, usual.program, x.vals) AS m
    CROSS JOIN LATERAL (
        SELECT string_agg(',"' || a.name || '":' || (x.vals -> a.name)::text, '') AS vals,
               string_agg(',"' || a.name || '":1', '')
                   FILTER (WHERE x.vals -> a.name <> usual.program -> 'defaults' -> a.name) AS written,
               string_agg(',"' || a.name || '":' || (x.vals -> a.name)::text, '')
                   FILTER (WHERE x.vals -> a.name <> usual.program -> 'defaults' -> a.name) AS news
        FROM unnest(x.names) AS a (name)
    ) AS n
    CROSS JOIN LATERAL (
        SELECT bool_or(q.rule IS NULL) AS is_final, array_agg(q.rule ORDER BY q.n) FILTER (WHERE q.fires) AS fired,
               string_agg(
                   '{"id":' || q.token || ',"node":' || (q.rule -> 'name')::text || ',"branch":' || q.branch
                   || ',"visit":' || q.token || ',"attempt":1,"input":2,"fired":2}', ',' ORDER BY q.n
               ) FILTER (WHERE q.fires) AS tokens,
               bool_and(EXISTS (
                   SELECT 1 FROM ebb.tasks AS t
                   WHERE t.lane = 1 AND t.lease_owner IS NULL AND t.handler = q.rule ->> 'handler'
                     AND t.queue = q.rule ->> 'queue'
               )) FILTER (WHERE q.fires) AS is_known
        FROM (
            SELECT b.*, count(*) FILTER (WHERE b.fires) OVER (ORDER BY b.n) AS token
            FROM (
                SELECT p.n, p.branch, p.rule, coalesce(p.rule -> 'enabled' = 'true', false) AS fires FROM (
                    SELECT s.n, s.n - jsonb_array_length(usual.program -> 'finals') AS branch,
                           CASE WHEN s.n > jsonb_array_length(usual.program -> 'finals') THEN
                               usual.program -> 'triggers' -> (s.n - jsonb_array_length(usual.program -> 'finals') - 1)
                           END AS rule
                    FROM generate_subscripts(m.truth, 1) AS s (n) WHERE m.truth[s.n]
                ) AS p
            ) AS b
        ) AS q
    ) AS r
), usable AS (
    SELECT d.* FROM decided AS d WHERE (SELECT bool_and(o.is_usual) FROM decided AS o)
), begun AS (
    INSERT INTO ebb.instances (
        id, workflow, version, status, revision, priority, created_at, updated_at, finished_at, state
    )
    SELECT u.id, usual.flow, usual.version, 'running', 1, 0, u.now, u.now, NULL,
           '{"status":"running","seq":2,"last_token":' || cardinality(u.fired) || ',"visit":' || cardinality(u.fired)
               || ',"tokens":[' || u.tokens || '],"rules":{"format":1,"values":' || u.vals || ',"written":{'
               || coalesce(u.written, '') || '},"marks":{}}}'
    FROM usable AS u
), events AS (
    INSERT INTO ebb.history (instance_id, seq, type, ref, worker, at, payload)
    SELECT u.id, e.seq, e.type, e.ref, e.worker, u.now, e.payload
    FROM usable AS u CROSS JOIN LATERAL (
        VALUES (1, 'started', NULL, session_user::text, u.news), (2, 'state_written', 1, NULL, u.vals)
    ) AS e (seq, type, ref, worker, payload)
), puts AS (
    INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane)
    SELECT u.id, p.token, p.rule ->> 'handler', p.rule ->> 'queue', u.now, u.now, 1
    FROM usable AS u CROSS JOIN LATERAL unnest(u.fired) WITH ORDINALITY AS p (rule, token)
)
SELECT bool_and(d.is_usual), bool_and(d.is_known) INTO has_started, is_known FROM decided AS d;
ignored := set_config('ebb_surface.deciding', '', true) || set_config('ebb_work.is_watched', '', true);
IF has_started AND NOT is_known THEN
    PERFORM ebb.work_ring(false);
END IF;
IF has_started AND usual.is_behind THEN
    PERFORM ebb.flow_catch_up(TG_ARGV[0]);
END IF;
