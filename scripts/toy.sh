#!/usr/bin/env bash
# A family is a file and a line, and so is a learner: in a copy of the tree the toys (crates/privet-learn/tests/toys) are put
# beside the others, and whatever is made of their declarations is looked for: in the command, the table of the docs, the
# battery, the audit and the Python package. TOY_FOLDER keeps the copy; VENV names the environment that has maturin.
set -euo pipefail
cd "$(dirname "$0")/.."

tree=$PWD
copy=${TOY_FOLDER:-$(mktemp -d)}
mkdir -p "$copy"
copy=$(cd "$copy" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"; [ -n "${TOY_FOLDER:-}" ] || rm -rf "$copy"' EXIT
# The copy is written beside, so that of a copy that is kept only what differs is built anew.
next=$work/tree
mkdir "$next"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from - -c --ignore-failed-read 2>/dev/null |
    tar -x -C "$next"
# What is built of the tree: libraries alone, and links in place of copies, since the compiler writes them anew.
built=${CARGO_TARGET_DIR:-$tree/target}/debug
if [ -d "$built/deps" ] && [ ! -d "$copy/target" ]; then
    mkdir -p "$copy/target/debug/deps"
    cp -a "$built/.fingerprint" "$built/build" "$copy/target/debug/"
    find "$built/deps" -maxdepth 1 \( -name '*.rlib' -o -name '*.rmeta' -o -name '*.so' \) -print0 |
        xargs -0 cp -l -t "$copy/target/debug/deps" 2>/dev/null ||
        find "$built/deps" -maxdepth 1 \( -name '*.rlib' -o -name '*.rmeta' -o -name '*.so' \) -exec cp -a -t "$copy/target/debug/deps" {} +
fi
unset CARGO_TARGET_DIR
cargo=${CARGO:-cargo}

cd "$next"
learn=crates/privet-learn
# A family: the file, which names the crate from outside, and the line, with where the file is.
sed 's/privet_learn::/crate::/' $learn/tests/toys/mean.rs > $learn/src/mean.rs
sed -i 's|^families! { \$|#[path = "mean.rs"]\npub mod mean;\n\nfamilies! { $\n    /// The toy.\n    Mean(mean::Mean), offered;|' \
    $learn/src/families.rs
# A learner: the same.
cp $learn/tests/toys/agreement.rs $learn/src/selection/
sed -i 's|^pub mod black_box;|pub mod agreement;\n&|' $learn/src/selection/mod.rs
sed -i 's|^    /// By association with the target.|    /// The toy.\n    Agreement(super::agreement::Agreement) = super::agreement::INFO, super::agreement::plan;\n&|' \
    $learn/src/selection/learners.rs

# In a fresh copy files are as old as what is built of them; what differs in one that was kept is new.
[ -d "$copy/crates" ] && as=(--preserve=mode) || as=(--archive)
find . -type f -print0 | while IFS= read -r -d '' file; do
    cmp -s "$file" "$copy/$file" || { mkdir -p "$copy/$(dirname "$file")"; cp "${as[@]}" "$file" "$copy/$file"; }
done
cd "$copy"

# What is said by a command must have these words.
says() {
    local words=$1 said
    shift
    said=$("$@" 2>&1) || { echo "toy: $* failed: $said" >&2; exit 1; }
    grep -qF -- "$words" <<< "$said" || { echo "toy: $* does not say '$words': $said" >&2; exit 1; }
}
step() {
    echo "toy: $* ($((SECONDS / 60)) min $((SECONDS % 60)) s)"
}

# All crates are named, as in `make test`: of fewer, dependencies would have other features and be built again.
all=(--quiet --locked --workspace)
"$cargo" build "${all[@]}" --bin privet --test battery --test audit
privet=$copy/target/debug/privet
step "the command and the tests are built"

cd "$work"
{ echo age,hours,y; for row in $(seq 0 999); do echo "$((row % 100)),$((row % 7)),$((row % 2))"; done; } > table.csv
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
[[columns]]
name = "hours"
type = "number"
bounds = [0, 6]
SCHEMA
sed 's/^bounds = \[0, 1\]/classes = ["0", "1"]/' s.toml > classes.toml
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
says "claimed: ε = 4" "$privet" audit --of mean --epsilon 4 --delta 0 --neighbours add-remove --runs 2000

head=(--schema classes.toml --epsilon 4 --size 1 --method agreement)
says "agreement" "$privet" select --help
says "what a record that agrees counts" "$privet" methods select
says "what a record that agrees counts" "$privet" methods --select
says "noise:" "$privet" select "${head[@]}" --set weight=3 --rows 1000 --plan
says "ε = 4" "$privet" select table.csv "${head[@]}" --ledger none --out columns.json
says "VALID" "$privet" verify columns.json
says "agreement" "$privet" inspect columns.json
says "claimed: ε = 4" "$privet" audit --of select:agreement --epsilon 4 --delta 0 --runs 2000
step "both have their words in the command: verb or --method, help, methods, plan, a release, verify, inspect, report, audit"

cd "$copy"
# The docs: rows of the table of methods.
test=("$cargo" test "${all[@]}")
"${test[@]}" --test battery write_the_reference -- --ignored > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -q '^| `agreement` |' docs/reference.md
grep -q '^- `weight`: what a record that agrees counts' docs/reference.md
grep -q '^### `agreement`' docs/reference.md
step "docs/reference.md has its rows"

# The battery: golden numbers are written, once; then every check, of the toys alone.
export LEARNER=mean,agreement
"${test[@]}" --test battery golden::write -- --ignored > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ -s $learn/tests/battery/golden/agreement.json ] && [ -s $learn/tests/battery/golden/mean.json ]
"${test[@]}" --test battery > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
unset LEARNER
grep -o '[0-9]* passed' "$work/log"
step "the battery holds of both"

