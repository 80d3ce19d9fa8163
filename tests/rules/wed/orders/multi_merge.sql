-- S7: what each of two branches fires again, unless it is already pending.
-- work ta: a = '1'
-- work tb: b = '1'
-- work merge: ma = case when a = '1' then 'x' else ma end, mb = case when b = '1' then 'x' else mb end
INSERT INTO wed_attr (aname) VALUES ('a'), ('b'), ('ma'), ('mb');
INSERT INTO wed_trig (trname, cpred) VALUES ('ta', 'a is null'), ('tb', 'b is null'),
    ('merge', $$a = '1' and ma is null or b = '1' and mb is null$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$ma = 'x' and mb = 'x'$$, true);
