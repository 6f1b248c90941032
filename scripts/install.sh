#!/usr/bin/env bash
# Builds pg_rag and puts it where an extension's files belong.
#
#   PG_CONFIG=/path/to/pg_config scripts/install.sh           all of it
#   PG_CONFIG=...                scripts/install.sh uninstall
#   PG_CONFIG=...                scripts/install.sh check     compiles, installs nothing
#                                scripts/install.sh script    prints the installation script
#
# PG_CONFIG is by default the one of the private PostgreSQL 18. With DESTDIR,
# everything goes below that folder. Where the caller may not write, sudo is used.
# With BUILD=test the extension has the tests inside a backend in it, and in it and in ragd assertions and
# checks of overflow are on; both are compiled sooner and run slower.
# With PG_RAG_DEFAULT_MODEL the installation script makes that the model of databases in which it is run.
#
#   pkglibdir/  pg_rag.so  pg_rag/{ragd,libonnxruntime.so}  after `make llama` pg_rag/llama/
#   sharedir/   extension/pg_rag*  pg_rag/models/
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

PG_CONFIG=${PG_CONFIG:-$(tree_pg_config 18)}
DESTDIR=${DESTDIR:-}
BUILD=${BUILD:-release}

main() {
    [[ $BUILD =~ ^(release|test)$ ]] || fail "unknown build: $BUILD" "release or test"
    if [[ ${1:-} == script ]]; then
        installation_script
        return
    fi
    find_server
    forget_other_checkout
    case ${1:-install} in
    install) install_all ;;
    uninstall) uninstall ;;
    check) check ;;
    *) fail "unknown command: $1" "install, uninstall, check or script" ;;
    esac
}

find_server() {
    command -v "$PG_CONFIG" >/dev/null || fail "no pg_config at $PG_CONFIG" \
        "name one: make install PG_CONFIG=/usr/lib/postgresql/17/bin/pg_config"
    PG_CONFIG=$(realpath "$(command -v "$PG_CONFIG")")
    VERSION=$(pg_major "$PG_CONFIG") || fail "not a pg_config: $PG_CONFIG"
    [[ $VERSION =~ ^1[5-8]$ ]] || fail "PostgreSQL $VERSION is not supported" "15 to 18 are"
    PKGLIBDIR=$("$PG_CONFIG" --pkglibdir)
    SHAREDIR=$("$PG_CONFIG" --sharedir)
}

install_all() {
    local lock
    use_pg_config
    # The library has one name for all versions of PostgreSQL until it is installed.
    mkdir -p "$CARGO_TARGET_DIR"
    exec {lock}>"$CARGO_TARGET_DIR/install.lock"
    flock "$lock"
    if is_installed; then
        return
    fi
    need_headers
    local stage=$CARGO_TARGET_DIR/stage-pg$VERSION-$BUILD
    build_extension "$stage"
    install_extension "$stage"
    install_runtime
    installed_mark | as_owner tee "$DESTDIR$PKGLIBDIR/pg_rag/sources.sha256" >/dev/null
    say "installed for PostgreSQL $VERSION: $DESTDIR$PKGLIBDIR, $DESTDIR$SHAREDIR"
    mention_pgvector
}

check() {
    use_pg_config
    need_headers
    (cd "$PG_RAG_SOURCE" && cargo check --lib --no-default-features --features "pg$VERSION")
    say "pg_rag compiles against $("$PG_CONFIG" --version)"
}

need_headers() {
    [[ -f $("$PG_CONFIG" --includedir-server)/postgres.h ]] ||
        fail "no server headers for $PG_CONFIG" "apt-get install postgresql-server-dev-$VERSION"
}

# The private trees are in pgrx's own configuration; any other server is named
# to pgrx's build scripts through the environment.
use_pg_config() {
    [[ $PG_CONFIG == "$(tree_pg_config "$VERSION")" ]] || export PGRX_PG_CONFIG_PATH=$PG_CONFIG
}

