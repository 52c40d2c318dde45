#!/usr/bin/env bash
# Starts a private PostgreSQL and two servers on one database, then writes to one server and reads from the other.
#
#   examples/cluster.sh        builds the servers
#   examples/cluster.sh DIR    runs the servers `axum` and `hyper` in a folder
#   examples/cluster.sh --patroni [DIR]
#                              runs them on three PostgreSQL with Patroni instead, through rounds of faults, and checks that
#                              what they answered is linearizable; support/patroni.sh lists what it needs
#
# Needs PostgreSQL (on Debian and Ubuntu: apt-get install postgresql) and curl. Leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."

patroni=
if [ "${1:-}" = --patroni ]; then
    patroni=yes
    shift
fi
servers=${1:-}
work=$(mktemp -d)
pids=()

say() { printf '%s\n' "$*"; }

fail() {
    say "$*" >&2
    cat "$work"/*.log >&2
    exit 1
}

# Whatever happens, no server and no file stays behind.
clean_up() {
    for pid in "${pids[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
        # Otherwise the shell would report that it was killed.
        wait "$pid" 2>/dev/null || true
    done
    [ ! -e "$work/data/postmaster.pid" ] || postgres pg_ctl -D "$work/data" -m immediate stop >/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Finds the newest PostgreSQL: Debian keeps its programs off the path.
find_postgres() {
    local programs
    programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    PATH=$PATH:$programs
    command -v initdb >/dev/null || fail "PostgreSQL is not installed (on Debian and Ubuntu: apt-get install postgresql)."
}

# Runs a program of PostgreSQL, which refuses to run as root.
postgres() {
    local user=nobody
    if [ "$(id -u)" != 0 ]; then
        "$@"
    else
        ! id -u postgres >/dev/null 2>&1 || user=postgres
        (cd / && setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@")
    fi
}

start_postgres() {
    [ "$(id -u)" != 0 ] || chown "$(id -u postgres 2>/dev/null || id -u nobody)" "$work"
    postgres initdb -A trust -N -U postgres -E UTF8 --locale=C -D "$work/data" >/dev/null
    run_postgres
    postgres createdb -h "$work" -U postgres toposcope
    # A host that begins with a slash is the folder of a Unix socket.
    database=postgres://postgres@${work//\//%2F}/toposcope
}

run_postgres() {
    postgres pg_ctl -D "$work/data" -l "$work/postgres.log" -w -o "-c listen_addresses= -k $work" start >/dev/null
}

# Starts a server and waits until it prints how it is reached. Only the first start prints the API key.
start_server() {
    local example=$1 output=$work/$1.out
    "$servers/$example" --postgres "$database" --listen 127.0.0.1:0 --demo 0 >"$output" 2>"$work/$example.log" &
    pids+=($!)
    for _ in $(seq 300); do
        if grep -q '^TOPOSCOPE_SHARE=' "$output"; then break; fi
        kill -0 $! 2>/dev/null || fail "The server $example ended."
        sleep 0.1
    done
    local key=${TOPOSCOPE_API_KEY:-}
    source "$output"
    TOPOSCOPE_API_KEY=${TOPOSCOPE_API_KEY:-$key}
    say "The server $example serves on $TOPOSCOPE_URL."
}

# Sends a request, and prints the body and the status.
ask() {
    curl -sS --max-time 30 -w '\n%{http_code}\n' -H "Authorization: Bearer $TOPOSCOPE_API_KEY" "$@"
}

# Ends the script unless an answer has a status and contains a text.
expect() {
    local answer=$1 status=$2 text=${3:-}
    [ "$(tail -n 1 <<<"$answer")" = "$status" ] || fail "Expected the status $status: $answer"
    grep -qF -- "$text" <<<"$answer" || fail "Expected $text: $answer"
}

write_and_read() {
    local answer host body='{"network_id": "'$TOPOSCOPE_NETWORK'", "name": "lobby printer"}'
    local json=(-H "Content-Type: application/json")
    answer=$(ask "$axum/api/v1/hosts" "${json[@]}" -d "$body")
    expect "$answer" 200 '"lobby printer"'
    host=$(sed -n 's/.*"data":{"id":"\([^"]*\)".*/\1/p' <<<"$answer")
    say "axum created the host $host."

    expect "$(ask "$hyper/api/v1/hosts/$host")" 200 '"lobby printer"'
    expect "$(ask "$hyper/api/v1/hosts?search=lobby")" 200 '"total_count":1'
    say "hyper returns it at once, by its id and in a list."

    local tag
    tag=$(ask -D - -o /dev/null "$hyper/api/v1/hosts/$host" | sed -n 's/^etag: \(.*\)\r$/\1/Ip')
    expect "$(ask -X PUT "$hyper/api/v1/hosts/$host" "${json[@]}" -d "${body/lobby/office}")" 200 '"office printer"'
    expect "$(ask "$axum/api/v1/hosts/$host")" 200 '"office printer"'
    say "hyper renamed it, and axum returns the new name."

    expect "$(ask -X DELETE -H "If-Match: $tag" "$axum/api/v1/hosts/$host")" 412 precondition_failed
    expect "$(ask -X DELETE "$axum/api/v1/hosts/$host")" 200
    expect "$(ask "$hyper/api/v1/hosts/$host")" 404
    say "axum refused to delete the version before the new name, deleted the current one, and hyper has none any more."
}

