#!/usr/bin/env bash
# Private clusters of the private PostgreSQL trees: no TCP, one socket in the
# cluster's own folder, which only the server's user and root can enter.
#
#   scripts/cluster.sh start NAME VERSION [SETTING=VALUE...]
#   scripts/cluster.sh stop|remove NAME VERSION
#   scripts/cluster.sh psql NAME VERSION [PSQL ARGUMENT...]
#   scripts/cluster.sh socket NAME VERSION    prints the folder to connect to
#   scripts/cluster.sh status                 lists the clusters
#
# The superuser is postgres, whoever runs the server.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

LONGEST_SOCKET=107 # what fits in the kernel's sockaddr_un

# Seconds that pg_ctl waits; on a busy disk its own 60 are too few for a recovery or a checkpoint.
export PGCTLTIMEOUT=300

main() {
    local command=${1:-status}
    if [[ $command == status ]]; then
        status
        return
    fi
    [[ $# -ge 3 ]] || fail "$command needs a name and a version" "scripts/cluster.sh $command demo 18"
    name_cluster "$2" "$3"
    shift 3
    case $command in
    start) start "$@" ;;
    stop) stop ;;
    remove) remove ;;
    psql) exec "$BIN/psql" -h "$CLUSTER" -U postgres "$@" ;;
    socket) echo "$CLUSTER" ;;
    *) fail "unknown command: $command" "start, stop, remove, psql, socket or status" ;;
    esac
}

name_cluster() {
    [[ $1 =~ ^[a-z0-9_-]+$ ]] || fail "not a cluster's name: $1" "small letters, digits, - and _"
    VERSION=$2
    BIN=$(dirname "$(tree_pg_config "$VERSION")")
    CLUSTER=$PG_RAG_CLUSTERS/$1-$VERSION
    [[ -x $BIN/postgres ]] || fail "no private PostgreSQL $VERSION in $PG_RAG_SERVER_DIR/postgres" \
        "scripts/setup.sh gets 16 and 18"
    local socket=$CLUSTER/data/pg_rag/ragd.sock
    [[ ${#socket} -le $LONGEST_SOCKET ]] || fail "the socket's path is too long: $socket" \
        "set PG_RAG_CACHE to a folder with a shorter name"
}

start() {
    [[ -f $CLUSTER/data/PG_VERSION ]] || initialise
    ! is_running "$CLUSTER" || return 0
    local -a options=(-c "listen_addresses=" -c "unix_socket_directories=$CLUSTER")
    local setting
    for setting in "$@"; do
        options+=(-c "$setting")
    done
    as_server "$BIN/pg_ctl" start --silent --wait -D "$CLUSTER/data" -l "$CLUSTER/log" \
        -o "$(quoted "${options[@]}")" || fail "PostgreSQL $VERSION did not start" "see $CLUSTER/log"
}

# pg_ctl hands its options to a shell.
quoted() { printf '%q ' "$@"; }

# In a folder of its own first: an interrupted initdb leaves no cluster behind.
initialise() {
    local partial=$CLUSTER.partial
    as_server rm -rf "$partial" "$CLUSTER"
    as_server mkdir -m 700 "$partial"
    as_server "$BIN/initdb" -D "$partial/data" --username=postgres --encoding=UTF8 --no-instructions \
        --auth-local=trust --auth-host=reject --locale=C.UTF-8 >/dev/null ||
        fail "initdb of PostgreSQL $VERSION failed"
    as_server mv -T "$partial" "$CLUSTER"
}

is_running() { as_server "$BIN/pg_ctl" status -D "$1/data" >/dev/null 2>&1; }

stop() {
    ! is_running "$CLUSTER" ||
        as_server "$BIN/pg_ctl" stop --silent --wait --mode=fast -D "$CLUSTER/data"
}

remove() {
    stop
    as_server rm -rf "$CLUSTER"
}

status() {
    local cluster name
    for cluster in "$PG_RAG_CLUSTERS"/*-1[0-9]; do
        [[ -d $cluster ]] || continue
        name=$(basename "$cluster")
        BIN=$PG_RAG_SERVER_DIR/postgres/${name##*-}/bin
        if is_running "$cluster"; then
            echo "$name  running  $cluster"
        else
            echo "$name  stopped  $cluster"
        fi
    done
}

main "$@"
