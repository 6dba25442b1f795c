"""Writes people.parquet with pyarrow (26.0): dictionary pages, nulls, zstd, an unused nested column.

Independent of privet. Run: python people.py
"""
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table(
    {
        "smokes": pa.array(["yes", "no", "no", "yes"]).dictionary_encode(),
        "notes": pa.array([[1], [], [2, 3], None], pa.list_(pa.int64())),
        "income": pa.array(["low", "high", "high", "low"]),
        "age": pa.array([60.0, None, 30.0, 240.0]),
        "town": pa.array(["york", "bath", "york", "hull"]),
        "work": pa.array(["private", "?", None, "mars"]),
    }
)
here = pathlib.Path(__file__).parent
pq.write_table(table, here / "people.parquet", compression="zstd", row_group_size=3)
