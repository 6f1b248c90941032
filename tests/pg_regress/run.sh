#!/usr/bin/env bash
# Compares what psql shows of tests/pg_regress/sql with tests/pg_regress/expected.
#
#   PG_CONFIG=.../bin/pg_config PGHOST=SOCKET_FOLDER PGUSER=postgres tests/pg_regress/run.sh [TEST...]
#
# Each test has a database of its own, a copy of one that prepare.sql has filled, in a server that runs
# already. With ACCEPT=1 the output becomes the expected one: read it before it is committed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
psql=$("${PG_CONFIG:-pg_config}" --bindir)/psql
PREPARED=golden_template
export PGOPTIONS="-c client_min_messages=warning"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

main() {
    local test failed=0 count=0
    prepare || return 1
    [[ $# -gt 0 ]] || mapfile -t tests < <(basename -s .sql "$here"/sql/*.sql)
    for test in "${@:-${tests[@]}}"; do
        count=$((count + 1))
        run_one "$test" || failed=$((failed + 1))
    done
    "$psql" -X -q -d postgres -c "DROP DATABASE IF EXISTS $PREPARED WITH (FORCE)"
    [[ $failed -eq 0 ]] || { echo "$failed of $count golden tests failed" >&2; return 1; }
    echo "$count golden tests passed"
}

prepare() {
    "$psql" -X -q -d postgres -c "DROP DATABASE IF EXISTS $PREPARED WITH (FORCE)" -c "CREATE DATABASE $PREPARED" &&
        "$psql" -X -q -d "$PREPARED" -f "$here/prepare.sql"
}

run_one() {
    local test=$1 database=regress_$1 output=$results/$1.out expected=$here/expected/$1.out
    "$psql" -X -q -d postgres -c "DROP DATABASE IF EXISTS $database WITH (FORCE)" \
        -c "CREATE DATABASE $database TEMPLATE $PREPARED" || return 1
    "$psql" -X -a -q -d "$database" <"$here/sql/$test.sql" >"$output" 2>&1 || true
    "$psql" -X -q -d postgres -c "DROP DATABASE $database"
    [[ -z ${ACCEPT:-} ]] || cp "$output" "$expected"
    diff -u --label "expected/$test.out" --label "now" "$expected" "$output" &&
        printf 'ok    %s\n' "$test"
}

main "$@"
