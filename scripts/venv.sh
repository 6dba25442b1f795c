#!/usr/bin/env bash
# Makes .venv if need be and installs into it what the named requirement files list.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -x .venv/bin/python ] || "${PYTHON:-python3}" -m venv .venv
arguments=()
for file in "$@"; do
    arguments+=(-r "$file")
done
.venv/bin/python -m pip install --quiet --disable-pip-version-check "${arguments[@]}"
