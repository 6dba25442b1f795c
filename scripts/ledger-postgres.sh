#!/usr/bin/env bash
# Runs the ledger's tests against a PostgreSQL server that is started here, on a free port, and removed afterwards.
# Needs Debian's package postgresql; says so and ends with 0 where it is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

bin="$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -n 1 || true)"
if [[ -z "$bin" ]]; then
    echo "SKIPPED: PostgreSQL is not installed (Debian: apt-get install postgresql)"
    exit 0
fi
work="$(mktemp -d)"
as=()
if [[ "$(id -u)" -eq 0 ]]; then
    # The server refuses to run as root.
    chown nobody "$work"
    as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
fi
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
trap '"${as[@]}" "$bin/pg_ctl" -D "$work/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$work"' EXIT
"${as[@]}" "$bin/initdb" -D "$work/data" -U privet --auth=trust > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"${as[@]}" "$bin/pg_ctl" -D "$work/data" -w -l "$work/data/log" \
    -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=on" start > /dev/null
PRIVET_POSTGRES="postgres://privet@127.0.0.1:$port/postgres" \
    "${CARGO:-cargo}" test --locked -p privet-ledger --features postgres --test server -- --nocapture
