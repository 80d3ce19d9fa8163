-- name: subscriptions_mark
SELECT count(*), max(updated_at) FROM subscriptions;

-- name: count_subscriptions
-- Those but ?1.
SELECT count(*) FROM subscriptions WHERE name <> ?1;

-- name: put_subscription
INSERT OR REPLACE INTO subscriptions (
    name, document, is_enabled, failures, suspended_at, updated_at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: list_subscriptions
SELECT name, document, is_enabled, failures, suspended_at, updated_at FROM subscriptions
ORDER BY name;

-- name: find_subscription
SELECT name, document, is_enabled, failures, suspended_at, updated_at FROM subscriptions
WHERE name = ?1;

-- name: remove_subscription
DELETE FROM subscriptions WHERE name = ?1;

-- name: remove_outbox_of
DELETE FROM outbox WHERE subscription = ?1;

-- name: note_delivery
-- ?2: it has succeeded; ?3: at so many failures it is suspended; ?4: now. The columns on the right are
-- those from before.
UPDATE subscriptions
SET failures = CASE WHEN ?2 THEN 0 ELSE failures + 1 END,
    suspended_at = CASE
        WHEN ?2 OR failures + 1 < ?3 THEN NULL ELSE coalesce(suspended_at, ?4)
    END,
    updated_at = CASE
        WHEN (suspended_at IS NULL) = (?2 OR failures + 1 < ?3) THEN updated_at ELSE ?4
    END
WHERE name = ?1
RETURNING failures;

-- name: put_notice
INSERT OR IGNORE INTO outbox (subscription, instance_id, seq, type, data, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: list_outbox
SELECT instance_id, subscription, seq, type, data, at FROM outbox
WHERE subscription = ?1 ORDER BY at, instance_id, seq LIMIT ?2;

-- name: remove_notice
DELETE FROM outbox WHERE subscription = ?1 AND instance_id = ?2 AND seq = ?3;

-- name: clear_outbox
DELETE FROM outbox
WHERE at < ?1 OR subscription NOT IN (SELECT value FROM json_each(?2));
