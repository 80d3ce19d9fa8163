-- S7: the first of two is enough for a final state, which is refused as long as the other one is pending.
-- work ta: a = '1'
-- work tb: b = '1'
INSERT INTO wed_attr (aname) VALUES ('a'), ('b');
INSERT INTO wed_trig (trname, cpred) VALUES ('ta', 'a is null'), ('tb', 'b is null');
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = '1' or b = '1'$$, true);
