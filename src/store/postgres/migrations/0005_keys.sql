-- A key is unique in a table of its own: where the instances are partitioned, no index is over all
-- of them. The key comes first: it is also looked for without its workflow.
CREATE TABLE ebb.keys (
    key text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    instance_id uuid NOT NULL,
    PRIMARY KEY (key, workflow)
);

INSERT INTO ebb.keys (key, workflow, instance_id)
SELECT i.key, i.workflow, i.id FROM ebb.instances AS i WHERE i.key IS NOT NULL;

DROP INDEX ebb.instances_by_key;

-- One row where instances and history have partitions: how much time one of them holds.
CREATE TABLE ebb.partitioning (
    id smallint PRIMARY KEY,
    period text COLLATE "C" NOT NULL
);
