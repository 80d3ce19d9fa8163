-- name: find_taken
SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname IN ($2, $3, $4)
  AND (c.relkind <> 'v' OR obj_description(c.oid, 'pg_class') IS DISTINCT FROM 'made by ebb rules view')

-- name: column_of_text
i.state::jsonb #>> '{rules,values,@name}'

-- name: column_of_json
i.state::jsonb #> '{rules,values,@name}'

-- name: column_of_number
CASE jsonb_typeof(i.state::jsonb #> '{rules,values,@name}')
    WHEN 'number' THEN (i.state::jsonb #>> '{rules,values,@name}')::@type
END

-- name: column_of_boolean
CASE jsonb_typeof(i.state::jsonb #> '{rules,values,@name}')
    WHEN 'boolean' THEN (i.state::jsonb #>> '{rules,values,@name}')::boolean
END

-- name: make_views
BEGIN;
DROP VIEW IF EXISTS ebb.@view;
DROP VIEW IF EXISTS ebb.@trace;
DROP VIEW IF EXISTS ebb.@jobs;
CREATE VIEW ebb.@view AS
SELECT i.id AS instance_id, @columns, i.key AS _key, i.version AS _version, i.status AS _status,
       to_timestamp(i.created_at / 1000000.0) AS _created_at,
       to_timestamp(i.updated_at / 1000000.0) AS _updated_at,
       to_timestamp(i.finished_at / 1000000.0) AS _finished_at
FROM ebb.instances AS i WHERE i.workflow = @workflow AND i.state LIKE '{%}';
CREATE VIEW ebb.@trace AS
SELECT h.instance_id, h.seq, CASE h.type
           WHEN 'started' THEN '_INIT' WHEN 'state_restored' THEN '~' || h.node ELSE coalesce(h.node, '_EXT')
       END AS writer,
       CASE h.type WHEN 'started' THEN h.payload::jsonb ELSE h.payload::jsonb -> 'values' END AS written,
       CASE h.type WHEN 'attributes_written' THEN h.payload::jsonb -> 'fired' END AS fired,
       CASE h.type WHEN 'attributes_written' THEN h.payload::jsonb ->> 'by' END AS written_by,
       to_timestamp(h.at / 1000000.0) AS written_at
FROM ebb.history AS h JOIN ebb.instances AS i ON i.id = h.instance_id
WHERE i.workflow = @workflow AND h.type IN ('started', 'attributes_written', 'state_restored');
CREATE VIEW ebb.@jobs AS
SELECT i.id AS instance_id, k ->> 'node' AS transition, coalesce((k ->> 'attempt')::integer, 0) AS attempt,
       CASE WHEN t.lease_owner IS NOT NULL THEN 'held' ELSE coalesce(k ->> 'status', 'ready') END AS status,
       t.lease_owner AS worker, to_timestamp(t.due_at / 1000000.0) AS due_at
FROM ebb.instances AS i
CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN i.state LIKE '{%}' THEN i.state::jsonb -> 'tokens' END) AS k
LEFT JOIN ebb.all_tasks AS t ON t.instance_id = i.id AND t.token = (k ->> 'id')::bigint
WHERE i.workflow = @workflow AND i.finished_at IS NULL AND k ->> 'compensates' IS NULL;
COMMENT ON VIEW ebb.@view IS 'made by ebb rules view';
COMMENT ON VIEW ebb.@trace IS 'made by ebb rules view';
COMMENT ON VIEW ebb.@jobs IS 'made by ebb rules view';
COMMIT
