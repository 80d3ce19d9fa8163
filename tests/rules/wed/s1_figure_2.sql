-- S1: the definition of the draft's Figure 2, one transaction, and every way in which an update is accepted or refused.
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a1','ready');
INSERT INTO wed_attr (aname) VALUES ('a2'),('a3');
INSERT INTO wed_trig (tgname,trname,cname,cpred,timeout)
VALUES ('t1','tr_a2','c1', $$a1='ready' and (a2 is null)$$, '3d18h');
INSERT INTO wed_trig (tgname,trname,cname,cpred,timeout)
VALUES ('t2','tr_a3','c2', $$a1='ready' and (a3 is null)$$, '00:00:30');
INSERT INTO wed_trig (tgname,trname,cname,cpred,timeout)
VALUES ('t1','tr_final','c1', $$a1='ready'
and (a2 is not null)
and (a3 is not null)$$, '00:00:10');
INSERT INTO wed_trig (cpred,cfinal) VALUES ($$a1 <> 'ready'$$, True);
COMMIT;
SELECT tgid, trname, extract(epoch FROM timeout)::int, cfinal, enabled FROM wed_trig ORDER BY tgid;
\echo S1a: an instance with the default values
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid, a1, a2, a3;
SELECT wid, tgid, trname, extract(epoch FROM timeout)::int, payload::jsonb FROM job_pool ORDER BY tgid;
\echo S1b: one for which no condition holds is refused, and uses a wid
INSERT INTO wed_flow (a1) VALUES (NULL);
\echo S1c: one that is final at once
INSERT INTO wed_flow (a1, a2) VALUES ('closed', 'x') RETURNING wid;
SELECT count(*) FROM job_pool WHERE wid = 3;
SELECT * FROM st_status_of(3);
SELECT * FROM trace_of(3);
\echo S1d: a final state while another transition is pending is refused; the job stays
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET a2 = 'x', a1 = 'done' WHERE wid = 1; COMMIT;
SELECT tgid FROM job_pool WHERE wid = 1 ORDER BY tgid;
\echo S1e: an update without a claim
UPDATE wed_flow SET a2 = 'x' WHERE wid = 1;
\echo S1f: with the claim of another instance
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
BEGIN; SELECT pg_try_advisory_xact_lock(4, 1); UPDATE wed_flow SET a2 = 'x' WHERE wid = 1; COMMIT;
\echo S1g: with the claim of a job that does not exist
BEGIN; SELECT pg_try_advisory_xact_lock(1, 3); UPDATE wed_flow SET a2 = 'x' WHERE wid = 1; COMMIT;
\echo S1h: the whole way
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET a2 = 'x' WHERE wid = 1; COMMIT;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET a3 = 'y' WHERE wid = 1; COMMIT;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 3); UPDATE wed_flow SET a1 = 'done' WHERE wid = 1; COMMIT;
SELECT * FROM trace_of(1);
SELECT * FROM st_status_of(1);
SELECT count(*) FROM job_pool WHERE wid = 1;
\echo S1i: a final instance is frozen, also for the holder of an old claim
UPDATE wed_flow SET a2 = 'z' WHERE wid = 1;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 3); UPDATE wed_flow SET a2 = 'z' WHERE wid = 1; COMMIT;
\echo S1j: a completion that changes nothing fires itself again
BEGIN; SELECT pg_try_advisory_xact_lock(4, 1); UPDATE wed_flow SET a2 = NULL WHERE wid = 4; COMMIT;
SELECT * FROM trace_of(4);
SELECT tgid FROM job_pool WHERE wid = 4 ORDER BY tgid;
\echo S1k: what is rolled back has never been
BEGIN; SELECT pg_try_advisory_xact_lock(4, 1); UPDATE wed_flow SET a2 = 'x' WHERE wid = 4; ROLLBACK;
SELECT a2 FROM wed_flow WHERE wid = 4;
SELECT count(*) FROM wed_trace WHERE wid = 4;
