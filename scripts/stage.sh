# shellcheck shell=bash
# All that belongs on a system, below one folder: what packages are made of. Sourced by the scripts that make
# packages, after env.sh; they say in PG_CONFIG and VERSION for which PostgreSQL, and in STAGE where.

# The time in packages, unless SOURCE_DATE_EPOCH says another.
last_change() {
    git -C "$PG_RAG_SOURCE" log -1 --format=%ct 2>/dev/null || stat -c %Y "$PG_RAG_SOURCE/CHANGELOG.md"
}

# With BUILD=test that is what tests have built, for a trial of packages.
compile() {
    local folder=release
    local -a profile=(--release)
    if [[ ${BUILD:-release} == release ]]; then
        use_same_paths
    else
        folder=debug profile=()
    fi
    PG_CONFIG=$PG_CONFIG DESTDIR=$STAGE "$PG_RAG_SOURCE/scripts/install.sh"
    say "building rag-server"
    (cd "$PG_RAG_SOURCE" && cargo build "${profile[@]}" -p rag-server)
    install -D -m 755 "$CARGO_TARGET_DIR/$folder/rag-server" "$STAGE/usr/bin/rag-server"
    "$PG_RAG_SOURCE/scripts/licenses.sh" texts "$VERSION" >"$STAGE/THIRD-PARTY.txt"
    "$PG_RAG_SOURCE/scripts/licenses.sh" sbom "$VERSION" >"$STAGE/sbom.cdx.json"
}

# Places of this machine would be in the lines that backtraces name.
use_same_paths() {
    local cargo_home=${CARGO_HOME:-$HOME/.cargo} c_maps='' from_to
    RUSTFLAGS=${RUSTFLAGS:-}
    for from_to in "$CARGO_TARGET_DIR=/usr/src/target" "$cargo_home=/usr/src/cargo" "$PG_RAG_SOURCE=/usr/src/pg_rag"; do
        RUSTFLAGS+="${RUSTFLAGS:+ }--remap-path-prefix=$from_to"
        c_maps+=" -ffile-prefix-map=$from_to"
    done
    export RUSTFLAGS CFLAGS="-O2$c_maps" CXXFLAGS="-O2$c_maps"
}

need_stage() {
    [[ -x $STAGE/usr/bin/rag-server ]] || fail "nothing is built yet for PostgreSQL $VERSION" "without PACKAGE_ONLY it is"
}
