#!/usr/bin/env bash
# Gets manuals of programs in seven languages into the cache, out of Debian packages that are not installed: what
# `make bench-manuals` asks. Prints the folder. The questions were written about the versions of Debian 12.
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
    if ! (cd "$partial" && apt-get download --quiet=2 "${PACKAGES[@]}") >&2; then
        rm -rf "$partial"
        fail "could not download the manuals" "they are packages of Debian; apt-get update may be due"
    fi
    for package in "$partial"/*.deb; do
        dpkg-deb --extract "$package" "$partial"
        rm "$package"
    done
    mv "$partial" "$1"
}

main
