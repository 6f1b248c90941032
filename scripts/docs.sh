#!/usr/bin/env bash
# Makes a site of the documentation with mdBook: README.md, docs/ and the files beside them, as they are.
#
#   scripts/docs.sh [FOLDER]     by default book/ in cargo's target folder
#
# The chapters are the list "Documents" of README.md, in its order, so that there is no second list of them. mdBook is
# built into the cache when it is wanted for the first time.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

FOLDER=$(realpath -m "${1:-$CARGO_TARGET_DIR/book}")
MDBOOK_VERSION=0.5.4
WORK=$CARGO_TARGET_DIR/book-source

main() {
    local mdbook=$PG_RAG_CACHE/tools/bin/mdbook
    [[ $("$mdbook" --version 2>/dev/null) == "mdbook v$MDBOOK_VERSION" ]] || build_mdbook
    copy_pages
    "$mdbook" build --dest-dir "$FOLDER" "$WORK"
    # It gives README.md another name, but not the links to it.
    cp "$FOLDER/index.html" "$FOLDER/README.html"
    say "open $FOLDER/index.html in a browser"
}

build_mdbook() {
    say "building mdBook $MDBOOK_VERSION"
    cargo install --quiet --locked --root "$PG_RAG_CACHE/tools" --target-dir "$CARGO_TARGET_DIR/mdbook" \
        --no-default-features --features search mdbook@$MDBOOK_VERSION
}

# Where they lie in the project, so that links between them hold.
copy_pages() {
    rm -rf "$WORK"
    mkdir -p "$WORK/src"
    cp "$PG_RAG_SOURCE/book.toml" "$WORK/"
    cp -r "$PG_RAG_SOURCE"/{README,ARCHITECTURE,CONTRIBUTING,CHANGELOG}.md "$PG_RAG_SOURCE"/{LICENSE,docs} "$WORK/src/"
    chapters >"$WORK/src/SUMMARY.md"
}

# From "* [docs/recipes.md](docs/recipes.md): ..." the page's own title, and below it the pages in the folder of its name.
chapters() {
    local page part
    printf '# Summary\n\n[pg_rag](README.md)\n\n'
    sed -n '/^## Documents$/,/^## License$/s/^\* \[\([^]]*\)\].*/\1/p' "$PG_RAG_SOURCE/README.md" | while read -r page; do
        chapter "" "$page"
        for part in "$PG_RAG_SOURCE/${page%.md}"/*.md; do
            [[ ! -f $part ]] || chapter "    " "${page%.md}/${part##*/}"
        done
    done
}

chapter() { printf '%s- [%s](%s)\n' "$1" "$(sed -n '0,/^# /s/^# //p' "$PG_RAG_SOURCE/$2")" "$2"; }

main
