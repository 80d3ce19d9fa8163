#!/usr/bin/env bash
# The travel agency of the WED-SQL paper, over a throwaway PostgreSQL: conditions over an order's data
# decide what happens. One worker is C++, two are Python, and the clerk has only psql. A worker is killed,
# an order is cancelled.
#
#   ./dev demo travel             in a checkout: builds what it needs, then runs this
#   examples/travel/run.sh        the same, if everything is built
#   EBB_DB=postgresql://... EBB_PYTHON_CLIENT=... /usr/share/doc/ebb/examples/travel/run.sh
#                                 where Ebb is installed; the database must be empty
#
# Reads, and finds in a checkout by itself:
#   EBB                 the ebb command; otherwise the one beside these files or in PATH
#   EBB_DB              the URL of an empty PostgreSQL database
#   EBB_PYTHON_CLIENT   the wheel ebb_client-....whl, or the folder clients/python, unless Python has it
#   EBB_AIRLINE         the program built of airline.cpp; otherwise it is built with c++ and pkg-config
#   EBB_BUILD_DIR       of a checkout: where the examples were built
# targets: ebb_command airline
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
fail() { printf 'travel: %s\n' "$*" >&2; exit 1; }

export EBB_DB=${EBB_DB:-${EBB_TEST_POSTGRES_URL:-}}
if [ -x "$root/dev" ]; then
    if [ -z "$EBB_DB" ]; then exec "$root/dev" pg "${BASH_SOURCE[0]}"; fi
    build=${EBB_BUILD_DIR:-$root/build/dev}
    ebb=${EBB:-$build/ebb}
    airline=${EBB_AIRLINE:-$build/examples/airline}
    client=${EBB_PYTHON_CLIENT:-$root/clients/python}
else
    prefix=$(cd "$here/../../../../.." && pwd -P)
    ebb=${EBB:-$prefix/bin/ebb}
    [ -x "$ebb" ] || ebb=$(command -v ebb) || fail "There is no ebb command: set EBB."
    airline=${EBB_AIRLINE:-}
    client=${EBB_PYTHON_CLIENT:-}
fi
[ -n "$EBB_DB" ] || fail "There is no database: set EBB_DB to the URL of an empty PostgreSQL database."
export PYTHONPATH=$client${PYTHONPATH:+:$PYTHONPATH}
/usr/bin/python3 -B -c "import BaseWorker, ebb_client.sql" ||
    fail "Python does not find psycopg or Ebb's client: set EBB_PYTHON_CLIENT to the wheel or its folder."

