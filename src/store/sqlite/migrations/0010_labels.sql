-- compatible with 5
-- Typed values by which instances are found. Written in the commit that starts the instance. Of text,
-- number and at, a time, one is set. A bool is 0 or 1.
CREATE TABLE labels (
    instance_id TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    text TEXT,
    number REAL,
    at INTEGER,
    PRIMARY KEY (instance_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX labels_by_text ON labels (name, text, instance_id) WHERE text IS NOT NULL;
CREATE INDEX labels_by_number ON labels (name, number, instance_id) WHERE number IS NOT NULL;
CREATE INDEX labels_by_time ON labels (name, at, instance_id) WHERE at IS NOT NULL;
