-- What the scenarios read, the same on both servers: JSON by value, the fired transitions as a set.
CREATE FUNCTION trace_of(which bigint, OUT trw text, OUT fired text, OUT status text, OUT state jsonb) RETURNS SETOF record
LANGUAGE sql AS $f$
    SELECT t.trw, ARRAY(SELECT f FROM unnest(t.trf) f ORDER BY f)::text, t.status::text, t.state::jsonb
    FROM wed_trace t WHERE t.wid = which ORDER BY t.seq
$f$;
CREATE FUNCTION st_status_of(which bigint) RETURNS text LANGUAGE sql AS $f$
    SELECT status::text FROM st_status WHERE wid = which
$f$;
-- The claim of the job _EXCPT, whose tgid is that of the last transition.
CREATE FUNCTION claim_exception(which bigint) RETURNS boolean LANGUAGE plpgsql AS $f$
BEGIN
    RETURN pg_try_advisory_xact_lock(wid::int, tgid) FROM job_pool WHERE wid = which AND trname = '_EXCPT';
END $f$;
