#!/usr/bin/env bash
# Samplers, fit, and the peers in the same run. One JSON object or line a measurement. Give the
# machine nothing else to do meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== samplers"
cargo bench --locked --profile dev -p privet-dp --bench samplers
echo "== fit"
cargo bench --locked --profile dev -p privet-optim --bench fit

scripts/venv.sh scripts/requirements-bench.txt
for peer in crates/privet-bench/peers/*.py; do
    echo "== $(basename "$peer" .py)"
    .venv/bin/python "$peer"
done
