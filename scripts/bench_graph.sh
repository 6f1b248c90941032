#!/usr/bin/env bash
# The figures of docs/graph.md, the one of docs/trees.md about whole chapters, and those of docs/communities.md about graphs
# of the LFR benchmark.
#
#   scripts/bench_graph.sh VERSION [PART...]    all of them, or those named, as in `scripts/bench_graph.sh 18 scifact walk`
#
#   scifact and the like   of a judged set: what a walk finds, the space of mentions, and how long communities take
#   themes                 how much of a chapter is read for a question for all of it
#   walk                   what a walk adds to the time of a question
#   rows                   documents a second with a graph and without
#   lfr                    the modularity of communities beside that of leidenalg
#
# The sets are those of $PG_RAG_DATA (default ../shared/data); one that is not there is skipped with a word. All of it
# takes hours, of which embedding takes most. Other sizes and options: make bench-retrieve, bench-latency and bench-pipeline.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$PG_RAG_SOURCE"

SETS=(hotpotqa500 squad_train_sample scifact pgdocs14 xquad/en xquad/de xquad/zh xquad/ar xquad/ru)
OTHERS=(themes walk rows lfr)

main() {
    [[ $# -ge 1 ]] || fail "which PostgreSQL?" "scripts/bench_graph.sh 18"
    PG_RAG_PG_CONFIG=$(tree_pg_config "$1")
    export PG_RAG_PG_CONFIG
    shift
    [[ $# -gt 0 ]] || set -- "${SETS[@]}" "${OTHERS[@]}"
    local part
    local -a retrieved=() others=()
    for part; do
        if is_one_of "$part" "${SETS[@]}"; then
            ! is_there "$part" || retrieved+=("$part")
        elif [[ $part == themes ]]; then
            retrieved+=(--themes)
        elif is_one_of "$part" "${OTHERS[@]}"; then
            others+=("$part")
        else
            fail "unknown part: $part" "${SETS[*]} ${OTHERS[*]}"
        fi
    done
    forget_other_checkout
    PG_CONFIG=$PG_RAG_PG_CONFIG scripts/install.sh
    [[ ${#retrieved[@]} -eq 0 ]] || cargo bench --bench retrieve -- --graph "${retrieved[@]}"
    for part in ${others[@]+"${others[@]}"}; do "measure_$part"; done
}

is_one_of() {
    local it
    for it in "${@:2}"; do [[ $it != "$1" ]] || return 0; done
    return 1
}

is_there() {
    local folder=${PG_RAG_DATA:-$PG_RAG_SOURCE/../shared/data}/$1
    [[ -d $folder ]] || { say "skipped: no judged data \"$1\"; set PG_RAG_DATA" && return 1; }
}

measure_walk() { cargo bench --bench latency -- --only-graph --embedded 5000; }
measure_rows() { cargo bench --bench pipeline -- graph; }
# A test, which also says what it compares.
measure_lfr() { cargo test --lib communities::tests::found::planted_communities_are_found -- --nocapture; }

main "$@"
