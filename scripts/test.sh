#!/usr/bin/env bash
# One tier of tests, for one PostgreSQL where it needs one.
#
#   scripts/test.sh unit                    no PostgreSQL; with ragd and the models
#   scripts/test.sh llm VERSION             local language models, without and with PostgreSQL
#   scripts/test.sh pg VERSION [NAME]       inside a backend
#   scripts/test.sh sql VERSION [TEST...]   golden SQL: what a user types and sees;
#                                           with ACCEPT=1 the output becomes the expected one,
#                                           and MODEL=NAME is the default model
#   scripts/test.sh server VERSION [NAME]   rag-server, in front of the server of the golden tests
#   scripts/test.sh browser VERSION [NAME]  the chat page of rag-server in headless Chromium
#   scripts/test.sh mcp VERSION [NAME]      rag-server with the inspector of the Model Context Protocol
#   scripts/test.sh drivers VERSION [NAME...]
#                                           what drivers and frameworks of other languages do with it
#   scripts/test.sh system VERSION [NAME]   crashes, cancels, standby, dump and restore; on 16, unless named or
#                                           with ALL=1, without those that no version makes a difference to
#   scripts/test.sh versions TIER VERSION...
#                                           pg or sql, for all of these versions at once
#
# The extension and ragd are built with assertions in them; with BUILD=release as users install them.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$PG_RAG_SOURCE"

# Property tests try the same values each time, so that only a change makes them fail. Others are tried by
# PROPTEST_RNG_SEED=$RANDOM make test-unit.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20260731}

main() {
    local tier=${1:-}
    if [[ $tier == versions && $# -ge 3 ]]; then
        on_versions "${@:2}"
        return
    fi
    [[ $tier == unit || $# -ge 2 ]] || fail "which tests?" "scripts/test.sh unit, or pg, sql, server, browser, mcp, drivers, system and a version"
    echo "=== $*"
    shift
    forget_other_checkout
    case $tier in
    unit) cargo test --no-fail-fast "$@" ;;
    llm) local_models "$@" ;;
    pg) in_backend "$@" ;;
    sql) golden "$@" ;;
    server) in_front "$@" ;;
    browser) by_client page "$@" ;;
    mcp) by_client inspector "$@" ;;
    drivers) from_drivers "$@" ;;
    system) system "$@" ;;
    *) fail "unknown tests: $tier" "unit, llm, pg, sql, server, browser, mcp, drivers or system, or versions and one of these" ;;
    esac
}

# Modules of the system tests that are about ragd, models, providers and derivations and meet nothing in which versions of
# PostgreSQL differ.
OF_NO_VERSION=(agent answer called_tools communities derivation documents evaluation families heartbeat local_model model ner outage provider
    redact represent rerank rewrite situate strategy stream tree_corpus tree_found tree_written trust)

# The process group of each version whose tests are under way.
declare -A JOBS=()
# Where their output is until they have ended.
OUTPUT=

# Servers of two versions have nothing in common, and each waits for one session at a time. What is printed for a version is
# shown when its tests have ended.
on_versions() {
    local tier=$1 version status=0
    shift
    # Expected output that is accepted is that of the last one.
    if [[ $# -eq 1 || -n ${ACCEPT:-} ]]; then
        for version in "$@"; do scripts/test.sh "$tier" "$version"; done
        return
    fi
    # One after the other: cargo builds in one folder, and finds all done afterwards.
    echo "=== $tier $*: one build, then both at once"
    for version in "$@"; do
        if [[ $tier == pg ]]; then BUILD='test' install_for_tests "$version"; else install_for_tests "$version"; fi
    done
    OUTPUT=$(mktemp -d)
    # Jobs get process groups of their own, which end with this script.
    set -m
    trap end_jobs EXIT
    for version in "$@"; do
        scripts/test.sh "$tier" "$version" </dev/null >"$OUTPUT/$version" 2>&1 &
        JOBS[$version]=$!
    done
    for version in "$@"; do
        wait "${JOBS[$version]}" || status=1
        unset "JOBS[$version]"
        cat "$OUTPUT/$version"
    done
    rm -rf "$OUTPUT"
    return "$status"
}

end_jobs() {
    local version
    for version in "${!JOBS[@]}"; do
        kill -- "-${JOBS[$version]}" || true
        wait "${JOBS[$version]}" || true
        cat "$OUTPUT/$version"
    done
    rm -rf "$OUTPUT"
}

# One build for all tiers, which finds more than what users install, and is compiled sooner.
install_for_tests() {
    BUILD=${BUILD:-test} PG_CONFIG=$(tree_pg_config "$1") scripts/install.sh
}

in_backend() {
    local version=$1 pg_config
    shift
    pg_config=$(tree_pg_config "$version")
    BUILD='test' install_for_tests "$version"
    with_server "$version"
    PG_CONFIG=$pg_config PGHOST=$(scripts/cluster.sh socket golden "$version") PGUSER=postgres \
        pgrx-tests/run.sh "$@"
    # What is installed next replaces the library that it has loaded.
    scripts/cluster.sh stop golden "$version"
}

# Begun anew, so that it has the library that was installed last and a ragd that knows nothing of earlier
# runs, such as providers that could not be reached.
with_server() {
    local version=$1
    shift
    scripts/cluster.sh stop golden "$version"
    # Plans and counts are not to depend on when autovacuum comes, nor ragd's start on a busy machine.
    scripts/cluster.sh start golden "$version" autovacuum=off fsync=off rag.ragd_start_timeout=60s "$@"
}

# One at a time: each has the model in memory and all processors.
local_models() {
    cargo test --lib local_model -- --nocapture
    cargo test --test local_model -- --nocapture --test-threads=1
    system "$1" local_model
}

golden() {
    local version=$1
    shift
    install_for_tests "$version"
    with_server "$version" ${MODEL:+"rag.embedding_model=$MODEL"}
    PG_CONFIG=$(tree_pg_config "$version") PGHOST=$(scripts/cluster.sh socket golden "$version") PGUSER=postgres \
        tests/pg_regress/run.sh "$@"
}

in_front() {
    local version=$1
    shift
    install_for_tests "$version"
    with_server "$version"
    PG_RAG_TEST_DATABASE_URL="host=$(scripts/cluster.sh socket golden "$version") user=postgres dbname=postgres" \
        cargo test -p rag-server "$@"
}

by_client() {
    install_for_tests "$2"
    scripts/clients.sh "$@"
}

from_drivers() {
    install_for_tests "$1"
    # Begun anew, so that it has the library that was installed last.
    scripts/cluster.sh stop drivers "$1"
    scripts/drivers.sh "$@"
}

system() {
    local version=$1 pg_config old
    shift
    pg_config=$(tree_pg_config "$version")
    old=$(tree_pg_config 16)
    install_for_tests "$version"
    if [[ $version != 16 && -x $old ]]; then
        install_for_tests 16
        export PG_RAG_OLD_PG_CONFIG=$old
    fi
    local -a left_out=()
    if [[ $version == 16 && $# -eq 0 && -z ${ALL:-} ]]; then
        left_out=("${OF_NO_VERSION[@]/#/--skip=}")
        left_out=("${left_out[@]/%/::}")
    fi
    export PG_RAG_LLAMA PG_RAG_TEST_GGUF PG_RAG_TEST_PII
    # What the tests measure is worth reading also when they pass. They wait as much as they
    # compute, so there are more of them at once than processors.
    PG_RAG_PG_CONFIG=$pg_config cargo test --test system "$@" -- \
        --nocapture --test-threads=4 "${left_out[@]}"
}

main "$@"
