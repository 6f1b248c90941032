#!/usr/bin/env bash
# Calls each test inside a backend: a function of the library that its installation script does not name.
#
#   PG_CONFIG=.../bin/pg_config PGHOST=SOCKET_FOLDER PGUSER=postgres pgrx-tests/run.sh [TEST...]
#
# It wants a server that runs already, with a build that has the tests in it: BUILD=test scripts/install.sh.
set -euo pipefail

pg_config=${PG_CONFIG:-pg_config}
psql=("$("$pg_config" --bindir)/psql" -X -q -A -t -v ON_ERROR_STOP=1 -v SHOW_CONTEXT=never)
export PGOPTIONS="-c client_min_messages=warning"
DATABASE=inside_a_backend

main() {
    local test failed=0
    local -a tests=("$@")
    "${psql[@]}" -d postgres -c "DROP DATABASE IF EXISTS $DATABASE WITH (FORCE)" -c "CREATE DATABASE $DATABASE"
    "${psql[@]}" -d "$DATABASE" -c "CREATE EXTENSION pg_rag CASCADE"
    [[ $# -gt 0 ]] || list_tests
    for test in "${tests[@]}"; do
        run_one "$test" || failed=$((failed + 1))
    done
    "${psql[@]}" -d postgres -c "DROP DATABASE $DATABASE WITH (FORCE)"
    [[ $failed -eq 0 ]] || { echo "$failed of ${#tests[@]} tests inside a backend failed" >&2; return 1; }
    echo "${#tests[@]} tests inside a backend passed"
}

list_tests() {
    local -a known
    mapfile -t known < <(installed)
    [[ ${#known[@]} -gt 0 ]] || stop "the extension has no functions"
    mapfile -t tests < <(LC_ALL=C comm -23 <(exported) <(printf '%s\n' "${known[@]}"))
    [[ ${#tests[@]} -gt 0 ]] || stop "the library that is installed has no tests in it"
}

stop() {
    echo "error: $1" >&2
    exit 1
}

exported() {
    nm --dynamic --defined-only --format=just-symbols "$("$pg_config" --pkglibdir)/pg_rag.so" |
        sed -n 's/^pg_finfo_\(.*\)_wrapper$/\1/p' | LC_ALL=C sort
}

installed() {
    "${psql[@]}" -d "$DATABASE" -c "SELECT DISTINCT regexp_replace(prosrc, '_wrapper$', '') FROM pg_proc
        WHERE probin ~ '(^|/)pg_rag\$'" | LC_ALL=C sort
}

run_one() {
    "${psql[@]}" -d "$DATABASE" -c "BEGIN" -c "CREATE FUNCTION pg_temp.test() RETURNS void LANGUAGE c AS \
        '\$libdir/pg_rag', '${1}_wrapper'" -c "SELECT pg_temp.test()" -c "ROLLBACK" >/dev/null &&
        printf 'ok    %s\n' "$1" && return
    printf 'FAILED %s\n' "$1"
    wait_for_server
    return 1
}

# After a test that has taken the server down.
wait_for_server() {
    local _
    for _ in {1..600}; do
        ! "${psql[@]}" -d postgres -c "" 2>/dev/null || return 0
        sleep 0.2
    done
    stop "the server has not come back"
}

main "$@"
