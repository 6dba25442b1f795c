#!/usr/bin/env bash
# The first day with a table of patients, by README and guide alone: Diabetes 130-US from its CSV to a model that protects
# patients whole, with intervals, a private evaluation, a page to sign and an ONNX file. What may be spent in all is named
# at the start, and checked at the end.
#
#   scripts/walk.sh [path of privet] [folder of diabetes-130] [folder to leave it in]
set -euo pipefail
cd "$(dirname "$0")/.."

privet="$(realpath "${1:-target/debug/privet}")"
data="${2:-../shared/data/diabetes-130}"
total=2
if [[ ! -f "$data/diabetic_data.csv.zst" ]]; then
    echo "SKIPPED: $data/diabetic_data.csv.zst is absent"
    exit 0
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

# Every command, what it says, and how long it took.
go() {
    echo "\$ privet $*"
    local start="$SECONDS"
    "$privet" "$@" 2>&1
    echo "  ($((SECONDS - start)) s)"
}

# A patient goes to one part with all her visits.
go split visits.csv --test 0.2 --unit patient_nbr --out-train train.csv --out-test test.csv

# How many rows there are is private where a patient may have several: about 80,000 and 20,000 are declared.
people=(--unit patient_nbr --max-records 2)
go schema new train.csv --target readmitted "${people[@]}" --rows 80000 --epsilon 0.3 \
    --categories admission_type_id,discharge_disposition_id,admission_source_id,diag_1,diag_2,diag_3 \
    --leave-out encounter_id,weight --out schema.toml --certificate outline.json

# Readmitted within 30 days, or not: what is asked is for us to say.
python3 - <<'PY'
import re

text = open("schema.toml").read()
text, found = re.subn(r"classes = \[[^]]*\]", 'classes = ["later", "<30"]\nothers = "later"', text, count=1)
assert found == 1, text[:2000]
open("schema.toml", "w").write(text)
PY
go schema check schema.toml
go plan --schema schema.toml --rows 80000 --epsilon 1.2
go train train.csv --schema schema.toml --rows 80000 --epsilon 1.2 --out model.json
go verify model.json
go inspect model.json
go evaluate model.json test.csv --rows 20000 --epsilon 0.5 --out worth.json
go report model.json --html model.html
go export model.json --to onnx --out model.onnx
go total outline.json model.json worth.json

"$privet" total outline.json model.json worth.json --json | python3 -c "
import json, sys
whole = json.load(sys.stdin)['epsilon']
assert whole <= $total + 1e-9, whole
print(f'in all: epsilon = {whole:.3f}, of $total that were named')"
for file in schema.toml outline.json model.json worth.json model.html model.onnx; do
    test -s "$file"
done
