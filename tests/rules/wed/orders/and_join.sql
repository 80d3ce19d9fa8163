-- S7: three side by side, then one that waits for all.
-- work t1: a = '1'
-- work t2: b = '1'
-- work t3: c = '1'
-- work close: closed = 'yes'
INSERT INTO wed_attr (aname) VALUES ('a'), ('b'), ('c'), ('closed');
INSERT INTO wed_trig (trname, cpred) VALUES ('t1', 'a is null'), ('t2', 'b is null'), ('t3', 'c is null'),
    ('close', $$a = '1' and b = '1' and c = '1' and closed is null$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$closed = 'yes'$$, true);
