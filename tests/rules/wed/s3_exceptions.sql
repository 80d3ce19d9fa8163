-- S3: a state that no condition knows is an exception; its job _EXCPT has the place of the last transition.
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a', 'start');
INSERT INTO wed_trig (trname, cpred) VALUES ('go', $$a = 'start'$$), ('repair', $$a = 'broken'$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = 'end'$$, true);
COMMIT;
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
\echo R to E
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET a = 'nowhere' WHERE wid = 1; COMMIT;
SELECT * FROM st_status_of(1);
SELECT trname FROM job_pool WHERE wid = 1;
\echo an update without a claim does not repair it
UPDATE wed_flow SET a = 'start' WHERE wid = 1;
\echo E to E
BEGIN; SELECT * FROM claim_exception(1); UPDATE wed_flow SET a = 'elsewhere' WHERE wid = 1; COMMIT;
SELECT * FROM st_status_of(1);
\echo E to R
BEGIN; SELECT * FROM claim_exception(1); UPDATE wed_flow SET a = 'broken' WHERE wid = 1; COMMIT;
SELECT * FROM st_status_of(1);
SELECT trname FROM job_pool WHERE wid = 1;
\echo R to E to F
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET a = NULL WHERE wid = 1; COMMIT;
BEGIN; SELECT * FROM claim_exception(1); UPDATE wed_flow SET a = 'end' WHERE wid = 1; COMMIT;
SELECT * FROM st_status_of(1);
SELECT * FROM trace_of(1);
SELECT count(*) FROM job_pool WHERE wid = 1;
