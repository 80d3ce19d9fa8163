-- S7: the data choose the branches: two of three, joined without a transition of their own.
-- work choose: choice = 'hotel,air'
-- work hotel: hotel = '1'
-- work air: air = '1'
-- work car: car = '1'
INSERT INTO wed_attr (aname) VALUES ('choice'), ('hotel'), ('air'), ('car');
INSERT INTO wed_trig (trname, cpred) VALUES ('choose', 'choice is null'),
    ('hotel', $$choice like '%hotel%' and hotel is null$$), ('air', $$choice like '%air%' and air is null$$),
    ('car', $$choice like '%car%' and car is null$$);
INSERT INTO wed_trig (cpred, cfinal)
VALUES ($$choice is not null and (choice not like '%hotel%' or hotel = '1') and (choice not like '%air%' or air = '1')
    and (choice not like '%car%' or car = '1')$$, true);
