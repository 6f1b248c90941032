#!/usr/bin/env bash
# What pg_rag ships of others, and under which terms.
#
#   scripts/licenses.sh                      fails where a crate is under a licence that deny.toml does not allow
#   scripts/licenses.sh texts VERSION        the terms of all that packages for a PostgreSQL VERSION hold
#   scripts/licenses.sh sbom VERSION         a bill of materials of the same (CycloneDX)
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/wheels.sh
source "$PG_RAG_SOURCE/scripts/wheels.sh"

main() {
    local command=${1:-check} version=${2:-18}
    METADATA=$(mktemp)
    trap 'rm -f "$METADATA"' EXIT
    (cd "$PG_RAG_SOURCE" && cargo metadata --quiet --format-version 1 --locked --features "daemon pg$version" \
        --filter-platform "$(rustc -vV | sed -n 's/^host: //p')") >"$METADATA"
    case $command in
    check) shipped check --allowed "$PG_RAG_SOURCE/deny.toml" ;;
    texts | sbom) with_files "$command" ;;
    *) fail "unknown command: $command" "check, texts or sbom" ;;
    esac
}

shipped() {
    local command=$1
    shift
    python3 "$PG_RAG_SOURCE/scripts/shipped.py" "$command" --metadata "$METADATA" "$@"
}

# Each with its name, version, licence, package URL, SHA-256 and texts.
with_files() {
    local models=$PG_RAG_CACHE/models
    shipped "$1" \
        --file onnxruntime "${WHEEL_ONNXRUNTIME#*==}" MIT "pkg:pypi/${WHEEL_ONNXRUNTIME/==/@}" "$ONNXRUNTIME_SHA" \
        "${PG_RAG_ONNXRUNTIME%/*}/LICENSE" "${PG_RAG_ONNXRUNTIME%/*}/ThirdPartyNotices.txt" \
        --file multilingual-e5-small "${WHEEL_E5#*==}" MIT "pkg:pypi/${WHEEL_E5/==/@}" "$E5_SHA" \
        "$models/multilingual-e5-small/NOTICE" \
        --file all-minilm-l6-v2 "${WHEEL_MINILM#*==}" Apache-2.0 "pkg:pypi/${WHEEL_MINILM/==/@}" "$MINILM_SHA" \
        "$models/all-minilm-l6-v2/NOTICE"
}

main "$@"
