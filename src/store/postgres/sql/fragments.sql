-- fragment: clock
clock AS MATERIALIZED (
    SELECT coalesce($clock_now::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
)

-- fragment: swap_instances
batch AS MATERIALIZED (
    SELECT b.ord, ($ids::uuid[])[b.ord] AS id, ($revisions::bigint[])[b.ord] AS revision,
           ($words::text[])[($statuses::integer[])[b.ord]] AS status, b.state,
           ($nows::bigint[])[b.ord] AS now, nullif(($finished_ats::bigint[])[b.ord], 0) AS finished_at,
           ($leases::integer[])[b.ord] AS lease
    FROM unnest($states::text[]) WITH ORDINALITY AS b (state, ord)
),
updated AS (
    UPDATE ebb.instances AS i
    SET revision = i.revision + 1, status = b.status, state = b.state, updated_at = b.now,
        finished_at = b.finished_at,
        lease_owner = CASE WHEN b.lease = 1 THEN i.lease_owner END,
        lease_handler = CASE WHEN b.lease = 1 THEN i.lease_handler END,
        lease_queue = CASE WHEN b.lease = 1 THEN i.lease_queue END
    FROM batch AS b
    WHERE i.id = b.id AND i.revision = b.revision
      AND (i.lease_owner IS NOT NULL) = (b.lease > 0)
    RETURNING b.ord
),
failed AS MATERIALIZED (
    SELECT b.ord, b.id FROM batch AS b
    WHERE (SELECT count(*) FROM updated) < (SELECT count(*) FROM batch)
      AND (b.ord IN (SELECT ord FROM updated)) IS FALSE
)

-- fragment: add_history
INSERT INTO ebb.history (
    instance_id, seq, type, node, path, token, visit, attempt, ref, worker, started_at, at,
    payload
)

-- fragment: add_events
-- include: add_history
SELECT ($ids::uuid[])[e.ord], ($event_seqs::bigint[])[e.n], ($words::text[])[($event_types::integer[])[e.n]],
       ($words::text[])[($event_nodes::integer[])[e.n]], ($words::text[])[($event_paths::integer[])[e.n]],
       nullif(($event_tokens::bigint[])[e.n], 0), nullif(($event_visits::bigint[])[e.n], 0),
       nullif(($event_attempts::integer[])[e.n], 0), nullif(($event_refs::bigint[])[e.n], 0),
       ($words::text[])[($event_workers::integer[])[e.n]], nullif(($event_started_ats::bigint[])[e.n], 0),
       ($event_ats::bigint[])[e.n], e.payload
FROM (
    SELECT ($event_ords::bigint[])[u.n] AS ord, u.n, u.payload
    FROM unnest($event_payloads::text[]) WITH ORDINALITY AS u (payload, n)
) AS e

-- fragment: put_rows
INSERT INTO ebb.tasks (instance_id, token, handler, queue, due_at, rank, lane, lease_owner)

-- fragment: put_tasks_of_arrays
-- include: put_rows
SELECT ($ids::uuid[])[p.ord], p.token, coalesce(($words::text[])[($put_handlers::integer[])[p.n]], ''),
       coalesce(($words::text[])[($put_queues::integer[])[p.n]], ''), ($put_dues::bigint[])[p.n],
       ($put_ranks::bigint[])[p.n] - $head_start::bigint * (
           SELECT i.priority FROM ebb.instances AS i WHERE i.id = ($ids::uuid[])[p.ord]
       ),
       CASE WHEN ($put_dues::bigint[])[p.n] <= greatest(
           ($put_nows::bigint[])[p.n], (SELECT now FROM clock)
       ) THEN 1 ELSE 0 END,
       ($words::text[])[($put_owners::integer[])[p.n]]
FROM unnest($put_ords::bigint[], $put_tokens::bigint[]) WITH ORDINALITY AS p (ord, token, n)

-- fragment: replace_task
ON CONFLICT (instance_id, token) DO UPDATE SET
    handler = excluded.handler, queue = excluded.queue, due_at = excluded.due_at,
    rank = excluded.rank, lane = excluded.lane, is_stop = false, was_lost = false,
    lost_by = NULL, lease_owner = excluded.lease_owner, concurrency_key = NULL,
    took_slot = NULL

-- fragment: held
held AS MATERIALIZED (
    SELECT b.ord, i.id
    FROM unnest($ids::uuid[], $revisions::bigint[], $folds::integer[])
        WITH ORDINALITY AS b (id, revision, fold, ord)
    JOIN ebb.instances AS i ON i.id = b.id AND i.revision = b.revision
        AND (b.fold < 0 OR (i.lease_owner IS NOT NULL) = (b.fold > 0))
    FOR UPDATE OF i
)

-- fragment: is_held
-- A hash look-up: sessions have no hash joins, and a join would compare each row with each instance.
(c.ord IN (SELECT h.ord FROM held AS h)) IS TRUE

-- fragment: first_input
-- Nearly all claimed tasks are the first of their instance, so a claim includes the event that nearly
-- always has their input: that of the start, and with rules the values that were written with it.
LEFT JOIN LATERAL (
    SELECT e.* FROM ebb.history AS e
    WHERE i.revision = 1 AND e.instance_id = i.id
      AND e.seq <= 2 AND (e.seq = 1 OR e.type = 'attributes_written')
    ORDER BY e.seq DESC LIMIT 1
) AS h ON true

-- fragment: lease_locked
-- The data of each claim is read now because of its size: beyond $bytes_max bytes no claim is added, except
-- the first.
sized AS MATERIALIZED (
    SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority,
           i.created_at, i.updated_at, i.finished_at, i.state,
           l.token AS task, l.handler, l.queue, l.rank, l.is_stop, l.was_lost, l.lost_by, l.outcome,
           h.seq, h.type, h.node, h.path, h.token, h.visit, h.attempt, h.ref, h.worker,
           h.started_at, h.at, h.payload,
           coalesce(sum(octet_length(i.state) + coalesce(octet_length(h.payload), 0)) OVER (
               ORDER BY l.rank, l.instance_id, l.token
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ), 0) AS bytes_before
    FROM locked AS l
    JOIN ebb.instances AS i ON i.id = l.instance_id
    -- include: first_input
),
leased AS (
    UPDATE ebb.tasks AS t SET lease_owner = $worker::text, took_slot = NULL
    WHERE t.instance_id = ANY (ARRAY(SELECT id FROM sized))
      AND ((t.instance_id, t.token) IN (
          SELECT id, task FROM sized WHERE bytes_before < $bytes_max::bigint
      )) IS TRUE
    RETURNING t.instance_id, t.token
)

-- fragment: claimed_columns
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state,
       task, handler, is_stop, was_lost, lost_by,
       seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload,
       outcome

-- fragment: instance_columns
SELECT id, workflow, version, key, status, revision, priority,
       created_at, updated_at, finished_at, state

-- fragment: listed_instances
-- include: instance_columns
FROM ebb.instances
WHERE id < $before::uuid AND id >= $from::uuid
  AND CASE WHEN $workflows::text[] IS NULL THEN workflow NOT LIKE 'ebb:%'
           ELSE $workflows::text[] = '{*}' OR workflow = ANY ($workflows::text[]) END
  AND ($version::integer IS NULL OR version = $version::integer)

-- fragment: listed_instances_by_key
SELECT i.id, i.workflow, i.version, i.key, i.status, i.revision, i.priority,
       i.created_at, i.updated_at, i.finished_at, i.state
FROM ebb.keys AS k
JOIN ebb.instances AS i ON i.id = k.instance_id
WHERE k.key = $key::text AND k.instance_id < $before::uuid AND k.instance_id >= $from::uuid
  AND CASE WHEN $workflows::text[] IS NULL THEN k.workflow NOT LIKE 'ebb:%'
           ELSE $workflows::text[] = '{*}' OR k.workflow = ANY ($workflows::text[]) END
  AND ($version::integer IS NULL OR i.version = $version::integer)

-- fragment: select_events
SELECT seq, type, node, path, token, visit, attempt, ref, worker, started_at, at, payload
FROM ebb.history

-- fragment: select_events_between
-- include: select_events
WHERE instance_id = $1::uuid AND seq > $2::bigint AND seq < $3::bigint
  AND ($4::text[] IS NULL OR type = ANY ($4::text[]))
  AND ($5::text IS NULL OR node = $5::text)
