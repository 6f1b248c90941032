#!/usr/bin/env bash
# Gets manuals of programs in seven languages into the cache, out of Debian packages that are not installed: what
# `make bench-manuals` asks. Prints the folder. The questions are about the versions of Debian 12; the benchmark says so
# where another version lacks an answer.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

PACKAGES=(aptitude-doc-fr aptitude-doc-ja aptitude-doc-ru debian-edu-doc-de debian-edu-doc-it debmake-doc
    freedombox-doc-en freedombox-doc-es)

main() {
    local folder=$PG_RAG_CACHE/manuals
    if [[ ! -d $folder ]]; then
        say "downloading ${#PACKAGES[@]} Debian packages with manuals" >&2
        get "$folder"
    fi
    echo "$folder"
}

# All of them or none.
get() {
    local partial package
    partial=$(mktemp -d "$PG_RAG_CACHE/manuals.XXXXXX")
    # shellcheck disable=SC2064 # what it is now
    trap "rm -rf '$partial'" EXIT
    (cd "$partial" && apt-get download --quiet=2 "${PACKAGES[@]}") >&2 ||
        fail "could not download the manuals" "they are packages of Debian; apt-get update may be due"
    for package in "$partial"/*.deb; do
        dpkg-deb --extract "$package" "$partial"
        rm "$package"
    done
    mv --no-target-directory "$partial" "$1"
}

main
