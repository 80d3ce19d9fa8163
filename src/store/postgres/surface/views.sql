-- name: views
-- What a flow shows, and the functions in its schema: each hands its arguments to one of ebb.
CREATE OR REPLACE FUNCTION ebb.flow_views(flow text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $work$
BEGIN
    IF to_regprocedure(format('%I.wed_fail(text,text)', $1)) IS NOT NULL THEN
        EXECUTE format('DROP FUNCTION %I.wed_fail(text, text)', $1);  -- of an earlier installation
    END IF;
    EXECUTE format($body$
        CREATE OR REPLACE VIEW %1$I.job_pool AS
        SELECT f.wid, CASE WHEN _k ->> 'node' = '_EXCPT' THEN 0 ELSE (r.rule ->> 'tgid')::integer END AS tgid,
               coalesce(
                   r.rule ->> CASE WHEN _k ->> 'compensates' IS NULL THEN 'handler' ELSE 'compensate' END,
                   CASE _k ->> 'node' WHEN '_EXCPT' THEN v.program ->> 'handler' END, _k ->> 'node'
               ) AS trname, t.lease_owner AS lckid,
               make_interval(secs => coalesce((r.rule ->> 'timeout')::double precision, 3600000000) / 1000000)
                   AS timeout,
               CASE
                   WHEN _k ->> 'compensates' IS NOT NULL THEN json_build_object(
                       'input', nullif(g.payload, '')::json, 'output', nullif(h.payload, '')::json
                   )
                   WHEN h.type = 'input_resolved' THEN h.payload::json -> 'state' ELSE h.payload::json
               END AS payload,
               f.instance_id, (_k ->> 'id')::bigint AS token, (_k ->> 'visit')::bigint AS visit,
               coalesce((_k ->> 'attempt')::integer, 0) AS attempt,
               CASE
                   WHEN _k ->> 'status' = 'waiting_timer' THEN 'armed'
                   WHEN t.lease_owner IS NOT NULL OR t.handler = '' THEN 'held'
                   WHEN _k ->> 'status' = 'retrying' AND t.lane = 0 THEN 'retrying'
                   WHEN _k ->> 'status' IS NOT NULL AND _k ->> 'status' <> 'retrying' THEN _k ->> 'status'
                   ELSE 'ready'
               END AS status,
               t.lease_owner AS worker, to_timestamp(h.at / 1000000.0) AS since,
               to_timestamp(t.due_at / 1000000.0) AS due_at,
               format('%%s:%%s:%%s:%%s:%%s', i.id, _k ->> 'id', _k ->> 'visit', coalesce(_k ->> 'attempt', '0'),
                   coalesce(_k ->> 'pauses', '0')) AS job,
               CASE
                   WHEN _k ->> 'compensates' IS NOT NULL THEN 'undoes ' || coalesce(r.rule ->> 'handler', _k ->> 'node')
                   WHEN h.type = 'input_resolved' THEN h.payload::json ->> 'cause'
               END AS cause
        FROM %1$I.wed_flow AS f
        JOIN ebb.instances AS i ON i.id = f.instance_id AND i.finished_at IS NULL
        CROSS JOIN LATERAL json_array_elements(i.state::json -> 'tokens') AS _k
        LEFT JOIN ebb.flow_versions AS v ON v.flow = i.workflow AND v.version = i.version
        LEFT JOIN LATERAL (
            SELECT _x AS rule FROM jsonb_array_elements(v.program -> 'triggers') AS _x WHERE _x ->> 'name' = _k ->> 'node'
        ) AS r ON true
        LEFT JOIN ebb.all_tasks AS t ON t.instance_id = i.id AND t.token = (_k ->> 'id')::bigint
        LEFT JOIN ebb.history AS h ON h.instance_id = i.id
            AND h.seq = coalesce(_k ->> 'compensates', _k ->> 'fired')::bigint
        LEFT JOIN ebb.history AS g ON _k ->> 'compensates' IS NOT NULL AND g.instance_id = i.id AND g.seq = h.ref
        WHERE _k ->> 'scope' IS NULL;

        CREATE OR REPLACE VIEW %1$I.st_status AS
        SELECT f.wid, CASE
                   WHEN i.status = 'completed' THEN 'F'
                   WHEN i.status NOT IN ('running', 'paused') OR i.state::json #> '{rules,exception}' IS NOT NULL
                   THEN 'E' ELSE 'R'
               END::char AS status,
               i.status::text AS ebb_status, (
                   -- Of a rollback: what it is for, such as recover or cancel.
                   SELECT CASE h.type WHEN 'exception_raised' THEN h.payload::json ->> 'code' ELSE coalesce(
                       h.payload::json ->> 'kind', h.payload::json ->> 'code', h.type COLLATE "default"
                   ) END
                   FROM ebb.history AS h WHERE h.instance_id = i.id AND h.seq = coalesce(
                       i.state::json #>> '{rules,exception}', i.state::json #>> '{rollbacks,0,cause}'
                   )::bigint
               ) AS exception, to_timestamp(i.updated_at / 1000000.0) AS since
        FROM %1$I.wed_flow AS f JOIN ebb.instances AS i ON i.id = f.instance_id;

        -- What a start with these values has fired: the history keeps it only for what was called. Disabled triggers
        -- and those that wait for their time fire nothing at once.
        CREATE OR REPLACE FUNCTION %1$I._begun(version integer, vals jsonb) RETURNS SETOF text
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
        DECLARE
            program jsonb := (SELECT v.program FROM ebb.flow_versions AS v WHERE v.flow = %2$L AND v.version = $1);
            others integer := jsonb_array_length(program -> 'invariants') + jsonb_array_length(program -> 'finals')
                + jsonb_array_length(program -> 'exceptions');
            m record;
        BEGIN
            IF program IS NOT NULL THEN
                m := ebb.flow_match(%2$L, $1, program, $2);
                RETURN QUERY SELECT x.t ->> 'name'
                FROM jsonb_array_elements(program -> 'triggers') WITH ORDINALITY AS x (t, n)
                WHERE x.t -> 'enabled' = 'true' AND x.t ->> 'after' IS NULL AND m.truth[others + x.n];
            END IF;
        END $f$;

        CREATE OR REPLACE VIEW %1$I.wed_trace AS
        SELECT f.wid, h.seq, CASE
                   WHEN h.type = 'started' THEN '_INIT'
                   WHEN h.type = 'state_restored' THEN '~' || coalesce(m.handlers ->> h.node, h.node)
                   ELSE coalesce(m.handlers ->> h.node, h.node, '_EXT')
               END AS trw,
               CASE WHEN h.type = 'started' THEN ARRAY(
                   SELECT coalesce(m.handlers ->> u.node, u.node) FROM (
                       SELECT s.node::text FROM ebb.history AS s
                       WHERE s.instance_id = i.id AND s.ref = 2 AND s.visit IS NOT NULL AND starts_with(s.type, 'step_')
                       UNION
                       SELECT _k ->> 'node' FROM json_array_elements(
                           CASE WHEN i.finished_at IS NULL THEN i.state::json -> 'tokens' END
                       ) AS _k WHERE _k ->> 'fired' = '2' AND _k ->> 'status' IS DISTINCT FROM 'waiting_timer'
                       UNION
                       SELECT b.name FROM ebb.history AS w
                       CROSS JOIN LATERAL %1$I._begun(d.version, w.payload::jsonb) AS b (name)
                       WHERE w.instance_id = i.id AND w.seq = 2 AND w.type = 'state_written' AND w.ref = 1
                   ) AS u ORDER BY 1
               ) ELSE ARRAY(
                   SELECT coalesce(m.handlers ->> _x, _x) FROM json_array_elements_text(h.payload::json -> 'fired') AS _x
               ) END AS trf,
               CASE
                   WHEN o.type = 'completed' THEN 'F' WHEN o.type = 'exception_raised' THEN 'E' ELSE 'R'
               END::char AS status,
               to_timestamp(h.at / 1000000.0) AS tstmp, (
                   -- What the version of that time has.
                   SELECT jsonb_object_agg(n.name, s.vals -> n.name)
                   FROM ebb.flow_versions AS v
                   CROSS JOIN LATERAL (
                       SELECT _a ->> 'name' AS name FROM jsonb_array_elements(v.program -> 'attributes') AS _a
                   ) AS n
                   CROSS JOIN (
                       SELECT d.vals || coalesce(jsonb_object_agg(c.key, c.value ORDER BY e.seq), '{}') AS vals
                       FROM ebb.history AS e CROSS JOIN LATERAL jsonb_each(
                           CASE e.type
                               -- A process of Ebb may have started it without any input.
                               WHEN 'started' THEN coalesce(nullif(nullif(e.payload, '')::jsonb, 'null'), '{}')
                               ELSE e.payload::jsonb -> 'values'
                           END
                       ) AS c
                       WHERE e.instance_id = i.id AND e.seq <= h.seq
                         AND e.type IN ('started', 'attributes_written', 'state_restored', 'migrated')
                   ) AS s
                   WHERE v.flow = i.workflow AND v.version = coalesce((
                       SELECT (m.payload::json ->> 'to')::integer FROM ebb.history AS m
                       WHERE m.instance_id = i.id AND m.type = 'migrated' AND m.seq <= h.seq
                       ORDER BY m.seq DESC LIMIT 1
                   ), d.version) AND s.vals ? n.name
               ) AS state,
               f.instance_id, h.attempt, coalesce(h.worker::text, (
                   SELECT w.worker::text FROM ebb.history AS w
                   WHERE w.instance_id = i.id AND w.seq = h.ref AND w.type = 'step_completed'
               )) AS worker, h.payload::json ->> 'by' AS "by",
               h.payload::json -> 'overwrote' AS overwrote
        FROM %1$I.wed_flow AS f
        JOIN ebb.instances AS i ON i.id = f.instance_id
        JOIN ebb.history AS h ON h.instance_id = i.id
            AND h.type IN ('started', 'attributes_written', 'state_restored')
        CROSS JOIN LATERAL (
            SELECT jsonb_object_agg(_a ->> 'name', _a -> 'default') AS vals, min(v.version) AS version
            FROM ebb.flow_versions AS v CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'attributes') AS _a
            WHERE v.flow = i.workflow AND v.version = coalesce((
                SELECT (m.payload::json ->> 'from')::integer FROM ebb.history AS m
                WHERE m.instance_id = i.id AND m.type = 'migrated' ORDER BY m.seq LIMIT 1
            ), i.version)
        ) AS d
        -- What the write has led to, behind what it has ended.
        LEFT JOIN LATERAL (
            SELECT e.type FROM ebb.history AS e
            WHERE e.instance_id = i.id AND e.seq > h.seq AND e.type NOT IN ('step_skipped', 'step_stopped')
            ORDER BY e.seq LIMIT 1
        ) AS o ON true
        -- Triggers stay in all later versions.
        LEFT JOIN LATERAL (
            SELECT jsonb_object_agg(_t ->> 'name', _t -> 'handler') AS handlers
            FROM ebb.flow_versions AS v CROSS JOIN LATERAL jsonb_array_elements(v.program -> 'triggers') AS _t
            WHERE v.flow = i.workflow AND v.version = i.version
        ) AS m ON true;

        -- Claims by pg_try_advisory_xact_lock: they are locks of open transactions, not rows.
        CREATE OR REPLACE VIEW %1$I.locked AS
        SELECT j.wid, j.tgid, j.trname, j.job, a.usename::text AS lckid, l.pid, a.xact_start AS since
        FROM pg_locks AS l
        JOIN pg_database AS b ON b.oid = l.database AND b.datname = current_database()
        JOIN %1$I.job_pool AS j ON j.status = 'ready'
            AND hashtextextended(j.instance_id || '/' || j.tgid, 3141592653)
                = (l.classid::bigint << 32) | l.objid::bigint
        LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted;

        CREATE OR REPLACE VIEW %1$I.ready AS
        SELECT j.trname, count(*) AS jobs, min(j.since) AS oldest FROM %1$I.job_pool AS j
        WHERE j.status = 'ready' AND NOT EXISTS (SELECT 1 FROM %1$I.locked AS l WHERE l.job = j.job)
        GROUP BY j.trname;

        CREATE OR REPLACE VIEW %1$I.running AS
        SELECT h.trname, count(*) AS jobs, min(h.since) AS oldest, array_agg(DISTINCT h.worker) AS workers
        FROM (
            SELECT j.trname, j.due_at AS since, j.worker FROM %1$I.job_pool AS j WHERE j.status = 'held'
            UNION ALL
            SELECT l.trname, l.since, l.lckid FROM %1$I.locked AS l
        ) AS h GROUP BY h.trname;

        CREATE OR REPLACE VIEW %1$I.late AS
        SELECT j.trname, count(*) AS jobs, min(j.due_at) AS oldest FROM %1$I.job_pool AS j
        WHERE j.status IN ('ready', 'held') AND j.due_at + j.timeout < now() GROUP BY j.trname;

        CREATE OR REPLACE VIEW %1$I.failed AS
        SELECT j.trname, count(*) AS jobs, min(j.since) AS oldest, max(j.attempt) AS attempts
        FROM %1$I.job_pool AS j WHERE j.status IN ('retrying', 'frozen') OR j.attempt > 1 GROUP BY j.trname;

        CREATE OR REPLACE VIEW %1$I.wed_cond AS
        SELECT t.cname, t.cpred, t.cfinal, t.cexcpt, t.cinv, t.tgid FROM %1$I.wed_trig AS t WHERE t.enabled;

        CREATE OR REPLACE VIEW %1$I.wed_trans AS
        SELECT o.*, (
                   SELECT count(*)::integer FROM ebb.workers AS w WHERE o.trname = ANY (w.handlers)
                     AND w.expires_at > (extract(epoch FROM now()) * 1000000)::bigint
               ) AS workers
        FROM (
            SELECT t.trname, (array_agg(t.timeout ORDER BY t.tgid))[1] AS timeout,
                   (array_agg(t.queue ORDER BY t.tgid))[1] AS queue,
                   (array_agg(t.compensate ORDER BY t.tgid))[1] AS compensate,
                   (array_agg(t.max_attempts ORDER BY t.tgid))[1] AS max_attempts,
                   array_agg(t.tgname ORDER BY t.tgid) AS triggers
            FROM %1$I.wed_trig AS t WHERE NOT (t.cfinal OR t.cexcpt OR t.cinv) GROUP BY t.trname
        ) AS o;

        CREATE OR REPLACE FUNCTION %1$I._job(id uuid, token bigint) RETURNS SETOF %1$I.job_pool
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
        BEGIN
            RETURN QUERY SELECT j.* FROM %1$I.job_pool AS j
            WHERE j.instance_id = $1 AND j.token = $2 AND j.worker IN (
                SELECT w.id FROM ebb.workers AS w WHERE w.role = session_user
            );
        END $f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_claim(trname text, n integer DEFAULT 1, worker text DEFAULT NULL)
        RETURNS SETOF %1$I.job_pool LANGUAGE plpgsql VOLATILE AS $f$
        BEGIN
            RETURN QUERY SELECT j.* FROM ebb.flow_claim(%2$L, $1, $2, $3) AS c
            CROSS JOIN LATERAL %1$I._job(c.instance_id, c.token) AS j;
        END $f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_complete(job text, attributes jsonb) RETURNS char LANGUAGE sql VOLATILE
            AS $f$SELECT ebb.flow_end(%2$L, $1, $2)::char$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_fail(job text, message text, permanent boolean DEFAULT false) RETURNS text
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_fail(%2$L, $1, $2, $3)$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_release(job text) RETURNS boolean LANGUAGE sql VOLATILE
            AS $f$SELECT ebb.flow_release(%2$L, $1)$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_job(job text) RETURNS void LANGUAGE sql VOLATILE
            AS $f$SELECT pg_catalog.set_config('ebb_surface.job', $1, true)$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_write(wid bigint, attributes jsonb, "by" text DEFAULT NULL) RETURNS char
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_write(%2$L, $1, $2, $3, 'outside')::char$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_rematch(wid bigint) RETURNS char
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_write(%2$L, $1, NULL, NULL, 'repair')::char$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_rematch() RETURNS integer
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_rematch(%2$L)$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_cancel(wid bigint) RETURNS void
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_cancel(%2$L, $1)$f$;
        CREATE OR REPLACE FUNCTION %1$I.wed_recover(wid bigint, to_seq bigint, after text DEFAULT 'rematch') RETURNS void
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_recover(%2$L, $1, $2, $3)$f$;
        CREATE OR REPLACE FUNCTION %1$I.trigger_toggle(tgid integer) RETURNS boolean
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_toggle(%2$L, 'wed_trig', 'tgid', $1::text)$f$;
        CREATE OR REPLACE FUNCTION %1$I.attribute_toggle(aname text) RETURNS boolean
            LANGUAGE sql VOLATILE AS $f$SELECT ebb.flow_toggle(%2$L, 'wed_attr', 'aname', $1)$f$;
        CREATE OR REPLACE FUNCTION %1$I.pg_try_advisory_xact_lock(wid integer, tgid integer) RETURNS boolean
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
        SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off AS $f$
        BEGIN
            RETURN ebb.flow_try_lock(
                %2$L, $1, $2, (SELECT w.instance_id FROM %1$I.wed_flow AS w WHERE w.wid = $1)
            );
        END $f$;
        REVOKE ALL ON ALL TABLES IN SCHEMA %1$I FROM PUBLIC;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %1$I FROM PUBLIC;
    $body$, $1, $1);
END $work$;
