#!/usr/bin/env bash
# The demo of ./dev demo: an order saga over SQLite survives a SIGKILL, and another one is undone.
# targets: ebb_command order
# Reads EBB (the ebb command) and EBB_BUILD_DIR (where the examples were built).
# Writes only into a temporary folder.
set -euo pipefail

ebb=${EBB:?the ebb command}
order=${EBB_BUILD_DIR:?the build folder}/examples/order
shop=$(mktemp -d)
worker=
trap '[ -z "$worker" ] || kill -9 "$worker" 2>/dev/null || true; rm -rf "$shop"' EXIT
export EBB_DB="sqlite:$shop/ebb.db"

BOLD=""
PLAIN=""
if [ -t 1 ]; then
    BOLD=$'\033[1m'
    PLAIN=$'\033[0m'
fi
say() { printf '\n%s%s%s\n' "$BOLD" "$*" "$PLAIN"; }
steps_done() { "$ebb" history "$1" -o jsonl 2>/dev/null | grep -c '"type":"step_completed"' || true; }

say "1. Ann orders a lamp. A worker starts; each of its actions takes half a second."
id=$("$order" "$shop" start ann lamp 1 4200)
echo "   instance $id"
"$order" "$shop" work 500 &
worker=$!

# Not a guess about time: the demo waits until the first step is durable.
until [ "$(steps_done "$id")" -ge 1 ]; do kill -0 "$worker"; read -rt 0.05 <> <(:) || true; done

say "2. kill -9, in the middle of the second step."
# The shell would print a message about its killed job here.
{ kill -9 "$worker" && wait "$worker"; } 2>/dev/null || true
worker=
"$ebb" show "$id"
"$order" "$shop" report

say "3. Another worker takes over when the dead worker's lease expires. Nothing is done twice."
"$order" "$shop" work 100
"$ebb" show "$id"
"$order" "$shop" report

say "4. The next order has an unknown address and cannot be shipped. Ebb undoes its completed steps."
id=$("$order" "$shop" start nowhere lamp 2 8400)
"$order" "$shop" work 100
"$ebb" show "$id"
"$ebb" why "$id"
"$order" "$shop" report

say "5. The same order as a picture:"
"$ebb" diagram "$id" --format text
echo
echo "Try it yourself: $ebb --help"
