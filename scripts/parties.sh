#!/usr/bin/env bash
# Several organisations on one machine: PARTIES parties and 2 servers (10 processes unless told otherwise), each a
# process, train one model over mutual TLS. One of them, chosen at random, is killed at a random instant with SIGKILL
# and started again. Then every party's model must be there, the same for all, and verified.
#
#   scripts/parties.sh [PARTIES] [path of privet] [folder of a table: train.csv, test.csv, schema.toml]
#   scripts/parties.sh adult [path of privet] [folder of adult.data and adult.test]
#
# Without a folder the table is the synthetic census of `privet demo`. `adult` prepares Adult (8 parties, by default from
# ../shared/data/adult) and sets the time and the accuracy beside those of one process with all rows.
set -euo pipefail
cd "$(dirname "$0")/.."

parties="${1:-8}"
privet="$(realpath "${2:-target/debug/privet}")"
table="${3:-}"
compared=""
if [[ "$parties" == adult ]]; then
    parties=8
    compared=adult
    originals="$(realpath "${table:-../shared/data/adult}")"
    table=""
fi
work="$(mktemp -d)"
started=()
trap 'for process in "${started[@]}"; do kill "$process" 2> /dev/null || true; done; rm -rf "$work"' EXIT

if [[ -n "$compared" ]]; then
    "$privet" data prepare adult --from "$originals" --out "$work/adult" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    table="$work/adult"
elif [[ -z "$table" ]]; then
    "$privet" demo --out "$work/demo" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    table="$work/demo"
fi
cp "$table/schema.toml" "$work/schema.toml"
data="$table/train.csv"

# Deals the rows out, unevenly: party j gets about j times as many as the first.
python3 - "$data" "$work" "$parties" <<'PY'
import sys

data, work, parties = sys.argv[1], sys.argv[2], int(sys.argv[3])
head, *rows = open(data).read().splitlines()
shares = range(1, parties + 1)
at, flags = 0, []
for j in shares:
    end = len(rows) if j == parties else at + len(rows) * j // sum(shares)
    with open(f"{work}/p{j}.csv", "w") as out:
        out.write("\n".join([head, *rows[at:end]]) + "\n")
    flags += ["--party", f"p{j}={end - at}"]
    at = end
open(f"{work}/flags", "w").write(" ".join(flags) + "\n")
PY

# Two ports below those that the system hands out, so that nobody else is given them meanwhile.
read -r north south < <(python3 - <<'PY'
import os
import socket

held = []
for port in range(10_000 + os.getpid() % 200 * 100, 32_000):
    one = socket.socket()
    try:
        one.bind(("127.0.0.1", port))
    except OSError:
        continue
    held.append((one, port))
    if len(held) == 2:
        break
print(*(port for _, port in held))
PY
)
read -r -a flags < "$work/flags"
"$privet" party init "$work/study" --schema "$work/schema.toml" --epsilon 1 --method gd --patience 60 "${flags[@]}" \
    --server north=127.0.0.1:"$north" --server south=127.0.0.1:"$south" > "$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }

# A member in the background; its number is left in `member`.
start() {
    case "$1" in
        north | south) "$privet" party serve "$work/study/$1" > "$work/$1.log" 2>&1 & ;;
        *) "$privet" party train "$work/study/$1" --data "$work/$1.csv" --out "$work/$1.json" > "$work/$1.log" 2>&1 & ;;
    esac
    member=$!
    started+=("$member")
}

declare -A process
begun=$(date +%s%N)
for name in north south $(seq -f 'p%g' 1 "$parties"); do
    start "$name"
    process[$name]=$member
done

names=(north south $(seq -f 'p%g' 1 "$parties"))
victim="${names[$((RANDOM % ${#names[@]}))]}"
sleep "0.$(printf '%03d' $((300 + RANDOM % 700)))"
if kill -KILL "${process[$victim]}" 2> /dev/null; then
    wait "${process[$victim]}" 2> /dev/null || true
    echo "parties: killed $victim, and started it again"
    # What it had written already is as good as new.
    [[ -e "$work/$victim.json" ]] || { start "$victim"; process[$victim]=$member; }
fi

for name in "${names[@]}"; do
    wait "${process[$name]}" || { echo "parties: $name ended badly"; tail -n 5 "$work"/*.log; exit 1; }
done
seconds=$(( ($(date +%s%N) - begun) / 1000000 ))
for j in $(seq 1 "$parties"); do
    "$privet" verify "$work/p$j.json" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
python3 - "$work" "$parties" "$seconds" <<'PY'
import json, sys

work, parties, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) / 1000
models = [json.load(open(f"{work}/p{j}.json")) for j in range(1, parties + 1)]
bodies = [{k: v for k, v in model.items() if k != "certificate"} for model in models]
assert all(body == bodies[0] for body in bodies), "not everyone has the same model"
among = models[0]["certificate"]["request"]["among"]
print(f"parties: {parties + 2} processes, {among}: one verified model in {seconds:.1f} s")
PY

# The same by one process that has all rows, with the noise of one draw.
if [[ -n "$compared" ]]; then
    alone=$(date +%s%N)
    "$privet" train "$data" --schema "$work/schema.toml" --epsilon 1 --method gd --ledger none --out "$work/alone.json" \
        > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    alone=$(( ($(date +%s%N) - alone) / 1000000 ))
    right() {
        "$privet" evaluate "$1" "$table/test.csv" --json 2> /dev/null |
            python3 -c 'import json, sys; found = json.load(sys.stdin); print(found.get("accuracy", found))'
    }
    echo "parties: accuracy $(right "$work/p1.json") among $parties parties, $(right "$work/alone.json") alone in" \
        "$(python3 -c "print($alone / 1000)") s"
fi
