-- compatible with 6
-- Mail that no commit has decided yet. As long as an instance has any, it has the task with the token
-- -9223372036854775807. A request has its id as sender, and sender_seq 0.
CREATE TABLE ebb.inbox (
    instance_id uuid NOT NULL,
    sender_seq bigint NOT NULL,
    at bigint NOT NULL,
    sender text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (instance_id, sender, sender_seq)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

CREATE INDEX inbox_by_time ON ebb.inbox (at);
