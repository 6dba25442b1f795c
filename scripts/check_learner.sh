#!/usr/bin/env bash
# What concerns one learner, or one family: its unit tests, its part of the battery with its golden numbers, and its lines of
# the table of coverage. `make check LEARNER=dp-ight`; several are separated by commas. WHOLE=1 runs its file of tests/all too.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
learn=crates/privet-learn
: "${LEARNER:?make check LEARNER=NAME, a name of \`privet methods\` or of a family}"
export LEARNER

modules=() files=()
for name in ${LEARNER//,/ }; do
    golden=$learn/tests/battery/golden/$name.json
    found=$(grep -rlE "^    (name: |const NAME: &'static str = )\"${name#complete-}\"[,;]" $learn/src || true)
    if [ -z "$found" ] || [ ! -f "$golden" ] && [ ! -f "$learn/tests/battery/golden/complete-$name.json" ]; then
        echo "no learner or family '$name' with golden numbers; there are:" >&2
        (cd $learn/tests/battery/golden && printf '%s\n' *.json | sed 's/\.json$//' | grep -v '^conditions$' | paste -sd ' ') >&2
        exit 2
    fi
    for file in $found; do
        module=${file#"$learn/src/"} module=${module%.rs}
        module=${module%/mod} modules+=("${module//\//::}::")
    done
    tests=$learn/tests/all/${name//-/_}.rs
    [ ! -f "$tests" ] || files+=("$(basename "$tests" .rs)::")
    echo "$name: $(echo $found)"
done

# One crate alone: the unit tests of no other are built. The extension stands beside it for its features alone
# (same_build.sh), so that `make test` and this share every crate below.
run() {
    local start=$SECONDS
    "$cargo" test --quiet --locked -p privet-learn -p privet-python --features privet-python/as-tested "$@" || exit
    echo "-- $((SECONDS - start)) s: $*"
}
run --lib --test battery --no-run
run --lib -- "${modules[@]}"
run --test battery
if [ "${#files[@]}" -gt 0 ]; then
    if [ -n "${WHOLE:-}" ]; then run --test all -- "${files[@]}"; else echo "not run: tests/all, ${files[*]} (WHOLE=1)"; fi
fi
echo "checked $LEARNER in $SECONDS s"
