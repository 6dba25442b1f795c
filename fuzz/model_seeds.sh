#!/usr/bin/env bash
# Trains the valid model seeds into fuzz/corpus/model, then derives the damaged ones (seeds.py).
# Run after a change of the model file's form: fuzz/model_seeds.sh
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet -p privet-cli
privet="${CARGO_TARGET_DIR:-target}/debug/privet"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
out=fuzz/corpus/model
mkdir -p "$out"
rm -f "$out"/valid-*.json

schema() {
    printf 'bias = true\n[clip]\nnorm = "l2"\nradius = 1.0\n[target]\ncolumn = "y"\n%s\n' "$1"
    printf '[[columns]]\nname = "a"\ntype = "number"\nbounds = [0, 1]\n'
}
schema 'classes = ["no", "yes"]' >"$work/two.toml"
schema 'classes = ["no", "yes", "perhaps"]' >"$work/three.toml"
schema 'bounds = [0, 10]' >"$work/number.toml"
printf 'a,y\n0.1,no\n0.9,yes\n0.4,no\n0.7,yes\n' >"$work/two.csv"
printf 'a,y\n0.1,no\n0.9,yes\n0.4,perhaps\n0.7,yes\n' >"$work/three.csv"
printf 'a,y\n0.1,1\n0.9,9\n0.4,3.5\n0.7,7\n' >"$work/number.csv"

train() {
    local name="$1" kind="$2"
    shift 2
    "$privet" train "$work/$kind.csv" --schema "$work/$kind.toml" --epsilon 1 "$@" \
        --out "$work/$name.json" >/dev/null
    cp "$work/$name.json" "$out/valid-$name.json"
    chmod 644 "$out/valid-$name.json"
}
train amp two --delta 1e-5
train add-remove two --delta 1e-5 --neighbours add-remove --rows 4
train pure two --delta 0
train output two --delta 1e-5 --method output
train objective-huber two --delta 1e-5 --method objective --loss huber-svm
train printed two --delta 1e-5 --method amp --calibration printed
train three-classes three --delta 1e-5
train number number --delta 1e-5
"$privet" keygen --out "$work/key" >/dev/null
train signed two --delta 1e-5 --sign "$work/key"
# Format 1, which is no longer written.
golden=crates/privet-learn/tests/golden/0.1.1
for name in amp-logistic-replace-one-2-approximate linear-squared-add-remove-3-pure; do
    cp "$golden/$name.json" "$out/valid-format-1-$name.json"
done

python3 fuzz/seeds.py
