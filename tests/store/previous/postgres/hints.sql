-- name: send_hint
-- In a transaction of its own: until it ends, no other one that has something to say can.
SELECT pg_notify($1::text, $2::text);
