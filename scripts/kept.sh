# shellcheck shell=bash
# What tests want beside the extension: Debian packages, and packages of other languages, which are kept in $KEPT.
# Sourced by scripts that have `skip REASON`, which ends a test that cannot be made here.

# Skips what a Debian package is missing for.
#   need PACKAGE CHECK...    the check is a command that succeeds where it is there
need() {
    local package=$1
    shift
    ! "$@" >/dev/null 2>&1 || return 0
    [[ -z ${INSTALL:-} ]] || install_package "$package"
    "$@" >/dev/null 2>&1 || skip "$package was not found (apt-get install $package)"
}

install_package() {
    local -a as_root=()
    [[ $EUID -eq 0 ]] || as_root=(sudo -n)
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" ||
        echo "$1 could not be installed"
}

# Skips what Node.js is missing for, or a version of it.
#   need_node [VERSION...]    the least of each major version that will do; of the last one, later majors do, too
need_node() {
    [[ $# -gt 0 ]] || set -- 20
    need nodejs command -v node
    need npm command -v npm
    node -e '
        const numbers = (version) => version.split(".").map(Number);
        const [major, minor] = numbers(process.versions.node);
        const least = process.argv.slice(1).map(numbers);
        const will = least.some((it) => major === it[0] && minor >= (it[1] ?? 0)) || major > least.at(-1)[0];
        process.exit(will ? 0 : 1);' "$@" ||
        skip "Node.js $(node --version) will not do: the least versions are $*, or later major ones than the last"
}

# Prints a folder of its own for what the files say, and makes it with a command where it is not there yet.
#   kept NAME COMMAND FILE...    the command is called with the folder and the files
kept() {
    local name=$1 make=$2 folder
    shift 2
    folder=$KEPT/$name-$(cat "$@" | sha256sum | head -c 12)
    if [[ ! -e $folder/complete ]]; then
        rm -rf "${KEPT:?}/$name"-*
        mkdir -p "$folder"
        "$make" "$folder" "$@" >&2 || return 1
        touch "$folder/complete"
    fi
    echo "$folder"
}

# Without scripts of packages, which nothing here needs, and which download what is in no registry.
node_modules() {
    cp "$2" "$3" "$1/"
    (cd "$1" && npm ci --silent --ignore-scripts --no-audit --no-fund)
}
