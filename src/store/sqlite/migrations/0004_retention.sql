-- How long instances are kept after their end, in microseconds; NULL = for ever.
CREATE TABLE retention (
    workflow TEXT PRIMARY KEY NOT NULL,
    completed INTEGER,
    failed INTEGER,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: whose turn it is to delete what has been kept long enough, and how far that has come.
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    reached TEXT NOT NULL,
    next_at INTEGER NOT NULL
) STRICT;

INSERT INTO sweeps (id, number, reached, next_at)
VALUES (1, 0, '00000000-0000-0000-0000-000000000000', 0);
