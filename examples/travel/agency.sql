-- The travel agency of the WED-SQL paper, as its user types it: attributes, conditions with their transitions, and the
-- condition of the end. All of it in one transaction.
BEGIN;
SELECT ebb.create_flow('agency') \gset
SET LOCAL search_path = agency, pg_catalog;

INSERT INTO wed_attr (aname, adv) VALUES
    ('customer', NULL), ('customer_status', 'Not Validated'), ('order_status', 'Not Requested'),
    ('hotel_status', NULL), ('hotel_id', NULL), ('air_ticket_status', NULL), ('air_ticket_id', NULL);

INSERT INTO wed_trig (trname, cname, cpred, timeout, writes, compensate) VALUES
    ('validate', 'received',
     $$lower(order_status) = 'received' and customer_status = 'Not Validated'$$, '10s',
     '{customer_status,order_status,hotel_status,air_ticket_status}', NULL),
    ('hotel', 'room_wanted',
     $$hotel_status = 'Requested' and order_status = 'Validated' and customer_status = 'Validated'$$, '5m',
     '{hotel_status,hotel_id}', 'cancel_hotel'),
    ('air', 'ticket_wanted',
     $$air_ticket_status = 'Requested' and order_status = 'Validated' and customer_status = 'Validated'$$, '5m',
     '{air_ticket_status,air_ticket_id}', 'refund_ticket'),
    ('close', 'all_there',
     $$air_ticket_status = 'Purchased' and hotel_status = 'Reserved'$$, '15s',
     '{order_status}', NULL);

INSERT INTO wed_trig (cpred, cfinal) VALUES
    ($$order_status = 'Finalized' and air_ticket_status = 'Purchased' and hotel_status = 'Reserved'$$, true);
COMMIT;

-- The agency's own table, which the worker in Python writes.
CREATE TABLE public.rooms (name text PRIMARY KEY);