# True where what is installed was built from these very sources, in this way.
is_installed() {
    [[ "$(cat "$DESTDIR$PKGLIBDIR/pg_rag/sources.sha256" 2>/dev/null)" == "$(installed_mark)" ]] &&
        for_each_model is_model_installed && is_llama_installed
}

is_llama_installed() {
    [[ ! -f $PG_RAG_LLAMA/.made-from || -e $DESTDIR$PKGLIBDIR/pg_rag/llama/libllama.so ]]
}

is_model_installed() {
    cmp -s "$PG_RAG_CACHE/models/$1/.made-from" "$(model_place "$1")/.made-from" &&
        cmp -s "$(model_calibration "$1")" "$(model_place "$1")/$CALIBRATION_NAME"
}

# Calls a function with the name of each model, until it fails for one.
for_each_model() {
    local name
    for name in "${MODEL_NAMES[@]}"; do "$1" "$name" || return 1; done
}

installed_mark() {
    sources_digest
    [[ $BUILD == release ]] || echo "$BUILD $(cd "$PG_RAG_SOURCE" && cat pgrx-tests/*.rs tests/released/* | sha256sum)"
    [[ -z $PG_RAG_DEFAULT_MODEL ]] || echo "default model $PG_RAG_DEFAULT_MODEL"
}

sources_digest() {
    (cd "$PG_RAG_SOURCE" && find src sql pg_rag.control Cargo.toml Cargo.lock -type f -not -path "sql/demo/*" -print0 |
        LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
}

model_place() { echo "$DESTDIR$SHAREDIR/pg_rag/models/$1"; }

# Cargo alone does it: the installation script is written by hand, so nothing has to be read out of
# the library, and nobody who only wants to use pg_rag waits for cargo-pgrx.
build_extension() {
    local stage=$1 version folder=release features=pg$VERSION target=$CARGO_TARGET_DIR
    local with=
    local -a profile=(--release)
    # The library has one name whatever its features are: in the folder of the unit tests each would make cargo compile what
    # the other has compiled once more.
    [[ $BUILD == release ]] ||
        { folder=debug features+=,pg_test target+=/extension profile=() with=" with its tests in it"; }
    say "building the extension for PostgreSQL $VERSION$with"
    (cd "$PG_RAG_SOURCE" && CARGO_TARGET_DIR=$target cargo build "${profile[@]}" --lib --no-default-features \
        --features "$features")
    version=$(extension_version)
    rm -rf "$stage"
    mkdir -p "$stage$PKGLIBDIR" "$stage$SHAREDIR/extension"
    cp "$target/$folder/libpg_rag.so" "$stage$PKGLIBDIR/pg_rag.so"
    sed "s/@CARGO_VERSION@/$version/" "$PG_RAG_SOURCE/pg_rag.control" >"$stage$SHAREDIR/extension/pg_rag.control"
    installation_script >"$stage$SHAREDIR/extension/pg_rag--$version.sql"
    copy_scripts "$PG_RAG_SOURCE/sql/upgrade" "$stage$SHAREDIR/extension"
    [[ $BUILD == release ]] || copy_scripts "$PG_RAG_SOURCE/tests/released" "$stage$SHAREDIR/extension"
}

# The pieces of sql/install, in the order in which src/pg/mod.rs names them, and what chooses a model, if one is chosen.
installation_script() {
    local piece
    grep -oE 'sql/install/[^"]+' "$PG_RAG_SOURCE/src/pg/mod.rs" | while read -r piece; do
        cat "$PG_RAG_SOURCE/$piece"
        echo
    done
    [[ -z $PG_RAG_DEFAULT_MODEL ]] || sed "s/@MODEL@/$PG_RAG_DEFAULT_MODEL/" "$PG_RAG_SOURCE/sql/default_model.sql"
}

copy_scripts() { find "$1" -name 'pg_rag--*.sql' -exec cp {} "$2" \;; }

install_extension() {
    local file
    (cd "$1" && find . -type f -printf '%P\n') | while read -r file; do
        put_file "$1/$file" "/$file"
    done
}

install_runtime() {
    if [[ ! -f $PG_RAG_ONNXRUNTIME ]] || ! for_each_model is_model_made; then
        "$PG_RAG_SOURCE/scripts/setup.sh" --without-postgres
    fi
    build_ragd
    put_file "$CARGO_TARGET_DIR/ragd-$BUILD/ragd" "$PKGLIBDIR/pg_rag/ragd" 755
    put_file "$PG_RAG_ONNXRUNTIME" "$PKGLIBDIR/pg_rag/$ONNXRUNTIME_NAME" 755
    as_owner ln -sfn "$ONNXRUNTIME_NAME" "$DESTDIR$PKGLIBDIR/pg_rag/libonnxruntime.so"
    for_each_model install_model
    [[ ! -f $PG_RAG_LLAMA/.made-from ]] || install_llama
}

# Only where `make llama` has got it: nothing but local language models wants it.
install_llama() {
    local file
    for file in "$PG_RAG_LLAMA"/*; do
        [[ -L $file ]] || put_file "$file" "$PKGLIBDIR/pg_rag/llama/${file##*/}" 755
    done
    as_owner ln -sfn "$(readlink "$PG_RAG_LLAMA/libllama.so")" "$DESTDIR$PKGLIBDIR/pg_rag/llama/libllama.so"
}

