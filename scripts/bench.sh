#!/usr/bin/env bash
# Every race in one run: ours, then the peers (in .venv), then docs/results.md from both. Give the
# machine nothing else to do meanwhile. PRIVET_DATA names the folder with the originals of Adult.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${PRIVET_DATA:-../shared/data}"
work="target/bench"
lines="$work/lines.jsonl"
mkdir -p "$work"
: > "$lines"

echo "== samplers"
cargo bench --locked --profile dev -p privet-dp --bench samplers | tee -a "$lines"
scripts/venv.sh scripts/requirements-bench.txt
echo "== samplers, peers"
.venv/bin/python crates/privet-bench/peers/samplers_opendp.py | tee -a "$lines"

echo "== accountant"
cargo run --locked --quiet -p privet-bench -- accountant | tee "$work/accountant.jsonl"
echo "== accountant, peers"
.venv/bin/python crates/privet-bench/peers/accountant.py "$work/accountant.jsonl" | tee -a "$work/accountant.jsonl"
cat "$work/accountant.jsonl" >> "$lines"

if [ -d "$data/adult" ]; then
    echo "== fit"
    cargo run --locked --quiet -p privet-cli -- data prepare adult --from "$data" --out "$work/adult"
    cargo run --locked --quiet -p privet-bench -- fit "$work/adult" "$work/adult.svm" | tee "$work/fit.jsonl"
    echo "== fit, peers"
    .venv/bin/python crates/privet-bench/peers/fit.py "$work/adult.svm" "$work/fit.jsonl" | tee -a "$work/fit.jsonl"
    cat "$work/fit.jsonl" >> "$lines"
else
    echo "SKIPPED: the fit race needs the originals of Adult in $data/adult (privet data list)"
fi

echo "== accuracy of the default"
cargo run --locked --quiet -p privet-bench -- accuracy "$data" "$work" "${RUNS:-10}" | tee "$work/accuracy.jsonl"
cat "$work/accuracy.jsonl" >> "$lines"

cpu="$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
head="$(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD), $(nproc) cores (${cpu:-unknown}), $(rustc --version)."
cargo run --locked --quiet -p privet-bench -- report "$lines" "$head" > "$work/results.md"
mv "$work/results.md" docs/results.md
echo "== docs/results.md written"
