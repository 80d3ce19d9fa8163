-- S7: three chains of two: 6! / (2! 2! 2!) orders.
-- work a1: a = '1'
-- work a2: a = '2'
-- work b1: b = '1'
-- work b2: b = '2'
-- work c1: c = '1'
-- work c2: c = '2'
INSERT INTO wed_attr (aname, adv) VALUES ('a', '0'), ('b', '0'), ('c', '0');
INSERT INTO wed_trig (trname, cpred) VALUES ('a1', $$a = '0'$$), ('a2', $$a = '1'$$), ('b1', $$b = '0'$$), ('b2', $$b = '1'$$),
    ('c1', $$c = '0'$$), ('c2', $$c = '1'$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = '2' and b = '2' and c = '2'$$, true);
