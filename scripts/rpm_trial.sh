#!/usr/bin/env bash
# What an administrator does with the packages in /rpms, on a system that has PostgreSQL, whose pg_config is $1, and
# nothing of pg_rag; test_rpm.sh calls it there.
set -euo pipefail

BINDIR=$("$1" --bindir)
# Where files of ours could be left, in whatever package's folder.
OUR_NAMES='.*/(pg_rag|rag|ragd|rag-server|rag-model|pg_rag_[0-9]+)([-._][^/]*)?'
# PostgreSQL itself is in no package of rpm here, nor are the libraries of this system, which is Debian's.
RPM=(rpm --nodeps --force-debian)

step() { printf '» %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

main() {
    mapfile -t OURS < <(rpm -qp --queryformat '%{NAME}\n' /rpms/*.rpm)
    step "installing ${OURS[*]}"
    "${RPM[@]}" --install /rpms/*.rpm
    rpm --verify --nodeps "${OURS[@]}" || fail "files are not as they were packaged"
    start_server
    ask
    ask_over_http
    remove
    step "done"
}

as_postgres() { (cd / && runuser -u postgres -- "$@"); }

psql_as_postgres() { as_postgres "$BINDIR/psql" --no-psqlrc -h /run/postgresql -XAtq -v ON_ERROR_STOP=1 "$@" postgres; }

control_server() {
    as_postgres "$BINDIR/pg_ctl" -D /var/lib/pgtrial -l /var/lib/pgtrial/log -o "-c unix_socket_directories=/run/postgresql" -w "$1" >/dev/null
}

start_server() {
    step "starting PostgreSQL"
    useradd --system --home-dir / postgres 2>/dev/null || true
    install -d -o postgres /var/lib/pgtrial /run/postgresql
    as_postgres "$BINDIR/initdb" -D /var/lib/pgtrial --auth-local=peer --auth-host=reject --encoding=UTF8 >/dev/null
    control_server start
}

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
    [[ $(stat -c '%a %U' /etc/rag-server/rag-server.conf) == '600 root' ]] || fail "others may read the configuration"
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

remove() {
    step "removing"
    [[ $(ours_on_disk | wc -l) -gt 5 ]] || fail "the files of the packages are not found"
    echo '# changed' >>/etc/rag-server/rag-server.conf
    "${RPM[@]}" --erase "${OURS[@]}"
    [[ -f /etc/rag-server/rag-server.conf.rpmsave ]] || fail "a changed configuration is gone"
    rm -r /etc/rag-server
    control_server restart
    [[ $(psql_as_postgres -c 'SELECT count(*) FROM office') == 2 ]] || fail "rows are missing"
    [[ -z $(ours_on_disk) ]] || fail "left behind: $(ours_on_disk | tr '\n' ' ')"
    # What the extension has in a database stays until it is dropped, or the packages come back.
    "${RPM[@]}" --install /rpms/*.rpm
    psql_as_postgres -c "SELECT rag_answer('When does the office open?')" | grep -qF '[1]' || fail "packages that come back do not answer"
    "${RPM[@]}" --erase "${OURS[@]}"
    control_server stop
}

ours_on_disk() {
    find / -xdev -regextype posix-extended -regex "$OUR_NAMES" -not -path '/rpms/*' -not -path ~/'*' -not -path '/var/lib/pgtrial/*'
}

main
