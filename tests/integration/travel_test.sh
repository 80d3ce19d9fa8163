#!/usr/bin/env bash
# Plays examples/travel/run.sh as a newcomer would, and looks at what it says: every journey ends, a killed
# worker leaves nothing behind and nothing is done twice, a cancelled journey is undone.
# Then from a folder with nothing but its files, as where Ebb is installed.
# Arguments: the ebb command, the build folder, the source folder. Needs $EBB_TEST_POSTGRES_URL.
set -euo pipefail

folder=$(mktemp -d)
said=$folder/said
trap 'rm -rf "$folder"' EXIT

# fails_with TEXT VARIABLE=VALUE...: without what it needs, it says so, and does not wait.
mkdir -p "$folder/share/doc/ebb/examples"
cp -r "$3/examples/travel" "$folder/share/doc/ebb/examples"
installed=$folder/share/doc/ebb/examples/travel/run.sh
fails_with() {
    local text=$1
    shift
    if (cd "$folder" && env "$@" timeout 120 "$installed") > "$said" 2>&1 || ! grep -qF "$text" "$said"; then
        cat "$said"
        echo "travel: it did not say: $text" >&2
        exit 1
    fi
}
export EBB=$1
fails_with 'set EBB_DB' EBB_TEST_POSTGRES_URL=
fails_with 'set EBB_PYTHON_CLIENT' EBB_PYTHON_CLIENT="$folder"
fails_with 'A worker has ended' EBB_PYTHON_CLIENT="$3/clients/python" EBB_AIRLINE=/bin/false
psql -qX "$EBB_TEST_POSTGRES_URL" -c 'DROP TABLE public.rooms' -c "SELECT ebb.drop_flow('agency', false)" \
    > "$said" 2>&1
psql -qX "$EBB_TEST_POSTGRES_URL" -c 'DROP SCHEMA ebb CASCADE' > "$said" 2>&1

export EBB_BUILD_DIR=$2
if [ "${4:-}" = installed ]; then
    export EBB_AIRLINE=$2/examples/airline EBB_PYTHON_CLIENT=$3/clients/python
    cd "$folder"
    run=$installed
else
    run=$3/examples/travel/run.sh
fi
"$run" > "$said" 2>&1 || { cat "$said"; echo "travel: it failed" >&2; exit 1; }

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
