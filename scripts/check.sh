#!/usr/bin/env bash
# Runs the named stages of `make test` in order and prints the minutes each one took.
# All stages share one profile (dev), one target folder and one set of features (same_build.sh); the first failure ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."

CARGO="${CARGO:-cargo}"
PYTHON="${PYTHON:-python3}"

stage_fmt() {
    "$CARGO" fmt --all -- --check
}

# The command a second time as the Python package has it: without the catalog of public sets. Kernels for a device are compiled, which
# takes no toolkit of it.
stage_lint() {
    scripts/same_build.sh
    "$CARGO" clippy --locked --workspace --all-targets -- -D warnings
    "$CARGO" clippy --locked -p privet-nn --features gpu --all-targets -- -D warnings
    "$CARGO" clippy --locked -p privet-cli --no-default-features --features parquet --all-targets -- -D warnings
}

stage_doc() {
    RUSTDOCFLAGS="-D warnings" "$CARGO" doc --locked --workspace --no-deps
}

# Unit, property, statistical, golden-vector and end-to-end tests, and the replay of the fuzz corpus.
# The Python extension has no test program of its own: it is tested from Python.
stage_test() {
    "$CARGO" test --locked --workspace --tests --examples
    scripts/ledger-kill.sh 60
    scripts/parties.sh
    scripts/walk.sh
}

# Compile-fail tests of the gate included.
stage_doctest() {
    "$CARGO" test --locked --workspace --doc
}

stage_fuzz-replay() {
    "$CARGO" test --locked --workspace --test replay --test mutate
}

# The wheel, built with the profile of every other stage into .venv; then whether the types of the extension are those that
# it has, its tests, scikit-learn's own checks among them, and the examples in its documentation.
stage_python() {
    local scripts wheels=target/wheels
    mapfile -t scripts < <(find crates fuzz python scripts -name '*.py' -not -path '*/target/*' | sort)
    "$PYTHON" - "${scripts[@]}" <<'PY'
import ast, pathlib, sys

for name in sys.argv[1:]:
    ast.parse(pathlib.Path(name).read_text(encoding="utf-8"), filename=name)
print(f"{len(sys.argv) - 1} Python scripts parse")
PY
    scripts/venv.sh python/requirements-test.txt
    rm -rf "$wheels"
    .venv/bin/maturin build --quiet --profile dev --features as-tested --manifest-path python/Cargo.toml --out "$wheels"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/privet-*.whl
    scripts/stub.sh --check
    .venv/bin/stubtest privet._privet
    (
        cd python
        ../.venv/bin/python -m pytest -q -p no:cacheprovider tests
        ../.venv/bin/python -m pytest -q -p no:cacheprovider --doctest-modules --pyargs privet
    )
}

# Licences, bans and sources need no network. The advisory database does; without it that one
# check is skipped, and says so.
stage_deny() {
    if ! command -v cargo-deny >/dev/null; then
        echo "SKIPPED: cargo-deny is not installed; 'make deny' installs it"
        return
    fi
    "$CARGO" deny --locked check licenses bans sources
    local log
    log="$(mktemp)"
    if "$CARGO" deny --locked fetch db >"$log" 2>&1; then
        "$CARGO" deny --locked check --disable-fetch advisories
    else
        echo "SKIPPED: advisories: the advisory database could not be fetched"
        tail -n 3 "$log"
    fi
    rm -f "$log"
}

summary=()
report() {
    local status=$?
    echo
    [ "${#summary[@]}" -eq 0 ] || (IFS=,; echo "${summary[*]}" | sed 's/,/, /g')
    if [ "$status" -ne 0 ]; then
        echo "FAILED: ${current:-nothing run}"
    fi
}
trap report EXIT

for current in "$@"; do
    if ! declare -F "stage_$current" >/dev/null; then
        echo "no such stage: $current" >&2
        exit 2
    fi
    echo "== $current"
    start=$SECONDS
    "stage_$current"
    summary+=("$current $(awk -v s=$((SECONDS - start)) 'BEGIN { printf "%.1f", s / 60 }') min")
done
