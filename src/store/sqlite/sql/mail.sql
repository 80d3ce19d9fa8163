-- name: mail_addressee
SELECT finished_at IS NOT NULL FROM instances WHERE id = ?1;

-- name: add_mail
-- Later than all that is there.
INSERT INTO inbox (instance_id, sender, sender_seq, kind, body, at)
VALUES (
    ?1, ?2, ?3, ?4, ?5,
    max(?6, coalesce((SELECT max(m.at) + 1 FROM inbox AS m WHERE m.instance_id = ?1), ?6))
)
ON CONFLICT DO NOTHING;

-- name: wake_for_mail
-- ?2 is the time, ?3 the rank of priority 0, ?4 the head start of one point of priority. A wake that is
-- already due keeps its place.
INSERT INTO tasks (instance_id, token, handler, queue, due_at, rank, lane)
VALUES (
    ?1, -9223372036854775807, '', 'default', ?2,
    ?3 - (SELECT priority FROM instances WHERE id = ?1) * ?4, 1
)
ON CONFLICT (instance_id, token) DO UPDATE SET
    lane = 1, due_at = excluded.due_at, rank = excluded.rank
    WHERE lane = 0;

-- name: unread_mail
SELECT sender, sender_seq, kind, body, at FROM inbox WHERE instance_id = ?1 ORDER BY at LIMIT ?2;

-- name: remove_mail
DELETE FROM inbox WHERE instance_id = ?1 AND sender = ?2 AND sender_seq = ?3;

-- name: remove_wake
DELETE FROM tasks WHERE instance_id = ?1 AND token = -9223372036854775807;

-- name: has_mail
SELECT 1 FROM inbox WHERE instance_id = ?1 LIMIT 1;

-- name: restore_lost_wakes
-- For mail from before ?1. The others are as in wake_for_mail.
INSERT INTO tasks (instance_id, token, handler, queue, due_at, rank, lane)
SELECT i.id, -9223372036854775807, '', 'default', ?2, ?3 - i.priority * ?4, 1
FROM (
    SELECT DISTINCT f.instance_id
    FROM (SELECT m.instance_id FROM inbox AS m WHERE m.at < ?1 ORDER BY m.at LIMIT 1000) AS f
) AS o JOIN instances AS i ON i.id = o.instance_id
WHERE true
ON CONFLICT (instance_id, token) DO NOTHING;

-- name: remove_all_mail
DELETE FROM inbox WHERE instance_id = ?1;
