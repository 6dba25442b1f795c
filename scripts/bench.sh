#!/usr/bin/env bash
# Runs the named suites, or `default` and `race`, then writes docs/results.md and target/bench/results.html
# from everything under target/bench. What was measured before is kept: a suite is taken up where it
# ended. Give the machine nothing else to do meanwhile. PRIVET_DATA names the folder with the originals.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${PRIVET_DATA:-../shared/data}"
work="target/bench"
suites=("$@")
[ "${#suites[@]}" -gt 0 ] || suites=(default race)

cargo build --release --locked --quiet -p privet-bench
bench="${CARGO_TARGET_DIR:-target}/release/privet-bench"
for suite in "${suites[@]}"; do
    echo "== $suite"
    "$bench" run "$suite" --data "$data" --cache "$work/data" --out "$work/$suite" --resume
done

folders=()
for suite in default iyengar-logistic iyengar-huber jain-thakurta race; do
    [ ! -f "$work/$suite/results.jsonl" ] || folders+=("$work/$suite")
done
"$bench" report "${folders[@]}" --html --out "$work/results.html" --force
"$bench" report "${folders[@]}" --markdown --short --out docs/results.md --force
"$bench" report "${folders[@]}" --csv --out docs/results.csv --force
echo "== docs/results.md and $work/results.html written"
# Ends with code 1 and the name of each target that is missed.
[ ! -f "$work/default/results.jsonl" ] || "$bench" check default --out "$work/default"
