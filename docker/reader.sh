#!/usr/bin/env bash
# Makes the role that rag-server asks as, with the superuser's password; run once, when the cluster is made.
set -euo pipefail

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
    --set=password="$POSTGRES_PASSWORD" <<<"CREATE ROLE reader LOGIN PASSWORD :'password';"
