#!/usr/bin/env bash
# The first day with a table of patients: Diabetes 130-US from its CSV to a model that protects patients whole, with
# intervals, a private evaluation, a page to sign and an ONNX file. The commands are those of docs/guide.md, "People with
# several rows", read from there. What may be spent in all is checked at the end, and so is how many commands were refused.
#
#   scripts/walk.sh [path of privet] [folder of diabetes-130] [folder to leave it in]
#
# Without the data it says SKIPPED; with PRIVET_REQUIRE_DATA=1 it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

binary="$(realpath "${1:-target/debug/privet}")"
data="${2:-../shared/data/diabetes-130}"
total=2      # epsilon of everything
accepted=1   # refused commands on the way
if [[ ! -f "$data/diabetic_data.csv.zst" ]]; then
    echo "SKIPPED: $data/diabetic_data.csv.zst is absent"
    [[ "${PRIVET_REQUIRE_DATA:-}" != 1 ]]
    exit
fi
lines="$(awk '/^## / { here = /^## People with several rows/ } here && /^```/ { open = !open && /^```sh/; next } here && open' docs/guide.md)"
if [[ "$(grep -c '^privet ' <<<"$lines")" -lt 10 ]]; then
    echo "docs/guide.md: the walk is not there, or not in blocks of sh" >&2
    exit 1
fi
if [[ -n "${3:-}" ]]; then
    work="$3"
    mkdir -p "$work"
else
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
fi
zstd -q -dc "$data/diabetic_data.csv.zst" > "$work/visits.csv"
cd "$work"

# Every command, what it says, how it ended and how long it took.
commands=0 refused=0 begun="$EPOCHREALTIME"
privet() {
    echo "\$ privet $*"
    local start="$EPOCHREALTIME" code=0
    "$binary" "$@" 2>&1 || code=$?
    commands=$((commands + 1))
    if [[ "$code" -ne 0 ]]; then
        refused=$((refused + 1))
    fi
    awk -v a="$start" -v b="$EPOCHREALTIME" -v code="$code" 'BEGIN { printf "  (%.1f s, ended with %d)\n", b - a, code }'
}
eval "$lines"

whole="$("$binary" total outline.json model.json worth.json --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["epsilon"])')"
awk -v whole="$whole" -v total="$total" -v n="$commands" -v refused="$refused" -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN {
    printf "in all: epsilon = %.3f, of %g that were named; %d commands, %d refused, %.1f s\n", whole, total, n, refused, b - a
    exit !(whole <= total + 1e-9)
}'
for file in schema.toml outline.json model.json worth.json model.html model.onnx; do
    test -s "$file"
done
if [[ "$refused" -gt "$accepted" ]]; then
    echo "$refused commands were refused; at most $accepted is accepted" >&2
    exit 1
fi
