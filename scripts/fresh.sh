#!/usr/bin/env bash
# Runs the two commands on fresh Debian machines, before a release: a root that debootstrap makes, with
# Rust, git and make in it and nothing else, for each release of Debian and each kind of user.
#
#   scripts/fresh.sh [SUITE/USER...]     by default bookworm/root bookworm/user trixie/root trixie/user
#
#   COMMANDS="demo demo test"   what is made, in this order; demo twice by default, as the second has
#                               to find that everything is done
#   KEEP=1                      leaves the roots where they are, for a look
#
# What is tried is what is committed. It wants root, debootstrap and some 12 GB a root, and takes an hour
# or more each: nothing is shared between the roots, nor with the cache of this machine.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
# shellcheck source=scripts/roots.sh
source "$PG_RAG_SOURCE/scripts/roots.sh"

MACHINES=("$@")
[[ $# -gt 0 ]] || MACHINES=(bookworm/root bookworm/user trixie/root trixie/user)
read -ra COMMANDS <<<"${COMMANDS:-demo demo test}"
FOLDER=$PG_RAG_CACHE/fresh

main() {
    local machine
    local -a report=()
    local failed=0
    need_debootstrap test-fresh
    for machine in "${MACHINES[@]}"; do
        [[ $machine =~ ^[a-z]+/(root|user)$ ]] || fail "not a machine: $machine" "trixie/root, or trixie/user"
        make_machine "$machine"
        for command in "${COMMANDS[@]}"; do
            local begun=$SECONDS result=passed
            say "$machine: make $command"
            in_root "$machine" "$command" || { result=FAILED failed=$((failed + 1)); }
            report+=("$(printf '%-16s make %-6s %-6s %5d s' "$machine" "$command" "$result" $((SECONDS - begun)))")
        done
        [[ -n ${KEEP:-} ]] || remove_root "$(root_of "$machine")"
    done
    printf '%s\n' "${report[@]}"
    echo "$((${#report[@]} - failed)) passed, $failed failed"
    [[ $failed -eq 0 ]]
}

root_of() { echo "$FOLDER/${1/\//-}"; }

make_machine() {
    local machine=$1 root name
    root=$(root_of "$machine")
    make_root "$root" "${machine%/*}" "$ROOT_BUILD_PACKAGES"
    name=$(user_of "$machine")
    [[ $name == root ]] || chroot "$root" useradd --create-home --shell /bin/bash "$name"
    git clone --quiet --no-local "$PG_RAG_SOURCE" "$root$(home_of "$machine")/pg_rag"
    chroot "$root" chown -R "$name:" "$(home_of "$machine")"
}

user_of() { if [[ $1 == */root ]]; then echo root; else echo developer; fi; }
home_of() { if [[ $1 == */root ]]; then echo /root; else echo /home/developer; fi; }

# A user who may not install packages is told which ones are missing, and has them installed.
in_root() {
    local machine=$1 command=$2 log
    log=$(root_of "$machine").$command.log
    if make_in_root "$machine" "$command" "$log"; then
        return 0
    fi
    local -a packages=()
    read -ra packages <<<"$(sed -n 's/^hint: have them installed with: apt-get install //p' "$log")"
    [[ $machine == */user && ${#packages[@]} -gt 0 ]] || return 1
    say "$machine: installing what it asks for: ${packages[*]}"
    install_in_root "$(root_of "$machine")" "${packages[@]}"
    make_in_root "$machine" "$command" "$log"
}

make_in_root() {
    local machine=$1 command=$2 log=$3
    enter_root "$(root_of "$machine")" "$(user_of "$machine")" "cd ~/pg_rag && make $command" </dev/null 2>&1 | tee "$log"
}

main
