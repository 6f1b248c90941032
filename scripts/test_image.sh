#!/usr/bin/env bash
# Does in a chroot what docker/Dockerfile does, on a fresh Debian: no engine is needed. The image of the
# server is measured, set up, and asked over TCP by its health check and by psql; that of rag-server says that it is healthy.
#
#   DEBS=FOLDER scripts/test_image.sh [SUITE]     the packages, by default those that `make test-deb` has left
#
#   KEEP=1     leaves the root where it is
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/roots.sh
source "$PG_RAG_SOURCE/scripts/roots.sh"

SUITE=${1:-trixie}
FOLDER=$PG_RAG_CACHE/packages/$SUITE
DEBS=${DEBS:-$FOLDER/debs}
ROOT=$FOLDER/image
LARGEST=450 # MB of all files, unpacked

main() {
    need_debootstrap test-image
    compgen -G "$DEBS/postgresql-*-rag_*.deb" >/dev/null || fail "no packages in $DEBS" "make test-deb ARGS=$SUITE"
    make_root "$ROOT" "$SUITE"
    make_slim
    ROOT_MOUNTS=("$DEBS:/packages" "$PG_RAG_SOURCE/docker:/docker")
    say "$SUITE: making the images"
    enter_root "$ROOT" root "/docker/image.sh postgres /packages" >"$FOLDER/image.log" 2>&1 || fail "image.sh failed" "see $FOLDER/image.log"
    measure
    # In an image of its own otherwise; here it is beside the database that it asks.
    enter_root "$ROOT" root "/docker/image.sh rag-server /packages" >>"$FOLDER/image.log" 2>&1 || fail "image.sh failed" "see $FOLDER/image.log"
    say "$SUITE: starting the image and asking it"
    ROOT_MOUNTS+=("$PG_RAG_SOURCE/scripts:/scripts" "$PG_RAG_SOURCE/sql/demo:/sql")
    enter_root "$ROOT" postgres "/scripts/image_trial.sh"
    [[ -n ${KEEP:-} ]] || remove_root "$ROOT"
    say "$SUITE: the image answers"
}

# As the image of Debian that is called slim.
make_slim() {
    find "$ROOT/usr/share/doc" -type f -not -name copyright -delete
    rm -rf "$ROOT"/usr/share/{man,locale,info}/* "$ROOT"/var/lib/apt/lists/* "$ROOT"/var/cache/apt/archives/*.deb
}

measure() {
    local megabytes
    megabytes=$(du -sxm --exclude=./packages --exclude=./docker "$ROOT" | cut -f 1)
    say "$SUITE: the image has $megabytes MB"
    [[ $megabytes -le $LARGEST ]] || fail "the image has $megabytes MB, more than $LARGEST"
}

main
