-- S9: what went wrong in v2, and what is new; on the surface only.
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a', 'start');
INSERT INTO wed_attr (aname, atype, adv) VALUES ('price', 'integer', '0');
INSERT INTO wed_attr (aname, external) VALUES ('note', true);
INSERT INTO wed_trig (trname, cpred, writes) VALUES ('go', $$a = 'start'$$, NULL), ('on', $$a = 'gone'$$, '{a,price}');
INSERT INTO wed_trig (cname, cpred, cinv) VALUES ('not_negative', 'price >= 0', true);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = 'end'$$, true);
COMMIT;
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid, a, price;
\echo P4: a lock of the session is not a claim
SELECT pg_catalog.pg_try_advisory_lock(1, 1);
UPDATE wed_flow SET a = 'gone' WHERE wid = 1;
SELECT pg_catalog.pg_advisory_unlock(1, 1);
\echo P5: nor is another lock of the transaction, in either form
BEGIN; SELECT pg_catalog.pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET a = 'gone' WHERE wid = 1; COMMIT;
BEGIN; SELECT pg_catalog.pg_try_advisory_xact_lock(4294967297); UPDATE wed_flow SET a = 'gone' WHERE wid = 1; COMMIT;
\echo nor a setting
BEGIN; SELECT set_config('ebb.claims', '1:1:1:1', true) \gset
UPDATE wed_flow SET a = 'gone' WHERE wid = 1; COMMIT;
\echo a claim ends with its transaction
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); COMMIT;
UPDATE wed_flow SET a = 'gone' WHERE wid = 1;
\echo P8: words of SQL and semicolons in texts are texts
INSERT INTO wed_trig (trname, cpred) VALUES ('selected', $$note = 'selected; deleted'$$);
\echo P19, P20: conditions that break out, call functions, ask other tables
INSERT INTO wed_trig (trname, cpred) VALUES ('x1', 'false) or (true');
INSERT INTO wed_trig (trname, cpred) VALUES ('x2', 'a = $$1$$ -- and');
INSERT INTO wed_trig (trname, cpred) VALUES ('x3', 'a = $$1$$ /* and */');
INSERT INTO wed_trig (trname, cpred) VALUES ('x4', $$pg_read_file('/etc/passwd') is not null$$);
INSERT INTO wed_trig (trname, cpred) VALUES ('x5', 'exists (select 1)');
INSERT INTO wed_trig (trname, cpred) VALUES ('x6', 'a operator(pg_catalog.=) a');
INSERT INTO wed_trig (trname, cpred) VALUES ('x7', '"a" = "lower"(a)');
INSERT INTO wed_trig (trname, cpred) VALUES ('x8', 'now() > now()');
INSERT INTO wed_trig (trname, cpred) VALUES ('x9', 'no_such_attribute is null');
INSERT INTO wed_trig (trname, cpred) VALUES ('x10', 'price');
INSERT INTO wed_trig (trname, cpred) VALUES ('x11', '');
\echo an attribute that could not be one
INSERT INTO wed_attr (aname) VALUES ('wid');
INSERT INTO wed_attr (aname) VALUES ('x; drop table wed_flow');
\echo writes and external: EB008; invariants: 23514
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET a = 'gone' WHERE wid = 1; COMMIT;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET note = 'x' WHERE wid = 1; COMMIT;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); UPDATE wed_flow SET price = -1 WHERE wid = 1; COMMIT;
SELECT ebb.set_flow(current_schema()::text, 'external_writes', 'declared');
UPDATE wed_flow SET note = 'from outside' WHERE wid = 1;
UPDATE wed_flow SET price = 7 WHERE wid = 1;
SELECT wed_write(1, '{"note": "again"}', 'ada');
SELECT trw, fired, status FROM trace_of(1);
\echo claims with a lease: complete, fail, release; stale ones are refused
SELECT job AS stale FROM wed_claim('on') \gset
SELECT wed_release(:'stale');
SELECT status, attempt FROM job_pool WHERE trname = 'on';
SELECT job FROM wed_claim('on') \gset
SELECT status FROM job_pool WHERE trname = 'on';
SELECT wed_claim('on');
BEGIN; SELECT pg_try_advisory_xact_lock(1, 2); COMMIT;
SELECT wed_complete(:'job', '{"price": "many"}');
SELECT wed_complete(:'job', '{"a": "end", "price": 12}');
SELECT wed_complete(:'job', '{"a": "end"}');
SELECT a, price FROM wed_flow WHERE wid = 1;
\echo P11: an attribute is renamed, its conditions follow
INSERT INTO wed_flow DEFAULT VALUES RETURNING wid;
UPDATE wed_attr SET aname = 'stage' WHERE aname = 'a';
SELECT cpred FROM wed_trig WHERE trname IN ('go', 'on') ORDER BY tgid;
BEGIN; SELECT pg_try_advisory_xact_lock(2, 1); UPDATE wed_flow SET stage = 'gone' WHERE wid = 2; COMMIT;
SELECT trname FROM job_pool WHERE wid = 2;
\echo P16: a new trigger is asked at once on request
INSERT INTO wed_trig (trname, cpred) VALUES ('later', $$stage = 'gone'$$);
SELECT trname FROM job_pool WHERE wid = 2 ORDER BY trname;
SELECT wed_rematch(2);
SELECT trname FROM job_pool WHERE wid = 2 ORDER BY trname;
\echo what is missing
SELECT trigger_toggle(4711);
SELECT wed_complete('nonsense', '{}');
SELECT wed_cancel(4711);
\echo nothing is deleted
DELETE FROM wed_trig WHERE trname = 'go';
DELETE FROM wed_attr WHERE aname = 'note';
DELETE FROM wed_flow WHERE wid = 2;
\echo P1, P2: values are nothing but values
INSERT INTO wed_flow (stage) VALUES ($$'; ALTER ROLE ebb SUPERUSER; --$$);
INSERT INTO wed_flow (note) VALUES ($$'; ALTER ROLE ebb SUPERUSER; -- \ " $1 %s$$) RETURNING wid, note;
BEGIN; SELECT pg_try_advisory_xact_lock(4, 1); UPDATE wed_flow SET stage = $$'); --$$ WHERE wid = 4; COMMIT;
SELECT wid, status, exception FROM st_status ORDER BY wid;
SELECT wid, trname, tgid FROM job_pool WHERE wid = 4;
\echo a failed attempt of a job that is claimed by a lock
BEGIN; SELECT pg_try_advisory_xact_lock(2, 2);
SELECT wed_fail(job, 'no luck') FROM job_pool WHERE trname = 'on'; COMMIT;
SELECT status FROM job_pool WHERE trname = 'on';
