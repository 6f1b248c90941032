#!/usr/bin/env bash
# Makes a cluster in PGDATA where there is none, and becomes the command that it is given, which is PostgreSQL.
#
#   POSTGRES_PASSWORD, or POSTGRES_PASSWORD_FILE    of the superuser; a new cluster needs it
#   POSTGRES_USER                                   the superuser, by default postgres
#   POSTGRES_DB                                     a database to create with pg_rag in it, by default the superuser's name
#
# Files in /docker-entrypoint-initdb.d that end with .sql or .sh are run once, in the order of their names.
set -euo pipefail

SUPERUSER=${POSTGRES_USER:-postgres}
DATABASE=${POSTGRES_DB:-$SUPERUSER}

main() {
    [[ ${1:-} != -* ]] || set -- postgres "$@"
    if [[ ${1:-} == postgres && ! -s $PGDATA/PG_VERSION ]]; then
        initialise "$@"
    fi
    unset POSTGRES_PASSWORD
    exec "$@"
}

# What fails half-way leaves nothing that the next start would take for a cluster, and says why.
initialise() {
    local password
    password=$(superuser_password)
    trap give_up EXIT
    initdb --username="$SUPERUSER" --pwfile=<(echo "$password") --auth-host=scram-sha-256 --auth-local=trust \
        --encoding=UTF8 --no-instructions >/dev/null
    printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
    printf "listen_addresses = '*'\n" >>"$PGDATA/postgresql.conf"
    pg_ctl start --silent --wait --options="$(printf '%q ' "${@:2}" -c listen_addresses=)" --log="$PGDATA/setup.log"
    fill
    pg_ctl stop --silent --wait --mode=fast
    rm -f "$PGDATA/setup.log"
    trap - EXIT
}

give_up() {
    cat "$PGDATA/setup.log" >&2 2>/dev/null || true
    find "$PGDATA" -mindepth 1 -delete
}

superuser_password() {
    if [[ -n ${POSTGRES_PASSWORD_FILE:-} ]]; then
        cat "$POSTGRES_PASSWORD_FILE"
    elif [[ -n ${POSTGRES_PASSWORD:-} ]]; then
        echo "$POSTGRES_PASSWORD"
    else
        echo "error: a new cluster needs a password in POSTGRES_PASSWORD" >&2
        exit 1
    fi
}

fill() {
    local file
    [[ $DATABASE == postgres ]] || createdb --username="$SUPERUSER" --maintenance-db=postgres "$DATABASE"
    as_superuser --command='CREATE EXTENSION pg_rag CASCADE'
    for file in /docker-entrypoint-initdb.d/*; do
        case $file in
        *.sql) as_superuser --file="$file" ;;
        *.sh) bash "$file" ;;
        esac
    done
}

as_superuser() {
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$SUPERUSER" --dbname="$DATABASE" "$@"
}

main "$@"
