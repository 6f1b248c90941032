#!/usr/bin/env bash
# Builds RPM packages of pg_rag, for the Linux that this is and the PostgreSQL of PG_CONFIG.
#
#   PG_CONFIG=/usr/pgsql-17/bin/pg_config scripts/rpm.sh [FOLDER]
#
#   pg_rag_17                 the extension, ragd and ONNX Runtime
#   rag-model-...             the models, the same for every PostgreSQL
#   rag-server                HTTP and MCP, with a unit for systemd
#
# They come into FOLDER, by default rpm/ in cargo's target folder. As with scripts/deb.sh, packaging what was built
# once more gives the same bytes, and SOURCE_DATE_EPOCH is the time in them. RPM_PACKAGER says who makes them.
#
#   PACKAGE_ONLY=1            packages what was built before
#   BUILD=test                packages what tests have built, to try it sooner
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/stage.sh
source "$PG_RAG_SOURCE/scripts/stage.sh"

PG_CONFIG=${PG_CONFIG:-}
FOLDER=$(realpath -m "${1:-$CARGO_TARGET_DIR/rpm}")
WORK=$CARGO_TARGET_DIR/rpm-build
MODELS=/usr/share/pg_rag/models

main() {
    need_tools
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(last_change)}
    export SOURCE_DATE_EPOCH
    STAGE=$WORK/stage-$VERSION-${BUILD:-release}
    [[ -n ${PACKAGE_ONLY:-} ]] || compile
    need_stage
    umask 022
    BUILT=$WORK/build-$VERSION
    rm -rf "$BUILT"
    mkdir -p "$BUILT" "$FOLDER"
    put_in_place "$BUILT/staged"
    write_spec >"$BUILT/pg_rag.spec"
    package
    rm -rf "$BUILT"
}

need_tools() {
    [[ -n $PG_CONFIG ]] || fail "PG_CONFIG does not say for which PostgreSQL" \
        "make rpm PG_CONFIG=/usr/pgsql-17/bin/pg_config"
    command -v "$PG_CONFIG" >/dev/null || fail "no pg_config at $PG_CONFIG" "dnf install postgresql17-devel"
    VERSION=$(pg_major "$PG_CONFIG") || fail "not a pg_config: $PG_CONFIG"
    command -v rpmbuild >/dev/null || fail "rpmbuild was not found" "dnf install rpm-build, or apt-get install rpm"
    PKGLIBDIR=$("$PG_CONFIG" --pkglibdir)
    SHAREDIR=$("$PG_CONFIG" --sharedir)
}

# The models have one place for every PostgreSQL. What `make install` notes for itself stays behind, and llama.cpp,
# which is no part of the packages.
put_in_place() {
    local staged=$1 model
    mkdir -p "$staged$PKGLIBDIR/pg_rag" "$staged$SHAREDIR"/{extension,pg_rag} "$staged$MODELS"
    cp "$STAGE$PKGLIBDIR/pg_rag.so" "$staged$PKGLIBDIR/"
    cp -P "$STAGE$PKGLIBDIR"/pg_rag/{ragd,"$ONNXRUNTIME_NAME",libonnxruntime.so} "$staged$PKGLIBDIR/pg_rag/"
    cp "$STAGE$SHAREDIR"/extension/pg_rag* "$staged$SHAREDIR/extension/"
    for model in "${MODEL_NAMES[@]}"; do
        cp -r "$STAGE$SHAREDIR/pg_rag/models/$model" "$staged$MODELS/"
        rm -f "$staged$MODELS/$model"/{.made-from,README.md}
    done
    ln -s "$MODELS" "$staged$SHAREDIR/pg_rag/models"
    install -D -m 755 "$STAGE/usr/bin/rag-server" "$staged/usr/bin/rag-server"
    # The lines that backtraces name are most of what is built.
    strip --strip-debug "$staged$PKGLIBDIR/pg_rag.so" "$staged$PKGLIBDIR/pg_rag/ragd" "$staged/usr/bin/rag-server"
    install -D -m 644 "$PG_RAG_SOURCE/debian/rag-server.service" "$staged/usr/lib/systemd/system/rag-server.service"
    install -D -m 600 "$PG_RAG_SOURCE/debian/rag-server.conf" "$staged/etc/rag-server/rag-server.conf"
    put_documents "$staged/usr/share"
    chmod -R u+rwX,go+rX,go-w "$staged"
    chmod 755 "$staged$PKGLIBDIR/pg_rag.so"
}

put_documents() {
    local share=$1 package
    for package in "pg_rag_$VERSION" rag-server; do
        mkdir -p "$share"/{doc,licenses}/"$package"
        cp "$STAGE/sbom.cdx.json" "$PG_RAG_SOURCE/CHANGELOG.md" "$share/doc/$package/"
        cp "$STAGE/THIRD-PARTY.txt" "$PG_RAG_SOURCE/LICENSE" "$share/licenses/$package/"
    done
    cp "$PG_RAG_SOURCE/docs/server.md" "$share/doc/rag-server/"
}

write_spec() {
    local line
    while IFS= read -r line; do
        case $line in
        @REQUIRES@) requirements ;;
        @MODELS@) files_of_models ;;
        *) echo "$line" ;;
        esac
    done <"$PG_RAG_SOURCE/rpm/pg_rag.spec.in" |
        sed "s|@VERSION@|$(extension_version)|; s|@PG@|$VERSION|g; s|@PKGLIBDIR@|$PKGLIBDIR|g; s|@SHAREDIR@|$SHAREDIR|g
             s|@STAGED@|$BUILT/staged|; s|@MAINTAINER@|${RPM_PACKAGER:-pg_rag contributors}|"
}

# The packages of the PostgreSQL project have names by version; of any other PostgreSQL the files are asked for.
requirements() {
    if [[ $PKGLIBDIR == /usr/pgsql-$VERSION/lib ]]; then
        printf 'Requires: %s\n' "postgresql$VERSION-server" "pgvector_$VERSION >= 0.7"
    else
        printf 'Requires: %s\n' "$("$PG_CONFIG" --bindir)/postgres" "$SHAREDIR/extension/vector.control"
    fi
}

# The weights with 32 bit numbers are in a package of their own.
files_of_models() {
    local model weights=onnx/model.onnx
    for model in "${MODEL_NAMES[@]}"; do
        printf '%%files -n rag-model-%s\n%%dir %s\n%%dir %s\n%%dir %s\n' "$model" "${MODELS%/*}" "$MODELS" "$MODELS/$model"
        (cd "$BUILT/staged$MODELS/$model" && find . -mindepth 1 \( -type d -printf "%%dir $MODELS/$model/%P\n" \
            -o -type f -not -path "./$weights" -printf "$MODELS/$model/%P\n" \) | LC_ALL=C sort)
        printf '\n%%files -n rag-model-%s-fp32\n%s\n\n' "$model" "$MODELS/$model/$weights"
    done
}

package() {
    say "packaging"
    (cd "$BUILT" && TZ=UTC LC_ALL=C.UTF-8 rpmbuild -bb --define "_topdir $BUILT/rpmbuild" --define "_rpmdir $BUILT/rpms" \
        --define '_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' pg_rag.spec >"$WORK/build-$VERSION.log" 2>&1) ||
        fail "packaging failed" "see $WORK/build-$VERSION.log"
    for file in "$BUILT"/rpms/*.rpm; do
        mv "$file" "$FOLDER/"
        echo "$FOLDER/${file##*/}"
    done
}

main
