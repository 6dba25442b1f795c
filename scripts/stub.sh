#!/usr/bin/env bash
# Writes the types of the extension, read off the extension itself, into python/python/privet/_privet.pyi; with --check, says
# whether that is what is there.
set -euo pipefail
cd "$(dirname "$0")/.."

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
.venv/bin/maturin generate-stubs --quiet --profile dev --manifest-path python/Cargo.toml --out "$out"
.venv/bin/python scripts/stub.py "$out" > "$out/_privet.pyi.new"
if [ "${1:-}" = --check ]; then
    diff -u python/python/privet/_privet.pyi "$out/_privet.pyi.new" || {
        echo "_privet.pyi is not that of the extension; 'make stub' writes it" >&2
        exit 1
    }
else
    cp "$out/_privet.pyi.new" python/python/privet/_privet.pyi
fi
