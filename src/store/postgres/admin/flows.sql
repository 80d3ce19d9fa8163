-- name: can_install_flows
-- Whether the functions for rules in SQL are there, and whether the user may run them.
SELECT p.oid IS NOT NULL, coalesce(has_function_privilege(p.oid, 'EXECUTE'), false), current_user::text
FROM (SELECT 1) AS one
LEFT JOIN (
    pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname = $1::text
) ON p.proname = 'install_flow'

-- name: install_flow
SELECT ebb.install_flow($1::text, $2::text, nullif($3::text, ''))::text

-- name: uninstall_flow
SELECT ebb.uninstall_flow($1::text)::text
