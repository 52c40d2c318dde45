# Servers on a PostgreSQL that Patroni manages: sourced by cluster.sh.
#
# Starts three etcd, three Patroni with a PostgreSQL each, and two servers with all three in their connection string. Then
# runs rounds of faults under load, and checks that the history of each record is linearizable.
#
# Needs etcd, Python 3 and Patroni, newer than 3.0.2: that version lets a primary that was frozen act on an expired lock.
#
#   TOPOSCOPE_PATRONI_ROUNDS   rounds; there are nine kinds of faults (default: 9)
#   PATRONI, PATRONICTL        the commands (default: patroni, patronictl)

members="1 2 3"
faults=(kill_primary switch_over kill_patroni freeze_primary kill_standby kill_etcd kill_instance freeze_machine kill_two)
port=$((20000 + RANDOM % 10000))
etcd_port() { echo $((port + $1)); }
etcd_peer_port() { echo $((port + 10 + $1)); }
postgres_port() { echo $((port + 20 + $1)); }
patroni_port() { echo $((port + 30 + $1)); }
instance_port() { echo $((port + 40 + $1)); }

# Joins a list of numbered values with commas.
for_each() { local each; for each in $members; do printf ',%s' "$("$@" "$each")"; done | cut -c2-; }

# Starts a program in the background as the user of PostgreSQL. Its process has the id $started.
start() {
    local log=$1 user
    shift
    if [ "$(id -u)" != 0 ]; then
        "$@" >>"$log" 2>&1 &
    else
        user=$(id -u postgres 2>/dev/null || id -u nobody)
        (cd / && exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@") >>"$log" 2>&1 &
    fi
    started=$!
    # Otherwise the shell would report that it was killed.
    disown "$started"
}

etcd_url() { echo "http://127.0.0.1:$(etcd_port "$1")"; }
etcd_host() { echo "127.0.0.1:$(etcd_port "$1")"; }
etcd_peer() { echo "e$1=http://127.0.0.1:$(etcd_peer_port "$1")"; }

start_etcd() {
    local peer=http://127.0.0.1:$(etcd_peer_port "$1")
    start "$work/etcd$1.log" etcd --name "e$1" --data-dir "$work/etcd$1" --unsafe-no-fsync \
        --listen-client-urls "$(etcd_url "$1")" --advertise-client-urls "$(etcd_url "$1")" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
        --initial-cluster "$(for_each etcd_peer)" --initial-cluster-token toposcope
    etcd[$1]=$started
}

configure_patroni() {
    cat >"$work/patroni$1.yml" <<END
scope: toposcope
name: m$1
restapi: {listen: "127.0.0.1:$(patroni_port "$1")", connect_address: "127.0.0.1:$(patroni_port "$1")"}
etcd3: {hosts: "$(for_each etcd_host)"}
bootstrap:
  dcs:
    {ttl: 20, loop_wait: 2, retry_timeout: 3, primary_start_timeout: 0, synchronous_mode: true, synchronous_mode_strict: true,
     postgresql: {use_pg_rewind: true, use_slots: true, parameters: {wal_log_hints: "on", synchronous_commit: "on"}}}
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}]
postgresql:
  {listen: "127.0.0.1:$(postgres_port "$1")", connect_address: "127.0.0.1:$(postgres_port "$1")",
   data_dir: $work/data$1, basebackup: [{checkpoint: fast}], bin_dir: $(dirname "$(readlink -f "$(command -v initdb)")"), pgpass: $work/pgpass$1,
   authentication: {superuser: {username: postgres}, replication: {username: replicator}},
   pg_hba: [local all all trust, host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust],
   parameters: {unix_socket_directories: "", fsync: "off", shared_buffers: 32MB}}
END
}

start_patroni() {
    start "$work/patroni$1.log" ${PATRONI:-patroni} "$work/patroni$1.yml"
    patroni[$1]=$started
}

ctl() { ${PATRONICTL:-patronictl} -c "$work/patroni1.yml" "$@"; }

# Prints the number of the member with a role; nothing if there is none.
member_with() {
    ctl list -f json 2>/dev/null | python3 -c '
import json, sys
try: members = json.load(sys.stdin)
except ValueError: members = []
names = [m["Member"][1:] for m in members if sys.argv[1] in m["Role"].lower() and m["State"] in ("running", "streaming")]
print(names[0] if names else "")' "$1"
}

leader() { member_with leader; }
standby() { member_with replica; }

# Waits until a command prints something else than nothing, at most for a number of attempts.
await_some() {
    local attempt attempts=$1
    shift
    for attempt in $(seq "$attempts"); do
        [ -z "$("$@")" ] || return 0
        sleep 0.2
    done
    return 1
}

# Waits until a command prints something else than nothing.
await() {
    local what=$1
    shift
    await_some 600 "$@" || fail "$what does not come."
}

# Prints something once all three members run and one of the standbys is synchronous.
complete() {
    ctl list -f json 2>/dev/null | python3 -c '
import json, sys
try: members = json.load(sys.stdin)
except ValueError: members = []
runs = [m for m in members if m["State"] in ("running", "streaming")]
roles = " ".join(m["Role"].lower() for m in runs)
print("yes" if len(runs) == 3 and "leader" in roles and "sync" in roles else "")'
}

# Prints the names of the members that do not run.
stopped() {
    ctl list -f json 2>/dev/null | python3 -c '
import json, sys
print(*[m["Member"] for m in json.load(sys.stdin) if m["State"] not in ("running", "streaming")])'
}

