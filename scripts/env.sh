# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source it
# Where everything that the build needs is kept, and who runs the servers.
# Sourced by the other scripts; to work by hand: `source scripts/env.sh`.
#
#   $PG_RAG_CACHE/       downloads, models, ONNX Runtime, cargo's target
#   $PG_RAG_SERVER_DIR/  the PostgreSQL trees and the private clusters
#
# The two are the same folder, except for root: PostgreSQL refuses to run as
# root, and the user that runs it instead must be able to reach its own files,
# which it usually cannot in root's home.

PG_RAG_SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PG_RAG_CACHE=${PG_RAG_CACHE:-$HOME/.cache/pg_rag}
mkdir -p "$PG_RAG_CACHE"
PG_RAG_CACHE=$(cd "$PG_RAG_CACHE" && pwd)

# The models that come with pg_rag; the first is the default one.
MODEL_NAMES=(multilingual-e5-small all-minilm-l6-v2)
PG_RAG_MODEL=$PG_RAG_CACHE/models/${MODEL_NAMES[0]}
ONNXRUNTIME_NAME=libonnxruntime.so.1.31.1
PG_RAG_ONNXRUNTIME=$PG_RAG_CACHE/onnxruntime/$ONNXRUNTIME_NAME

# The library that runs local language models, and the model with which that is tested. Only `make llama` and
# `make test-llm` get them.
PG_RAG_LLAMA=$PG_RAG_CACHE/llama
PG_RAG_TEST_GGUF=$PG_RAG_CACHE/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

# A model that finds personal data, for a test; `make test` gets it.
PG_RAG_TEST_PII=$PG_RAG_CACHE/rampart

# What was fitted to a model, in the tree and in the model's folder.
model_calibration() { echo "$PG_RAG_SOURCE/scripts/calibration/$1.json"; }
CALIBRATION_NAME=pg_rag_calibration.json

# What loads ONNX Runtime here (the conversion of models, tests, benchmarks) reports nothing to its makers.
export ORT_DISABLE_TELEMETRY=1 ORT_TELEMETRY_DISABLED=1

say() { printf '» %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    [[ $# -eq 0 ]] || printf 'hint: %s\n' "$@" >&2
    exit 1
}

# The names of the models in rag.model.
known_models() { printf '%s\n' "${MODEL_NAMES[@]}" "${MODEL_NAMES[@]/%/-fp32}"; }

# What `make install MODEL=...` has named: the model of databases in which the extension is created. Refused here, before
# anything is downloaded or built.
PG_RAG_DEFAULT_MODEL=${PG_RAG_DEFAULT_MODEL:-}
[[ -z $PG_RAG_DEFAULT_MODEL ]] || grep -qxF -- "$PG_RAG_DEFAULT_MODEL" <<<"$(known_models)" ||
    fail "no model called $PG_RAG_DEFAULT_MODEL comes with pg_rag" \
        "MODEL is one of: $(known_models | paste -sd ' ')" "rag_add_model registers others, once pg_rag is installed"

# The user that runs the servers: empty means the caller.
server_user() {
    if [[ $EUID -ne 0 ]]; then
        echo ""
    elif getent passwd postgres >/dev/null; then
        echo postgres
    else
        echo rag_server
    fi
}

server_dir() {
    if [[ -z $PG_RAG_RUN_AS ]] || { getent passwd "$PG_RAG_RUN_AS" >/dev/null && reachable; }; then
        echo "$PG_RAG_CACHE"
    else
        echo /var/cache/pg_rag
    fi
}

reachable() { (cd / && runuser -u "$PG_RAG_RUN_AS" -- test -x "$PG_RAG_CACHE") 2>/dev/null; }

# Runs a command as the user that owns the servers.
as_server() {
    if [[ -n $PG_RAG_RUN_AS ]]; then
        (cd / && exec runuser -u "$PG_RAG_RUN_AS" -- "$@")
    else
        "$@"
    fi
}

# Cargo tells by the time of a file whether it has changed. Two checkouts share a target, and what
# one has built is no older than the other's files: so each builds its own crates anew after the other.
# Called before each build, and waits for a build of the other's.
forget_other_checkout() {
    local folder
    mkdir -p "$CARGO_TARGET_DIR"/{debug,release,extension/debug}
    [[ "$(cat "$CARGO_TARGET_DIR/checkout" 2>/dev/null)" != "$PG_RAG_SOURCE" ]] || return 0
    for folder in debug release extension/debug; do
        flock "$CARGO_TARGET_DIR/$folder/.cargo-lock" \
            rm -rf "$CARGO_TARGET_DIR/$folder/.fingerprint"/{pg_rag,rag-server}-*
    done
    echo "$PG_RAG_SOURCE" >"$CARGO_TARGET_DIR/checkout"
}

# The pg_config of the private PostgreSQL of a major version.
tree_pg_config() { echo "$PG_RAG_SERVER_DIR/postgres/$1/bin/pg_config"; }

# 18 from "PostgreSQL 18.4 (Debian ...)".
pg_major() { "$1" --version | grep -oP '^PostgreSQL \K[0-9]+'; }

extension_version() { sed -nE '0,/^version = "(.*)"/s//\1/p' "$PG_RAG_SOURCE/Cargo.toml"; }

PG_RAG_RUN_AS=${PG_RAG_RUN_AS-$(server_user)}
PG_RAG_SERVER_DIR=${PG_RAG_SERVER_DIR:-$(server_dir)}
PG_RAG_CLUSTERS=$PG_RAG_SERVER_DIR/clusters

CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PG_RAG_CACHE/target}
PGRX_HOME=$PG_RAG_CACHE/pgrx
USER=${USER:-$(id -un)}

export PG_RAG_SOURCE PG_RAG_CACHE PG_RAG_SERVER_DIR PG_RAG_CLUSTERS PG_RAG_RUN_AS
export PG_RAG_MODEL PG_RAG_ONNXRUNTIME
export CARGO_TARGET_DIR PGRX_HOME USER
