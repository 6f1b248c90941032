#!/usr/bin/env bash
# What an administrator does with the packages in /rpms, on a system that has PostgreSQL, whose pg_config is $1, and
# nothing of pg_rag; test_rpm.sh calls it there.
set -euo pipefail

BINDIR=$("$1" --bindir)
# Where files of ours could be left, in whatever package's folder.
OUR_NAMES='.*/(pg_rag|rag|ragd|rag-server|rag-model|pg_rag_[0-9]+)([-._][^/]*)?'
# PostgreSQL itself is in no package of rpm here, nor are the libraries of this system, which is Debian's.
RPM=(rpm --nodeps --force-debian)

# shellcheck source=scripts/package_trial.sh
source "$(dirname "$0")/package_trial.sh"

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
    local path
    find / -xdev -regextype posix-extended -regex "$OUR_NAMES" -not -path '/rpms/*' -not -path ~/'*' -not -path '/var/lib/pgtrial/*' |
        while IFS= read -r path; do
            # PostgreSQL itself may lie below a folder with such a name.
            [[ $BINDIR == "$path"/* ]] || printf '%s\n' "$path"
        done
}

main
