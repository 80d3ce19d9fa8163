-- S6: values are data: quotes, NULL, three-valued conditions, casts that fail.
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a', 'it''s "a" \ value'), ('n', '1');
INSERT INTO wed_attr (aname) VALUES ('b');
INSERT INTO wed_trig (trname, cpred) VALUES ('t', $$n::integer < 5$$), ('unequal', $$b <> 'x'$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$n::integer >= 5 and b is null$$, true);
COMMIT;
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid, a;
\echo NULL <> 'x' is not true
SELECT trname FROM job_pool ORDER BY tgid;
\echo an expression of the row
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET n = (n::integer + 1)::text WHERE wid = 1; COMMIT;
SELECT n FROM wed_flow;
\echo a value on which a condition fails refuses the write, and the insert
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET n = 'many' WHERE wid = 1; COMMIT;
INSERT INTO wed_flow (n) VALUES ('many');
SELECT n FROM wed_flow;
\echo quotes, backslashes, other letters, commands
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1);
UPDATE wed_flow SET a = $$'; DROP TABLE wed_flow; -- \ " é 漢$$, n = '3' WHERE wid = 1; COMMIT;
SELECT a FROM wed_flow;
SELECT payload::jsonb ->> 'a' FROM job_pool WHERE tgid = 1;
\echo a long value
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET b = repeat('y', 9000), n = '4' WHERE wid = 1; COMMIT;
SELECT trname, length(payload::jsonb ->> 'b') FROM job_pool ORDER BY tgid;
\echo back to NULL: the other job is pending, so this is not final yet
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET b = NULL WHERE wid = 1; COMMIT;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET n = '5' WHERE wid = 1; COMMIT;
SELECT * FROM st_status_of(1);
SELECT trw, fired, status FROM trace_of(1);