is_model_made() { cmp -s "$(model_calibration "$1")" "$PG_RAG_CACHE/models/$1/$CALIBRATION_NAME"; }

# The file that says what it was made from comes last, as a mark that all of it is there.
install_model() {
    local model=$PG_RAG_CACHE/models/$1 file
    (cd "$model" && find . -type f -not -name .made-from -printf '%P\n' && echo .made-from) | while read -r file; do
        put_file "$model/$file" "$SHAREDIR/pg_rag/models/$1/$file"
    done
}

# Once for all versions of PostgreSQL. The library it is linked with has the name of the extension, so where both are
# built in one folder cargo makes it anew after each build for a version: a copy is kept.
build_ragd() {
    local built=$CARGO_TARGET_DIR/ragd-$BUILD digest folder=release
    local -a command=(build --release --bin ragd)
    # The one that the unit tests have built: with their features, or all it is made of would be compiled again.
    [[ $BUILD == release ]] || { folder=debug command=(test --no-run --test daemon); }
    digest=$(sources_digest)
    [[ "$(cat "$built/sources.sha256" 2>/dev/null)" != "$digest" ]] || return 0
    say "building ragd"
    (cd "$PG_RAG_SOURCE" && cargo "${command[@]}")
    mkdir -p "$built"
    rm -f "$built/sources.sha256"
    cp "$CARGO_TARGET_DIR/$folder/ragd" "$built/ragd"
    echo "$digest" >"$built/sources.sha256"
}

# Replaces a file without writing into the old one, which a running server may
# have mapped; the same file is left as it is.
put_file() {
    local source=$1 target=$DESTDIR$2 mode=${3:-644}
    cmp -s "$source" "$target" || as_owner install -D -m "$mode" "$source" "$target"
}

uninstall() {
    as_owner rm -rf "$DESTDIR$PKGLIBDIR/pg_rag" "$DESTDIR$SHAREDIR/pg_rag"
    as_owner rm -f "$DESTDIR$PKGLIBDIR/pg_rag.so" "$DESTDIR$SHAREDIR/extension/pg_rag.control"
    as_owner find "$DESTDIR$SHAREDIR/extension" -maxdepth 1 -name 'pg_rag--*.sql' -delete
    say "removed from PostgreSQL $VERSION"
}

# Runs a command with the rights to write the server's folders.
as_owner() {
    local place=$DESTDIR$PKGLIBDIR
    while [[ ! -e $place ]]; do place=$(dirname "$place"); done
    if [[ -w $place ]]; then
        "$@"
    else
        sudo "$@"
    fi
}

mention_pgvector() {
    [[ -f $SHAREDIR/extension/vector.control ]] || say "pgvector is missing from this PostgreSQL," \
        "and CREATE EXTENSION pg_rag needs it: apt-get install postgresql-$VERSION-pgvector"
}

main "$@"
