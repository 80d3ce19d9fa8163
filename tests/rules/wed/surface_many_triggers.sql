\set VERBOSITY sqlstate
\echo a second trigger of a transition is refused, as in v2
INSERT INTO wed_attr (aname, adv) VALUES ('paper', 'missing'), ('card', 'missing'), ('checked', NULL);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('by_paper', 'check', $$paper = 'here' and checked is null$$);
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('by_card', 'check', $$card = 'here' and checked is null$$);
SELECT ebb.set_flow(current_schema()::text, 'many_triggers', 'on');
\echo and allowed where the flow says so: it has a name of its own
INSERT INTO wed_trig (tgname, trname, cpred, timeout) VALUES ('by_card', 'check', $$card = 'here' and checked is null$$, '2 min') RETURNING tgid;
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('by_card', 'check', 'card is null');
INSERT INTO wed_trig (trname, cpred) VALUES ('by_card', 'card is null');
INSERT INTO wed_trig (trname, cpred) VALUES ('check', 'card is null');
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$checked = 'yes'$$, true);
SELECT ebb.set_flow(current_schema()::text, 'many_triggers', 'off');
SELECT trname, timeout, triggers FROM wed_trans ORDER BY trname;
SELECT t ->> 'trigger', t ->> 'do' FROM ebb.workflows AS w, json_array_elements(definition::json #> '{rules,triggers}') AS t
WHERE w.name = current_schema() AND w.version = 2;
INSERT INTO wed_flow (paper, card) VALUES ('here', 'here') RETURNING wid;
INSERT INTO wed_flow (card) VALUES ('here') RETURNING wid;
SELECT wid, tgid, trname, timeout, status FROM job_pool ORDER BY wid, tgid;
\echo one claim takes jobs of all triggers of the transition
SELECT count(*) FROM wed_claim('check', 10);
SELECT wid, tgid, status FROM job_pool ORDER BY wid, tgid;
SELECT wed_release(job) FROM job_pool WHERE wid = 1 ORDER BY tgid;
SELECT wed_complete(job, '{"checked": "yes"}') FROM job_pool WHERE wid = 2;
\echo each job has a lock of its own
BEGIN; SELECT pg_try_advisory_xact_lock(1, 3);
SELECT count(*) FROM wed_claim('check', 10);
COMMIT;
SELECT wed_release(job) FROM job_pool WHERE wid = 1 AND status = 'held';
BEGIN; SELECT pg_try_advisory_xact_lock(1, 3); UPDATE wed_flow SET card = 'seen' WHERE wid = 1; COMMIT;
SELECT tgid, trname FROM job_pool WHERE wid = 1 ORDER BY tgid;
BEGIN; SELECT pg_try_advisory_xact_lock(1, 1); UPDATE wed_flow SET checked = 'yes' WHERE wid = 1; COMMIT;
SELECT trw, fired, status FROM trace_of(1);
SELECT trw, fired, status FROM trace_of(2);
SELECT wid, status FROM st_status ORDER BY wid;
