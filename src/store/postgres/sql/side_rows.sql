-- name: end_waits
-- parameters: ids revisions folds ords tokens visits
-- The next four: of the instances $ids that have the revision $revisions, and whose task is folded as $folds says:
-- 0 = no, more = yes, less = either. The rows name them by their places. Other visits than the one
-- that is named end; NULL is any token.
WITH -- include: held
DELETE FROM ebb.waits AS w
USING unnest($ords::bigint[], $tokens::bigint[], $visits::bigint[]) AS c (ord, token, visit)
WHERE -- include: is_held
  AND w.instance_id = ($ids::uuid[])[c.ord] AND (c.token IS NULL OR w.token = c.token) AND w.visit <> c.visit;

-- name: put_waits
-- parameters: ids revisions folds ords tokens roles kinds workflows nodes signals visits sinces
-- parameters: deadlines quorums confirmations
WITH -- include: held
INSERT INTO ebb.waits (
    instance_id, token, role, kind, workflow, node, signal, visit, since, deadline_at, quorum,
    confirmed
)
SELECT ($ids::uuid[])[c.ord], c.token, c.role, c.kind, c.workflow, c.node, c.signal, c.visit, c.since,
       nullif(c.deadline_at, 0), c.quorum, c.confirmed
FROM unnest(
    $ords::bigint[], $tokens::bigint[], $roles::text[], $kinds::text[], $workflows::text[], $nodes::text[], $signals::text[],
    $visits::bigint[], $sinces::bigint[], $deadlines::bigint[], $quorums::integer[], $confirmations::integer[]
) AS c (
    ord, token, role, kind, workflow, node, signal, visit, since, deadline_at, quorum, confirmed
)
WHERE -- include: is_held
ON CONFLICT (instance_id, token, role) DO UPDATE SET
    deadline_at = excluded.deadline_at, confirmed = excluded.confirmed;

-- name: remove_failures
-- parameters: ids revisions folds ords
WITH -- include: held
DELETE FROM ebb.failures AS f
USING unnest($ords::bigint[]) AS c (ord)
WHERE -- include: is_held
  AND f.instance_id = ($ids::uuid[])[c.ord];

-- name: put_failures
-- parameters: ids revisions folds ords workflows versions statuses steps codes groups messages
-- parameters: events ats
WITH -- include: held
INSERT INTO ebb.failures (
    instance_id, workflow, version, status, step, code, grp, message, event, at
)
SELECT ($ids::uuid[])[c.ord], c.workflow, c.version, c.status, c.step, c.code, c.grp, c.message, c.event, c.at
FROM unnest(
    $ords::bigint[], $workflows::text[], $versions::integer[], $statuses::text[], $steps::text[], $codes::text[], $groups::text[],
    $messages::text[], $events::bigint[], $ats::bigint[]
) AS c (ord, workflow, version, status, step, code, grp, message, event, at)
WHERE -- include: is_held
ON CONFLICT (instance_id) DO UPDATE SET
    workflow = excluded.workflow, version = excluded.version, status = excluded.status,
    step = excluded.step, code = excluded.code, grp = excluded.grp, message = excluded.message,
    event = excluded.event, at = excluded.at;

-- name: put_labels
-- parameters: ids revisions folds ords names types texts numbers ats
-- As the four before. Numbers come as texts.
WITH -- include: held
INSERT INTO ebb.labels (instance_id, name, type, text, number, at)
SELECT ($ids::uuid[])[c.ord], c.name, c.type, c.text, c.number::double precision, c.at
FROM unnest(
    $ords::bigint[], $names::text[], $types::text[], $texts::text[], $numbers::text[], $ats::bigint[]
) AS c (ord, name, type, text, number, at)
WHERE -- include: is_held
ON CONFLICT (instance_id, name) DO UPDATE SET
    type = excluded.type, text = excluded.text, number = excluded.number, at = excluded.at;

-- fragment: wait_columns
w.instance_id, w.token, i.version, i.key, i.status, w.kind, w.workflow, w.node, w.signal, w.visit,
w.since, w.deadline_at, w.quorum, w.confirmed

