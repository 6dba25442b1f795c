#!/usr/bin/env bash
# The long audit: every learner, mechanism, sampler and the accountant; writes docs/audit.md. Ends with
# an error if a sound claim was refuted, a false one was not, or anything else did not fit. RUNS and SEED
# may be set; half an hour or more at the default on a small machine.
set -euo pipefail
cd "$(dirname "$0")/.."

runs="${RUNS:-50000}"
seed="${SEED:-1}"
cpu="$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
head="$(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD), $(nproc) cores (${cpu:-unknown}), $(rustc --version)."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

status=0
cargo run --release --locked --quiet -p privet-audit -- page "$head" "$runs" "$seed" > "$work/audit.md" || status=$?
if [ "$status" -ne 0 ] && [ "$status" -ne 1 ]; then
    exit "$status"
fi
mv "$work/audit.md" docs/audit.md
echo "== docs/audit.md written"
exit "$status"
