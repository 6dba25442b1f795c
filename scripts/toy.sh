#!/usr/bin/env bash
# A family is a file and a line: in a copy of the tree the toy family (crates/privet-learn/tests/toys) is put beside the others,
# the command is built, and whatever it makes of a declaration is looked for.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=${TOY_FOLDER:-$(mktemp -d)}
mkdir -p "$copy"
trap '[ -n "${TOY_FOLDER:-}" ] || rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | tar --null --files-from - -c --ignore-failed-read 2>/dev/null |
    tar -x -C "$copy"
cd "$copy"

# The file, which names the crate from outside, and the line, with where the file is.
cp crates/privet-learn/tests/toys/mean.rs crates/privet-learn/src/mean.rs
sed -i 's/privet_learn::/crate::/' crates/privet-learn/src/mean.rs
sed -i 's|^families! { \$|#[path = "mean.rs"]\npub mod mean;\n\nfamilies! { $\n    /// The toy.\n    Mean(mean::Mean), offered;|' \
    crates/privet-learn/src/families.rs

"${CARGO:-cargo}" build --quiet --locked -p privet-cli
privet=$PWD/${CARGO_TARGET_DIR:-target}/debug/privet
[ -x "$privet" ] || privet=${CARGO_TARGET_DIR:-target}/debug/privet

work=$(mktemp -d)
cd "$work"
{ echo age,y; for row in $(seq 0 999); do echo "$((row % 100)),0.5"; done; } > table.csv
cat > s.toml <<'SCHEMA'
[clip]
norm = "linf"
radius = 1.0
[target]
column = "y"
bounds = [0, 1]
[[columns]]
name = "age"
type = "number"
bounds = [0, 100]
SCHEMA

# What is said by a command must have these words.
says() {
    local words=$1 said
    shift
    said=$("$@" 2>&1) || { echo "toy: $* failed: $said" >&2; exit 1; }
    grep -qF -- "$words" <<< "$said" || { echo "toy: $* does not say '$words': $said" >&2; exit 1; }
}
head=(--schema s.toml --epsilon 1 --neighbours add-remove --rows 1000)
says "mean of the first column" "$privet" --help
says "tells of that record" "$privet" mean --help
says "noise: sum" "$privet" mean "${head[@]}" --plan
says "ε = 1" "$privet" mean table.csv "${head[@]}" --ledger none --out mean.json
says "VALID" "$privet" verify mean.json
says "as a share of its bounds" "$privet" inspect mean.json
says '"mean": 0.' "$privet" inspect mean.json --json
"$privet" methods mean > methods
"$privet" report mean.json --html mean.html 2> told
grep -q "as a share of its bounds" mean.html
"$privet" completions bash | grep -q mean
# Python: its class, signature and stub are looked for here once they are made of the declaration too.
cd / && rm -rf "$work"
echo "toy: a file and a line, and there are the verb, its help, plan, verify, inspect, report and completions"
