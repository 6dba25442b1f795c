#!/usr/bin/env bash
# Regenerates every golden vector with the script beside it, in a copy, and compares the result with
# what is committed: numbers to 12 digits, tables cell by cell, anything else byte by byte.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/venv.sh scripts/requirements-vectors.txt
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

for folder in $(find crates -type d -name vectors -not -path '*/target/*' | sort); do
    copy="$work/$folder"
    mkdir -p "$copy"
    cp "$folder"/* "$copy/"
    for script in "$copy"/*.py; do
        [ -e "$script" ] || continue
        echo "== ${script#"$work"/}"
        (cd "$copy" && "$OLDPWD/.venv/bin/python" "$(basename "$script")")
    done
    .venv/bin/python scripts/compare_vectors.py "$folder" "$copy"
done
