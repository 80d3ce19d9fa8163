-- name: count_subscriptions
-- Those but $1.
SELECT count(*) FROM ebb.subscriptions WHERE name <> $1::text;

-- name: put_subscription
INSERT INTO ebb.subscriptions (name, document, is_enabled, failures, suspended_at, updated_at)
VALUES ($1::text, $2::text, $3::boolean, $4::bigint, $5::bigint, $6::bigint)
ON CONFLICT (name) DO UPDATE SET
    document = excluded.document, is_enabled = excluded.is_enabled, failures = excluded.failures,
    suspended_at = excluded.suspended_at, updated_at = excluded.updated_at;

-- name: list_subscriptions
-- The subscription $1, or all of them.
SELECT name, document, is_enabled, failures, suspended_at, updated_at FROM ebb.subscriptions
WHERE $1::text IS NULL OR name = $1::text ORDER BY name;

-- name: remove_subscription
DELETE FROM ebb.subscriptions WHERE name = $1::text RETURNING 1;

-- name: remove_outbox_of
DELETE FROM ebb.outbox WHERE subscription = $1::text;

-- name: note_delivery
-- $2: it has succeeded; $3: at so many failures it is suspended; $4: now. The columns on the right are
-- those from before.
UPDATE ebb.subscriptions
SET failures = CASE WHEN $2::boolean THEN 0 ELSE failures + 1 END,
    suspended_at = CASE
        WHEN $2::boolean OR failures + 1 < $3::bigint THEN NULL
        ELSE coalesce(suspended_at, $4::bigint)
    END,
    updated_at = CASE
        WHEN (suspended_at IS NULL) = ($2::boolean OR failures + 1 < $3::bigint) THEN updated_at
        ELSE $4::bigint
    END
WHERE name = $1::text
RETURNING failures;

-- name: put_notices
-- parameters: ids revisions folds ords subscriptions seqs types data ats
-- As put_waits.
WITH -- include: held
INSERT INTO ebb.outbox (subscription, instance_id, seq, type, data, at)
SELECT c.subscription, ($ids::uuid[])[c.ord], c.seq, c.type, c.data, c.at
FROM unnest(
    $ords::bigint[], $subscriptions::text[], $seqs::bigint[], $types::text[], $data::text[], $ats::bigint[]
) AS c (ord, subscription, seq, type, data, at)
WHERE -- include: is_held
ON CONFLICT (subscription, instance_id, seq) DO NOTHING;

-- name: add_notice
INSERT INTO ebb.outbox (subscription, instance_id, seq, type, data, at)
VALUES ($1::text, $2::uuid, $3::bigint, $4::text, $5::text, $6::bigint)
ON CONFLICT (subscription, instance_id, seq) DO NOTHING;

-- name: list_outbox
SELECT o.instance_id, o.subscription, o.seq, o.type, o.data, o.at
FROM ebb.outbox AS o WHERE o.subscription = ANY ($1::text[])
ORDER BY o.at, o.instance_id, o.seq LIMIT $2::bigint;

-- name: remove_notices
DELETE FROM ebb.outbox AS o
USING unnest($1::text[], $2::uuid[], $3::bigint[]) AS g (subscription, instance_id, seq)
WHERE o.subscription = g.subscription AND o.instance_id = g.instance_id AND o.seq = g.seq;

-- name: clear_outbox
DELETE FROM ebb.outbox WHERE at < $1::bigint OR NOT subscription = ANY ($2::text[]);
