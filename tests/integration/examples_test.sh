#!/usr/bin/env bash
# Runs every example as its first lines say, and looks at what it left behind in the user's own data.
# Arguments: the ebb command, the build folder, the source folder.
set -euo pipefail

ebb=$1
build=$2
source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "examples: $*" >&2; exit 1; }
is() { [ "$1" = "$2" ] || fail "$3: expected \"$2\", got \"$1\""; }

is "$("$build/examples/hello")" 'completed: "Hello, world!"' hello
is "$("$ebb" run "$source/examples/hello.yaml" -q --input '"world"')" '"Hello, world!"' hello.yaml

for example in hello order approval data_pipeline travel; do
    "$ebb" validate "$source/examples/$example.yaml" > /dev/null || fail "$example.yaml is not valid"
done

order() {
    local lamps='"item": "lamp", "quantity": 2, "cents": 8400'
    "$ebb" run "$source/examples/order.yaml" -q --db "sqlite:$work/ebb.db" --input \
        "{\"shop\": \"$work/shop.db\", \"customer\": \"$1\", $lamps}"
}
order ann > /dev/null || fail "the order of ann"
if order nowhere > /dev/null; then fail "an order to nowhere was shipped"; fi
is "$(sqlite3 shop.db 'SELECT quantity FROM stock')" 8 "lamps after one order and one that ebbed back"
is "$(sqlite3 shop.db 'SELECT count(*), sum(refunded) FROM charges')" '2|1' "charges and refunds"

travel() {
    "$ebb" run "$source/examples/travel.yaml" -q --input "{\"order_status\": \"received\"$1}"
}
is "$(travel '' | jq -c '[.hotel_status, .air_status]')" '["reserved","purchased"]' "a journey"
if travel ', "hotel": "Full House"' > /dev/null; then fail "a journey without a room"; fi

pipeline() {
    "$ebb" run "$source/examples/data_pipeline.yaml" -q --input \
        "{\"database\": \"$work/codes.db\", \"published\": \"$work/public.db\"$1}"
}
pipeline '' > /dev/null || fail "the pipeline"
[ "$(sqlite3 public.db 'SELECT count(*) FROM countries')" -gt 200 ] || fail "countries are missing"
if pipeline ', "expected_countries": 3' > /dev/null; then fail "a wrong total was published"; fi
is "$(sqlite3 codes.db .tables)" '' "tables after the pipeline ebbed back"

export EBB_DB=sqlite:$work/ebb.db
id=$("$ebb" start "$source/examples/approval.yaml" --input '{"who": "ann", "amount": 1200}')
"$ebb" decide "$id" confirm --by bob --role board > /dev/null
"$ebb" decide "$id" confirm --by eve --role board > /dev/null
"$ebb" worker "$source/examples/approval.yaml" --once -q
"$ebb" wait "$id" --timeout 10s > /dev/null || fail "the approval"

order_17() { "$build/examples/serverless" "$work/executions.db" "$1" order-17 "${@:2}"; }
is "$(order_17 start '{"cents": 4200}')" 'order-17: started' "a snapshot in a table"
is "$(order_17 start '{"cents": 4200}')" 'order-17: was started before' "the same again"
is "$(order_17 tick | tail -1)" 'order-17: version 1, active at charge' "a step in a process of its own"
is "$(order_17 tick)" 'order-17: version 2, error at charge' "an attempt that failed"
for _ in $(seq 100); do
    order_17 tick > tick.txt
    if grep -q 'version 3' tick.txt; then break; fi
    sleep 0.1
done
is "$(tail -1 tick.txt)" 'order-17: version 3, paused at approval' "the retry"
is "$(order_17 tick)" 'order-17 has nothing that is due' "a wait"
is "$(order_17 due)" '' "what is due"
is "$(order_17 send '{"to": "nowhere"}')" 'order-17: version 4, active at ship' "the approval"
is "$(order_17 due)" 'order-17' "what is due after the approval"
# Two processes for each step, as when a message is delivered twice: one wins, the other ends well.
for _ in 1 2 3; do
    order_17 tick > tick.txt &
    order_17 tick > other.txt || fail "the loser failed"
    wait $! || fail "the loser failed"
done
for _ in 1 2 3; do order_17 tick > /dev/null; done
is "$(sqlite3 executions.db 'SELECT status, version FROM workflow_executions')" 'failed|7' "the row"

EBB=$ebb EBB_BUILD_DIR=$build "$source/examples/demo.sh" > demo.txt || fail "the demo"
grep -q 'stock: 9 lamp, 3 chair; reservations: 1; charges: 1, refunded: 1; shipments: 1' demo.txt ||
    fail "the demo left the shop otherwise: $(cat demo.txt)"
echo "examples: all well"