work=$(mktemp -d)
workers=()
stop_all() {
    for worker in "${workers[@]}"; do kill "$worker" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap stop_all EXIT

if [ -z "$airline" ]; then
    airline=$work/airline
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    flags=$(pkg-config --cflags --libs ebb ebb-postgres) ||
        fail "Ebb's library for C++ is not found: set EBB_AIRLINE."
    # shellcheck disable=SC2086  # several words
    c++ -std=c++20 -o "$airline" "$here/airline.cpp" $flags
fi

BOLD=""
PLAIN=""
if [ -t 1 ]; then
    BOLD=$'\033[1m'
    PLAIN=$'\033[0m'
fi
say() { printf '\n%s%s%s\n' "$BOLD" "$*" "$PLAIN"; }

# sql TEXT: the answer of psql, with the agency's tables in sight.
sql() { PGOPTIONS='-c search_path=agency,public,pg_catalog' psql -qAtX -v ON_ERROR_STOP=1 "$EBB_DB" -c "$1"; }
# show_sql TEXT: prints a statement, and then what psql prints.
show_sql() {
    printf '   => %s\n' "$1"
    PGOPTIONS='-c search_path=agency,public,pg_catalog' psql -qX -P footer=off -v SHOW_CONTEXT=never \
        "$EBB_DB" -c "$1" 2>&1 | sed 's/^/   /'
}
# show COMMAND: prints a command of `ebb`, and then what it prints.
show() {
    printf '   $ ebb %s\n' "$*"
    "$ebb" "$@" 2>&1 | sed 's/^/   /'
}
# start PROGRAM ARGUMENT...: in the background.
start() {
    "$@" &
    workers+=($!)
}
instance_of() { sql "SELECT instance_id FROM wed_flow WHERE customer = '$1'"; }
# A worker that has ended does nothing more: do not wait for it.
check_workers() {
    local worker
    for worker in "${workers[@]}"; do
        kill -0 "$worker" 2>/dev/null || fail "A worker has ended. Its error is above."
    done
}
# Not a guess about time: the script waits until the hotel and the airline have done their part.
wait_for_both() {
    local both="SELECT hotel_status, air_ticket_status FROM wed_flow WHERE customer = '$1'"
    until [ "$(sql "$both")" = 'Reserved|Purchased' ]; do
        check_workers
        read -rt 0.05 <> <(:) || true
    done
}

say "1. The agency is rows of SQL: seven attributes, four transitions with conditions, a final condition."
"$ebb" migrate --sql-workers > "$work/log" 2>&1
"$ebb" migrate --rules-sql > "$work/log" 2>&1
psql -qX -v ON_ERROR_STOP=1 "$EBB_DB" -f "$here/agency.sql"
sql "SELECT ebb.grant_work(current_user, 'agency')" > "$work/log"
show_sql "SELECT trname, cpred FROM wed_trig ORDER BY tgid"

say "2. An order for which nothing could ever happen is refused, in the transaction that inserts it."
show_sql "INSERT INTO wed_flow (customer) VALUES ('ghost')" || true

say "3. Ann's order is a row. Conditions fire transitions in the inserting transaction; workers do them."
show_sql "INSERT INTO wed_flow (customer, order_status) VALUES ('ann', 'Received')"
show_sql "SELECT wid, trname, status FROM job_pool"
start "$airline" "$EBB_DB"
start /usr/bin/python3 -B "$here/validate.py" "$EBB_DB"
mkfifo "$work/pipe"
start /usr/bin/python3 -B "$here/hotel.py" "$EBB_DB" hotel-1 --stop-in-hotel "$work/pipe"
victim=${workers[-1]}
exec 3<> "$work/pipe"
until read -rt 0.2 -u 3 line; do check_workers; done
echo "   Python: $line"

say "4. kill -9 of that worker, in the middle of its reservation. Its transaction is gone with it."
{ kill -9 "$victim" && wait "$victim"; } 2>/dev/null || true
unset 'workers[-1]'
echo "   rooms reserved: $(sql 'SELECT count(*) FROM public.rooms')"

say "5. Another worker takes over when the lease of the dead one has expired. The room is reserved once."
start /usr/bin/python3 -B "$here/hotel.py" "$EBB_DB" hotel-2
wait_for_both ann
echo "   rooms reserved: $(sql 'SELECT count(*) FROM public.rooms')"
ann=$(instance_of ann)
show why "$ann"

say "6. The clerk closes the order with psql alone."
show_sql "SELECT wed_complete(job, '{\"order_status\": \"Finalized\"}') AS status FROM wed_claim('close')"
echo
show_sql "SELECT seq, trw AS written_by, trf AS fired, status FROM wed_trace WHERE wid = 2 ORDER BY seq"
echo
show trace "$ann"
echo
show diagram "$ann" --format text

say "7. Bob's order gets as far, and is then cancelled. What was done is undone, the newest first."
sql "INSERT INTO wed_flow (customer, order_status) VALUES ('bob', 'Received')"
wait_for_both bob
bob=$(instance_of bob)
show_sql "SELECT wed_cancel(wid) FROM wed_flow WHERE customer = 'bob'"
"$ebb" wait "$bob" -q > "$work/log" || true # exit code 1: it is not completed
show show "$bob"
show_sql "SELECT customer, order_status, hotel_status, air_ticket_status FROM wed_flow ORDER BY wid"
echo "   rooms reserved: $(sql "SELECT string_agg(name, ', ') FROM public.rooms")"
