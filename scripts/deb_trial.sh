#!/usr/bin/env bash
# What an administrator does with the packages in /debs, on a Debian that has nothing else; test_deb.sh calls it there.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive
# Where files of ours could be left, in whatever package's folder.
OUR_NAMES='.*/(pg_rag|rag|ragd|rag-server|rag-model|postgresql-[0-9]+-rag)([-._][^/]*)?'

ours() { for deb in /debs/*.deb; do dpkg-deb --field "$deb" Package; done | grep -v -- '-pgvector$'; }

# shellcheck source=scripts/package_trial.sh
source "$(dirname "$0")/package_trial.sh"

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