-- fragment: wait_roles
ARRAY(
    SELECT r.role::text FROM ebb.waits AS r
    WHERE r.instance_id = w.instance_id AND r.token = w.token AND r.role <> ''
    ORDER BY r.role
)

-- fragment: from_waits_behind
FROM ebb.waits AS w JOIN ebb.instances AS i ON i.id = w.instance_id
WHERE w.kind = $kind::text
  AND (w.since, w.instance_id, w.token) > ($since::bigint, $instance::uuid, $token::bigint)
  AND ($workflows::text[] IS NULL OR w.workflow = ANY ($workflows::text[]))
  AND ($deadline::bigint IS NULL OR w.deadline_at < $deadline::bigint)

-- name: list_waits
-- parameters: kind since instance token workflows deadline limit
-- A wait for several roles is shown once, by the first of them.
SELECT -- include: wait_columns,
       -- include: wait_roles
-- include: from_waits_behind
  AND NOT EXISTS (
      SELECT 1 FROM ebb.waits AS o
      WHERE o.instance_id = w.instance_id AND o.token = w.token AND o.role < w.role
  )
ORDER BY w.since, w.instance_id, w.token LIMIT $limit::bigint;

-- name: list_waits_of_roles
-- parameters: kind since instance token workflows deadline limit roles
-- $limit of each of the $roles.
SELECT w.*, -- include: wait_roles
FROM unnest($roles::text[]) AS o (role)
CROSS JOIN LATERAL (
    SELECT -- include: wait_columns
    -- include: from_waits_behind
      AND w.role = o.role
    ORDER BY w.since, w.instance_id, w.token LIMIT $limit::bigint
) AS w;

-- name: list_failures
SELECT f.instance_id, i.key, f.workflow, f.version, f.status, f.step, f.code, f.grp, f.message,
       f.event, f.at
FROM ebb.failures AS f JOIN ebb.instances AS i ON i.id = f.instance_id
WHERE f.grp = $1::text AND (f.at, f.instance_id) < ($2::bigint, $3::uuid)
  AND ($4::text IS NULL OR f.status = $4::text)
ORDER BY f.at DESC, f.instance_id DESC LIMIT $5::bigint;

-- fragment: from_failures_of_group
FROM ebb.failures AS f
WHERE f.grp = n.grp AND ($status::text IS NULL OR f.status = $status::text)
ORDER BY f.at DESC, f.instance_id DESC

-- name: failure_groups
-- parameters: groups workflows status counted samples
-- The first $groups groups and one more. One seek for each, and a look at no more than $counted + 1 of
-- its failures, which the index alone answers.
WITH RECURSIVE names (grp) AS (
    (SELECT f.grp FROM ebb.failures AS f ORDER BY f.grp LIMIT 1)
    UNION ALL
    SELECT (
        SELECT f.grp FROM ebb.failures AS f WHERE f.grp > n.grp ORDER BY f.grp LIMIT 1
    )
    FROM names AS n WHERE n.grp IS NOT NULL
),
page AS MATERIALIZED (
    SELECT n.grp FROM names AS n WHERE n.grp IS NOT NULL LIMIT $groups::bigint + 1
)
SELECT p.grp, n.workflow, n.version, n.status, n.step, n.code, n.message, n.event, n.at,
       c.failures + coalesce(m.failures, 0), c.dead_letter, c.first_at, c.versions, s.samples
