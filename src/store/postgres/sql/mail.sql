-- name: send_mail
-- parameters: instance sender seq kind body clock_now head_start
-- The answer: how much was written, and whether the instance has ended; NULL if it does not exist. The
-- time is later than that of all that is visible. A wake that is already due keeps its place. It is
-- changed in any case, so that a commit that is removing it waits, or is waited for.
WITH clock AS MATERIALIZED (
    SELECT coalesce(
        $clock_now::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    ) AS now
),
addressee AS MATERIALIZED (
    SELECT i.id, i.priority, i.finished_at FROM ebb.instances AS i WHERE i.id = $instance::uuid
),
added AS (
    INSERT INTO ebb.inbox (instance_id, sender, sender_seq, kind, body, at)
    SELECT a.id, $sender::text, $seq::bigint, $kind::text, $body::text, greatest(c.now, (
        SELECT max(m.at) + 1 FROM ebb.inbox AS m WHERE m.instance_id = $instance::uuid
    ))
    FROM addressee AS a CROSS JOIN clock AS c WHERE a.finished_at IS NULL
    ON CONFLICT (instance_id, sender, sender_seq) DO NOTHING
    RETURNING 1
),
woken AS (
    INSERT INTO ebb.tasks AS t (
        instance_id, token, handler, queue, due_at, rank, lane, lease_owner
    )
    SELECT a.id, -9223372036854775807, '', 'default', c.now,
           c.now - $head_start::bigint * a.priority, 1, NULL
    FROM addressee AS a CROSS JOIN clock AS c WHERE EXISTS (SELECT 1 FROM added)
    ON CONFLICT (instance_id, token) DO UPDATE SET
        due_at = CASE t.lane WHEN 0 THEN excluded.due_at ELSE t.due_at END,
        rank = CASE t.lane WHEN 0 THEN excluded.rank ELSE t.rank END,
        lane = CASE t.lane WHEN 2 THEN 2 ELSE 1 END
)
SELECT (SELECT count(*) FROM added), (SELECT a.finished_at IS NOT NULL FROM addressee AS a);

-- name: unread_mail
-- The oldest mail of each of the instances $1, at most $2 of it and $3 bytes, but for the first; and how
-- much there is, up to one more than $2.
SELECT m.instance_id, m.sender, m.sender_seq, m.kind, m.body, m.at, m.total
FROM unnest($1::uuid[]) AS b (id) CROSS JOIN LATERAL (
    SELECT f.*, count(*) OVER () AS total, row_number() OVER w AS place,
           coalesce(sum(octet_length(f.body)) OVER (
               w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ), 0) AS bytes_before
    FROM (
        SELECT i.* FROM ebb.inbox AS i WHERE i.instance_id = b.id ORDER BY i.at LIMIT $2::bigint + 1
    ) AS f
    WINDOW w AS (ORDER BY f.at)
) AS m
WHERE m.place <= $2::bigint AND m.bytes_before < $3::bigint
ORDER BY m.instance_id, m.at;

-- name: remove_wakes
-- parameters: ids revisions folds
-- This and the next two run one after another, and in this order. A session that sends mail must change
-- the wake, too. So either it waits until this transaction is over, and then makes a new wake; or this
-- waits for it, and the third statement sees its mail. `+ 0`: the planner is not to enter the index by
-- the token alone, which it would do while the table is small.
WITH -- include: held
DELETE FROM ebb.tasks AS t USING held AS h
WHERE t.instance_id = h.id AND t.token + 0 = -9223372036854775807;

-- name: receive_mail
-- parameters: ids revisions folds ords senders seqs
WITH -- include: held
DELETE FROM ebb.inbox AS m
USING unnest($ords::bigint[], $senders::text[], $seqs::bigint[]) AS c (ord, sender, seq)
WHERE -- include: is_held
  AND m.instance_id = ($ids::uuid[])[c.ord] AND m.sender = c.sender AND m.sender_seq = c.seq;

-- name: restore_wakes
-- parameters: ids revisions folds clock_now head_start
WITH -- include: held,
-- include: clock
-- include: put_rows
SELECT h.id, -9223372036854775807, '', 'default', k.now, k.now - $head_start::bigint * i.priority,
       1, NULL
FROM held AS h JOIN ebb.instances AS i ON i.id = h.id CROSS JOIN clock AS k
WHERE EXISTS (SELECT 1 FROM ebb.inbox AS m WHERE m.instance_id = h.id)
ON CONFLICT (instance_id, token) DO NOTHING;

-- name: restore_lost_wakes
-- For mail from before $2, with the head start $3 of one point of priority. $1: the time of a test.
WITH clock AS MATERIALIZED (
    SELECT coalesce($1::bigint, (extract(epoch FROM now()) * 1000000)::bigint) AS now
),
old AS MATERIALIZED (
    SELECT DISTINCT f.instance_id
    FROM (
        SELECT m.instance_id FROM ebb.inbox AS m
        WHERE m.at < (SELECT now FROM clock) - $2::bigint ORDER BY m.at LIMIT 1000
    ) AS f
)
-- include: put_rows
SELECT i.id, -9223372036854775807, '', 'default', k.now, k.now - $3::bigint * i.priority, 1, NULL
FROM old AS o JOIN ebb.instances AS i ON i.id = o.instance_id CROSS JOIN clock AS k
LEFT JOIN LATERAL (
    SELECT t.token FROM ebb.tasks AS t
    WHERE t.instance_id = i.id AND t.token = -9223372036854775807 LIMIT 1
) AS wake ON true
WHERE wake.token IS NULL
ON CONFLICT (instance_id, token) DO NOTHING;

-- name: remove_wake_of_ended
-- Before drop_mail, for the same reason.
DELETE FROM ebb.tasks AS t USING ebb.instances AS i
WHERE i.id = $1::uuid AND i.finished_at IS NOT NULL
  AND t.instance_id = i.id AND t.token = -9223372036854775807;

-- name: drop_mail
WITH gone AS (
    DELETE FROM ebb.inbox AS m USING ebb.instances AS i
    WHERE i.id = $1::uuid AND i.finished_at IS NOT NULL AND m.instance_id = i.id
    RETURNING 1
)
SELECT count(*) FROM gone;
