-- S2: chains of 3, 4 and 5 side by side: 12! / (3! 4! 5!) orders over 4 * 5 * 6 states.
-- work a1: a = '1'
-- work a2: a = '2'
-- work a3: a = '3'
-- work b1: b = '1'
-- work b2: b = '2'
-- work b3: b = '3'
-- work b4: b = '4'
-- work c1: c = '1'
-- work c2: c = '2'
-- work c3: c = '3'
-- work c4: c = '4'
-- work c5: c = '5'
INSERT INTO wed_attr (aname, adv) VALUES ('a', '0'), ('b', '0'), ('c', '0');
INSERT INTO wed_trig (trname, cpred) VALUES ('a1', $$a = '0'$$), ('a2', $$a = '1'$$), ('a3', $$a = '2'$$), ('b1', $$b = '0'$$), ('b2', $$b = '1'$$),
    ('b3', $$b = '2'$$), ('b4', $$b = '3'$$), ('c1', $$c = '0'$$), ('c2', $$c = '1'$$), ('c3', $$c = '2'$$),
    ('c4', $$c = '3'$$), ('c5', $$c = '4'$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = '3' and b = '4' and c = '5'$$, true);
