# shellcheck shell=bash
# What deb_trial.sh and rpm_trial.sh, which source it, try in the same way once the packages are installed. They define
# psql_as_postgres, which runs statements as the superuser.

step() { printf '» %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

ask() {
    step "asking"
    psql_as_postgres <~/trial.sql >~/answers.txt
    cat ~/answers.txt
    grep -qF 'The office opens at nine. [1] cites row 2' ~/answers.txt || fail "the answer is another"
    [[ $(grep -c 'has 384 dimensions' ~/answers.txt) -eq 4 ]] || fail "a model cannot be used"
}

# As the unit starts it, but for systemd, which is not running here.
ask_over_http() {
    local server
    step "asking rag-server"
    [[ $(stat -c '%a %U' /etc/rag-server/rag-server.conf) == '600 root' ]] || fail "others may read the configuration"
    # shellcheck source=/dev/null
    (set -a && . /etc/rag-server/rag-server.conf && exec setpriv --reuid rag-server --regid rag-server --clear-groups rag-server) &
    server=$!
    for _ in {1..600}; do
        if is_healthy || ! kill -0 "$server" 2>/dev/null; then break; fi
        sleep 0.1
    done
    is_healthy || fail "rag-server is not healthy"
    [[ $(request POST /ask '{"question": "When does the office open?"}') == *nine* ]] || fail "rag-server gives no answer"
    kill "$server"
    wait "$server" || true
}

# The whole reply is read: where a reader leaves early, the pipe breaks, which would count as a failure.
is_healthy() { [[ $(request GET /healthz 2>/dev/null) == 'HTTP/1.1 200'* ]]; }

request() {
    local method=$1 path=$2 body=${3:-}
    exec 3<>/dev/tcp/127.0.0.1/8080 || return 1
    printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
        "$method" "$path" "${#body}" "$body" >&3
    cat <&3
    exec 3>&-
}
