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
