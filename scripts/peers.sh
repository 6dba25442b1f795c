#!/usr/bin/env bash
# The true ε of published settings, by the accountant: writes docs/peers.md.
set -euo pipefail
cd "$(dirname "$0")/.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
head="$(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD)."
cargo run --release --locked --quiet -p privet-audit -- peers "$head" > "$work/peers.md"
mv "$work/peers.md" docs/peers.md
echo "== docs/peers.md written"
