-- The minimal durable step, 50 per statement, that also stores what the step returned: 10 KB (pgbench).
WITH d AS (
    DELETE FROM q
    WHERE id = ANY (ARRAY(SELECT id FROM q ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 50))
    RETURNING wf_id, step
),
u AS (
    UPDATE wf SET step = d.step + 1, updated_at = now() FROM d WHERE wf.id = d.wf_id
    RETURNING wf.id, wf.step
),
o AS (
    INSERT INTO outputs (wf_id, step, output)
    SELECT u.id, u.step, p.text || u.id || '"' FROM u, payload AS p
)
INSERT INTO q (wf_id, step) SELECT id, step FROM u;