# The audit: by their declarations, and not refuted.
"${test[@]}" --test audit declared > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
step "the audit finds nothing against either"

# Python: class, signature, stub, release.
venv=${VENV:-$tree/.venv}
if [ ! -x "$venv/bin/maturin" ]; then
    echo "toy: SKIPPED: Python: no $venv/bin/maturin ('make stub' makes .venv)"
    exit
fi
PATH=$venv/bin:$PATH "$venv/bin/maturin" build --quiet --profile dev --features as-tested --manifest-path python/Cargo.toml --out "$work/wheels"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/site" "$work"/wheels/privet-*.whl
export PYTHONPATH=$work/site
cd "$work"
"$venv/bin/python" - <<'PY'
import inspect

import privet
from privet import Schema, families, number

schema = Schema({"age": number(0, 100), "hours": number(0, 6)}, target="y", classes=["0", "1"])
table = {
    "age": [row % 100 for row in range(1000)],
    "hours": [row % 7 for row in range(1000)],
    "y": [str(row % 2) for row in range(1000)],
}
numbers = table | {"y": [row % 2 for row in range(1000)]}
assert {"PrivateMean", "PrivateSelect"} <= set(families.__all__), families.__all__
names = list(inspect.signature(families.PrivateMean).parameters)
assert names[0] == "epsilon" and "method" not in names, names
assert "the mean of the first column" in families.PrivateMean.__doc__
# By the schema of the command: under the usual bound on a row's norm the column would be another.
mean = families.PrivateMean(1, schema=Schema.load("s.toml"), neighbours="add-remove", n_rows=1000)
assert mean.plan()["guarantee"]["epsilon"] <= 1
mean.fit(numbers).save("mean.json", overwrite=True)
assert abs(mean.released_.numbers[0] / 1000 - 0.495) < 0.05, mean.released_
assert privet.verify("mean.json") and privet.load("mean.json").task == "mean"

assert '"agreement"' in families.PrivateSelect.__doc__
select = families.PrivateSelect(4, size=1, method="agreement", settings={"weight": 2}, schema=schema)
assert select.plan(1000)["guarantee"]["epsilon"] <= 4
select.fit(table).save("columns.json", overwrite=True)
assert privet.verify("columns.json") and len(select.released_.numbers) == 1
PY
"$venv/bin/python" "$copy/scripts/stub_families.py" > families.pyi
grep -q '^class PrivateMean(Releaser):' families.pyi
grep -A40 '^class PrivateSelect' families.pyi | grep -q '"agreement"'
step "Python has its class, signature and stub, and fits, writes and loads it"
echo "toy: a file and a line each, and there is all of it"
