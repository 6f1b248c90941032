#!/usr/bin/env bash
# What an engine does with the image; test_image.sh calls it there, as the user of the image.
set -euo pipefail

PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
export PATH PGDATA=/var/lib/postgresql/data LANG=C.UTF-8 POSTGRES_PASSWORD=of-the-trial

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

main() {
    cd /
    ! POSTGRES_PASSWORD='' entrypoint.sh postgres 2>/dev/null || fail "it starts without a password"
    [[ -z $(ls -A "$PGDATA") ]] || fail "a start that failed leaves files"
    start
    [[ $(ask --dbname=postgres --file=/sql/trial.sql | tee /tmp/answers.txt | grep -cF '[1] cites row 2') -eq 1 ]] ||
        fail "the answer is another: $(</tmp/answers.txt)"
    stop
    start
    ask --dbname=postgres --command="SELECT rag_answer('When does the office open?')" | grep -F '[1]' ||
        fail "after a restart nothing is answered"
    serve
    ! PGPASSWORD=wrong ask --dbname=postgres --command='SELECT 1' 2>/dev/null || fail "any password will do"
    stop
}

start() {
    local second
    entrypoint.sh postgres -c shared_preload_libraries=pg_rag >>/tmp/server.log 2>&1 &
    SERVER=$!
    for second in $(seq 120); do
        ! pg_isready --quiet --host=127.0.0.1 || return 0
        kill -0 "$SERVER" 2>/dev/null || fail "the server ended after $second s: $(tail -n 5 /tmp/server.log)"
        sleep 1
    done
    fail "the server is not healthy after two minutes"
}

# The other image's, which asks as a role that has to give its password.
serve() {
    local password='of the "reader"' server second
    ask --dbname=postgres --command="CREATE ROLE reader LOGIN PASSWORD '$password'"
    RAG_SERVER_DATABASE_URL='host=127.0.0.1 dbname=postgres' RAG_SERVER_LISTEN=127.0.0.1:8080 \
        RAG_TOKEN=0123456789abcdefghij RAG_ROLE=reader RAG_ROLE_PASSWORD=$password server.sh >>/tmp/server.log 2>&1 &
    server=$!
    for second in $(seq 60); do
        ! healthy 8080 2>/dev/null || { kill "$server" && return; }
        kill -0 "$server" 2>/dev/null || fail "rag-server ended after $second s: $(tail -n 5 /tmp/server.log)"
        sleep 1
    done
    fail "rag-server is not healthy after a minute"
}

stop() {
    kill -INT "$SERVER"
    wait "$SERVER" || true
}

ask() {
    PGPASSWORD=${PGPASSWORD:-$POSTGRES_PASSWORD} psql --no-psqlrc -XAtq --set=ON_ERROR_STOP=1 --host=127.0.0.1 \
        --username=postgres "$@"
}

main
