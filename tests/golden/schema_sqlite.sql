CREATE VIEW awaited AS
SELECT w.instance_id, w.workflow, i.version, i.key, i.status, w.kind, w.node, w.signal, w.visit,
       nullif(w.role, '') AS role,
       strftime('%Y-%m-%dT%H:%M:%fZ', w.since / 1e6, 'unixepoch') AS since,
       strftime('%Y-%m-%dT%H:%M:%fZ', w.deadline_at / 1e6, 'unixepoch') AS deadline_at,
       w.quorum, w.confirmed
FROM waits AS w JOIN instances AS i ON i.id = w.instance_id;
CREATE VIEW failed AS
SELECT f.instance_id, f.workflow, f.version, i.key, f.status, f.step, f.code,
       f.grp AS failure_group, f.message,
       strftime('%Y-%m-%dT%H:%M:%fZ', f.at / 1e6, 'unixepoch') AS failed_at
FROM failures AS f JOIN instances AS i ON i.id = f.instance_id;
CREATE TABLE failures (
    instance_id TEXT PRIMARY KEY NOT NULL,
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    step TEXT,
    code TEXT NOT NULL,
    grp TEXT NOT NULL,
    message TEXT NOT NULL,
    event INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX failures_by_group ON failures (grp, at, instance_id, status, version);
CREATE TABLE history (
    instance_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    node TEXT,
    path TEXT,
    token INTEGER,
    visit INTEGER,
    attempt INTEGER,
    ref INTEGER,
    worker TEXT,
    started_at INTEGER,
    at INTEGER NOT NULL,
    payload TEXT,
    PRIMARY KEY (instance_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE inbox (
    instance_id TEXT NOT NULL,
    sender TEXT NOT NULL,
    sender_seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (instance_id, sender, sender_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_by_time ON inbox (at);
CREATE TABLE instances (
    id TEXT PRIMARY KEY NOT NULL,
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    key TEXT,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    state TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX instances_by_key ON instances (key, workflow) WHERE key IS NOT NULL;
CREATE INDEX instances_by_status ON instances (status, id, workflow, version);
CREATE TABLE labels (
    instance_id TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    text TEXT,
    number REAL,
    at INTEGER,
    PRIMARY KEY (instance_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_number ON labels (name, number, instance_id) WHERE number IS NOT NULL;
CREATE INDEX labels_by_text ON labels (name, text, instance_id) WHERE text IS NOT NULL;
CREATE INDEX labels_by_time ON labels (name, at, instance_id) WHERE at IS NOT NULL;
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
, compatible_with INTEGER) STRICT;
CREATE TABLE outbox (
    subscription TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (subscription, instance_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE queue_starts (
    queue TEXT NOT NULL,
    at INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    PRIMARY KEY (queue, at)
) STRICT, WITHOUT ROWID;
CREATE TABLE queues (
    name TEXT PRIMARY KEY NOT NULL,
    updated_at INTEGER NOT NULL,
    concurrency INTEGER,
    concurrency_per_key INTEGER,
    rate_starts INTEGER,
    rate_period INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE repairs (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    reached TEXT NOT NULL,
    next_at INTEGER NOT NULL
) STRICT;
CREATE TABLE retention (
    workflow TEXT PRIMARY KEY NOT NULL,
    completed INTEGER,
    failed INTEGER,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE VIEW running AS
SELECT i.id AS instance_id, i.workflow, i.version, i.key, i.status, i.priority, i.revision,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.created_at / 1e6, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.updated_at / 1e6, 'unixepoch') AS updated_at,
       (SELECT count(*) FROM tasks AS t
        WHERE t.instance_id = i.id AND t.lease_owner IS NULL AND t.lane = 1) AS tasks_due,
       (SELECT count(*) FROM tasks AS t
        WHERE t.instance_id = i.id AND t.lease_owner IS NOT NULL) AS tasks_held,
       (SELECT count(*) FROM tasks AS t
        WHERE t.instance_id = i.id AND t.lease_owner IS NULL AND t.lane = 0) AS tasks_sleeping,
       (SELECT count(*) FROM tasks AS t
        WHERE t.instance_id = i.id AND t.lease_owner IS NULL AND t.lane = 2) AS tasks_parked,
       (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', min(t.due_at) / 1e6, 'unixepoch') FROM tasks AS t
        WHERE t.instance_id = i.id AND t.lease_owner IS NULL AND t.lane = 0) AS next_due_at
FROM instances AS i
WHERE i.status IN ('running', 'paused', 'compensating', 'dead_letter');
CREATE VIEW stats AS
SELECT i.workflow, i.version, i.status, count(*) AS instances,
       strftime('%Y-%m-%dT%H:%M:%fZ', min(i.created_at) / 1e6, 'unixepoch') AS first_created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', max(i.created_at) / 1e6, 'unixepoch') AS last_created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', max(i.finished_at) / 1e6, 'unixepoch') AS last_finished_at,
       avg(i.finished_at - i.created_at) / 1e6 AS mean_seconds
FROM instances AS i
GROUP BY i.workflow, i.version, i.status;
CREATE VIEW steps AS
SELECT i.id AS instance_id, i.workflow, i.version,
       json_extract(s.value, '$.visit') AS visit, json_extract(s.value, '$.step') AS step,
       json_extract(s.value, '$.path') AS path,
       CASE
           WHEN json_extract(s.value, '$.is_live') OR (i.finished_at IS NULL AND NOT json_valid(i.state))
           THEN json_extract(s.value, '$.status')
           WHEN json_extract(s.value, '$.status') = 'waiting' THEN 'skipped'
           WHEN json_extract(s.value, '$.status') IN ('pending', 'running', 'retrying') THEN 'failed'
           ELSE json_extract(s.value, '$.status')
       END AS status,
       json_extract(s.value, '$.attempts') AS attempts, json_extract(s.value, '$.worker') AS worker,
       strftime(
           '%Y-%m-%dT%H:%M:%fZ', json_extract(s.value, '$.started_at') / 1e6, 'unixepoch'
       ) AS started_at,
       strftime(
           '%Y-%m-%dT%H:%M:%fZ', json_extract(s.value, '$.finished_at') / 1e6, 'unixepoch'
       ) AS finished_at,
       json_extract(s.value, '$.output') AS output, json_extract(s.value, '$.error') AS error
FROM instances AS i
JOIN json_each((
    SELECT json_group_array(json(v.visit)) FROM (
        SELECT json_object(
            'visit', r.visit,
            'step', substr(min(printf('%019d', r.seq) || r.step), 20),
            'path', substr(min(printf('%019d', r.seq) || r.path), 20),
            'status', coalesce(substr(max(printf('%019d', r.seq) || r.status), 20), 'pending'),
            'attempts', coalesce(max(r.attempt), 0),
            'worker', substr(max(printf('%019d', r.seq) || r.worker), 20),
            'started_at', min(r.started_at), 'finished_at', max(r.finished_at),
            'output', substr(max(printf('%019d', r.seq) || r.output), 20),
            'error', substr(max(printf('%019d', r.seq) || r.error), 20),
            'is_live', max(r.is_live)
        ) AS visit
        FROM (
            SELECT m.visit, m.seq, m.node AS step, m.path, m.status, m.attempt, m.worker,
                   CASE
                       WHEN m.status = 'waiting' THEN m.at
                       WHEN m.status IS NOT NULL THEN m.started_at
                   END AS started_at,
                   CASE WHEN m.status IN ('completed', 'failed', 'skipped') THEN m.at END
                       AS finished_at,
                   CASE WHEN m.status = 'completed' AND m.type <> 'branch_taken' THEN m.payload END
                       AS output,
                   CASE
                       WHEN m.type = 'step_stopped' THEN coalesce(
                           json_extract(m.payload, '$.error'),
                           '{"code":"stopped","message":"It was stopped while it was running."}'
                       )
                       WHEN m.status IN ('retrying', 'failed') THEN m.payload
                   END AS error,
                   0 AS is_live
            FROM (
                SELECT h.*, CASE
                    WHEN h.type IN (
                        'step_completed', 'branch_taken', 'scope_joined', 'loop_finished',
                        'timer_fired', 'decision_completed', 'signal_completed',
                        'savepoint_reached'
                    ) THEN 'completed'
                    WHEN h.type IN ('step_failed', 'step_stopped') THEN 'failed'
                    WHEN h.type = 'step_skipped' THEN 'skipped'
                    WHEN h.type = 'step_retried' THEN 'retrying'
                    WHEN h.type = 'lease_lost' THEN 'pending'
                    WHEN h.type = 'scope_opened' THEN 'running'
                    WHEN h.type IN ('timer_started', 'decision_awaited', 'signal_awaited')
                    THEN 'waiting'
                END AS status
                FROM history AS h
                WHERE h.instance_id = i.id AND h.visit IS NOT NULL
                  AND h.type NOT IN (
                      'compensation_retried', 'step_compensated', 'compensation_skipped',
                      'compensation_failed'
                  )
                  AND NOT (h.type = 'lease_lost' AND h.payload IS NOT NULL)
                  -- A failed step stays one that has failed when an edge leads away from it.
                  AND NOT (h.type = 'branch_taken' AND EXISTS (
                      SELECT 1 FROM history AS o
                      WHERE o.instance_id = h.instance_id AND o.seq = h.ref
                        AND o.visit = h.visit AND o.type = 'step_failed'
                  ))
            ) AS m
            WHERE m.status IS NOT NULL OR m.type = 'input_resolved'
            UNION ALL
            SELECT f.visit, h.seq, NULL, NULL,
                   CASE h.type
                       WHEN 'step_compensated' THEN 'compensated'
                       WHEN 'compensation_failed' THEN 'compensation_failed'
                       ELSE 'compensating'
                   END,
                   NULL, NULL, NULL, NULL, NULL, NULL, 0
            FROM history AS h
            JOIN history AS f ON f.instance_id = h.instance_id AND f.seq = h.ref
            WHERE h.instance_id = i.id AND (
                h.type IN (
                    'compensation_retried', 'step_compensated', 'compensation_failed'
                ) OR (h.type = 'lease_lost' AND h.payload IS NOT NULL)
            )
            UNION ALL
            SELECT coalesce(f.visit, json_extract(t.value, '$.visit')), 9223372036854775807,
                   CASE
                       WHEN f.seq IS NULL AND coalesce(json_extract(t.value, '$.status'), '') <> 'forked'
                       THEN json_extract(t.value, '$.node')
                   END,
                   NULL,
                   CASE
                       WHEN f.seq IS NOT NULL AND json_extract(t.value, '$.status') = 'frozen'
                       THEN 'compensation_failed'
                       WHEN f.seq IS NOT NULL THEN 'compensating'
                       WHEN json_extract(t.value, '$.status') IN (
                           'waiting_timer', 'waiting_decision', 'waiting_signal'
                       ) THEN 'waiting'
                       WHEN json_extract(t.value, '$.status') = 'forked' THEN 'running'
                       WHEN json_extract(t.value, '$.status') = 'frozen' THEN 'failed'
                       WHEN k.lease_owner IS NOT NULL THEN 'running'
                       WHEN json_extract(t.value, '$.status') = 'retrying' THEN 'retrying'
                       ELSE 'pending'
                   END,
                   CASE WHEN f.seq IS NULL THEN json_extract(t.value, '$.attempt') END,
                   CASE WHEN f.seq IS NULL THEN k.lease_owner END,
                   NULL, NULL, NULL, NULL, 1
            FROM json_each(
                CASE WHEN i.finished_at IS NULL AND json_valid(i.state) THEN i.state ELSE '{}' END,
                '$.tokens'
            ) AS t
            LEFT JOIN tasks AS k ON k.instance_id = i.id AND k.token = json_extract(t.value, '$.id')
            LEFT JOIN history AS f ON f.instance_id = i.id AND f.seq = json_extract(t.value, '$.compensates')
            WHERE json_extract(t.value, '$.visit') IS NOT NULL
        ) AS r
        GROUP BY r.visit
        HAVING max(r.step IS NOT NULL)
    ) AS v
)) AS s;
CREATE VIEW stuck AS
WITH clock AS (
    SELECT CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AS now
),
late AS (
    SELECT t.instance_id, t.token, t.handler, t.queue, t.lane,
           t.due_at, t.handler = '' OR t.lane = 0 AS is_ours,
           EXISTS (
               SELECT 1 FROM workers AS w
               WHERE w.expires_at > (SELECT now FROM clock)
                 AND (t.handler = '' OR (
                     t.handler IN (SELECT value FROM json_each(w.handlers))
                     AND (w.queues = '[]' OR t.queue IN (SELECT value FROM json_each(w.queues)))
                 ))
           ) AS is_served
    FROM tasks AS t
    WHERE t.lease_owner IS NULL AND t.lane IN (0, 1)
      AND t.due_at < (SELECT now - 60000000 FROM clock)
),
found AS (
    SELECT t.instance_id, t.token, t.handler, t.queue, t.lease_owner, 'lease_expired' AS reason,
           w.expires_at AS since
    FROM tasks AS t LEFT JOIN workers AS w ON w.id = t.lease_owner
    WHERE t.lease_owner IS NOT NULL
      AND coalesce(w.expires_at, 0) < (SELECT now - 60000000 FROM clock)
    UNION ALL
    -- Behind others of its handler is not stuck.
    SELECT l.instance_id, l.token, l.handler, l.queue, NULL,
           CASE WHEN l.is_served THEN 'overdue' ELSE 'no_worker' END, l.due_at
    FROM late AS l WHERE NOT l.is_served OR l.is_ours
    UNION ALL
    SELECT t.instance_id, t.token, t.handler, t.queue, NULL, 'damaged', t.due_at
    FROM tasks AS t
    WHERE t.lease_owner IS NULL AND t.lane = 2
      AND NOT EXISTS (
          SELECT 1 FROM instances AS i
          WHERE i.id = t.instance_id AND i.status IN ('paused', 'dead_letter')
      )
)
SELECT i.id AS instance_id, i.workflow, i.version, i.key, i.status, 'dead_letter' AS reason,
       NULL AS token, NULL AS handler, NULL AS queue, NULL AS worker,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.updated_at / 1e6, 'unixepoch') AS since
FROM instances AS i
WHERE i.status = 'dead_letter'
UNION ALL
SELECT i.id, i.workflow, i.version, i.key, i.status, f.reason, f.token, f.handler, f.queue,
       f.lease_owner, strftime('%Y-%m-%dT%H:%M:%fZ', f.since / 1e6, 'unixepoch')
FROM found AS f JOIN instances AS i ON i.id = f.instance_id;
CREATE TABLE subscriptions (
    name TEXT PRIMARY KEY NOT NULL,
    document TEXT NOT NULL,
    is_enabled INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    suspended_at INTEGER,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    reached TEXT NOT NULL,
    next_at INTEGER NOT NULL
) STRICT;
CREATE TABLE tasks (
    instance_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    handler TEXT NOT NULL,
    queue TEXT NOT NULL,
    rank INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    is_stop INTEGER NOT NULL DEFAULT 0,
    was_lost INTEGER NOT NULL DEFAULT 0,
    lost_by TEXT,
    lease_owner TEXT, concurrency_key TEXT, took_slot INTEGER, outcome TEXT,
    PRIMARY KEY (instance_id, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_keyed ON tasks (
    handler, queue, concurrency_key, rank, instance_id, token, lane, lease_owner
)
WHERE lane = 1 AND lease_owner IS NULL AND concurrency_key IS NOT NULL;
CREATE INDEX tasks_leased ON tasks (lease_owner, instance_id, token) WHERE lease_owner IS NOT NULL;
CREATE INDEX tasks_ready ON tasks (handler, queue, rank, instance_id, token, lane, lease_owner)
    WHERE lane = 1 AND lease_owner IS NULL;
CREATE INDEX tasks_sleeping ON tasks (due_at, lane, lease_owner)
    WHERE lane = 0 AND lease_owner IS NULL;
CREATE INDEX tasks_slots ON tasks (queue, concurrency_key, took_slot, lease_owner)
    WHERE took_slot = 1 AND lease_owner IS NOT NULL;
CREATE INDEX tasks_stops ON tasks (rank, instance_id, token, is_stop, lane, lease_owner)
    WHERE is_stop = 1 AND lane = 1 AND lease_owner IS NULL;
CREATE TABLE waits (
    instance_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    workflow TEXT NOT NULL,
    node TEXT NOT NULL,
    signal TEXT,
    visit INTEGER NOT NULL,
    since INTEGER NOT NULL,
    deadline_at INTEGER,
    quorum INTEGER NOT NULL,
    confirmed INTEGER NOT NULL,
    PRIMARY KEY (instance_id, token, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_by_role ON waits (kind, role, since, instance_id, token);
CREATE INDEX waits_by_time ON waits (kind, since, instance_id, token);
CREATE TABLE workers (
    id TEXT PRIMARY KEY NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    handlers TEXT NOT NULL,
    queues TEXT NOT NULL,
    capacity INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
, boot_id TEXT NOT NULL DEFAULT '', steady_until INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE workflows (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    checksum TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (name, version)
) STRICT;
