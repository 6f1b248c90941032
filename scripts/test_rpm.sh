#!/usr/bin/env bash
# Builds the RPM packages for the private PostgreSQL 18, and installs, asks and removes them in a fresh root.
#
#   scripts/test_rpm.sh
#
#   RPMS=FOLDER   tries the packages that are there, and builds none
#   BUILD=test    packages what tests have built, which is there sooner
#   KEEP=1        leaves the root where it is, for a look
#
# The root is of Debian with rpm, as this machine's own programs run there: what is tried is what is in the packages, what
# they do when they are installed and removed, and not what a distribution calls the packages that they need. It wants root
# and debootstrap. The packages stay in packages/rpm/ of the cache.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/roots.sh
source "$PG_RAG_SOURCE/scripts/roots.sh"

FOLDER=$PG_RAG_CACHE/packages/rpm
ROOT=$FOLDER/try
PG_CONFIG=$(tree_pg_config 18)

main() {
    command -v rpmbuild >/dev/null || { say "skipped: rpmbuild was not found; apt-get install rpm"; exit 0; }
    need_debootstrap test-rpm
    mkdir -p "$FOLDER"
    [[ -n ${RPMS:-} ]] || build_packages
    RPMS=${RPMS:-$FOLDER/rpms}
    try_packages
    say "packages are installed, asked and removed"
}

build_packages() {
    rm -rf "$FOLDER/rpms" "$FOLDER/again"
    PG_CONFIG=$PG_CONFIG "$PG_RAG_SOURCE/scripts/rpm.sh" "$FOLDER/rpms"
    say "packaging once more"
    (umask 077; PACKAGE_ONLY=1 TZ=Asia/Tokyo LC_ALL=C PG_CONFIG=$PG_CONFIG "$PG_RAG_SOURCE/scripts/rpm.sh" "$FOLDER/again" >/dev/null)
    (cd "$FOLDER/rpms" && sha256sum ./*.rpm) | (cd "$FOLDER/again" && sha256sum --quiet -c) ||
        fail "packaging once more gives other bytes"
    rm -rf "$FOLDER/again"
}

# PostgreSQL is put there as `make setup` has got it, without what is installed of pg_rag.
try_packages() {
    local tree library
    # shellcheck source=/dev/null
    make_root "$ROOT" "$(. /etc/os-release && echo "$VERSION_CODENAME")" ca-certificates,rpm,util-linux
    tree=$(dirname "$(dirname "$PG_CONFIG")")
    mkdir -p "$ROOT$tree" "$ROOT/rpms"
    cp -a "$tree/." "$ROOT$tree/"
    for library in "$PG_RAG_SERVER_DIR"/*.libs; do
        [[ ! -d $library ]] || cp -a "$library" "$ROOT$PG_RAG_SERVER_DIR/"
    done
    library=$ROOT$("$PG_CONFIG" --pkglibdir)
    rm -rf "$library"/pg_rag{,.so} "$ROOT$("$PG_CONFIG" --sharedir)"/{pg_rag,extension/pg_rag*}
    chmod -R go+rX "$ROOT$PG_RAG_SERVER_DIR"
    cp "$RPMS"/*.rpm "$ROOT/rpms/"
    cp "$PG_RAG_SOURCE"/scripts/package_trial.sh "$PG_RAG_SOURCE"/scripts/rpm_trial.sh "$PG_RAG_SOURCE"/sql/demo/trial.sql "$ROOT/root/"
    enter_root "$ROOT" root "bash /root/rpm_trial.sh $PG_CONFIG"
    [[ -n ${KEEP:-} ]] || remove_root "$ROOT"
}

main
