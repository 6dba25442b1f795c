#!/usr/bin/env bash
# Builds the Python wheel for any Linux of the last years (tagged manylinux) and checks the tag, into dist/.
# The linker is zig's, from PyPI, which knows the C libraries of old systems: the wheel needs none newer.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/venv.sh scripts/requirements-dist.txt
# The linker is looked for by the python3 of the path.
export PATH="$PWD/.venv/bin:$PATH"
mkdir -p dist
rm -f dist/privet-*.whl
.venv/bin/maturin build --profile dist --zig --compatibility "${MANYLINUX:-manylinux_2_28}" \
    --manifest-path python/Cargo.toml --out dist
for wheel in dist/privet-*.whl; do
    told="$(.venv/bin/python -m auditwheel show "$wheel")"
    echo "$told"
    if ! grep -q manylinux <<<"$told"; then
        echo "$wheel: auditwheel finds no manylinux tag that it is consistent with" >&2
        exit 1
    fi
done
(cd dist && sha256sum privet-*.whl >SHA256SUMS-wheels)
