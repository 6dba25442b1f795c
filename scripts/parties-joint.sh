#!/usr/bin/env bash
# Two servers that draw their noise together and three parties, each a process, over mutual TLS: a model (ssp, one round),
# then counts with a server killed while noise is drawn and started again, then gd of three steps with a server killed after
# that. Each time every party's result must be there, the same for all, and verified; and no share of noise may be left.
#
#   scripts/parties-joint.sh [path of privet] [path of privet-joint-noise]
set -euo pipefail
cd "$(dirname "$0")/.."

privet="$(realpath "${1:-target/debug/privet}")"
program="$(realpath "${2:-joint/target/debug/privet-joint-noise}")"
work="$(mktemp -d)"
started=()
trap 'for process in "${started[@]}"; do kill "$process" 2> /dev/null || true; done; rm -rf "$work"' EXIT

python3 - "$work" <<'PY'
import random, sys

work = sys.argv[1]
draw = random.Random(5)
schema = """bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
{target}
[[columns]]
name = "a"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
[[columns]]
name = "b"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
"""
open(f"{work}/classes.toml", "w").write(schema.format(target='classes = ["no", "yes"]'))
open(f"{work}/number.toml", "w").write(schema.format(target="bounds = [-1, 1]"))
for name, rows in [("clinic", 1500), ("hospital", 300), ("ward", 2200)]:
    classes, number = ["a,b,y"], ["a,b,y"]
    for _ in range(rows):
        a, b, e = (draw.uniform(-1, 1) for _ in range(3))
        value = max(-1.0, min(1.0, 0.5 * a - 0.3 * b + 0.1 * e))
        number.append(f"{a},{b},{value}")
        classes.append(f"{a},{b},{'yes' if value > 0 else 'no'}")
    open(f"{work}/{name}.classes.csv", "w").write("\n".join(classes) + "\n")
    open(f"{work}/{name}.number.csv", "w").write("\n".join(number) + "\n")
PY

# Two ports below those that the system hands out, so that nobody else is given them meanwhile.
ports() {
    python3 - <<'PY'
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
}

# A member of the study $1 in the background; its number is left in `member`.
start() {
    local study="$1" name="$2" table="$3"
    case "$name" in
        north | south) "$privet" party serve "$work/$study/$name" --joint-program "$program" >> "$work/$study.$name.log" 2>&1 & ;;
        *) "$privet" party train "$work/$study/$name" --data "$work/$name.$table.csv" --out "$work/$study.$name.json" \
            >> "$work/$study.$name.log" 2>&1 & ;;
    esac
    member=$!
    started+=("$member")
}

# A study, its table, when its server south is killed (never, drawing or drawn), and what is asked for.
study() {
    local study="$1" table="$2" when="$3"
    shift 3
    local north south
    read -r north south < <(ports)
    "$privet" party init "$work/$study" --schema "$work/$table.toml" --epsilon 2 --delta 1e-6 --patience 60 --noise joint "$@" \
        --party clinic=1500 --party hospital=300 --party ward=2200 \
        --server north=127.0.0.1:"$north" --server south=127.0.0.1:"$south" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    declare -A process
    local begun
    begun=$(date +%s%N)
    for name in north south clinic hospital ward; do
        start "$study" "$name" "$table"
        process[$name]=$member
    done
    if [[ "$when" != never ]]; then
        # While the first round is drawn it is written down that it was begun; once all are drawn, that they are.
        local sign="noise-attempts"
        [[ "$when" == drawn ]] && sign="noise-ready"
        for _ in $(seq 1 3000); do
            [[ -e "$work/$study/south/state/$sign" ]] && break
            sleep 0.02
        done
        kill -KILL "${process[south]}"
        wait "${process[south]}" 2> /dev/null || true
        start "$study" south "$table"
        process[south]=$member
        echo "parties-joint: $study: killed server south ($when), and started it again"
    fi
    for name in north south clinic hospital ward; do
        wait "${process[$name]}" || { echo "parties-joint: $study: $name ended badly"; tail -n 5 "$work/$study".*.log; exit 1; }
    done
    local milliseconds=$(( ($(date +%s%N) - begun) / 1000000 ))
    for name in clinic hospital ward; do
        "$privet" verify "$work/$study.$name.json" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    done
    grep -q "draw the noise together" "$work/log" || { echo "parties-joint: verify does not say who drew"; cat "$work/log"; exit 1; }
    python3 - "$work" "$study" "$milliseconds" "$when" <<'PY'
import glob, json, os, sys

work, study, seconds, when = sys.argv[1], sys.argv[2], int(sys.argv[3]) / 1000, sys.argv[4]
models = [json.load(open(f"{work}/{study}.{name}.json")) for name in ("clinic", "hospital", "ward")]
bodies = [{k: v for k, v in model.items() if k != "certificate"} for model in models]
assert all(body == bodies[0] for body in bodies), "not everyone has the same result"
request = models[0]["certificate"]["request"]
assert request["among"]["noise"] == "joint", request["among"]
assert "joint-gaussian" in json.dumps(models[0]["certificate"]["events"])
rounds = 0
for server in ("north", "south"):
    files = sorted(glob.glob(f"{work}/{study}/{server}/state/noise-0*"))
    openings = glob.glob(f"{work}/{study}/{server}/state/opening-*")
    assert len(files) == len(openings) > 0
    rounds = len(files)
    for path in files:
        assert os.stat(path).st_mode & 0o777 == 0o600, path
        # Head and no numbers: what was used is not there any more.
        assert os.path.getsize(path) < 200 and open(path, "rb").read()[-4:] == bytes(4), path
    attempts = json.load(open(f"{work}/{study}/{server}/state/noise-attempts"))
    assert all(1 <= count <= 2 for count in attempts), attempts
    if when == "drawing" and server == "north":
        assert max(attempts) == 2, attempts
print(f"parties-joint: {study}: {rounds} rounds, {request['among']}: verified, the same for all, in {seconds:.1f} s")
PY
}

study moments number never --method ssp --loss squared
study descent classes drawing --method gd --set steps=3
study counted classes drawn --count-by y

# Without the program nothing is begun.
read -r north south < <(ports)
"$privet" party init "$work/without" --schema "$work/classes.toml" --epsilon 1 --delta 1e-6 --noise joint --count-by y \
    --party clinic=1500 --server north=127.0.0.1:"$north" --server south=127.0.0.1:"$south" > "$work/log" 2>&1
if "$privet" party serve "$work/without/north" --joint-program "$work/none" > "$work/log" 2>&1; then
    echo "parties-joint: a server began without the program"
    exit 1
fi
grep -q "cargo build" "$work/log" || { cat "$work/log"; exit 1; }
echo "parties-joint: without the program a server says how to build it"
