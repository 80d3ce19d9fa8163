-- name: end_waits
-- Those of other visits than ?3. Visits count from 1, so 0 means all.
DELETE FROM waits WHERE instance_id = ?1 AND token = ?2 AND visit <> ?3;

-- name: put_wait
INSERT INTO waits (
    instance_id, token, role, kind, workflow, node, signal, visit, since, deadline_at, quorum,
    confirmed
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT (instance_id, token, role) DO UPDATE SET
    deadline_at = excluded.deadline_at, confirmed = excluded.confirmed;

-- name: put_failure
INSERT OR REPLACE INTO failures (
    instance_id, workflow, version, status, step, code, grp, message, event, at
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: remove_failure
DELETE FROM failures WHERE instance_id = ?1;

-- name: remove_waits
DELETE FROM waits WHERE instance_id = ?1;

-- name: list_waits
-- A wait for several roles is shown once, by the first of them.
-- include: select_wait_columns
FROM waits AS w INDEXED BY waits_by_time JOIN instances AS i ON i.id = w.instance_id
WHERE w.kind = ?1 AND (w.since, w.instance_id, w.token) > (?2, ?3, ?4)
  AND (?5 IS NULL OR w.workflow IN (SELECT value FROM json_each(?5)))
  AND (?6 IS NULL OR w.deadline_at < ?6)
  AND NOT EXISTS (
      SELECT 1 FROM waits AS o
      WHERE o.instance_id = w.instance_id AND o.token = w.token AND o.role < w.role
  )
ORDER BY w.since, w.instance_id, w.token LIMIT ?7;

-- name: list_waits_of_role
-- include: select_wait_columns
FROM waits AS w INDEXED BY waits_by_role JOIN instances AS i ON i.id = w.instance_id
WHERE w.kind = ?1 AND w.role = ?8 AND (w.since, w.instance_id, w.token) > (?2, ?3, ?4)
  AND (?5 IS NULL OR w.workflow IN (SELECT value FROM json_each(?5)))
  AND (?6 IS NULL OR w.deadline_at < ?6)
ORDER BY w.since, w.instance_id, w.token LIMIT ?7;

-- name: next_failure_group
SELECT grp FROM failures INDEXED BY failures_by_group WHERE grp > ?1 ORDER BY grp LIMIT 1;

-- name: list_failures
SELECT f.instance_id, i.key, f.workflow, f.version, f.status, f.step, f.code, f.grp, f.message,
       f.event, f.at
FROM failures AS f INDEXED BY failures_by_group JOIN instances AS i ON i.id = f.instance_id
WHERE f.grp = ?1 AND (f.at, f.instance_id) < (?2, ?3) AND (?4 IS NULL OR f.status = ?4)
ORDER BY f.at DESC, f.instance_id DESC LIMIT ?5;

-- name: failures_of_group
SELECT instance_id, version, status, at FROM failures INDEXED BY failures_by_group
WHERE grp = ?1 AND (?2 IS NULL OR status = ?2)
ORDER BY at DESC, instance_id DESC LIMIT ?3;

-- name: side_row_page
-- Instances that may have side rows.
SELECT id FROM (
    SELECT * FROM (
        SELECT id FROM instances INDEXED BY instances_by_status
        WHERE status = 'running' AND id > ?1 ORDER BY id LIMIT ?2
    )
    UNION ALL
    SELECT * FROM (
        SELECT id FROM instances INDEXED BY instances_by_status
        WHERE status = 'paused' AND id > ?1 ORDER BY id LIMIT ?2
    )
    UNION ALL
    SELECT * FROM (
        SELECT id FROM instances INDEXED BY instances_by_status
        WHERE status = 'compensating' AND id > ?1 ORDER BY id LIMIT ?2
    )
    UNION ALL
    SELECT * FROM (
        SELECT id FROM instances INDEXED BY instances_by_status
        WHERE status = 'dead_letter' AND id > ?1 ORDER BY id LIMIT ?2
    )
    UNION ALL
    SELECT * FROM (
        SELECT id FROM instances INDEXED BY instances_by_status
        WHERE status = 'failed' AND id > ?1 ORDER BY id LIMIT ?2
    )
    UNION ALL
    SELECT * FROM (
        SELECT id FROM instances INDEXED BY instances_by_status
        WHERE status = 'moved' AND id > ?1 ORDER BY id LIMIT ?2
    )
)
ORDER BY id LIMIT ?2;

-- name: side_row_suspect
-- The instance ?1, unless its state cannot ask for any rows and it has none, or it has failed and has
-- its row. The last column: side_rows_text().
SELECT i.workflow, i.version, i.state, coalesce((
           SELECT group_concat(
               w.token || ':' || w.visit || ':' || w.confirmed || ':' || w.role || ';', ''
           )
           FROM (
               SELECT * FROM waits WHERE instance_id = i.id ORDER BY token, role
           ) AS w
       ), '') || coalesce((
           SELECT f.status || ':' || f.event FROM failures AS f WHERE f.instance_id = i.id
       ), '')
FROM instances AS i
WHERE i.id = ?1 AND (
    i.status = 'dead_letter'
    OR instr(i.state, '"waiting_decision"') > 0 OR instr(i.state, '"waiting_signal"') > 0
    OR instr(i.state, '"dead_letter"') > 0
    OR EXISTS (SELECT 1 FROM waits AS w WHERE w.instance_id = i.id)
    OR (SELECT f.status FROM failures AS f WHERE f.instance_id = i.id)
        IS NOT CASE i.status WHEN 'failed' THEN 'failed' END
);

-- name: remove_stale_waits
DELETE FROM waits WHERE instance_id IN (
    SELECT w.instance_id FROM waits AS w LEFT JOIN instances AS i ON i.id = w.instance_id
    WHERE i.id IS NULL OR i.finished_at IS NOT NULL LIMIT ?1
);

-- name: remove_stale_failures
DELETE FROM failures WHERE instance_id IN (
    SELECT f.instance_id FROM failures AS f LEFT JOIN instances AS i ON i.id = f.instance_id
    WHERE i.id IS NULL OR i.status IN ('completed', 'cancelled', 'aborted') LIMIT ?1
);

-- name: has_revision
SELECT 1 FROM instances WHERE id = ?1 AND revision = ?2;

-- name: due_repair
SELECT number, reached FROM repairs WHERE id = 1 AND next_at <= ?1;

-- name: take_repair
UPDATE repairs SET number = number + 1, next_at = ?2 WHERE id = 1 AND number = ?1;

-- name: put_repair
UPDATE repairs SET reached = ?2, next_at = ?3 WHERE id = 1 AND number = ?1;

-- name: put_label
INSERT OR REPLACE INTO labels (instance_id, name, type, text, number, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: remove_labels
DELETE FROM labels WHERE instance_id = ?1;
