#!/usr/bin/env bash
# Stops and removes the private clusters and the build. What was downloaded,
# and the tools, stay: removing the cache folder removes those too.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

if [[ -d $PG_RAG_CLUSTERS ]]; then
    "$PG_RAG_SOURCE/scripts/cluster.sh" status | while read -r name _; do
        "$PG_RAG_SOURCE/scripts/cluster.sh" remove "${name%-*}" "${name##*-}"
    done
fi
(cd "$PG_RAG_SOURCE" && cargo clean)
