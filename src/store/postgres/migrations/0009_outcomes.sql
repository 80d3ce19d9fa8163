-- compatible with 6
-- The outcome of the task's attempt, from a worker that could not decide it itself. Meaningful only in
-- a row without a handler, and only if the token still stands at that attempt. lease_until: when an
-- attempt of a worker in SQL times out; nothing else has it.
ALTER TABLE ebb.tasks ADD COLUMN outcome text, ADD COLUMN lease_until bigint;

CREATE INDEX tasks_time_out ON ebb.tasks (lease_until) WHERE lease_until IS NOT NULL;

-- A worker that decides outcomes writes its started_at here. A worker of an earlier release does not,
-- and would call their handlers again: while one lives, workers in SQL get no tasks. session is set for
-- a worker in SQL, role is the one that may use it, and lease is how long it lives without a sign.
ALTER TABLE ebb.workers
    ADD COLUMN decides_since bigint, ADD COLUMN session uuid, ADD COLUMN role text,
    ADD COLUMN lease bigint;

CREATE UNIQUE INDEX workers_by_session ON ebb.workers (session) WHERE session IS NOT NULL;

-- What each step of a workflow calls, as far as a worker in SQL must know it. Written when a workflow is
-- registered.
CREATE TABLE ebb.calls (
    workflow text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    node text COLLATE "C" NOT NULL,
    is_compensation boolean NOT NULL,
    handler text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    timeout bigint NOT NULL,
    max_attempts integer NOT NULL,
    PRIMARY KEY (workflow, version, node, is_compensation)
);
