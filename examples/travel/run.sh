#!/usr/bin/env bash
# The travel agency of the WED-SQL paper, over a throwaway PostgreSQL: conditions over an order's data decide what happens,
# one worker is C++, one is Python, and the clerk has only psql. A worker is killed, an order is cancelled.
#
#   ./dev demo travel             in a checkout: builds what it needs, then runs this
#   examples/travel/run.sh        the same, if everything is built
#
# Reads EBB (the ebb command) and EBB_BUILD_DIR (where the examples were built); in a checkout both are found.
# targets: ebb_command airline
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
if [ -z "${EBB_TEST_POSTGRES_URL:-}" ]; then exec "$root/dev" pg "${BASH_SOURCE[0]}"; fi

build=${EBB_BUILD_DIR:-$root/build/dev}
ebb=${EBB:-$build/ebb}
airline=$build/examples/airline
work=$(mktemp -d)
workers=()
stop_all() {
    for worker in "${workers[@]}"; do kill "$worker" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap stop_all EXIT


export EBB_DB=$EBB_TEST_POSTGRES_URL
export PYTHONPATH=$root/clients/python

BOLD=""
PLAIN=""
if [ -t 1 ]; then
    BOLD=$'\033[1m'
    PLAIN=$'\033[0m'
fi
say() { printf '\n%s%s%s\n' "$BOLD" "$*" "$PLAIN"; }
sql() { psql -qAtX -v ON_ERROR_STOP=1 "$EBB_DB" "$@"; }
python_worker() {
    /usr/bin/python3 -B "$here/hotel.py" "$EBB_DB" "$@" &
    workers+=($!)
}

# show COMMAND: prints a command of `ebb`, and then what it prints.
show() {
    printf '   $ ebb'
    printf ' %s' "${@/#$here\//}"
    printf '\n'
    "$ebb" "$@" 2>&1 | sed 's/^/   /'
}
# Not a guess about time: the script waits until the hotel and the airline have done their part.
wait_for_both() {
    until "$ebb" show "$1" --json | jq -e '.attributes.hotel_status == "Reserved" and
        .attributes.air_ticket_status == "Purchased"' > "$work/log"; do
        read -rt 0.05 <> <(:) || true
    done
}

say "1. The rules: seven attributes, four transitions, one final condition. Each transition has a condition in SQL."
"$ebb" migrate --sql-workers > "$work/log"
"$ebb" diagram "$here/agency.yaml" --format text
sql -c "SELECT ebb.grant_work(current_user, 'agency'), ebb.grant_requests(current_user, 'agency')" > "$work/log"
sql -c "CREATE TABLE rooms (name text PRIMARY KEY)"

say "2. An order for which nothing could ever happen is refused."
show start "$here/agency.yaml" --input '{"customer": "nobody"}' || true

say "3. Ann's order is one row of SQL. The C++ worker and the Python worker do what the conditions fire."
"$airline" "$EBB_DB" &
workers+=($!)
mkfifo "$work/pipe"
python_worker python-1 --stop-in-hotel "$work/pipe"
victim=${workers[-1]}
sql -c "SELECT ebb.start('agency', '{\"customer\": \"ann\", \"order_status\": \"Received\"}', key => 'ann')" > "$work/log"
read -r line < "$work/pipe"
echo "   Python: $line"

say "4. kill -9 of the Python worker, in the middle of its reservation. Its transaction is gone with it."
{ kill -9 "$victim" && wait "$victim"; } 2>/dev/null || true
echo "   rooms reserved: $(sql -c 'SELECT count(*) FROM rooms')"

say "5. Another Python worker takes over when the lease of the dead one has expired. The room is reserved once."
python_worker python-2
wait_for_both key:agency/ann
echo "   rooms reserved: $(sql -c 'SELECT count(*) FROM rooms')"
show why key:agency/ann

say "6. The clerk closes the order with psql alone: claim, look, complete."
cat > "$work/close.sql" <<'SQL'
SELECT session FROM ebb.work_join('clerk', '{close}') \gset
SELECT job, input::json ->> 'customer' AS customer FROM ebb.work_claim(:'session') \gset
\echo '   clerk: closes the order of' :customer
SELECT ebb.work_complete(:'session', :'job', '{"order_status": "Finalized"}') \gset
SELECT ebb.work_leave(:'session') \gset
SQL
sql -f "$work/close.sql"
show wait key:agency/ann
echo
show trace key:agency/ann
echo
show diagram key:agency/ann --format text

say "7. Bob's order gets as far, and is then cancelled. What was done is undone, the newest first."
sql -c "SELECT ebb.start('agency', '{\"customer\": \"bob\", \"order_status\": \"Received\"}', key => 'bob')" > "$work/log"
wait_for_both key:agency/bob
"$ebb" cancel key:agency/bob --reason "Bob is ill" -q
"$ebb" wait key:agency/bob -q > "$work/log" || true # exit code 1: it is not completed
show show key:agency/bob
echo "   rooms reserved: $(sql -c 'SELECT string_agg(name, $$, $$) FROM rooms')"