# Creates tags with the same names on both servers at the same time. Names of tags are unique, so one of each pair wins.
write_at_the_same_time() {
    local organization number server requests=() statuses
    organization=$(ask "$axum/api/v1/organizations" | sed -n 's/.*"data":\[{"id":"\([^"]*\)".*/\1/p')
    for number in $(seq 0 39); do
        server=$axum
        ((number % 2)) || server=$hyper
        ask "$server/api/v1/tags" -H "Content-Type: application/json" \
            -d '{"organization_id": "'"$organization"'", "name": "tag '$((number / 2))'"}' >"$work/answer.$number" &
        requests+=($!)
    done
    wait "${requests[@]}"
    statuses=$(tail -qn 1 "$work"/answer.* | sort | uniq -c | xargs)
    [ "$statuses" = "20 200 20 409" ] || fail "Expected 20 tags and 20 conflicts: $statuses"
    expect "$(ask "$axum/api/v1/tags?limit=0")" 200 '"tag 19"'
    say "Both created tags with the same 20 names at once: each name was taken once and refused once with 409."
}

# The servers answer 503 while PostgreSQL is down, and need no restart afterwards.
restart_postgres() {
    local attempt
    postgres pg_ctl -D "$work/data" -m immediate stop >/dev/null
    expect "$(ask "$axum/api/v1/tags")" 503
    expect "$(ask "$hyper/api/v1/tags")" 503
    say "PostgreSQL was stopped: both answer 503."
    run_postgres
    for server in "$axum" "$hyper"; do
        for attempt in $(seq 100); do
            if [ "$(ask "$server/api/v1/tags?limit=0" | tail -n 1)" = 200 ]; then break; fi
            sleep 0.1
        done
        expect "$(ask "$server/api/v1/tags?limit=0")" 200 '"tag 19"'
    done
    say "PostgreSQL serves again, and so do both servers."
}

kill_server() {
    kill -KILL "${pids[0]}"
    wait "${pids[0]}" 2>/dev/null || true
    expect "$(ask "$hyper/api/v1/tags?limit=0")" 200 '"tag 19"'
    say "axum was killed: hyper has everything that it acknowledged."
}

find_postgres
if [ -z "$servers" ]; then
    cargo build --release --features postgres --example axum --example hyper
    servers=${CARGO_TARGET_DIR:-target}/release/examples
fi
if [ -n "$patroni" ]; then
    unset patroni
    source examples/support/patroni.sh
    run_patroni
    exit
fi
start_postgres
say "PostgreSQL serves in $work."
start_server axum
axum=$TOPOSCOPE_URL
start_server hyper
hyper=$TOPOSCOPE_URL
write_and_read
write_at_the_same_time
restart_postgres
kill_server