# Waits until all three members run. A member that was killed twice while it replayed its log may not be able to start any
# more: PostgreSQL panics on a checkpoint of another timeline. As an operator would, it is created anew.
await_complete() {
    local each
    ! await_some 100 complete || return 0
    for each in $(stopped); do
        say "Member $each does not start and is created anew."
        ctl reinit --force toposcope "$each" >/dev/null || true
    done
    await "The whole cluster" complete
}

# Prints the processes of a PostgreSQL.
processes() {
    local server
    server=$(head -n 1 "$work/data$1/postmaster.pid" 2>/dev/null) || return 0
    echo "$server $(ps -o pid= --ppid "$server" | xargs)"
}

start_instance() {
    local example=axum
    [ "$1" = 1 ] || example=hyper
    "$servers/$example" --postgres "$database" --listen "127.0.0.1:$(instance_port "$1")" --demo 0 --no-rate-limit \
        >"$work/instance$1.out" 2>>"$work/instance$1.log" &
    instance[$1]=$!
    disown "$!"
    await "The server $example" grep -s TOPOSCOPE_SHARE "$work/instance$1.out"
}

# Every process that the script has started is in one of these lists.
clean_up() {
    local each
    [ -z "${load:-}" ] || kill -KILL "$load" 2>/dev/null || true
    for each in $members; do
        kill -CONT $(processes "$each") "${patroni[$each]:-}" "${etcd[$each]:-}" 2>/dev/null || true
        kill -KILL "${instance[$each]:-}" "${patroni[$each]:-}" "${etcd[$each]:-}" 2>/dev/null || true
        kill -QUIT $(head -n 1 "$work/data$each/postmaster.pid" 2>/dev/null) 2>/dev/null || true
    done
    sleep 1
    [ -n "${TOPOSCOPE_KEEP:-}" ] || rm -rf "$work"
}

kill_primary() { kill -KILL "$(processes "$(leader)" | cut -d' ' -f1)"; }

switch_over() { ctl switchover --force toposcope >/dev/null || true; }

kill_standby() { kill -KILL "$(processes "$(standby)" | cut -d' ' -f1)"; }

# Nobody stops the PostgreSQL of the dead Patroni: another one is promoted beside it.
kill_patroni() {
    local member
    member=$(leader)
    kill -KILL "${patroni[$member]}"
    sleep 35
    start_patroni "$member"
}

freeze_primary() {
    local frozen
    frozen=$(processes "$(leader)")
    kill -STOP $frozen
    sleep 15
    kill -CONT $frozen 2>/dev/null || true
}

freeze_machine() {
    local member frozen
    member=$(leader)
    frozen="${patroni[$member]} $(processes "$member") ${etcd[$member]}"
    kill -STOP $frozen
    sleep 35
    kill -CONT $frozen 2>/dev/null || true
}

kill_etcd() {
    local member=$((RANDOM % 3 + 1))
    kill -KILL "${etcd[$member]}"
    sleep 5
    start_etcd "$member"
}

# Ends an instance; its port is free afterwards.
end_instance() {
    kill -KILL "${instance[$1]}"
    while kill -0 "${instance[$1]}" 2>/dev/null; do sleep 0.1; done
}

kill_instance() {
    local number=$((RANDOM % 2 + 1))
    end_instance "$number"
    start_instance "$number"
}

kill_two() {
    local number=$((RANDOM % 2 + 1))
    end_instance "$number"
    kill_primary
    start_instance "$number"
}

run_patroni() {
    local each round fault tools=examples/support/history.py
    declare -gA etcd patroni instance
    for each in etcd python3 ps; do command -v "$each" >/dev/null || fail "$each is not installed."; done
    # Patroni starts Python again, which that user cannot do in an environment of root's own folder.
    postgres sh -c "${PATRONI:-patroni} --version" >/dev/null ||
        fail "${PATRONI:-patroni} is not installed, or the user that runs PostgreSQL may not execute it."
    [ "$(id -u)" != 0 ] || chown "$(id -u postgres 2>/dev/null || id -u nobody)" "$work"
    for each in $members; do configure_patroni "$each"; start_etcd "$each"; done
    for each in $members; do start_patroni "$each"; done
    await "A primary" leader
    await "A synchronous standby" complete
    postgres createdb -h 127.0.0.1 -p "$(postgres_port "$(leader)")" -U postgres toposcope
    database="postgres://postgres@127.0.0.1:$(postgres_port 1),127.0.0.1:$(postgres_port 2),127.0.0.1:$(postgres_port 3)"
    database="$database/toposcope?target_session_attrs=read-write"
    say "Three members of a cluster run in $work."
    start_instance 1
    source "$work/instance1.out"
    export TOPOSCOPE_API_KEY TOPOSCOPE_NETWORK
    start_instance 2
    python3 "$tools" load "$work/history" "http://127.0.0.1:$(instance_port 1)" "http://127.0.0.1:$(instance_port 2)" \
        2>"$work/load.log" &
    load=$!
    for round in $(seq "${TOPOSCOPE_PATRONI_ROUNDS:-9}"); do
        fault=${faults[$(((round - 1) % ${#faults[@]}))]}
        sleep 3
        say "Round $round: $fault"
        python3 "$tools" mark "$work/history" "$fault"
        "$fault"
        await_complete
        kill -0 "$load" 2>/dev/null || fail "The load ended."
    done
    sleep 3
    kill -TERM "$load"
    wait "$load" || fail "The load failed."
    load=
    python3 "$tools" check "$work/history" || fail "The history is not linearizable."
}
