-- name: grants
-- Run by the owner of the schema after each `ebb migrate`; repeating it changes nothing.

-- A worker, and any program that starts and steers instances.
GRANT USAGE ON SCHEMA ebb TO ebb_worker;
GRANT SELECT ON ebb.migrations TO ebb_worker;
GRANT SELECT, INSERT ON ebb.workflows TO ebb_worker;
GRANT SELECT, INSERT, UPDATE, DELETE
    ON ebb.instances, ebb.tasks, ebb.history, ebb.workers, ebb.queues, ebb.queue_starts
    TO ebb_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ebb.subscriptions, ebb.outbox TO ebb_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ebb.waits, ebb.failures, ebb.labels TO ebb_worker;
GRANT SELECT, INSERT, DELETE ON ebb.inbox TO ebb_worker;
REVOKE UPDATE ON ebb.history FROM ebb_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ebb.retention TO ebb_worker;
GRANT SELECT, INSERT, DELETE ON ebb.keys TO ebb_worker;
GRANT SELECT, UPDATE ON ebb.sweeps, ebb.repairs TO ebb_worker;
GRANT SELECT, INSERT ON ebb.calls TO ebb_worker;
GRANT SELECT ON ebb.partitioning TO ebb_worker;
GRANT SELECT ON ebb.all_tasks, ebb.running, ebb.stuck, ebb.stats, ebb.steps, ebb.awaited, ebb.failed
    TO ebb_worker;

-- An observer: dashboards, reports, `ebb list`, `ebb show`.
GRANT USAGE ON SCHEMA ebb TO ebb_observer;
GRANT SELECT ON ALL TABLES IN SCHEMA ebb TO ebb_observer;
-- They hold secrets.
REVOKE ALL ON ebb.subscriptions FROM ebb_observer;

-- name: server
-- The server, `ebb serve`, is a worker that also keeps tokens and sessions. No other role reads them.
-- It adds to the audit, and cannot change what is there.
GRANT SELECT, INSERT, UPDATE, DELETE ON ebb.admin TO ebb_server;
GRANT SELECT, INSERT ON ebb.audit TO ebb_server;
REVOKE ALL ON ebb.admin, ebb.audit FROM ebb_worker, ebb_observer;
