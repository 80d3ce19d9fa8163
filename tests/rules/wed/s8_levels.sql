-- S8: triggers look at the level, not at the edge: what surprises those who expect edges.
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a', '0'), ('b', '0');
INSERT INTO wed_trig (trname, cpred) VALUES ('ta', $$a = '0' or b = '0'$$), ('tb', $$b = '0'$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = '1' and b = '1'$$, true);
COMMIT;
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
\echo its condition is true by the other arm of the OR: it fires again, while tb, pending, does not
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET a = '1' WHERE wid = 1; COMMIT;
SELECT trw, fired, status FROM trace_of(1);
\echo a job whose condition has become false stays: the final state waits for it
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET b = '1' WHERE wid = 1; COMMIT;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET b = '2' WHERE wid = 1; COMMIT;
SELECT trname, payload::jsonb FROM job_pool ORDER BY tgid;
\echo the job carries the state that fired it, not the present one
SELECT a, b FROM wed_flow;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET b = '1' WHERE wid = 1; COMMIT;
SELECT trw, fired, status FROM trace_of(1);
\echo more than one row in a statement: all or nothing
INSERT INTO wed_flow DEFAULT VALUES; INSERT INTO wed_flow DEFAULT VALUES;
BEGIN; SELECT pg_try_advisory_xact_lock(2, 1); UPDATE wed_flow SET a = '5' WHERE wid IN (2, 3); COMMIT;
SELECT wid, a FROM wed_flow ORDER BY wid;
