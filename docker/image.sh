#!/usr/bin/env bash
# What an image consists of, on top of a slim Debian.
#
#   image.sh postgres FOLDER      PostgreSQL with pgvector, pg_rag and its default model, from the packages in FOLDER
#   image.sh rag-server FOLDER    rag-server alone
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
export DEBIAN_FRONTEND=noninteractive

main() {
    local image=$1 folder=$2
    leave_out
    case $image in
    postgres) install_postgres "$folder" ;;
    rag-server) install_server "$folder" ;;
    *) echo "error: unknown image: $image" >&2 && exit 1 ;;
    esac
    apt-get clean
    rm -rf /var/lib/apt/lists/* /var/cache/debconf/*-old /var/log/{apt,dpkg.log,alternatives.log}
}

# Manuals, translations, sources of locales, what only builders and testers of Perl modules read, and LLVM with its solver:
# PostgreSQL compiles expressions by it, which takes 150 MB and gains nothing for questions. It does without where the
# library is missing. The terms of everything stay.
leave_out() {
    cat >/etc/dpkg/dpkg.cfg.d/image <<'END'
path-exclude=/usr/share/man/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/copyright
path-include=/usr/share/doc/*/THIRD-PARTY*
path-exclude=/usr/share/i18n/*
path-exclude=/usr/lib/*/perl/*/CORE/*
path-exclude=/usr/share/perl/*/CPAN/*
path-exclude=/usr/share/perl/*/Test2/*
path-exclude=/usr/share/perl/*/Unicode/Collate/*
path-exclude=/usr/lib/*/libLLVM*
path-exclude=/usr/lib/*/libz3*
path-exclude=/usr/lib/llvm-*
path-exclude=/usr/lib/postgresql/*/lib/bitcode/*
path-exclude=/usr/lib/postgresql/*/lib/llvmjit*
END
}

install_postgres() {
    # The entry point makes the cluster, where the volume is.
    mkdir -p /etc/postgresql-common/createcluster.d
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/image.conf
    # pgvector is among the packages where the release has none.
    install_packages "$1"/postgresql-*-rag_*.deb "$1"/rag-model-multilingual-e5-small_*.deb \
        "$(compgen -G "$1/postgresql-*-pgvector_*.deb" || true)"
    install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data
    install -d -m 755 /docker-entrypoint-initdb.d
    install -m 755 "$HERE/entrypoint.sh" /usr/local/bin/entrypoint.sh
}

install_server() {
    install_packages "$1"/rag-server_*.deb
    install -m 755 "$HERE/healthy.sh" /usr/local/bin/healthy
    install -m 755 "$HERE/server.sh" /usr/local/bin/server.sh
}

install_packages() {
    local -a packages=()
    local package
    for package; do [[ -z $package ]] || packages+=("$package"); done
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}"
}

main "$@"
