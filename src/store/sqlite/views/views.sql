-- name: find_taken
SELECT m.name FROM sqlite_master AS m
WHERE m.name COLLATE NOCASE IN (?1, ?2, ?3)
  AND NOT (m.type = 'view' AND m.sql LIKE '%/* made by ebb rules view */%')

-- name: make_views
BEGIN IMMEDIATE;
DROP VIEW IF EXISTS @view;
DROP VIEW IF EXISTS @trace;
DROP VIEW IF EXISTS @jobs;
CREATE VIEW @view AS /* made by ebb rules view */
SELECT i.id AS instance_id, @columns, i.key AS _key, i.version AS _version, i.status AS _status,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.created_at / 1e6, 'unixepoch') AS _created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.updated_at / 1e6, 'unixepoch') AS _updated_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.finished_at / 1e6, 'unixepoch') AS _finished_at
FROM instances AS i WHERE i.workflow = @workflow AND json_valid(i.state);
CREATE VIEW @trace AS /* made by ebb rules view */
SELECT h.instance_id, h.seq, CASE h.type
           WHEN 'started' THEN '_INIT' WHEN 'state_restored' THEN '~' || h.node ELSE coalesce(h.node, '_EXT')
       END AS writer,
       CASE h.type WHEN 'started' THEN h.payload ELSE json_extract(h.payload, '$.values') END AS written,
       CASE h.type WHEN 'attributes_written' THEN json_extract(h.payload, '$.fired') END AS fired,
       CASE h.type WHEN 'attributes_written' THEN json_extract(h.payload, '$.by') END AS written_by,
       strftime('%Y-%m-%dT%H:%M:%fZ', h.at / 1e6, 'unixepoch') AS written_at
FROM history AS h JOIN instances AS i ON i.id = h.instance_id
WHERE i.workflow = @workflow AND h.type IN ('started', 'attributes_written', 'state_restored');
CREATE VIEW @jobs AS /* made by ebb rules view */
SELECT i.id AS instance_id, json_extract(k.value, '$.node') AS transition,
       coalesce(json_extract(k.value, '$.attempt'), 0) AS attempt,
       CASE
           WHEN t.lease_owner IS NOT NULL THEN 'held' ELSE coalesce(json_extract(k.value, '$.status'), 'ready')
       END AS status,
       t.lease_owner AS worker, strftime('%Y-%m-%dT%H:%M:%fZ', t.due_at / 1e6, 'unixepoch') AS due_at
FROM instances AS i JOIN json_each(CASE WHEN json_valid(i.state) THEN i.state END, '$.tokens') AS k
LEFT JOIN tasks AS t ON t.instance_id = i.id AND t.token = json_extract(k.value, '$.id')
WHERE i.workflow = @workflow AND i.finished_at IS NULL AND json_extract(k.value, '$.compensates') IS NULL;
COMMIT
