-- The tables of the minimal durable step (minimal_step.sql, minimal_step_50.sql, minimal_step_10k.sql): 20,000 workflows,
-- each with one entry in the queue.
DROP TABLE IF EXISTS q, wf, outputs, payload;
CREATE TABLE wf (
    id bigint PRIMARY KEY,
    step integer NOT NULL,
    updated_at timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE TABLE q (
    id bigserial PRIMARY KEY,
    wf_id bigint NOT NULL,
    step integer NOT NULL
);
INSERT INTO wf SELECT n, 0, now() FROM generate_series(1, 20000) AS n;
INSERT INTO q (wf_id, step) SELECT n, 0 FROM generate_series(1, 20000) AS n;
-- What a step returns where the script stores it: 10 KB that hardly compress.
CREATE TABLE outputs (
    wf_id bigint NOT NULL,
    step integer NOT NULL,
    output text NOT NULL,
    PRIMARY KEY (wf_id, step)
);
CREATE TABLE payload (text text NOT NULL);
INSERT INTO payload
SELECT '"' || string_agg(encode(sha256(n::text::bytea), 'base64'), '')
FROM generate_series(1, 227) AS n;
VACUUM ANALYZE wf;
VACUUM ANALYZE q;
CHECKPOINT;
