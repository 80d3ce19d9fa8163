CREATE SCHEMA ebb;

CREATE TABLE ebb.instances (
    id uuid NOT NULL,
    revision bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    finished_at bigint,
    version integer NOT NULL,
    priority integer NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    workflow text NOT NULL COLLATE pg_catalog."C",
    key text COLLATE pg_catalog."C",
    state text NOT NULL,
    lease_owner text COLLATE pg_catalog."C",
    lease_handler text COLLATE pg_catalog."C",
    lease_queue text COLLATE pg_catalog."C"
)
WITH (fillfactor='45', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE ebb.tasks (
    instance_id uuid NOT NULL,
    token bigint NOT NULL,
    rank bigint NOT NULL,
    due_at bigint NOT NULL,
    lane smallint NOT NULL,
    is_stop boolean DEFAULT false NOT NULL,
    was_lost boolean DEFAULT false NOT NULL,
    handler text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    lost_by text,
    lease_owner text COLLATE pg_catalog."C",
    concurrency_key text COLLATE pg_catalog."C",
    took_slot boolean,
    outcome text,
    lease_until bigint
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

CREATE VIEW ebb.all_tasks AS
 SELECT t.instance_id,
    t.token,
    t.due_at,
    t.lane,
    t.is_stop,
    t.was_lost,
    t.handler,
    t.queue,
    t.lease_owner,
    t.concurrency_key,
    t.took_slot
   FROM ebb.tasks t
UNION ALL
 SELECT i.id AS instance_id,
    (1)::bigint AS token,
    i.created_at AS due_at,
    (1)::smallint AS lane,
    false AS is_stop,
    false AS was_lost,
    COALESCE(i.lease_handler, (''::text COLLATE "C")) AS handler,
    COALESCE(i.lease_queue, (''::text COLLATE "C")) AS queue,
    i.lease_owner,
    (NULL::text COLLATE "C") AS concurrency_key,
    NULL::boolean AS took_slot
   FROM ebb.instances i
  WHERE (i.lease_owner IS NOT NULL);

CREATE TABLE ebb.waits (
    instance_id uuid NOT NULL,
    token bigint NOT NULL,
    visit bigint NOT NULL,
    since bigint NOT NULL,
    deadline_at bigint,
    quorum integer NOT NULL,
    confirmed integer NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    workflow text NOT NULL COLLATE pg_catalog."C",
    node text NOT NULL COLLATE pg_catalog."C",
    signal text COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0.05');

CREATE VIEW ebb.awaited AS
 SELECT w.instance_id,
    w.workflow,
    i.version,
    i.key,
    i.status,
    w.kind,
    w.node,
    w.signal,
    w.visit,
    NULLIF(w.role, ''::text) AS role,
    to_timestamp((((w.since)::numeric / 1000000.0))::double precision) AS since,
    to_timestamp((((w.deadline_at)::numeric / 1000000.0))::double precision) AS deadline_at,
    w.quorum,
    w.confirmed
   FROM (ebb.waits w
     JOIN ebb.instances i ON ((i.id = w.instance_id)));

CREATE TABLE ebb.calls (
    workflow text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    node text NOT NULL COLLATE pg_catalog."C",
    is_compensation boolean NOT NULL,
    handler text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    timeout bigint NOT NULL,
    max_attempts integer NOT NULL
);

CREATE TABLE ebb.failures (
    instance_id uuid NOT NULL,
    at bigint NOT NULL,
    event bigint NOT NULL,
    version integer NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    workflow text NOT NULL COLLATE pg_catalog."C",
    step text COLLATE pg_catalog."C",
    code text NOT NULL COLLATE pg_catalog."C",
    grp text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL
);

CREATE VIEW ebb.failed AS
 SELECT f.instance_id,
    f.workflow,
    f.version,
    i.key,
    f.status,
    f.step,
    f.code,
    f.grp AS failure_group,
    f.message,
    to_timestamp((((f.at)::numeric / 1000000.0))::double precision) AS failed_at
   FROM (ebb.failures f
     JOIN ebb.instances i ON ((i.id = f.instance_id)));

CREATE TABLE ebb.history (
    instance_id uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    started_at bigint,
    token bigint,
    visit bigint,
    ref bigint,
    attempt integer,
    type text NOT NULL COLLATE pg_catalog."C",
    node text COLLATE pg_catalog."C",
    path text,
    worker text,
    payload text
)
WITH (autovacuum_vacuum_insert_scale_factor='0.5');

CREATE TABLE ebb.inbox (
    instance_id uuid NOT NULL,
    sender_seq bigint NOT NULL,
    at bigint NOT NULL,
    sender text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000');

CREATE TABLE ebb.keys (
    key text NOT NULL COLLATE pg_catalog."C",
    workflow text NOT NULL COLLATE pg_catalog."C",
    instance_id uuid NOT NULL
);

CREATE TABLE ebb.labels (
    instance_id uuid NOT NULL,
    at bigint,
    number double precision,
    name text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    text text COLLATE pg_catalog."C"
);

CREATE TABLE ebb.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at bigint NOT NULL,
    compatible_with integer
);

CREATE TABLE ebb.outbox (
    instance_id uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    subscription text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    data text NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE ebb.partitioning (
    id smallint NOT NULL,
    period text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE ebb.queue_starts (
    at bigint NOT NULL,
    starts bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='200', autovacuum_vacuum_scale_factor='0');

CREATE TABLE ebb.queues (
    name text NOT NULL COLLATE pg_catalog."C",
    updated_at bigint NOT NULL,
    rate_period bigint,
    rate_starts integer,
    concurrency integer,
    concurrency_per_key integer
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='200', autovacuum_vacuum_scale_factor='0');

CREATE TABLE ebb.repairs (
    id smallint NOT NULL,
    number bigint NOT NULL,
    reached uuid NOT NULL,
    next_at bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE ebb.retention (
    workflow text NOT NULL COLLATE pg_catalog."C",
    completed bigint,
    failed bigint,
    updated_at bigint NOT NULL
);

CREATE VIEW ebb.running AS
 SELECT i.id AS instance_id,
    i.workflow,
    i.version,
    i.key,
    i.status,
    i.priority,
    i.revision,
    to_timestamp((((i.created_at)::numeric / 1000000.0))::double precision) AS created_at,
    to_timestamp((((i.updated_at)::numeric / 1000000.0))::double precision) AS updated_at,
    t.tasks_due,
    t.tasks_held,
    t.tasks_sleeping,
    t.tasks_parked,
    to_timestamp((((t.next_due_at)::numeric / 1000000.0))::double precision) AS next_due_at
   FROM (ebb.instances i
     CROSS JOIN LATERAL ( SELECT count(*) FILTER (WHERE ((k.lease_owner IS NULL) AND (k.lane = 1))) AS tasks_due,
            count(*) FILTER (WHERE (k.lease_owner IS NOT NULL)) AS tasks_held,
            count(*) FILTER (WHERE ((k.lease_owner IS NULL) AND (k.lane = 0))) AS tasks_sleeping,
            count(*) FILTER (WHERE ((k.lease_owner IS NULL) AND (k.lane = 2))) AS tasks_parked,
            min(k.due_at) FILTER (WHERE ((k.lease_owner IS NULL) AND (k.lane = 0))) AS next_due_at
           FROM ebb.all_tasks k
          WHERE (k.instance_id = i.id)) t)
  WHERE (i.status = ANY (ARRAY['running'::text, 'paused'::text, 'compensating'::text, 'dead_letter'::text]));

CREATE VIEW ebb.stats AS
 SELECT i.workflow,
    i.version,
    i.status,
    count(*) AS instances,
    to_timestamp((((min(i.created_at))::numeric / 1000000.0))::double precision) AS first_created_at,
    to_timestamp((((max(i.created_at))::numeric / 1000000.0))::double precision) AS last_created_at,
    to_timestamp((((max(i.finished_at))::numeric / 1000000.0))::double precision) AS last_finished_at,
    ((avg((i.finished_at - i.created_at)) / 1000000.0))::double precision AS mean_seconds
   FROM ebb.instances i
  GROUP BY i.workflow, i.version, i.status;

CREATE VIEW ebb.steps AS
 SELECT i.id AS instance_id,
    i.workflow,
    i.version,
    s.visit,
    s.step,
    s.path,
        CASE
            WHEN (s.is_live OR ((i.finished_at IS NULL) AND (i.state !~~ '{%}'::text))) THEN s.status
            WHEN (s.status = 'waiting'::text) THEN 'skipped'::text
            WHEN (s.status = ANY (ARRAY['pending'::text, 'running'::text, 'retrying'::text])) THEN 'failed'::text
            ELSE s.status
        END AS status,
    COALESCE(s.attempts, 0) AS attempts,
    s.worker,
    to_timestamp((((s.started_at)::numeric / 1000000.0))::double precision) AS started_at,
    to_timestamp((((s.finished_at)::numeric / 1000000.0))::double precision) AS finished_at,
    s.output,
    s.error
   FROM (ebb.instances i
     CROSS JOIN LATERAL ( SELECT r.visit,
            (array_agg(r.step ORDER BY r.seq) FILTER (WHERE (r.step IS NOT NULL)))[1] AS step,
            (array_agg(r.path ORDER BY r.seq) FILTER (WHERE (r.path IS NOT NULL)))[1] AS path,
            COALESCE((array_agg(r.status ORDER BY r.seq DESC) FILTER (WHERE (r.status IS NOT NULL)))[1], 'pending'::text) AS status,
            max(r.attempt) AS attempts,
            (array_agg(r.worker ORDER BY r.seq DESC) FILTER (WHERE (r.worker IS NOT NULL)))[1] AS worker,
            min(r.started_at) AS started_at,
            max(r.finished_at) AS finished_at,
            (array_agg(r.output ORDER BY r.seq DESC) FILTER (WHERE (r.output IS NOT NULL)))[1] AS output,
            (array_agg(r.error ORDER BY r.seq DESC) FILTER (WHERE (r.error IS NOT NULL)))[1] AS error,
            bool_or(r.is_live) AS is_live
           FROM ( SELECT h.visit,
                    h.seq,
                    h.node AS step,
                    h.path,
                    m.status,
                    h.attempt,
                    h.worker,
                        CASE
                            WHEN (m.status = 'waiting'::text) THEN h.at
                            WHEN (m.status IS NOT NULL) THEN h.started_at
                            ELSE NULL::bigint
                        END AS started_at,
                        CASE
                            WHEN (m.status = ANY (ARRAY['completed'::text, 'failed'::text, 'skipped'::text])) THEN h.at
                            ELSE NULL::bigint
                        END AS finished_at,
                        CASE
                            WHEN ((m.status = 'completed'::text) AND (h.type <> 'branch_taken'::text)) THEN h.payload
                            ELSE NULL::text
                        END AS output,
                        CASE
                            WHEN (h.type = 'step_stopped'::text) THEN COALESCE(((h.payload)::json ->> 'error'::text), '{"code":"stopped","message":"It was stopped while it was running."}'::text)
                            WHEN (m.status = ANY (ARRAY['retrying'::text, 'failed'::text])) THEN h.payload
                            ELSE NULL::text
                        END AS error,
                    false AS is_live
                   FROM (ebb.history h
                     CROSS JOIN LATERAL ( SELECT
                                CASE
                                    WHEN (h.type = ANY (ARRAY['step_completed'::text, 'branch_taken'::text, 'scope_joined'::text, 'loop_finished'::text, 'timer_fired'::text, 'decision_completed'::text, 'signal_completed'::text, 'savepoint_reached'::text])) THEN 'completed'::text
                                    WHEN (h.type = ANY (ARRAY['step_failed'::text, 'step_stopped'::text])) THEN 'failed'::text
                                    WHEN (h.type = 'step_skipped'::text) THEN 'skipped'::text
                                    WHEN (h.type = 'step_retried'::text) THEN 'retrying'::text
                                    WHEN (h.type = 'lease_lost'::text) THEN 'pending'::text
                                    WHEN (h.type = 'scope_opened'::text) THEN 'running'::text
                                    WHEN (h.type = ANY (ARRAY['timer_started'::text, 'decision_awaited'::text, 'signal_awaited'::text])) THEN 'waiting'::text
                                    ELSE NULL::text
                                END AS status) m)
                  WHERE ((h.instance_id = i.id) AND (h.visit IS NOT NULL) AND ((m.status IS NOT NULL) OR (h.type = 'input_resolved'::text)) AND (h.type <> ALL (ARRAY['compensation_retried'::text, 'step_compensated'::text, 'compensation_skipped'::text, 'compensation_failed'::text])) AND (NOT ((h.type = 'lease_lost'::text) AND (h.payload IS NOT NULL))) AND (NOT ((h.type = 'branch_taken'::text) AND (EXISTS ( SELECT 1
                           FROM ebb.history o
                          WHERE ((o.instance_id = h.instance_id) AND (o.seq = h.ref) AND (o.visit = h.visit) AND (o.type = 'step_failed'::text)))))))
                UNION ALL
                 SELECT f.visit,
                    h.seq,
                    NULL::text,
                    NULL::text,
                        CASE h.type
                            WHEN 'step_compensated'::text THEN 'compensated'::text
                            WHEN 'compensation_failed'::text THEN 'compensation_failed'::text
                            ELSE 'compensating'::text
                        END AS "case",
                    NULL::integer,
                    NULL::text,
                    NULL::bigint,
                    NULL::bigint,
                    NULL::text,
                    NULL::text,
                    false
                   FROM (ebb.history h
                     JOIN ebb.history f ON (((f.instance_id = h.instance_id) AND (f.seq = h.ref))))
                  WHERE ((h.instance_id = i.id) AND ((h.type = ANY (ARRAY['compensation_retried'::text, 'step_compensated'::text, 'compensation_failed'::text])) OR ((h.type = 'lease_lost'::text) AND (h.payload IS NOT NULL))))
                UNION ALL
                 SELECT COALESCE(f.visit, ((t.token ->> 'visit'::text))::bigint) AS "coalesce",
                    '9223372036854775807'::bigint,
                        CASE
                            WHEN ((f.seq IS NULL) AND (COALESCE((t.token ->> 'status'::text), ''::text) <> 'forked'::text)) THEN (t.token ->> 'node'::text)
                            ELSE NULL::text
                        END AS "case",
                    NULL::text,
                        CASE
                            WHEN ((f.seq IS NOT NULL) AND ((t.token ->> 'status'::text) = 'frozen'::text)) THEN 'compensation_failed'::text
                            WHEN (f.seq IS NOT NULL) THEN 'compensating'::text
                            WHEN ((t.token ->> 'status'::text) = ANY (ARRAY['waiting_timer'::text, 'waiting_decision'::text, 'waiting_signal'::text])) THEN 'waiting'::text
                            WHEN ((t.token ->> 'status'::text) = 'forked'::text) THEN 'running'::text
                            WHEN ((t.token ->> 'status'::text) = 'frozen'::text) THEN 'failed'::text
                            WHEN (k.lease_owner IS NOT NULL) THEN 'running'::text
                            WHEN ((t.token ->> 'status'::text) = 'retrying'::text) THEN 'retrying'::text
                            ELSE 'pending'::text
                        END AS "case",
                        CASE
                            WHEN (f.seq IS NULL) THEN ((t.token ->> 'attempt'::text))::integer
                            ELSE NULL::integer
                        END AS "case",
                        CASE
                            WHEN (f.seq IS NULL) THEN k.lease_owner
                            ELSE NULL::text
                        END AS "case",
                    NULL::bigint,
                    NULL::bigint,
                    NULL::text,
                    NULL::text,
                    true
                   FROM ((json_array_elements(
                        CASE
                            WHEN ((i.finished_at IS NULL) AND (i.state ~~ '{%}'::text)) THEN ((i.state)::json -> 'tokens'::text)
                            ELSE NULL::json
                        END) t(token)
                     LEFT JOIN ebb.all_tasks k ON (((k.instance_id = i.id) AND (k.token = ((t.token ->> 'id'::text))::bigint))))
                     LEFT JOIN ebb.history f ON (((f.instance_id = i.id) AND (f.seq = ((t.token ->> 'compensates'::text))::bigint))))
                  WHERE ((t.token ->> 'visit'::text) IS NOT NULL)) r
          GROUP BY r.visit) s)
  WHERE (s.step IS NOT NULL);

CREATE TABLE ebb.workers (
    id text NOT NULL COLLATE pg_catalog."C",
    pid bigint NOT NULL,
    started_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    capacity integer NOT NULL,
    host text NOT NULL,
    handlers text[] NOT NULL,
    queues text[] NOT NULL,
    decides_since bigint,
    session uuid,
    role text,
    lease bigint
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='200', autovacuum_vacuum_scale_factor='0');

CREATE VIEW ebb.stuck AS
 SELECT i.id AS instance_id,
    i.workflow,
    i.version,
    i.key,
    i.status,
    'dead_letter'::text AS reason,
    NULL::bigint AS token,
    NULL::text AS handler,
    NULL::text AS queue,
    NULL::text AS worker,
    to_timestamp((((i.updated_at)::numeric / 1000000.0))::double precision) AS since
   FROM ebb.instances i
  WHERE (i.status = 'dead_letter'::text)
UNION ALL
 SELECT i.id AS instance_id,
    i.workflow,
    i.version,
    i.key,
    i.status,
    f.reason,
    f.token,
    f.handler,
    f.queue,
    f.lease_owner AS worker,
    to_timestamp((((f.since)::numeric / 1000000.0))::double precision) AS since
   FROM (( SELECT t.instance_id,
            t.token,
            t.handler,
            t.queue,
            t.lease_owner,
            'lease_expired'::text AS reason,
            w.expires_at AS since
           FROM (ebb.all_tasks t
             LEFT JOIN ebb.workers w ON ((w.id = t.lease_owner)))
          WHERE ((t.lease_owner IS NOT NULL) AND (COALESCE(w.expires_at, (0)::bigint) < ((EXTRACT(epoch FROM (now() - '00:01:00'::interval)) * (1000000)::numeric))::bigint))
        UNION ALL
         SELECT t.instance_id,
            t.token,
            t.handler,
            t.queue,
            t.lease_owner,
                CASE
                    WHEN l.is_served THEN 'overdue'::text
                    ELSE 'no_worker'::text
                END AS "case",
            t.due_at
           FROM (ebb.tasks t
             CROSS JOIN LATERAL ( SELECT (EXISTS ( SELECT 1
                           FROM ebb.workers w
                          WHERE ((w.expires_at > ((EXTRACT(epoch FROM now()) * (1000000)::numeric))::bigint) AND ((t.handler = ''::text) OR ((t.handler = ANY (w.handlers)) AND ((w.queues = '{}'::text[]) OR (t.queue = ANY (w.queues)))))))) AS is_served) l)
          WHERE ((t.lease_owner IS NULL) AND (t.lane = ANY (ARRAY[0, 1])) AND (t.due_at < ((EXTRACT(epoch FROM (now() - '00:01:00'::interval)) * (1000000)::numeric))::bigint) AND ((NOT l.is_served) OR (t.handler = ''::text) OR (t.lane = 0)))
        UNION ALL
         SELECT t.instance_id,
            t.token,
            t.handler,
            t.queue,
            t.lease_owner,
            'damaged'::text,
            t.due_at
           FROM ebb.tasks t
          WHERE ((t.lease_owner IS NULL) AND (t.lane = 2) AND (NOT (EXISTS ( SELECT 1
                   FROM ebb.instances i_1
                  WHERE ((i_1.id = t.instance_id) AND (i_1.status = ANY (ARRAY['paused'::text, 'dead_letter'::text])))))))) f
     JOIN ebb.instances i ON ((i.id = f.instance_id)));

CREATE TABLE ebb.subscriptions (
    failures bigint NOT NULL,
    suspended_at bigint,
    updated_at bigint NOT NULL,
    is_enabled boolean NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL
);

CREATE TABLE ebb.sweeps (
    id smallint NOT NULL,
    number bigint NOT NULL,
    reached uuid NOT NULL,
    next_at bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE ebb.workflows (
    name text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    checksum text NOT NULL,
    created_at bigint NOT NULL,
    definition text NOT NULL
);

ALTER TABLE ONLY ebb.calls
    ADD CONSTRAINT calls_pkey PRIMARY KEY (workflow, version, node, is_compensation);

ALTER TABLE ONLY ebb.failures
    ADD CONSTRAINT failures_pkey PRIMARY KEY (instance_id);

ALTER TABLE ONLY ebb.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (instance_id, seq);

ALTER TABLE ONLY ebb.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (instance_id, sender, sender_seq);

ALTER TABLE ONLY ebb.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);

ALTER TABLE ONLY ebb.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (key, workflow);

ALTER TABLE ONLY ebb.labels
    ADD CONSTRAINT labels_pkey PRIMARY KEY (instance_id, name);

ALTER TABLE ONLY ebb.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY ebb.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (subscription, instance_id, seq);

ALTER TABLE ONLY ebb.partitioning
    ADD CONSTRAINT partitioning_pkey PRIMARY KEY (id);

ALTER TABLE ONLY ebb.queue_starts
    ADD CONSTRAINT queue_starts_pkey PRIMARY KEY (queue, at);

ALTER TABLE ONLY ebb.queues
    ADD CONSTRAINT queues_pkey PRIMARY KEY (name);

ALTER TABLE ONLY ebb.repairs
    ADD CONSTRAINT repairs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY ebb.retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (workflow);

ALTER TABLE ONLY ebb.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (name);

ALTER TABLE ONLY ebb.sweeps
    ADD CONSTRAINT sweeps_pkey PRIMARY KEY (id);

ALTER TABLE ONLY ebb.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (instance_id, token);

ALTER TABLE ONLY ebb.waits
    ADD CONSTRAINT waits_pkey PRIMARY KEY (instance_id, token, role);

ALTER TABLE ONLY ebb.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY ebb.workflows
    ADD CONSTRAINT workflows_pkey PRIMARY KEY (name, version);

CREATE INDEX failures_by_group ON ebb.failures USING btree (grp, at, instance_id) INCLUDE (status, version);

CREATE INDEX inbox_by_time ON ebb.inbox USING btree (at);

CREATE INDEX instances_by_status ON ebb.instances USING btree (status, id) WHERE (status <> 'completed'::text);

CREATE INDEX instances_leased ON ebb.instances USING btree (lease_owner, id) WHERE (lease_owner IS NOT NULL);

CREATE INDEX labels_by_number ON ebb.labels USING btree (name, number, instance_id) WHERE (number IS NOT NULL);

CREATE INDEX labels_by_text ON ebb.labels USING btree (name, text, instance_id) WHERE (text IS NOT NULL);

CREATE INDEX labels_by_time ON ebb.labels USING btree (name, at, instance_id) WHERE (at IS NOT NULL);

CREATE INDEX tasks_keyed ON ebb.tasks USING btree (handler, queue, concurrency_key, rank, instance_id, token) WHERE ((lane = 1) AND (lease_owner IS NULL) AND (concurrency_key IS NOT NULL));

CREATE INDEX tasks_leased ON ebb.tasks USING btree (lease_owner, instance_id, token) WHERE (lease_owner IS NOT NULL);

CREATE INDEX tasks_ready ON ebb.tasks USING btree (handler, queue, rank, instance_id, token) WHERE ((lane = 1) AND (lease_owner IS NULL));

CREATE INDEX tasks_sleeping ON ebb.tasks USING btree (due_at) WHERE ((lane = 0) AND (lease_owner IS NULL));

CREATE INDEX tasks_slots ON ebb.tasks USING btree (queue, concurrency_key) WHERE (took_slot AND (lease_owner IS NOT NULL));

CREATE INDEX tasks_stops ON ebb.tasks USING btree (rank, instance_id, token) WHERE (is_stop AND (lane = 1) AND (lease_owner IS NULL));

CREATE INDEX tasks_time_out ON ebb.tasks USING btree (lease_until) WHERE (lease_until IS NOT NULL);

CREATE INDEX waits_by_role ON ebb.waits USING btree (kind, role, since, instance_id, token);

CREATE INDEX waits_by_time ON ebb.waits USING btree (kind, since, instance_id, token);

CREATE UNIQUE INDEX workers_by_session ON ebb.workers USING btree (session) WHERE (session IS NOT NULL);

