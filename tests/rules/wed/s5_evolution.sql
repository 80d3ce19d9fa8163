-- S5: definitions change while instances live.
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a', '0');
INSERT INTO wed_trig (trname, cpred) VALUES ('one', $$a = '0'$$), ('two', $$a = '1'$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = 'end'$$, true);
COMMIT;
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
\echo a new attribute: live instances have its default
INSERT INTO wed_attr (aname, adv) VALUES ('b', 'new');
SELECT wid, a, b FROM wed_flow;
\echo a new trigger is seen at the next write only
INSERT INTO wed_trig (trname, cpred) VALUES ('three', $$b = 'new'$$);
SELECT trname FROM job_pool ORDER BY trname;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET a = '1' WHERE wid = 1; COMMIT;
SELECT trname FROM job_pool ORDER BY trname;
\echo a disabled trigger keeps the job that is pending
SELECT trigger_toggle(2);
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET a = '1' WHERE wid = 1; COMMIT;
SELECT trname FROM job_pool ORDER BY trname;
SELECT trigger_toggle(2);
\echo a condition that changes does not take back what is pending
UPDATE wed_trig SET cpred = $$b = 'newer'$$ WHERE trname = 'three';
BEGIN; SELECT pg_try_advisory_xact_lock(1, 4); UPDATE wed_flow SET b = 'newer' WHERE wid = 1; COMMIT;
SELECT trname FROM job_pool ORDER BY trname;
\echo a new default is for instances to come
UPDATE wed_attr SET adv = 'newest' WHERE aname = 'b';
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid, a, b;
\echo an instance that has ended stays as it is
INSERT INTO wed_flow (a) VALUES ('end') RETURNING wid;
INSERT INTO wed_trig (trname, cpred) VALUES ('four', $$a = 'end'$$);
UPDATE wed_flow SET b = 'x' WHERE wid = 3;
SELECT count(*) FROM job_pool WHERE wid = 3;
\echo names and conditions that are refused
INSERT INTO wed_trig (trname, cpred) VALUES ('_hidden', 'a is null');
INSERT INTO wed_trig (trname, cpred) VALUES ('five', 'a is null; drop table wed_flow');
INSERT INTO wed_trig (trname, cpred) VALUES ('ONE', 'a is null');
INSERT INTO wed_attr (aname) VALUES ('A');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('b is null', true);
