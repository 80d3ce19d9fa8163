-- name: start_instances
-- parameters: words ids workflows versions statuses revisions priorities created_ats updated_ats
-- parameters: finished_ats states event_ords event_seqs event_types event_nodes event_paths
-- parameters: event_tokens event_visits event_attempts event_refs event_workers event_started_ats
-- parameters: event_ats event_payloads put_ords put_tokens put_handlers put_queues put_dues
-- parameters: put_ranks put_nows put_owners clock_now owners owner_handlers owner_queues
-- For instances without a key and with fresh ids. If one exists, the whole statement fails. Then call
-- start_absent_instances, which costs more. $words and the arrays: as in commit_and_remove. The tasks are
-- those that are not folded.
WITH -- include: clock,
added AS (
    INSERT INTO ebb.instances (
        id, workflow, version, status, revision, priority,
        created_at, updated_at, finished_at, state, lease_owner, lease_handler, lease_queue
    )
    SELECT ($ids::uuid[])[i.ord], ($words::text[])[($workflows::integer[])[i.ord]], ($versions::integer[])[i.ord],
           ($words::text[])[($statuses::integer[])[i.ord]], ($revisions::bigint[])[i.ord],
           ($priorities::integer[])[i.ord], ($created_ats::bigint[])[i.ord], ($updated_ats::bigint[])[i.ord],
           nullif(($finished_ats::bigint[])[i.ord], 0), i.state,
           ($words::text[])[($owners::integer[])[i.ord]], ($words::text[])[($owner_handlers::integer[])[i.ord]],
           ($words::text[])[($owner_queues::integer[])[i.ord]]
    FROM unnest($states::text[]) WITH ORDINALITY AS i (state, ord)
),
events AS (
    -- include: add_events
)
-- include: put_rows
SELECT ($ids::uuid[])[p.ord], p.token, coalesce(($words::text[])[($put_handlers::integer[])[p.n]], ''),
       coalesce(($words::text[])[($put_queues::integer[])[p.n]], ''), ($put_dues::bigint[])[p.n],
       ($put_ranks::bigint[])[p.n],
       CASE WHEN ($put_dues::bigint[])[p.n] <= greatest(
           ($put_nows::bigint[])[p.n], (SELECT now FROM clock)
       ) THEN 1 ELSE 0 END,
       ($words::text[])[($put_owners::integer[])[p.n]]
FROM unnest($put_ords::bigint[], $put_tokens::bigint[]) WITH ORDINALITY AS p (ord, token, n);

-- name: start_absent_instances
-- parameters: words ids workflows versions statuses revisions priorities created_ats updated_ats
-- parameters: finished_ats states event_ords event_seqs event_types event_nodes event_paths
-- parameters: event_tokens event_visits event_attempts event_refs event_workers event_started_ats
-- parameters: event_ats event_payloads put_ords put_tokens put_handlers put_queues put_dues
-- parameters: put_ranks put_nows put_owners clock_now owners owner_handlers owner_queues keys
-- parameters: put_keys
-- Leaves out instances whose id or key exists, and answers with the ids of the others. If two
-- sessions want one key at the same time, the second waits for the first.
WITH -- include: clock,
given AS MATERIALIZED (
    SELECT ($ids::uuid[])[i.ord] AS id, ($words::text[])[($workflows::integer[])[i.ord]] AS workflow,
           ($versions::integer[])[i.ord] AS version, i.key,
           ($words::text[])[($statuses::integer[])[i.ord]] AS status, ($revisions::bigint[])[i.ord] AS revision,
           ($priorities::integer[])[i.ord] AS priority, ($created_ats::bigint[])[i.ord] AS created_at,
           ($updated_ats::bigint[])[i.ord] AS updated_at, nullif(($finished_ats::bigint[])[i.ord], 0) AS finished_at,
           i.state, ($words::text[])[($owners::integer[])[i.ord]] AS lease_owner,
           ($words::text[])[($owner_handlers::integer[])[i.ord]] AS lease_handler,
           ($words::text[])[($owner_queues::integer[])[i.ord]] AS lease_queue
    FROM unnest($keys::text[], $states::text[]) WITH ORDINALITY AS i (key, state, ord)
),
keyed AS (
    INSERT INTO ebb.keys (key, workflow, instance_id)
    SELECT g.key, g.workflow, g.id FROM given AS g
    WHERE g.key IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM ebb.instances AS i WHERE i.id = g.id)
    ON CONFLICT DO NOTHING
    RETURNING instance_id
),
added AS (
    INSERT INTO ebb.instances (
        id, workflow, version, key, status, revision, priority,
        created_at, updated_at, finished_at, state, lease_owner, lease_handler, lease_queue
    )
    SELECT * FROM given AS g
    WHERE g.key IS NULL OR (g.id IN (SELECT instance_id FROM keyed)) IS TRUE
    ON CONFLICT DO NOTHING
    RETURNING id
),
events AS (
    -- include: add_events
    WHERE (($ids::uuid[])[e.ord] IN (SELECT id FROM added)) IS TRUE
),
waiting AS (
    INSERT INTO ebb.tasks (
        instance_id, token, handler, queue, due_at, rank, lane, lease_owner, concurrency_key
    )
    SELECT ($ids::uuid[])[p.ord], p.token, coalesce(($words::text[])[($put_handlers::integer[])[p.n]], ''),
           coalesce(($words::text[])[($put_queues::integer[])[p.n]], ''), ($put_dues::bigint[])[p.n],
           ($put_ranks::bigint[])[p.n],
           CASE WHEN ($put_dues::bigint[])[p.n] <= greatest(
               ($put_nows::bigint[])[p.n], (SELECT now FROM clock)
           ) THEN 1 ELSE 0 END,
           ($words::text[])[($put_owners::integer[])[p.n]], ($put_keys::text[])[p.n]
    FROM unnest($put_ords::bigint[], $put_tokens::bigint[]) WITH ORDINALITY AS p (ord, token, n)
    WHERE (($ids::uuid[])[p.ord] IN (SELECT id FROM added)) IS TRUE
)
SELECT id FROM added;

-- name: find_started
-- The instance that has the id, and the one that has the key. A statement of its own, so that it sees
-- what others have committed in the meantime. Not EXISTS: a plan that was made for an empty table
-- would hash all of it.
SELECT (SELECT i.id FROM ebb.instances AS i WHERE i.id = b.id) IS NOT NULL, (
    SELECT k.instance_id FROM ebb.keys AS k WHERE k.key = b.key AND k.workflow = b.workflow
)
FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS b (id, workflow, key, ord)
ORDER BY b.ord;
