# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source it
# Roots of other releases of Debian: debootstrap makes them from where this machine has its own packages, and
# commands run in them in namespaces of their own. Sourced by the scripts that try pg_rag in one, after env.sh.

# Folders of this machine that enter_root mounts, as FROM:TO with TO inside the root.
ROOT_MOUNTS=()

# What a user needs to build anything: without it nothing of the project could be fetched or run.
ROOT_BUILD_PACKAGES=bash,ca-certificates,git,make,xz-utils

need_debootstrap() {
    [[ $EUID -eq 0 ]] || fail "only root can make a root folder of another Debian" "sudo make $1"
    command -v debootstrap >/dev/null || fail "debootstrap was not found" "apt-get install debootstrap"
}

# make_root ROOT SUITE [PACKAGES]: from where this machine has its own packages, with the authorities that it trusts.
make_root() {
    local root=$1 suite=$2 packages=${3:-ca-certificates}
    say "making a fresh Debian ($suite) in $root"
    remove_root "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$(package_source)" >"$root.log" ||
        fail "debootstrap failed" "see $root.log"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # As Debian's installer does; debootstrap leaves it out, and then this machine has no name.
    printf '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n' >"$root/etc/hosts"
    mkdir -p "$root/opt/rust"
}

# Mounts are those of a namespace that has ended, so nothing of this machine is below the folder any more.
remove_root() { rm -rf --one-file-system "$1"; }

package_source() {
    # shellcheck disable=SC2016 # apt-get fills these in
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian //p' | grep -v security | head -n 1
}

# enter_root ROOT USER COMMAND: processes end and mounts go with the namespace, also when this script is killed.
enter_root() {
    local rust
    rust=$(rustc --print sysroot)
    # shellcheck disable=SC2016 # the shell inside expands it
    ROOT=$1 RUST=$rust NAME=$2 COMMAND=$3 MOUNTS=$(printf '%s\n' "${ROOT_MOUNTS[@]}") \
        unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
        mount -t proc proc "$ROOT/proc"
        mount --rbind /dev "$ROOT/dev"
        mount -t tmpfs tmpfs "$ROOT/dev/shm"
        mount --bind "$RUST" "$ROOT/opt/rust"
        while IFS=: read -r from to; do
            [[ -z $from ]] || { mkdir -p "$from" "$ROOT$to"; mount --bind "$from" "$ROOT$to"; }
        done <<<"$MOUNTS"
        mapfile -t settings < <(env | grep -E "^(PIP_(CERT|DEFAULT_TIMEOUT|INDEX_URL|TRUSTED_HOST)|CARGO_(HTTP|NET|REGISTRIES|SOURCE)_|https?_proxy=|HTTPS?_PROXY=)")
        exec chroot "$ROOT" runuser -u "$NAME" -- env -i HOME="$(chroot "$ROOT" getent passwd "$NAME" | cut -d: -f6)" \
            PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            LANG=C.UTF-8 ${settings[@]:+"${settings[@]}"} bash -euo pipefail -c "$COMMAND"'
}

# install_in_root ROOT PACKAGE...
install_in_root() {
    local root=$1
    shift
    enter_root "$root" root "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $*" >/dev/null
}
