#!/usr/bin/env bash
# Accuracy and every race in one run, then docs/results.md. The races make the peers' environments
# themselves, under target/bench. Give the machine nothing else to do meanwhile. PRIVET_DATA names the
# folder with the originals.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${PRIVET_DATA:-../shared/data}"
work="target/bench"
lines="$work/lines.jsonl"
mkdir -p "$work"
: > "$lines"

races=(accountant samplers growth)
if [ -d "$data/adult" ]; then
    races=(fit "${races[@]}")
else
    echo "SKIPPED: the fit race needs the originals of Adult in $data/adult (privet data list)"
fi
echo "== races: ${races[*]}"
cargo run --locked --quiet -p privet-bench -- race "$data" "$work" "${races[@]}" | tee -a "$lines"

echo "== accuracy of the default"
cargo run --locked --quiet -p privet-bench -- accuracy "$data" "$work" "${RUNS:-10}" | tee "$work/accuracy.jsonl"
cat "$work/accuracy.jsonl" >> "$lines"

cpu="$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
head="$(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD), $(nproc) cores (${cpu:-unknown}), $(rustc --version)."
cargo run --locked --quiet -p privet-bench -- report "$lines" "$head" > "$work/results.md"
mv "$work/results.md" docs/results.md
echo "== docs/results.md written"
