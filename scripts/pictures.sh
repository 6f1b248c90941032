#!/usr/bin/env bash
# Draws docs/graph.svg and docs/tree.svg: what a pipeline makes of this manual. Nothing in them is random.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$PG_RAG_SOURCE"

VERSION=${1:-18}
found=
FILE=docs/index.md

main() {
    PG_CONFIG=$(tree_pg_config "$VERSION") scripts/install.sh
    found=$(mktemp -d)
    trap 'rm -rf "$found"; scripts/cluster.sh remove pictures "$VERSION"' EXIT
    scripts/cluster.sh start pictures "$VERSION"
    run_sql -c 'DROP DATABASE IF EXISTS pictures' -c 'CREATE DATABASE pictures'
    load_manual
    run_sql -d pictures -f sql/demo/picture_of_graph.sql >"$found/graph.json"
    run_sql -d pictures -v file="$FILE" -f sql/demo/picture_of_tree.sql >"$found/tree.json"
    python3 scripts/draw_pictures.py graph <"$found/graph.json" >docs/graph.svg
    python3 scripts/draw_pictures.py tree <"$found/tree.json" >docs/tree.svg
    say "docs/graph.svg and docs/tree.svg are drawn"
}

run_sql() {
    scripts/cluster.sh psql pictures "$VERSION" --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"
}

load_manual() {
    run_sql -d pictures -f sql/demo/schema.sql
    python3 scripts/draw_pictures.py pages docs/*.md | run_sql -d pictures -f sql/demo/load.sql
    run_sql -d pictures -f sql/demo/pictures.sql
}

main "$@"
