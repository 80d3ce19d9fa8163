#!/usr/bin/env bash
# Plays examples/travel/run.sh as a newcomer would, and looks at what it says: every journey ends, a killed
# worker leaves nothing behind and nothing is done twice, a cancelled journey is undone.
# Arguments: the ebb command, the build folder, the source folder. Needs $EBB_TEST_POSTGRES_URL.
set -euo pipefail

export EBB=$1 EBB_BUILD_DIR=$2
said=$(mktemp)
trap 'rm -f "$said"' EXIT
"$3/examples/travel/run.sh" > "$said" 2>&1 || { cat "$said"; echo "travel: it failed" >&2; exit 1; }

# says COUNT TEXT: that many lines have the text.
says() {
    [ "$(grep -cF -- "$2" "$said" || true)" = "$1" ] && return
    cat "$said"
    echo "travel: not $1 times: $2" >&2
    exit 1
}
says 1 'No trigger and no final condition holds'
says 1 'C++: bought the ticket LH-ann'
says 2 'Python (WED-SQL): the order of'
says 1 'Python: reserved, and not yet committed'
says 1 'rooms reserved: 0'
says 1 'Python: reserved room-ann'
says 1 'rooms reserved: 1'
says 1 'close      | {}          | F'
says 1 'C++: refunded the ticket LH-bob'
says 1 'Python: cancelled room-bob'
says 1 'cancelled by '
says 1 ' bob      | Received     |              | '
says 1 'rooms reserved: room-ann'
echo "travel: all well"
