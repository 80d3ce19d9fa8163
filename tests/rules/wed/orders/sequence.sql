-- S7: one after the other.
-- work t1: a = '1'
-- work t2: b = '1'
-- work t3: c = '1'
INSERT INTO wed_attr (aname) VALUES ('a'), ('b'), ('c');
INSERT INTO wed_trig (trname, cpred) VALUES ('t1', 'a is null'), ('t2', $$a = '1' and b is null$$),
    ('t3', $$b = '1' and c is null$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$c = '1'$$, true);
