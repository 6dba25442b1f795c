#!/usr/bin/env bash
# Whether what `make test` builds one by one (the wheel, one learner's tests) asks the same features of every crate as the
# whole workspace does: with others, that crate and all that depend on it would be built a second time. The command is built
# a second time on purpose: the package's has no catalog.
set -euo pipefail
cd "$(dirname "$0")/.."

crates() { "${CARGO:-cargo}" tree --locked --prefix none -f '{p} [{f}]' "$@" | sed 's/ (\*)$//' | sort -u; }
workspace=$(crates --workspace -e normal,build,dev)

alone() {
    local differ
    differ=$(comm -13 <(echo "$workspace") <(crates "$@") | grep -v '^privet-python \|^privet-cli ' || true)
    if [ -n "$differ" ]; then
        echo "built a second time by '$*', with other features than the workspace (mend \`as-tested\` in python/Cargo.toml):" >&2
        echo "$differ" >&2
        exit 1
    fi
}
alone -p privet-python --features as-tested -e normal,build
alone -p privet-python -p privet-learn --features privet-python/as-tested -e normal,build,dev
