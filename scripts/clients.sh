#!/usr/bin/env bash
# rag-server as programs of others meet it: a browser and the inspector of MCP, and many readers at once. The programs
# are in rag-server/tests/clients/; their packages are pinned, and kept in $PG_RAG_CACHE/clients.
#
#   scripts/clients.sh page VERSION [NAME]          the chat page in headless Chromium; NAME is part of a test's name
#   scripts/clients.sh pictures VERSION [FOLDER]    the pictures of the page in docs/
#   scripts/clients.sh inspector VERSION [NAME]     MCP with the inspector of the protocol
#   scripts/clients.sh load VERSION [READERS [SESSIONS]]    what rag-server adds to a statement, and what many readers
#                                                   cost, 1000 in 100 sessions if nothing else is said
#
# What cannot be had here is skipped with a word. With INSTALL=1 a Debian package that is missing is installed, where
# the caller may do that. The extension is the one that is installed; RAG_SERVER names a rag-server that is built.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/kept.sh
source "$(dirname "$0")/kept.sh"
cd "$PG_RAG_SOURCE"

KEPT=$PG_RAG_CACHE/clients
CLIENTS=rag-server/tests/clients

main() {
    [[ $# -ge 2 ]] || fail "which program, and which PostgreSQL?" "scripts/clients.sh page 18"
    local program=$1
    VERSION=$2
    shift 2
    mkdir -p "$KEPT"
    case $program in
    page) page "$@" ;;
    pictures) pictures "$@" ;;
    inspector) inspector "$@" ;;
    load) load "$@" ;;
    *) fail "unknown program: $program" "page, pictures, inspector or load" ;;
    esac
}

skip() {
    echo "skipped: $*"
    exit 0
}

# Sets PROGRAMS to a copy of the programs that has the packages of one of them.
programs_of() {
    local packages=$CLIENTS/$1
    PROGRAMS=$(kept "$1" node_modules "$packages/package.json" "$packages/package-lock.json") ||
        skip "packages of $packages cannot be had"
    cp -r "$CLIENTS/." "$PROGRAMS/"
}

# A server and what the programs want to know of it. It is begun anew, so that it has the library that was installed last.
# $1: how many connections it takes, 150 if not given.
serve() {
    if [[ -z ${RAG_SERVER:-} ]]; then
        forget_other_checkout
        cargo build ${PROFILE:+"--$PROFILE"} -p rag-server
        RAG_SERVER=$CARGO_TARGET_DIR/${PROFILE:-debug}/rag-server
    fi
    PSQL=$(dirname "$(tree_pg_config "$VERSION")")/psql
    scripts/cluster.sh stop clients "$VERSION"
    scripts/cluster.sh start clients "$VERSION" autovacuum=off fsync=off rag.ragd_start_timeout=60s \
        max_connections="${1:-150}"
    trap 'scripts/cluster.sh stop clients "$VERSION"' EXIT
    PGHOST=$(scripts/cluster.sh socket clients "$VERSION")
    export RAG_SERVER PSQL PGHOST PGUSER=postgres
}

in_browser() {
    need_node
    need chromium command -v chromium
    CHROMIUM=$(command -v chromium)
    export CHROMIUM
    programs_of page
    serve
}

run_tests() { node --test-reporter=spec ${2:+--test-name-pattern="$2"} "$PROGRAMS/$1/main.mjs"; }

page() {
    in_browser
    run_tests page "$@"
}

pictures() {
    in_browser
    node "$PROGRAMS/page/pictures.mjs" "${1:-docs}"
}

inspector() {
    need_node 20.19 22.12
    programs_of inspector
    serve
    export INSPECTOR=$PROGRAMS/node_modules/.bin/mcp-inspector
    run_tests inspector "$@"
}

# As users build it.
load() {
    need_node
    local sessions=${2:-100}
    [[ $sessions =~ ^[1-9][0-9]*$ ]] || fail "not a number of sessions: $sessions" "scripts/clients.sh load 18 1000 1000"
    # For each session ragd and rag-server have two connections open.
    ulimit -S -n "$(ulimit -H -n)"
    PROFILE=release serve $((sessions + 50))
    node "$CLIENTS/load.mjs" "$@"
}

main "$@"
