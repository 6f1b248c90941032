#!/usr/bin/env bash
# Succeeds where rag-server on this port says that the database answers; an image has no program that speaks HTTP.
set -euo pipefail

exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
read -r -t 5 _ status _ <&3
[[ $status == 200 ]]
