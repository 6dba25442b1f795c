#!/usr/bin/env bash
# Writes the types of the extension, read off the extension itself, and those of the classes that are made of what families
# declare, beside their modules; with --check, which is for a package that is installed, says whether they are there.
set -euo pipefail
cd "$(dirname "$0")/.."

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
maturin=(--quiet --profile dev --features as-tested --manifest-path python/Cargo.toml --out)
if [ "${1:-}" != --check ]; then
    .venv/bin/maturin build "${maturin[@]}" "$out"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$out"/privet-*.whl
fi
.venv/bin/maturin generate-stubs "${maturin[@]}" "$out/read"
.venv/bin/python scripts/stub.py "$out/read" > "$out/_privet.pyi"
.venv/bin/python scripts/stub_families.py > "$out/families.pyi"
for stub in _privet families; do
    if [ "${1:-}" != --check ]; then
        cp "$out/$stub.pyi" "python/python/privet/$stub.pyi"
    elif ! diff -u "python/python/privet/$stub.pyi" "$out/$stub.pyi"; then
        echo "$stub.pyi is not that of the extension; 'make stub' writes it" >&2
        exit 1
    fi
done
