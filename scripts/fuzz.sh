#!/usr/bin/env bash
# Fuzzes each named target for the given number of seconds: scripts/fuzz.sh SECONDS TARGET...
# New inputs go to fuzz/found (not committed); crashes to fuzz/artifacts. After fixing one, move the
# crashing input into fuzz/corpus/TARGET so that `make test` replays it for ever.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="$1"
shift
toolchain="${FUZZ_TOOLCHAIN:-nightly}"
if ! cargo "+$toolchain" --version >/dev/null 2>&1; then
    echo "fuzzing needs a $toolchain compiler: rustup toolchain install $toolchain" >&2
    exit 3
fi
command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz

for target in "$@"; do
    echo "== $target, $seconds s"
    mkdir -p "fuzz/found/$target"
    cargo "+$toolchain" fuzz run "$target" "fuzz/found/$target" "fuzz/corpus/$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1
done
