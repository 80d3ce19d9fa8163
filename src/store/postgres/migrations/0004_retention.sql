-- How long instances are kept after their end, in microseconds; NULL = for ever.
CREATE TABLE ebb.retention (
    workflow text COLLATE "C" PRIMARY KEY,
    completed bigint,
    failed bigint,
    updated_at bigint NOT NULL
);

-- One row: whose turn it is to delete what has been kept long enough, and how far that has come.
CREATE TABLE ebb.sweeps (
    id smallint PRIMARY KEY,
    number bigint NOT NULL,
    reached uuid NOT NULL,
    next_at bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO ebb.sweeps (id, number, reached, next_at)
VALUES (1, 0, '00000000-0000-0000-0000-000000000000', 0);
