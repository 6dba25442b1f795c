#!/usr/bin/env bash
# Kills a paying command at KILLS random instants (1000 unless given) with SIGKILL, and holds the ledger against
# what was released. After every kill:
#   - the chain holds, every price is found again, and the limit is not exceeded;
#   - every file that was released fits an entry of the ledger that counts as spent.
# At the end: as many whole releases are on disk as entries say they were made, or fewer (a crash can waste
# budget, never hide spending), and a reservation that a kill left can be freed.
#
#   scripts/ledger-kill.sh [KILLS] [path of privet]
set -euo pipefail
cd "$(dirname "$0")/.."

kills="${1:-1000}"
privet="${2:-target/debug/privet}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PRIVET_LEDGER= USER=killer
unset PRIVET_LEDGER

cat > "$work/schema.toml" <<'TOML'
[clip]
norm = "l2"
radius = 1.0
[target]
column = "ill"
classes = ["no", "yes"]
[[columns]]
name = "smokes"
type = "binary"
values = ["no", "yes"]
TOML
awk 'BEGIN { srand(1); print "smokes,ill"; for (i = 0; i < 2000; i++)
    print (rand() < .3 ? "yes" : "no") "," (rand() < .1 ? "yes" : "no") }' > "$work/table.csv"
mkdir "$work/released"
ledger="$work/privet.ledger"
"$privet" budget open "$work/table.csv" --schema "$work/schema.toml" --epsilon 50 --delta 1e-6 > "$work/log"

release() {
    exec "$privet" count "$work/table.csv" --schema "$work/schema.toml" --by smokes --epsilon 0.01 \
        --rows 2000 --purpose "kill $1" --out "$work/released/$1.json" > "$work/log" 2>&1
}

# How long a whole one takes, in microseconds: instants are drawn up to a little more.
start=$(date +%s%N)
(release 0)
whole=$(( ($(date +%s%N) - start) / 1000 ))

ended=0
for number in $(seq 1 "$kills"); do
    (release "$number") &
    victim=$!
    wait_for=$(( (RANDOM * 32768 + RANDOM) % (whole * 5 / 4 + 1) ))
    sleep "$(printf '%d.%06d' $((wait_for / 1000000)) $((wait_for % 1000000)))"
    kill -KILL "$victim" 2> /dev/null || ended=$((ended + 1))
    wait "$victim" 2> /dev/null || true
    # What is half-written has another name, and is no release.
    find "$work/released" -type f ! -name '*.json' -delete
    if (( number % 10 == 0 || number == kills )); then
        "$privet" budget verify "$ledger" --certificates "$work/released" > "$work/log" 2>&1 ||
            { cat "$work/log"; echo "ledger-kill: the ledger does not hold after kill $number"; exit 1; }
    fi
done

"$privet" budget history "$ledger" --json > "$work/history.json"
python3 - "$work" "$kills" "$ended" <<'PY'
import json, os, sys

work, kills, ended = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
history = json.load(open(f"{work}/history.json"))
released = {name[:-5] for name in os.listdir(f"{work}/released")}
states = {}
for entry in history:
    states[entry["state"]] = states.get(entry["state"], 0) + 1
    entry["number"] = entry["purpose"].removeprefix("kill ")
spent = {entry["number"] for entry in history if entry["state"] in ("drawn", "settled")}
hidden = released - spent
assert not hidden, f"released and not in the ledger: {sorted(hidden)}"
assert states.get("void", 0) == 0, "a killed process voids nothing"
print(
    f"ledger-kill: {kills} kills ({ended} came after the end): {len(released)} releases on disk, "
    f"{states.get('settled', 0)} settled, {states.get('drawn', 0)} drawn and cut off, "
    f"{states.get('reserved', 0)} reserved and cut off; none hidden"
)
left = [entry["entry"] for entry in history if entry["state"] == "reserved"]
print(left[0] if left else "", file=open(f"{work}/left", "w"))
PY
left="$(cat "$work/left")"
if [[ -n "$left" ]]; then
    "$privet" budget void "$ledger" "$left" > /dev/null
fi
"$privet" budget verify "$ledger" --certificates "$work/released" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
