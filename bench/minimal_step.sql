-- The minimal durable step, one per statement (pgbench): claim the next, change the workflow's
-- state, queue its next step. Three row writes, one commit.
WITH d AS (
    DELETE FROM q WHERE id = (SELECT id FROM q ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING wf_id, step
),
u AS (
    UPDATE wf SET step = d.step + 1, updated_at = now() FROM d WHERE wf.id = d.wf_id
    RETURNING wf.id, wf.step
)
INSERT INTO q (wf_id, step) SELECT id, step FROM u;
