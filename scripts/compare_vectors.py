"""Compares two folders of golden vectors: compare_vectors.py COMMITTED REGENERATED"""

import json
import pathlib
import sys

DIGITS = 1e-12


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or abs(a - b) <= DIGITS * max(abs(a), abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


def equal(committed, regenerated):
    if committed.suffix == ".json":
        return same(json.loads(committed.read_text()), json.loads(regenerated.read_text()))
    if committed.suffix == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(committed).equals(
            pyarrow.parquet.read_table(regenerated)
        )
    return committed.read_bytes() == regenerated.read_bytes()


def main():
    committed, regenerated = map(pathlib.Path, sys.argv[1:3])
    names = {path.name for folder in (committed, regenerated) for path in folder.iterdir()}
    wrong = [
        name
        for name in sorted(names)
        if not (committed / name).is_dir()
        and not name.startswith("__")
        and not (
            (committed / name).exists()
            and (regenerated / name).exists()
            and equal(committed / name, regenerated / name)
        )
    ]
    for name in wrong:
        print(f"DIFFERS: {committed / name}")
    if not wrong:
        print(f"{committed}: as committed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
