-- What a claim is, and what needs one.
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a', 'go');
INSERT INTO wed_attr (aname) VALUES ('b'), ('c');
INSERT INTO wed_trig (trname, cpred) VALUES ('one', $$a = 'go' and b is null$$), ('two', $$a = 'go' and c is null$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$b is not null and c is not null$$, true);
COMMIT;
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
\echo a failure needs a claim, and one of this transaction
SELECT job FROM job_pool WHERE trname = 'one' \gset
SELECT wed_fail(:'job', 'not mine');
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); COMMIT;
SELECT wed_fail(:'job', 'not mine any more');
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); SELECT wed_fail(:'job', 'another one is mine'); COMMIT;
SELECT trname, status, attempt FROM job_pool ORDER BY tgid;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); SELECT wed_fail(:'job', 'mine'); ROLLBACK;
\echo several claims: wed_job names the one that the next UPDATE completes
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1), pg_try_advisory_xact_lock(1, 2);
UPDATE wed_flow SET b = 'x' WHERE wid = 1; ROLLBACK;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1), pg_try_advisory_xact_lock(1, 2);
SELECT wed_job(job) FROM job_pool WHERE trname = 'two';
UPDATE wed_flow SET c = 'y' WHERE wid = 1;
UPDATE wed_flow SET b = 'x' WHERE wid = 1; COMMIT;
SELECT trw, fired, status FROM trace_of(1);
\echo one claim, and named as well
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
BEGIN; SELECT pg_try_advisory_xact_lock(2, 1);
SELECT wed_job(job) FROM job_pool WHERE wid = 2 AND trname = 'one';
UPDATE wed_flow SET b = 'x' WHERE wid = 2; COMMIT;
SELECT trname, status FROM job_pool WHERE wid = 2;
\echo a name without a claim
BEGIN; SELECT wed_job(job) FROM job_pool WHERE wid = 2;
UPDATE wed_flow SET c = 'x' WHERE wid = 2; COMMIT;
\echo nothing is truncated
TRUNCATE wed_flow;
TRUNCATE wed_trig;
TRUNCATE wed_attr CASCADE;
SELECT count(*) FROM wed_flow;
\echo what is locked is seen
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
BEGIN; SELECT pg_try_advisory_xact_lock(3, 1); SELECT wid, trname, lckid = current_user FROM locked;
SELECT trname, jobs FROM ready ORDER BY trname; SELECT trname, jobs FROM running; COMMIT;
SELECT count(*) FROM locked;
\echo the worker of a transition is seen in the trace
SELECT wed_complete(job, '{"b": "x"}') FROM wed_claim('one', 1, 'w1');
SELECT trw, worker FROM wed_trace WHERE wid = 3 ORDER BY seq;
\echo histories keep the names of their time
UPDATE wed_attr SET aname = 'bb' WHERE aname = 'b';
SELECT wed_write(3, '{"c": "z"}');
SELECT ebb.set_flow(current_schema()::text, 'external_writes', 'all');
SELECT wed_write(3, '{"bb": "y"}');
SELECT trw, state FROM wed_trace WHERE wid = 3 ORDER BY seq;
\echo an exception that another write resolves takes its handler along
INSERT INTO wed_flow (c) VALUES ('x') RETURNING wid;
BEGIN; SELECT pg_try_advisory_xact_lock(4, 1); UPDATE wed_flow SET a = 'gone' WHERE wid = 4; COMMIT;
SELECT trname, cause FROM job_pool WHERE wid = 4;
SELECT job FROM wed_claim('_EXCPT') \gset
UPDATE wed_flow SET a = 'still gone' WHERE wid = 4;
SELECT trname, status FROM job_pool WHERE wid = 4;
UPDATE wed_flow SET a = 'go' WHERE wid = 4;
SELECT trname, status FROM job_pool WHERE wid = 4;
SELECT wed_complete(:'job', '{"a": "late"}');
INSERT INTO wed_flow (c) VALUES ('x') RETURNING wid;
BEGIN; SELECT pg_try_advisory_xact_lock(5, 1); UPDATE wed_flow SET a = 'gone' WHERE wid = 5; COMMIT;
UPDATE wed_flow SET bb = 'end' WHERE wid = 5;
SELECT trw, fired, status FROM trace_of(5);
\echo what cannot be
INSERT INTO wed_trig (trname, cpred) VALUES ('One', $$a = 'x'$$);
UPDATE wed_flow SET wid = 17 WHERE wid = 4;
