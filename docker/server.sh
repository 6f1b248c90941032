#!/usr/bin/env bash
# Starts rag-server with one token, which RAG_TOKEN, RAG_ROLE and RAG_ROLE_PASSWORD say, or with a file of them that
# RAG_SERVER_TOKENS names. Other words are those of its command line.
set -euo pipefail

fail() {
    echo "error: $1" >&2
    exit 1
}

# As a text of JSON.
quoted() {
    [[ $1 != *[[:cntrl:]]* ]] || fail "a token, role or password has a control character"
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

if [[ -z ${RAG_SERVER_TOKENS:-} ]]; then
    [[ -n ${RAG_TOKEN:-} && -n ${RAG_ROLE:-} ]] || fail "neither RAG_SERVER_TOKENS nor RAG_TOKEN and RAG_ROLE are set"
    umask 077
    RAG_SERVER_TOKENS=$(mktemp)
    printf '[{"token": %s, "role": %s, "password": %s}]' \
        "$(quoted "$RAG_TOKEN")" "$(quoted "$RAG_ROLE")" "$(quoted "${RAG_ROLE_PASSWORD:-}")" >"$RAG_SERVER_TOKENS"
    export RAG_SERVER_TOKENS
fi
unset RAG_TOKEN RAG_ROLE_PASSWORD
exec rag-server "$@"
