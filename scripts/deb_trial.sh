#!/usr/bin/env bash
# What an administrator does with the packages in /debs, on a Debian that has nothing else; test_deb.sh calls it there.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive
# Where files of ours could be left, in whatever package's folder.
OUR_NAMES='.*/(pg_rag|rag|ragd|rag-server|rag-model|postgresql-[0-9]+-rag)([-._][^/]*)?'

ours() { for deb in /debs/*.deb; do dpkg-deb --field "$deb" Package; done | grep -v -- '-pgvector$'; }

step() { printf '» %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

main() {
    step "installing"
    apt-get update -qq
    apt-get install -y -qq /debs/*.deb >~/install.log 2>&1 || { tail -n 20 ~/install.log; fail "apt-get install failed"; }
    VERSION=$(ls /etc/postgresql)
    start_server
    ask
    ask_over_http
    check_unit
    remove
    step "done"
}

start_server() {
    step "starting PostgreSQL $VERSION"
    pg_ctlcluster "$VERSION" main stop 2>/dev/null || true
    pg_ctlcluster "$VERSION" main start
}

psql_as_postgres() { (cd / && runuser -u postgres -- psql --no-psqlrc -XAtq -v ON_ERROR_STOP=1 "$@"); }

ask() {
    step "asking"
    psql_as_postgres <~/trial.sql >~/answers.txt
    cat ~/answers.txt
    grep -qF 'The office opens at nine. [1] cites row 2' ~/answers.txt || fail "the answer is another"
    [[ $(grep -c 'has 384 dimensions' ~/answers.txt) -eq 4 ]] || fail "a model cannot be used"
}

# As the unit starts it, but for systemd, which is not running here.
ask_over_http() {
    local server
    step "asking rag-server"
    # shellcheck source=/dev/null
    (set -a && . /etc/rag-server/rag-server.conf && exec setpriv --reuid rag-server --regid rag-server --clear-groups rag-server) &
    server=$!
    sleep 2
    request GET /healthz | grep -q '^HTTP/1.1 200' || fail "rag-server is not healthy"
    request POST /ask '{"question": "When does the office open?"}' | grep -q 'nine' || fail "rag-server gives no answer"
    kill "$server"
    wait "$server" || true
}

request() {
    local method=$1 path=$2 body=${3:-}
    exec 3<>/dev/tcp/127.0.0.1/8080
    printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
        "$method" "$path" "${#body}" "$body" >&3
    cat <&3
    exec 3>&-
}

# The exposure of a service without any protection is 9.6, by systemd's own scale.
check_unit() {
    local unit
    step "checking the unit"
    unit=$(dpkg -L rag-server | grep '\.service$')
    systemd-analyze verify "$unit"
    systemd-analyze security --offline=true --threshold=25 --no-pager "$unit" | tail -n 1
}

remove() {
    step "removing and purging"
    mapfile -t OURS < <(ours)
    [[ $(ours_on_disk | wc -l) -gt 5 ]] || fail "the files of the packages are not found"
    apt-get remove -y -qq "${OURS[@]}" >~/remove.log 2>&1 || fail "apt-get remove failed: $(tail -n 3 ~/remove.log)"
    [[ -f /etc/rag-server/rag-server.conf ]] || fail "the configuration went before it was purged"
    pg_ctlcluster "$VERSION" main restart
    [[ $(psql_as_postgres -c 'SELECT count(*) FROM office') == 2 ]] || fail "rows are missing"
    # apt-get no longer knows those that have left no configuration.
    dpkg --purge "${OURS[@]}" >>~/remove.log 2>&1
    [[ -z $(ours_on_disk) ]] || fail "left behind: $(ours_on_disk | tr '\n' ' ')"
    # What the extension has in a database stays until it is dropped, or the packages come back.
    apt-get install -y -qq /debs/*.deb >>~/remove.log 2>&1
    psql_as_postgres -c "SELECT rag_answer('When does the office open?')" | grep -qF '[1]' || fail "packages that come back do not answer"
    apt-get purge -y -qq "${OURS[@]}" >>~/remove.log 2>&1
    pg_ctlcluster "$VERSION" main stop
}

ours_on_disk() {
    find / -xdev -regextype posix-extended -regex "$OUR_NAMES" -not -path '/debs/*' -not -path ~/'*' \
        -not -path '/var/lib/postgresql/*'
}

main
