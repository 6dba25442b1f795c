#!/usr/bin/env bash
# Adult from Python beside diffprivlib, written into docs/python.md. Builds the package as users get it (release), or takes the
# wheel that PRIVET_WHEEL names: one of this commit, since the page states it. Give the machine nothing else to do meanwhile. PRIVET_DATA names the folder with the originals.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${PRIVET_DATA:-../shared/data}"
peer="target/bench/diffprivlib"
adult="target/bench/adult-python"
scripts/venv.sh python/requirements-test.txt
.venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "${PRIVET_WHEEL:-./python}"
"${CARGO:-cargo}" run --release --quiet -p privet-cli -- data prepare adult --from "$data" --out "$adult" --force
[ -x "$peer/bin/python" ] || "${PYTHON:-python3}" -m venv "$peer"
"$peer/bin/python" -m pip install --quiet --disable-pip-version-check -r python/benchmarks/requirements-peer.txt
.venv/bin/python python/benchmarks/adult.py --data "$adult" --peer "$peer/bin/python" --runs "${RUNS:-10}" --page docs/python.md
