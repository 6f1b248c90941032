#!/usr/bin/env bash
# Makes the Python environment of by_hand.py in the cache, if it is not there, and prints its program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/env.sh
source "$here/../../scripts/env.sh"

python=$PG_RAG_CACHE/python-latency
made_from="$(python3 -V) $(sha256sum <"$here/requirements.txt")"
if [[ ! -f $python/.made-from || $(<"$python/.made-from") != "$made_from" ]]; then
    say "making a Python environment for the pipeline by hand" >&2
    rm -rf "$python"
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        -r "$here/requirements.txt" >&2
    echo "$made_from" >"$python/.made-from"
fi
echo "$python/bin/python"
