-- compatible with 5
-- Mail that no commit has decided yet. As long as an instance has any, it has the task with the token
-- -9223372036854775807. A request has its id as sender, and sender_seq 0.
CREATE TABLE inbox (
    instance_id TEXT NOT NULL,
    sender TEXT NOT NULL,
    sender_seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (instance_id, sender, sender_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX inbox_by_time ON inbox (at);
