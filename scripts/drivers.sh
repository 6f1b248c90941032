#!/usr/bin/env bash
# The drivers of other languages, poolers and tools, each with a program of its own in tests/drivers/ that uses
# pg_rag as docs/drivers/ shows it. Packages are pinned, and kept in $PG_RAG_CACHE/drivers.
#
#   scripts/drivers.sh VERSION [NAME...]    all of them, or those named, as in `scripts/drivers.sh 18 django go`
#
# A driver whose language or package cannot be had here is skipped with a word. With INSTALL=1 a Debian package
# that is missing is installed, where the caller may do that. The extension is the one that is installed.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/kept.sh
source "$(dirname "$0")/kept.sh"
cd "$PG_RAG_SOURCE"

DRIVERS=(pages package client langchain llamaindex psycopg asyncpg sqlalchemy alembic django node_pg postgres_js drizzle
    knex prisma openai_python openai_node go jdbc sqlx ruby_pg sequel pgbouncer replication postgrest grafana bi)
PROGRAMS=$PG_RAG_SOURCE/tests/drivers
KEPT=$PG_RAG_CACHE/drivers

main() {
    [[ $# -ge 1 ]] || fail "which PostgreSQL?" "scripts/drivers.sh 18"
    VERSION=$1
    shift
    [[ $# -gt 0 ]] || set -- "${DRIVERS[@]}"
    local name
    for name in "$@"; do
        declare -F "try_$name" >/dev/null || fail "unknown driver: $name" "${DRIVERS[*]}"
    done
    mkdir -p "$KEPT/logs"
    connect
    local passed=0 failed=0 skipped=0
    for name in "$@"; do
        try "$name"
    done
    scripts/cluster.sh stop drivers "$VERSION"
    local words="$passed of $((passed + failed)) driver tests passed"
    [[ $skipped -eq 0 ]] || words+=", $skipped skipped"
    echo "$words"
    [[ $failed -eq 0 ]]
}

# The cluster that all drivers share, each in a database of its own; it publishes for the test of replication.
connect() {
    scripts/cluster.sh start drivers "$VERSION" fsync=off rag.ragd_start_timeout=60s wal_level=logical
    PGHOST=$(scripts/cluster.sh socket drivers "$VERSION")
    export PGHOST PGUSER=postgres
    PSQL=$(dirname "$(tree_pg_config "$VERSION")")/psql
}

# Runs one driver and counts how it went. The subshell stands by itself, since in a condition bash would go on
# after a command that fails.
try() {
    local log=$KEPT/logs/$1.log status
    set +e
    (
        set -e
        # Read by skip.
        exec 3>"$log.reason"
        "try_$1"
    ) >"$log" 2>&1
    status=$?
    set -e
    case $status in
    0) passed=$((passed + 1)) && echo "ok      $1" ;;
    77) skipped=$((skipped + 1)) && echo "skipped $1: $(<"$log.reason")" ;;
    *)
        failed=$((failed + 1))
        echo "FAILED  $1, with this at the end of $log:"
        tail -n 30 "$log"
        ;;
    esac
}

skip() {
    echo "$*" >&3
    exit 77
}

# An empty database with the extension, for the programs to find by PGDATABASE.
database() {
    export PGDATABASE=drivers_$1
    PGOPTIONS='-c client_min_messages=error' "$PSQL" -qX -d postgres -v ON_ERROR_STOP=1 \
        -c "DROP DATABASE IF EXISTS $PGDATABASE WITH (FORCE)" -c "CREATE DATABASE $PGDATABASE"
    "$PSQL" -qX -v ON_ERROR_STOP=1 -c "CREATE EXTENSION pg_rag CASCADE"
}

# ---- Python

python_environment() {
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$2"
}

# Sets PYTHON to an interpreter with the packages of a file.
python_with() {
    local folder
    need python3-venv python3 -c 'import ensurepip, venv'
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "Python is older than 3.10"
    folder=$(kept "python-$1" python_environment "$2") || skip "packages of ${2#"$PG_RAG_SOURCE"/} cannot be had"
    PYTHON=$folder/bin/python
    export PYTHONDONTWRITEBYTECODE=1
}

python_program() {
    python_with drivers "$PROGRAMS/python/requirements.txt"
    database "$1"
    "$PYTHON" "${@:2}"
}

try_psycopg() { python_program psycopg "$PROGRAMS/python/with_psycopg.py"; }
try_asyncpg() { python_program asyncpg "$PROGRAMS/python/with_asyncpg.py"; }
try_sqlalchemy() { python_program sqlalchemy "$PROGRAMS/python/with_sqlalchemy.py"; }
try_alembic() { python_program alembic "$PROGRAMS/python/with_alembic"; }
try_django() { python_program django "$PROGRAMS/python/with_django"; }
try_grafana() { python_program grafana "$PROGRAMS/grafana/with_grafana.py" docker/grafana/pg_rag.json; }

# The package pg-rag as users install it: from its wheel.
client_environment() {
    python_with client clients/python/requirements-test.txt
    # The driver's subshell may end in the middle of the build.
    trap 'rm -rf "${WHEELS:-}"' EXIT
    WHEELS=$(mktemp -d "$KEPT/wheels.XXXXXX")
    "$PYTHON" -m build --wheel --no-isolation --outdir "$WHEELS" clients/python
    "$PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$WHEELS"/*.whl
}

try_package() {
    client_environment
    cd clients/python
    "$PYTHON" -m ruff check --no-cache .
    "$PYTHON" -m ruff format --no-cache --check .
    "$PYTHON" -m mypy --cache-dir "$KEPT/mypy"
    PG_RAG_TEST_DATABASE_URL="host=$PGHOST user=$PGUSER dbname=postgres" "$PYTHON" -m pytest -q -p no:cacheprovider
}

client_program() {
    client_environment
    database "$1"
    "$PYTHON" "$PROGRAMS/python/with_$1.py"
}

try_client() { client_program client; }
try_langchain() { client_program langchain; }
try_llamaindex() { client_program llamaindex; }

# The code on the pages of docs/drivers/ is that of the programs.
try_pages() {
    need python3 command -v python3
    python3 scripts/driver_pages.py
}

# ---- Node

# Copies the programs of a folder of tests/drivers/ beside the packages that they need, and goes there.
#   node_with FOLDER [VERSION...]    the least versions of Node.js
node_with() {
    local folder
    need_node "${@:2}"
    folder=$(kept "node-$1" node_modules "$PROGRAMS/$1/package.json" "$PROGRAMS/$1/package-lock.json") ||
        skip "packages of tests/drivers/$1 cannot be had"
    cp "$PROGRAMS"/node/*.mjs "$PROGRAMS/$1"/* "$folder/"
    cd "$folder"
}

# node_program NAME FOLDER FILE [VERSION...]
node_program() {
    node_with "$2" "${@:4}"
    database "$1"
    export DATABASE_URL="postgresql://$PGUSER@localhost/$PGDATABASE?host=$PGHOST"
    if [[ -f schema.prisma ]]; then
        # Prisma would download its engine for migrations.
        export PRISMA_SCHEMA_ENGINE_BINARY=$PWD/schema_engine.mjs CHECKPOINT_DISABLE=1
        npx prisma generate
    fi
    node "$3"
}

try_node_pg() { node_program node_pg node with_pg.mjs; }
try_postgres_js() { node_program postgres_js node with_postgres_js.mjs; }
try_drizzle() { node_program drizzle drizzle with_drizzle.mjs; }
try_knex() { node_program knex node with_knex.mjs; }
try_prisma() { node_program prisma prisma with_prisma.mjs 20.19 22.12 24.0; }

# ---- rag-server

# Puts rag-server in front of a new database with the pages, until the subshell of the driver ends. RAG_SERVER names one
# that is built.
serve() {
    local said=$KEPT/logs/$1.rag-server address='' try
    if [[ -z ${RAG_SERVER:-} ]]; then
        fetch_crates "$PG_RAG_SOURCE" "what rag-server is built of"
        (cd "$PG_RAG_SOURCE" && forget_other_checkout && cargo build --quiet --locked -p rag-server)
        RAG_SERVER=$CARGO_TARGET_DIR/debug/rag-server
    fi
    database "$1"
    "$PSQL" -qX -v ON_ERROR_STOP=1 -f "$PROGRAMS/openai/pages.sql"
    # A file takes all that it says, while a pipe that nobody reads is full at some time.
    : >"$said"
    "$RAG_SERVER" --database-url "host=$PGHOST user=$PGUSER dbname=$PGDATABASE" \
        --listen 127.0.0.1:0 --rate 0 >>"$said" 2>&1 &
    SERVING=$!
    trap 'kill "$SERVING" 2>/dev/null || true' EXIT
    for try in {1..300}; do
        ! address=$(listening "$said") || break
        kill -0 "$SERVING" 2>/dev/null || break
        sleep 0.1
    done
    [[ -n $address ]] || { echo "rag-server has not started after $try attempts" && cat "$said" && return 1; }
    # It is on this machine, which is behind no proxy.
    export OPENAI_BASE_URL=http://$address/v1 OPENAI_API_KEY=unused NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
}

# Where rag-server listens, by what it has said. A line that it is still writing does not count.
listening() {
    local line
    while IFS= read -r line; do
        [[ $line != *http://* ]] || { echo "${line##*http://}" && return 0; }
    done <"$1"
    return 1
}

# fetch_crates FOLDER WHAT: those that the package in the folder names, for a build that takes no others.
fetch_crates() {
    need cargo command -v cargo
    cargo fetch --quiet --locked --manifest-path "$1/Cargo.toml" --target "$(rustc -vV | sed -n 's/^host: //p')" ||
        skip "$2 cannot be had"
}

try_openai_python() {
    python_with openai "$PROGRAMS/openai/requirements.txt"
    serve openai_python
    "$PYTHON" "$PROGRAMS/openai/with_openai.py"
}

try_openai_node() {
    node_with openai
    serve openai_node
    node with_openai.mjs
}

# ---- Other languages

try_go() {
    local path=/usr/share/gocode
    need golang-go command -v go
    need golang-github-jackc-pgx-v4-dev test -d "$path/src/github.com/jackc/pgx/v4"
    (cd "$PROGRAMS/go" && GO111MODULE=off GOPATH=$path GOCACHE=$KEPT/go-cache go build -o "$KEPT/with_pgx" .)
    database go
    "$KEPT/with_pgx"
}

try_jdbc() {
    local java=/usr/share/java classes=$KEPT/java
    need default-jdk-headless command -v javac
    need libpostgresql-jdbc-java test -f "$java/postgresql.jar"
    # The private servers have a unix socket only.
    need libjunixsocket-java test -f "$java/junixsocket-common.jar"
    rm -rf "$classes"
    javac -d "$classes" -cp "$java/postgresql.jar" "$PROGRAMS/java/Example.java"
    database jdbc
    local socket="socketFactory=org.newsclub.net.unix.AFUNIXSocketFactory\$FactoryArg&socketFactoryArg=$PGHOST/.s.PGSQL.5432"
    JDBC_URL="jdbc:postgresql://localhost/$PGDATABASE?user=$PGUSER&$socket" \
        java -cp "$classes:$java/postgresql.jar:$java/junixsocket-common.jar:$java/junixsocket-native-common.jar" Example
}

try_sqlx() {
    fetch_crates "$PROGRAMS/rust" sqlx
    cargo build --quiet --locked --manifest-path "$PROGRAMS/rust/Cargo.toml" --target-dir "$KEPT/rust"
    database sqlx
    "$KEPT/rust/debug/pg-rag-drivers"
}

# ruby_program NAME LIBRARY PACKAGE
ruby_program() {
    need "$3" ruby -e "require '$2'"
    database "$1"
    ruby "$PROGRAMS/ruby/with_$2.rb"
}

try_ruby_pg() { ruby_program ruby_pg pg ruby-pg; }
try_sequel() {
    need ruby-pg ruby -e "require 'pg'"
    ruby_program sequel sequel ruby-sequel
}

# ---- Poolers, replication, tools

try_pgbouncer() {
    local folder=$PG_RAG_CLUSTERS/pgbouncer status=0
    PATH=$PATH:/usr/sbin
    need pgbouncer command -v pgbouncer
    database pgbouncer
    stop_pgbouncer "$folder"
    as_server mkdir -p -m 700 "$folder"
    {
        sed "s|^\* =|* = host=$PGHOST|" "$PROGRAMS/pgbouncer/pgbouncer.ini"
        printf 'unix_socket_dir = %s\npidfile = %s/pid\nlogfile = %s/log\n' "$folder" "$folder" "$folder"
    } | as_server tee "$folder/pgbouncer.ini" >/dev/null
    as_server "$(command -v pgbouncer)" --quiet --daemon "$folder/pgbouncer.ini"
    python_with drivers "$PROGRAMS/python/requirements.txt"
    PGHOST=$folder PGPORT=6432 "$PYTHON" "$PROGRAMS/pgbouncer/with_pgbouncer.py" || status=$?
    [[ $status -eq 0 ]] || as_server tail -n 10 "$folder/log"
    stop_pgbouncer "$folder"
    return "$status"
}

stop_pgbouncer() {
    local pid
    if pid=$(as_server cat "$1/pid" 2>/dev/null); then
        as_server kill "$pid" 2>/dev/null || true
    fi
    as_server rm -rf "$1"
}

try_replication() {
    local status=0
    database publisher
    scripts/cluster.sh start subscriber "$VERSION" fsync=off rag.ragd_start_timeout=60s
    replicate || status=$?
    scripts/cluster.sh remove subscriber "$VERSION"
    return "$status"
}

replicate() {
    local publisher="host=$PGHOST user=$PGUSER dbname=$PGDATABASE" answers
    local -a publish=("$PSQL" -qX -v ON_ERROR_STOP=1)
    local -a subscribe=(env "PGHOST=$(scripts/cluster.sh socket subscriber "$VERSION")" "${publish[@]}" -d postgres)
    "${publish[@]}" -c "DROP EXTENSION pg_rag" -f "$PROGRAMS/replication/publisher.sql" &&
        "${subscribe[@]}" -v "publisher=$publisher" -f "$PROGRAMS/replication/subscriber.sql" &&
        caught_up && expect "1 2" &&
        "${publish[@]}" -f "$PROGRAMS/replication/changes.sql" &&
        caught_up && expect "2 3" &&
        answers=$("${subscribe[@]}" -At -f "$PROGRAMS/replication/questions.sql") && echo "$answers" &&
        [[ $answers == *"two working days"*"opens at ten"*"2 3" ]] &&
        "${publish[@]}" -c "TRUNCATE page" && caught_up && expect ""
}

# Waits until the subscriber has applied all that is committed. The first copy of a table is made beside what is applied.
caught_up() {
    local try applied copied
    for try in {1..300}; do
        applied=$("$PSQL" -qXAt -c "SELECT coalesce(bool_and(replay_lsn >= pg_current_wal_lsn()), false)
            FROM pg_stat_replication WHERE application_name = 'help'")
        copied=$("${subscribe[@]}" -At -c "SELECT coalesce(bool_and(srsubstate = 'r'), false) FROM pg_subscription_rel")
        [[ $applied$copied == tt ]] && return 0
        sleep 0.1
    done
    echo "the subscriber has not caught up after $try attempts" >&2
    return 1
}

# The keys of the rows that have chunks at the subscriber.
expect() {
    local found
    found=$("${subscribe[@]}" -At -c "SELECT rag_wait('page')" \
        -c "SELECT string_agg(source_id::text, ' ' ORDER BY source_id) FROM page_rag" | tail -n 1)
    [[ $found == "$1" ]] || { echo "chunks of $found, not of $1" >&2 && return 1; }
}

# What PostgREST sends, without it: its server is no package of Debian.
try_postgrest() {
    database postgrest
    "$PSQL" -qX -v ON_ERROR_STOP=1 -f "$PROGRAMS/postgrest/postgrest.sql"
}

try_bi() {
    database bi
    "$PSQL" -qX -v ON_ERROR_STOP=1 -f "$PROGRAMS/bi/bi.sql"
}

main "$@"