FROM page AS p
LEFT JOIN LATERAL (
    SELECT f.* FROM ebb.failures AS f
    WHERE f.grp = p.grp AND ($status::text IS NULL OR f.status = $status::text)
    ORDER BY f.at DESC, f.instance_id DESC LIMIT 1
) AS n ON $workflows::text[] IS NULL OR n.workflow = ANY ($workflows::text[])
LEFT JOIN LATERAL (
    SELECT count(*) AS failures,
           count(*) FILTER (WHERE b.status = 'dead_letter') AS dead_letter,
           min(b.at) AS first_at,
           array_agg(DISTINCT b.version)::text[] AS versions
    FROM (
        SELECT f.status, f.at, f.version
        -- include: from_failures_of_group
        LIMIT $counted::bigint
    ) AS b
) AS c ON true
-- Looks again only if there may be more. As a condition of the join it would look first.
LEFT JOIN LATERAL (
    SELECT count(*) AS failures
    FROM (
        SELECT f.instance_id
        -- include: from_failures_of_group
        OFFSET $counted::bigint LIMIT 1
    ) AS b
    WHERE c.failures = $counted::bigint
) AS m ON true
LEFT JOIN LATERAL (
    SELECT array_agg(b.instance_id::text ORDER BY b.at DESC, b.instance_id DESC) AS samples
    FROM (
        SELECT f.at, f.instance_id
        -- include: from_failures_of_group
        LIMIT $samples::bigint
    ) AS b
) AS s ON true
ORDER BY p.grp;

-- name: check_side_rows
-- Of the next $2 instances behind $1 that may have side rows: those whose state may ask for some, or
-- that have some; not what has failed and has its row. The last column: side_rows_text(). The first
-- row says how far it went, and how many they were.
WITH page AS MATERIALIZED (
    SELECT p.id
    FROM unnest(
        ARRAY['running', 'paused', 'compensating', 'dead_letter', 'failed', 'moved']
    ) AS s (status)
    CROSS JOIN LATERAL (
        SELECT i.id FROM ebb.instances AS i
        WHERE i.status = s.status AND i.status <> 'completed' AND i.id > $1::uuid
        ORDER BY i.id LIMIT $2::bigint
    ) AS p
    ORDER BY p.id LIMIT $2::bigint
),
suspects AS (
    SELECT i.id, i.workflow, i.version, i.state,
           w.text || coalesce(f.status || ':' || f.event::text, '') AS text
    FROM page AS p
    JOIN ebb.instances AS i ON i.id = p.id
    CROSS JOIN LATERAL (
        SELECT coalesce(string_agg(
            w.token::text || ':' || w.visit::text || ':' || w.confirmed::text || ':' || w.role
                || ';',
            '' ORDER BY w.token, w.role
        ), '') AS text
        FROM ebb.waits AS w WHERE w.instance_id = i.id
    ) AS w
    LEFT JOIN ebb.failures AS f ON f.instance_id = i.id
    WHERE i.status = 'dead_letter' OR w.text <> ''
       OR strpos(i.state, '"waiting_decision"') > 0 OR strpos(i.state, '"waiting_signal"') > 0
       OR strpos(i.state, '"dead_letter"') > 0
       OR f.status IS DISTINCT FROM CASE i.status WHEN 'failed' THEN 'failed' END
)
SELECT (SELECT p.id FROM page AS p ORDER BY p.id DESC LIMIT 1), NULL::text, NULL::integer,
       NULL::text, NULL::text, (SELECT count(*) FROM page)
UNION ALL
SELECT s.id, s.workflow, s.version, s.state, s.text, NULL FROM suspects AS s;

-- name: remove_stale_waits
DELETE FROM ebb.waits AS w WHERE w.instance_id IN (
    SELECT s.instance_id FROM ebb.waits AS s
    WHERE coalesce(
        (SELECT i.status FROM ebb.instances AS i WHERE i.id = s.instance_id), 'completed'
    ) IN ('completed', 'failed', 'cancelled', 'aborted')
    LIMIT $1::bigint
);

-- name: remove_stale_failures
DELETE FROM ebb.failures AS f WHERE f.instance_id IN (
    SELECT s.instance_id FROM ebb.failures AS s
    WHERE coalesce(
        (SELECT i.status FROM ebb.instances AS i WHERE i.id = s.instance_id), 'completed'
    ) IN ('completed', 'cancelled', 'aborted')
    LIMIT $1::bigint
);

-- name: take_repair
UPDATE ebb.repairs
SET number = number + 1,
    next_at = coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) + $2::bigint
WHERE id = 1 AND next_at <= coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint)
RETURNING number, reached;

-- name: put_repair
UPDATE ebb.repairs
SET reached = $3::uuid,
    next_at = coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) + $4::bigint
WHERE id = 1 AND number = $2::bigint
RETURNING 1;
