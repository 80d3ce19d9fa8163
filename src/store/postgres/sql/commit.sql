-- name: commit_and_remove
-- parameters: words ids revisions statuses states nows finished_ats event_ords event_seqs
-- parameters: event_types event_nodes event_paths event_tokens event_visits event_attempts
-- parameters: event_refs event_workers event_started_ats event_ats event_payloads removed_ords
-- parameters: removed_tokens leases
-- The usual commit in one statement: each instance by compare-and-swap on its revision, then the
-- history and the removal of tasks of the swapped instances. The answer names only the instances that
-- were not swapped, and their revisions. $leases: 0 if no task is folded, 1 if the task stays folded, 2
-- if its folding ends. If the row disagrees, nothing is written.
-- Each unnested column has a cost. So a number is looked up in its array, and a word that many rows
-- share is looked up in $words by its number there: 0 stands for NULL. Elsewhere, 0 may mean NULL, too.
-- An instance that ends loses all tasks but the one for mail: a worker drops what is unread.
-- (x IN (...)) IS TRUE makes PostgreSQL look x up in a hash table, no matter which sizes it
-- estimates.
WITH -- include: swap_instances,
events AS (
    -- include: add_events
    WHERE e.ord <> ALL (ARRAY(SELECT ord FROM failed))
),
removed AS (
    DELETE FROM ebb.tasks AS t
    USING unnest($removed_ords::bigint[], $removed_tokens::bigint[]) AS r (ord, token)
    WHERE t.instance_id = ($ids::uuid[])[r.ord]
      AND (t.token = r.token OR (r.token IS NULL AND t.token > -9223372036854775807))
      AND r.ord <> ALL (ARRAY(SELECT ord FROM failed))
)
SELECT f.ord, (SELECT i.revision FROM ebb.instances AS i WHERE i.id = f.id) FROM failed AS f;

-- name: commit_and_put
-- parameters: words ids revisions statuses states nows finished_ats event_ords event_seqs
-- parameters: event_types event_nodes event_paths event_tokens event_visits event_attempts
-- parameters: event_refs event_workers event_started_ats event_ats event_payloads put_ords
-- parameters: put_tokens put_handlers put_queues put_dues put_ranks put_nows put_owners clock_now
-- parameters: head_start leases
-- As commit_and_remove, if tasks are put and none is removed.
WITH -- include: clock,
-- include: swap_instances,
events AS (
    -- include: add_events
    WHERE e.ord <> ALL (ARRAY(SELECT ord FROM failed))
),
put AS (
    -- include: put_tasks_of_arrays
    WHERE p.ord <> ALL (ARRAY(SELECT ord FROM failed))
    -- include: replace_task
)
SELECT f.ord, (SELECT i.revision FROM ebb.instances AS i WHERE i.id = f.id) FROM failed AS f;

-- name: lock_instances
-- Runs before the statements below, which change tasks one after another and then end with
-- commit_and_remove. No other session may change these instances in between.
SELECT i.id FROM unnest($1::uuid[]) AS b (id) JOIN ebb.instances AS i ON i.id = b.id
FOR UPDATE OF i;

-- name: unfold_tasks
-- Gives these instances' folded tasks rows, so that workers other than the one that started the
-- instances may change their tasks.
WITH folded AS MATERIALIZED (
    SELECT i.id, i.created_at, i.priority, i.lease_owner, i.lease_handler, i.lease_queue
    FROM unnest($1::uuid[]) AS b (id) JOIN ebb.instances AS i ON i.id = b.id
    WHERE i.lease_owner IS NOT NULL
    FOR UPDATE OF i
),
unfolded AS (
    UPDATE ebb.instances AS i SET lease_owner = NULL, lease_handler = NULL, lease_queue = NULL
    FROM folded AS f WHERE i.id = f.id
)
-- include: put_rows
SELECT f.id, 1, coalesce(f.lease_handler, ''), coalesce(f.lease_queue, ''), f.created_at,
       f.created_at - $2::bigint * f.priority, 1, f.lease_owner
FROM folded AS f;

-- name: set_versions
-- Other versions of the workflows of instances that are locked, and that the commit is written to:
-- $4 is the $23 of commit_and_remove.
UPDATE ebb.instances AS i SET version = b.version
FROM unnest($1::uuid[], $2::bigint[], $3::integer[], $4::integer[])
    AS b (id, revision, version, lease)
WHERE i.id = b.id AND i.revision = b.revision
  AND (i.lease_owner IS NOT NULL) = (b.lease > 0);

-- name: put_tasks
-- parameters: words ids revisions put_ords put_tokens put_handlers put_queues put_dues put_ranks
-- parameters: put_nows put_owners clock_now head_start leases
-- $leases: as in commit_and_remove.
WITH -- include: clock,
put AS (
    -- include: put_tasks_of_arrays
    WHERE EXISTS (
        SELECT 1 FROM ebb.instances AS i
        WHERE i.id = ($ids::uuid[])[p.ord] AND i.revision = ($revisions::bigint[])[p.ord]
          AND (i.lease_owner IS NOT NULL) = (($leases::integer[])[p.ord] > 0)
    )
    -- include: replace_task
)
SELECT 1 WHERE false;

-- name: change_tasks
-- parameters: ids revisions tokens kinds clock_now head_start
-- Parks, unparks and stops.
WITH -- include: clock,
changed AS (
    UPDATE ebb.tasks AS t SET
        lane = CASE c.kind
            WHEN 'park' THEN 2
            WHEN 'stop' THEN 1
            ELSE CASE WHEN t.due_at <= k.now THEN 1 ELSE 0 END
        END,
        handler = CASE WHEN c.kind = 'stop' AND t.lease_owner IS NULL THEN '' ELSE t.handler END,
        is_stop = t.is_stop OR c.kind = 'stop',
        due_at = CASE c.kind WHEN 'stop' THEN k.now ELSE t.due_at END,
        rank = CASE c.kind WHEN 'stop' THEN k.now - $head_start::bigint * i.priority ELSE t.rank END
    FROM unnest($ids::uuid[], $revisions::bigint[], $tokens::bigint[], $kinds::text[])
        AS c (id, revision, token, kind)
    JOIN ebb.instances AS i ON i.id = c.id AND i.revision = c.revision
    CROSS JOIN clock AS k
    WHERE t.instance_id = c.id AND t.token = c.token
)
SELECT 1 WHERE false;
