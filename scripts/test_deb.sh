#!/usr/bin/env bash
# Builds the Debian packages in a fresh root of each release, and installs, asks, removes and purges them in another.
#
#   scripts/test_deb.sh [SUITE...]     by default bookworm trixie
#
#   DEBS=FOLDER   tries the packages that are there, and builds none
#   KEEP=1        leaves the roots where they are, for a look
#
# What is built is what is committed, for the PostgreSQL that the release has. It wants root, debootstrap and some
# 6 GB a release, and takes half an hour. Of this machine's cache it takes ONNX Runtime and the models, which depend
# on no release; the packages stay in packages/ there.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/roots.sh
source "$PG_RAG_SOURCE/scripts/roots.sh"

# A release whose source of pgvector is new enough, for one that has none.
PGVECTOR_SUITE=trixie

main() {
    need_debootstrap test-deb
    case $# in
    0) main bookworm trixie ;;
    1) try_suite "$1" ;;
    *) try_each "$@" ;;
    esac
}

try_each() {
    local suite begun result failed=0
    local -a report=()
    for suite; do
        begun=$SECONDS result=passed
        "$PG_RAG_SOURCE/scripts/test_deb.sh" "$suite" || result=FAILED failed=$((failed + 1))
        report+=("$(printf '%-10s packages %-6s %5d s' "$suite" "$result" $((SECONDS - begun)))")
    done
    printf '%s\n' "${report[@]}" "$(($# - failed)) passed, $failed failed"
    [[ $failed -eq 0 ]]
}

try_suite() {
    SUITE=$1
    FOLDER=$PG_RAG_CACHE/packages/$SUITE
    BUILD_ROOT=$FOLDER/build
    TRY_ROOT=$FOLDER/try
    ROOT_MOUNTS=("$FOLDER/apt:/var/cache/apt/archives")
    mkdir -p "$FOLDER"/{apt,target}
    [[ -n ${DEBS:-} ]] || build_packages
    DEBS=${DEBS:-$FOLDER/debs}
    try_packages
    say "$SUITE: packages are installed, asked, removed and purged"
}

build_packages() {
    make_root "$BUILD_ROOT" "$SUITE" "$ROOT_BUILD_PACKAGES"
    install_in_root "$BUILD_ROOT" --no-install-recommends build-essential debhelper libclang-dev lintian postgresql-server-dev-all python3
    git clone --quiet --no-local "$PG_RAG_SOURCE" "$BUILD_ROOT/root/pg_rag"
    # Cargo's target stays, so that a second run compiles only what has changed.
    ROOT_MOUNTS+=("$FOLDER/target:/root/.cache/pg_rag/target" "${CARGO_HOME:-$HOME/.cargo}/registry:/root/.cargo/registry"
        "$PG_RAG_CACHE/models:/root/.cache/pg_rag/models" "$PG_RAG_CACHE/onnxruntime:/root/.cache/pg_rag/onnxruntime")
    PG_CONFIG=/usr/lib/postgresql/$(pg_of_suite)/bin/pg_config
    rm -rf "$FOLDER/debs"
    mkdir -p "$FOLDER/debs"
    in_build_root "PG_CONFIG=$PG_CONFIG make deb"
    cp "$FOLDER"/target/debian/*.deb "$FOLDER/debs/"
    check_packages
    pgvector_is_there || build_pgvector
    [[ -n ${KEEP:-} ]] || remove_root "$BUILD_ROOT"
}

in_build_root() { enter_root "$BUILD_ROOT" root "cd ~/pg_rag && $1"; }

pg_of_suite() {
    enter_root "$BUILD_ROOT" root "apt-cache show postgresql" | sed -n 's/^Depends: .*postgresql-\([0-9]*\).*/\1/p' | head -n 1
}

# What packages say of themselves, and that packaging once more, elsewhere and at another time, gives the same bytes.
check_packages() {
    say "$SUITE: looking at the packages"
    in_build_root "lintian --fail-on error --allow-root ../.cache/pg_rag/target/debian/*.deb"
    in_build_root "umask 077; PACKAGE_ONLY=1 TZ=Asia/Tokyo LC_ALL=C PG_CONFIG=$PG_CONFIG scripts/deb.sh /root/again >/dev/null
        cd /root/again && sha256sum *.deb >../again.sha256 && cd ~/.cache/pg_rag/target/debian && sha256sum --quiet -c /root/again.sha256"
}

pgvector_is_there() {
    enter_root "$BUILD_ROOT" root "apt-cache show $(pgvector_package)" >/dev/null 2>&1
}

pgvector_package() { echo "postgresql-$(pg_of_suite)-pgvector"; }

# The older release has it only in the repository of the PostgreSQL project.
build_pgvector() {
    say "$SUITE: building pgvector from the source of $PGVECTOR_SUITE"
    enter_root "$BUILD_ROOT" root "
        echo 'deb-src $(package_source) $PGVECTOR_SUITE main' >/etc/apt/sources.list.d/pgvector.list
        apt-get update -qq
        mkdir -p ~/pgvector && cd ~/pgvector && apt-get source -qq pgvector && cd pgvector-*/
        export PG_SUPPORTED_VERSIONS=$(pg_of_suite) DEB_BUILD_OPTIONS='nocheck noautodbgsym'
        pg_buildext updatecontrol
        dpkg-buildpackage --build=binary --no-check-builddeps --no-sign" >"$FOLDER/pgvector.log" 2>&1 ||
        fail "pgvector could not be built" "see $FOLDER/pgvector.log"
    cp "$BUILD_ROOT"/root/pgvector/*.deb "$FOLDER/debs/"
}

try_packages() {
    make_root "$TRY_ROOT" "$SUITE"
    mkdir "$TRY_ROOT/debs"
    cp "$DEBS"/*.deb "$TRY_ROOT/debs/"
    rm -f "$TRY_ROOT"/debs/*-dbgsym_*
    cp "$PG_RAG_SOURCE"/scripts/package_trial.sh "$PG_RAG_SOURCE"/scripts/deb_trial.sh "$PG_RAG_SOURCE"/sql/demo/trial.sql "$TRY_ROOT/root/"
    enter_root "$TRY_ROOT" root "bash /root/deb_trial.sh"
    [[ -n ${KEEP:-} ]] || remove_root "$TRY_ROOT"
}

main "$@"
