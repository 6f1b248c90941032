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

MACHINES=("$@")
[[ $# -gt 0 ]] || MACHINES=(bookworm/root bookworm/user trixie/root trixie/user)
read -ra COMMANDS <<<"${COMMANDS:-demo demo test}"
FOLDER=$PG_RAG_CACHE/fresh
PACKAGES=bash,ca-certificates,git,make,xz-utils

main() {
    local machine
    local -a report=()
    local failed=0
    [[ $EUID -eq 0 ]] || fail "only root can make a root folder of another Debian" "sudo make test-fresh"
    command -v debootstrap >/dev/null || fail "debootstrap was not found" "apt-get install debootstrap"
    for machine in "${MACHINES[@]}"; do
        [[ $machine =~ ^[a-z]+/(root|user)$ ]] || fail "not a machine: $machine" "trixie/root, or trixie/user"
        make_root "$machine"
        for command in "${COMMANDS[@]}"; do
            local begun=$SECONDS result=passed
            say "$machine: make $command"
            in_root "$machine" "$command" || { result=FAILED failed=$((failed + 1)); }
            report+=("$(printf '%-16s make %-6s %-6s %5d s' "$machine" "$command" "$result" $((SECONDS - begun)))")
        done
        [[ -n ${KEEP:-} ]] || rm -rf --one-file-system "$(root_of "$machine")"
    done
    printf '%s\n' "${report[@]}"
    echo "$((${#report[@]} - failed)) passed, $failed failed"
    [[ $failed -eq 0 ]]
}

root_of() { echo "$FOLDER/${1/\//-}"; }

# From where this machine has its own packages, with the authorities that it trusts.
make_root() {
    local machine=$1 root name
    root=$(root_of "$machine")
    say "$machine: making a fresh Debian in $root"
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include="$PACKAGES" "${machine%/*}" "$root" "$(package_source)" >"$root.log" ||
        fail "debootstrap failed" "see $root.log"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # As Debian's installer does; debootstrap leaves it out, and then this machine has no name.
    printf '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n' >"$root/etc/hosts"
    mkdir -p "$root/opt/rust"
    name=$(user_of "$machine")
    [[ $name == root ]] || chroot "$root" useradd --create-home --shell /bin/bash "$name"
    git clone --quiet --no-local "$PG_RAG_SOURCE" "$root$(home_of "$machine")/pg_rag"
    chroot "$root" chown -R "$name:" "$(home_of "$machine")"
}

package_source() {
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian //p' | grep -v security | head -n 1
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
    enter "$machine" root "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ${packages[*]}" >/dev/null
    make_in_root "$machine" "$command" "$log"
}

make_in_root() {
    local machine=$1 command=$2 log=$3
    enter "$machine" "$(user_of "$machine")" "cd ~/pg_rag && make $command" </dev/null 2>&1 | tee "$log"
}

# Processes end and mounts go with the namespace, also when this script is killed.
enter() {
    local root name=$2 rust
    root=$(root_of "$1")
    rust=$(rustc --print sysroot)
    ROOT=$root RUST=$rust NAME=$name COMMAND=$3 unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
        mount -t proc proc "$ROOT/proc"
        mount --rbind /dev "$ROOT/dev"
        mount -t tmpfs tmpfs "$ROOT/dev/shm"
        mount --bind "$RUST" "$ROOT/opt/rust"
        mapfile -t settings < <(env | grep -E "^(PIP_(CERT|DEFAULT_TIMEOUT|INDEX_URL|TRUSTED_HOST)|CARGO_(HTTP|NET|REGISTRIES|SOURCE)_|https?_proxy=|HTTPS?_PROXY=)")
        exec chroot "$ROOT" runuser -u "$NAME" -- env -i HOME="$(chroot "$ROOT" getent passwd "$NAME" | cut -d: -f6)" \
            PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            LANG=C.UTF-8 ${settings[@]:+"${settings[@]}"} bash -euo pipefail -c "$COMMAND"'
}

main
