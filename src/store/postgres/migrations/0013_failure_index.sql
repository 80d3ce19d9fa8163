-- compatible with 6
-- Groups of failures are counted from the index alone: a look at the row of each failure took ten times
-- as long.
DROP INDEX ebb.failures_by_group;
CREATE INDEX failures_by_group ON ebb.failures (grp, at, instance_id) INCLUDE (status, version);
