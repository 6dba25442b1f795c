"""Columns of several partitions as one, of whatever type each partition has them.

A library that reads a partition by itself gives a column the type of the cells that it finds there: one empty cell makes
whole numbers fractions, one word makes them texts. No record may decide by that whether a table is read. So where types
differ, each cell stays what its own partition read it as, as in a column of objects (:mod:`privet._tables`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet import _tables, _units
from privet._cells import EXACT_BELOW, VOID


def joined(tables: list[list[Any]], unit: str | None, *, total: bool) -> list[Any]:
    """The columns of several tables, one after the other: by their names, since the order of a partition's columns may be
    that of its first record's keys."""
    # Whether blanks around a name count is the schema's to say: where they do, each has been refused.
    for written in (str, str.strip):
        named = [{written(column[0]): column for column in columns} for columns in tables]
        if all(set(columns) == set(named[0]) for columns in named):
            return [_column([columns[name] for columns in named], unit, total) for name in named[0]]
    raise ValueError("partitions have different columns; accepted are the schema's in each")


def _column(columns: list[Any], unit: str | None, total: bool) -> Any:
    name = columns[0][0]
    # A column without a single cell is of any type.
    kinds = {column[1] for column in columns if not _absent(column).all()} or {columns[0][1]}
    if kinds <= {"integer", "number"} and (len(kinds) == 1 or all(_exact(column) for column in columns)):
        kind = "integer" if kinds == {"integer"} else "number"
        typed = np.int64 if kind == "integer" else np.float64
        masks = [_absent(column) for column in columns]
        values = [
            np.zeros(len(mask), dtype=typed) if mask.all() else column[2].astype(typed, copy=False)
            for column, mask in zip(columns, masks, strict=True)
        ]
        return name, kind, np.concatenate(values), np.concatenate(masks)
    if name == unit and kinds != {"text"}:
        return _units.unit_column(name, [cell for column in columns for cell in _cells(column)], total=total)
    return _texts(name, columns)


def _absent(column: Any) -> np.ndarray:
    _, kind, values, more = column
    if kind == "text":
        return values == _tables.MISSING
    return np.zeros(len(values), dtype=bool) if more is None else np.asarray(more, dtype=bool)


def _exact(column: Any) -> bool:
    """Whether every whole number is one as a fraction, too."""
    _, kind, values, _ = column
    most = int(EXACT_BELOW)
    return kind == "number" or bool(((values > -most) & (values < most)).all())


def _cells(column: Any) -> list[Any]:
    _, kind, values, more = column
    if kind == "text":
        # From the end, as codes of what is no text count.
        texts = [*more, VOID, None]
        return [texts[code] for code in values.tolist()]
    return [None if gone else value for value, gone in zip(values.tolist(), _absent(column), strict=True)]


def _texts(name: str, columns: list[Any]) -> Any:
    """As codes. What a partition read is not read again: among cells of another type it would be something else."""
    distinct = _tables.Distinct()
    codes = []
    for column in columns:
        _, kind, values, more = column
        if kind == "text":
            places = np.array([*map(distinct.place, more), _tables.BAD, _tables.MISSING], dtype=np.int64)
            codes.append(places[values])
            continue
        own = np.full(len(values), _tables.MISSING, dtype=np.int64)
        there = ~_absent(column)
        # By their bits: 0.0 and -0.0 are two cells.
        bits, places = np.unique(values[there].view(np.int64), return_inverse=True)
        cells = bits.view(values.dtype).tolist()
        own[there] = np.array(list(map(distinct.place, cells)), dtype=np.int64)[places]
        codes.append(own)
    return name, "text", np.concatenate(codes), distinct.cells
