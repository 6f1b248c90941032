#!/usr/bin/env bash
# Loads this project's manual into a private PostgreSQL 18, one row a section,
# and asks it questions. What is done already is not done again.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$PG_RAG_SOURCE"

VERSION=18
DATABASE=manual

main() {
    install_extension
    scripts/cluster.sh start demo "$VERSION"
    create_database
    load_manual
    ask_questions
    say_how_to_go_on
    [[ -z ${SERVE:-} ]] || serve
}

# A server that runs stops for a new build: its sessions hold the old files.
install_extension() {
    local pg_config before
    pg_config=$(tree_pg_config "$VERSION")
    before=$(installed_sources "$pg_config")
    PG_CONFIG=$pg_config scripts/install.sh
    [[ $before == "$(installed_sources "$pg_config")" ]] || scripts/cluster.sh stop demo "$VERSION"
}

installed_sources() { cat "$("$1" --pkglibdir)/pg_rag/sources.sha256" 2>/dev/null || true; }

psql_demo() { scripts/cluster.sh psql demo "$VERSION" --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$@"; }

create_database() {
    [[ -n $(psql_demo --no-align --tuples-only \
        -c "SELECT 1 FROM pg_database WHERE datname = '$DATABASE'") ]] && return
    say "creating the database"
    psql_demo -c "CREATE DATABASE $DATABASE"
}

# Sections that are as they were stay, and so do their chunks.
load_manual() {
    psql_demo --dbname="$DATABASE" -f sql/demo/schema.sql
    python3 scripts/manual_sections.py README.md docs/*.md |
        psql_demo --dbname="$DATABASE" -f sql/demo/load.sql
    psql_demo --dbname="$DATABASE" --tuples-only --no-align -f sql/demo/pipeline.sql
}

# One session asks all of them.
ask_questions() {
    while read -r question; do
        printf "\\\\set question '%s'\n\\\\i sql/demo/ask.sql\n" "${question//\'/\'\'}"
    done <sql/demo/questions.txt |
        psql_demo --dbname="$DATABASE" --tuples-only --no-align | python3 scripts/print_answers.py
}

# Until Ctrl-C. Whoever uses this machine may ask: there is nothing in the database but the manual.
serve() {
    local socket
    socket=$(scripts/cluster.sh socket demo "$VERSION")
    say "building rag-server"
    cargo build --release -p rag-server
    say "open http://127.0.0.1:8080 in a browser; Ctrl-C ends it"
    exec "$CARGO_TARGET_DIR/release/rag-server" --database-url "host=$socket user=postgres dbname=$DATABASE" \
        --setting rag.trace=full
}

say_how_to_go_on() {
    cat <<END
The database is yours to ask more:

  scripts/cluster.sh psql demo $VERSION $DATABASE
  $DATABASE=# SELECT rag_answer('How do I see what an answer rests on?');

\`make demo SERVE=1\` opens a chat page over it, on http://127.0.0.1:8080.
\`scripts/cluster.sh stop demo $VERSION\` stops the server.
END
}

main
