-- compatible with 6
-- Typed values by which instances are found. Written in the commit that starts the instance. Of text,
-- number and at, a time, one is set. A bool is 0 or 1.
CREATE TABLE ebb.labels (
    instance_id uuid NOT NULL,
    at bigint,
    number double precision,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    text text COLLATE "C",
    PRIMARY KEY (instance_id, name)
);

CREATE INDEX labels_by_text ON ebb.labels (name, text, instance_id) WHERE text IS NOT NULL;
CREATE INDEX labels_by_number ON ebb.labels (name, number, instance_id) WHERE number IS NOT NULL;
CREATE INDEX labels_by_time ON ebb.labels (name, at, instance_id) WHERE at IS NOT NULL;
