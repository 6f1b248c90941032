#!/usr/bin/env bash
# Builds Debian packages of pg_rag, for the release of Debian that this is and the PostgreSQL of PG_CONFIG.
#
#   PG_CONFIG=/usr/lib/postgresql/17/bin/pg_config scripts/deb.sh [FOLDER]
#
#   postgresql-17-rag         the extension, ragd and ONNX Runtime
#   rag-model-...             the models, the same for every PostgreSQL
#   rag-server                HTTP and MCP, with a unit for systemd
#
# They come into FOLDER, by default debian/ in cargo's target folder. They name no place of this machine, and packaging
# what was built once more gives the same bytes, wherever and whenever: SOURCE_DATE_EPOCH, by default the time of the last commit,
# is the time in them. DEBFULLNAME and DEBEMAIL say who makes them.
#
#   PACKAGE_ONLY=1            packages what was built before
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/stage.sh
source "$PG_RAG_SOURCE/scripts/stage.sh"

PG_CONFIG=${PG_CONFIG:-}
FOLDER=$(realpath -m "${1:-$CARGO_TARGET_DIR/debian}")
WORK=$CARGO_TARGET_DIR/deb

main() {
    need_debian_postgres
    command -v dh >/dev/null || fail "debhelper was not found" "apt-get install debhelper"
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(last_change)}
    export SOURCE_DATE_EPOCH
    STAGE=$WORK/stage-$VERSION
    [[ -n ${PACKAGE_ONLY:-} ]] || compile
    need_stage
    package
}

need_debian_postgres() {
    [[ -n $PG_CONFIG ]] || fail "PG_CONFIG does not say for which PostgreSQL" \
        "make deb PG_CONFIG=/usr/lib/postgresql/17/bin/pg_config"
    command -v "$PG_CONFIG" >/dev/null || fail "no pg_config at $PG_CONFIG" "apt-get install postgresql-server-dev-17"
    VERSION=$(pg_major "$PG_CONFIG") || fail "not a pg_config: $PG_CONFIG"
    [[ $("$PG_CONFIG" --pkglibdir) == /usr/lib/postgresql/$VERSION/lib ]] ||
        fail "$PG_CONFIG is not of a Debian package" "packages are for PostgreSQL in /usr/lib/postgresql"
}

# In a folder of its own, since dpkg-buildpackage writes beside it.
package() {
    local build
    rm -rf "$WORK/build-$VERSION"
    build=$WORK/build-$VERSION/pg-rag
    mkdir -p "$build"/{debian,docs,staged} "$FOLDER"
    umask 022
    write_debian_folder "$build/debian"
    cp "$PG_RAG_SOURCE"/docs/server.md "$build/docs/"
    cp "$PG_RAG_SOURCE/CHANGELOG.md" "$STAGE"/{THIRD-PARTY.txt,sbom.cdx.json} "$build/"
    copy_stage "$build/staged"
    say "packaging"
    (cd "$build" && TZ=UTC LC_ALL=C.UTF-8 dpkg-buildpackage --build=binary --no-sign >"$WORK/build-$VERSION.log" 2>&1) ||
        fail "packaging failed" "see $WORK/build-$VERSION.log"
    for file in "$WORK/build-$VERSION"/*.deb; do
        mv "$file" "$FOLDER/"
        echo "$FOLDER/${file##*/}"
    done
    rm -rf "$WORK/build-$VERSION"
}

# Files that end with .in are filled in; those of the extension's package get its name.
write_debian_folder() {
    local folder=$1 source name
    for source in "$PG_RAG_SOURCE"/debian/*; do
        name=$(basename "$source" .in)
        name=${name/#postgresql-rag/postgresql-$VERSION-rag}
        sed "s/@PG@/$VERSION/g; s/@MAINTAINER@/$(maintainer)/" "$source" >"$folder/$name"
        chmod --reference="$source" "$folder/$name"
    done
    write_changelog >"$folder/changelog"
}

maintainer() { echo "${DEBFULLNAME:-pg_rag contributors} <${DEBEMAIL:-pg_rag@invalid.invalid}>"; }

# The release is part of the version: what is built in an older one is older.
write_changelog() {
    local release
    # shellcheck source=/dev/null
    release=$(. /etc/os-release && echo "$ID${VERSION_ID:-}" | sed 's/^debian/deb/')
    cat <<END
pg-rag ($(extension_version)-1~$release) unstable; urgency=medium

  * Build of pg_rag $(extension_version); CHANGELOG.md says what is new.

 -- $(maintainer)  $(LC_ALL=C date --utc --date "@$SOURCE_DATE_EPOCH" +'%a, %d %b %Y %H:%M:%S +0000')
END
}

# The models have one place for every PostgreSQL. What `make install` notes for itself stays behind, and llama.cpp,
# which is no part of the packages.
copy_stage() {
    local target=$1 model
    mkdir -p "$target/usr/share/pg_rag/models"
    cp -r "$STAGE/usr" "$target/"
    for model in "${MODEL_NAMES[@]}"; do
        mv "$target/usr/share/postgresql/$VERSION/pg_rag/models/$model" "$target/usr/share/pg_rag/models/"
    done
    rm -rf "$target/usr/share/postgresql/$VERSION/pg_rag" "$target/usr/lib/postgresql/$VERSION/lib/pg_rag"/{llama,sources.sha256}
    chmod -R u+rwX,go+rX,go-w "$target"
}

main
