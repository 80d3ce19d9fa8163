-- S3: two that lead together into a state that no condition knows; the exception handler repairs it.
-- work ta: a = '1'
-- work tb: b = '1'
-- work _EXCPT: repaired = 'yes'
INSERT INTO wed_attr (aname) VALUES ('a'), ('b'), ('repaired');
INSERT INTO wed_trig (trname, cpred) VALUES ('ta', 'a is null'), ('tb', 'b is null');
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$repaired = 'yes'$$, true);
