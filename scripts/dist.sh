#!/usr/bin/env bash
# Packs the command for those without Rust, into dist/: a static binary, completions, manual pages, checksums.
# Where the musl target (rustup target add x86_64-unknown-linux-musl) cannot be installed it ends with 3 and packs nothing;
# DYNAMIC=1 packs a binary that needs this system's C library instead, and says so in its name.
set -euo pipefail
cd "$(dirname "$0")/.."

CARGO="${CARGO:-cargo}"
machine="$(uname -m)"
target="$machine-unknown-linux-musl"
scripts/venv.sh scripts/requirements-dist.txt
export PATH="$PWD/.venv/bin:$PATH"
if rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" >/dev/null 2>&1; then
    "$CARGO" zigbuild --locked --profile dist --target "$target" -p privet-cli
    binary="target/$target/dist/privet" kind=static
    # Of a static binary ldd itself ends with 1.
    asked="$(ldd "$binary" 2>&1 || true)"
    if ! grep -q -e 'not a dynamic executable' -e 'statically linked' <<<"$asked"; then
        echo "$binary: asks for shared libraries; a static binary asks for none" >&2
        exit 1
    fi
elif [[ "${DYNAMIC:-}" != 1 ]]; then
    echo "the target $target cannot be installed here, and nothing is packed; DYNAMIC=1 packs a binary that is not static" >&2
    exit 3
else
    echo "NOT STATIC: the binary needs this system's C library" >&2
    "$CARGO" build --locked --profile dist -p privet-cli
    binary=target/dist/privet kind=dynamic
fi
version="$("$binary" --version | awk '{ print $2 }')"
name="privet-$version-$machine-linux-$kind"
folder="dist/$name"
rm -rf "$folder"
mkdir -p "$folder/completions" "$folder/man"
cp "$binary" README.md LICENSE-MIT LICENSE-APACHE "$folder/"
for shell in bash zsh fish; do
    "$binary" completions "$shell" >"$folder/completions/privet.$shell"
done
"$binary" man --out "$folder/man"
tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime='1980-01-01' -czf "dist/$name.tar.gz" "$name"
rm -rf "$folder"
(cd dist && sha256sum "$name.tar.gz" >"SHA256SUMS-$kind" && cat "SHA256SUMS-$kind")
