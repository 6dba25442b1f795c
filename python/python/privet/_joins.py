"""Columns of several partitions as one, of whatever type each partition has them.

A library that reads a partition by itself gives a column the type of the cells that it finds there: one empty cell makes
whole numbers fractions, one word makes them texts. No record may decide by that whether a table is read. So where types
differ, each cell is read for itself, as in a column of objects (:mod:`privet._tables`), and means what it means there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet import _tables, _units
from privet._cells import EXACT_BELOW, VOID


def joined(tables: list[list[Any]], unit: str | None, *, total: bool) -> list[Any]:
    """The columns of several tables, one after the other."""
    for columns in zip(*tables, strict=True):
        if any(column[0] != columns[0][0] for column in columns):
            raise ValueError("partitions have their columns in different orders; accepted is one order in all")
    return [_column(columns, unit, total) for columns in zip(*tables, strict=True)]


def _column(columns: tuple[Any, ...], unit: str | None, total: bool) -> Any:
    name = columns[0][0]
    # A column without a single cell is of any type.
    kinds = {column[1] for column in columns if not _absent(column).all()} or {columns[0][1]}
    if kinds == {"text"}:
        return _texts(name, columns)
    if kinds <= {"integer", "number"} and (len(kinds) == 1 or all(_exact(column) for column in columns)):
        kind = "integer" if kinds == {"integer"} else "number"
        typed = np.int64 if kind == "integer" else np.float64
        masks = [_absent(column) for column in columns]
        values = [
            np.zeros(len(mask), dtype=typed) if mask.all() else column[2].astype(typed, copy=False)
            for column, mask in zip(columns, masks, strict=True)
        ]
        return name, kind, np.concatenate(values), np.concatenate(masks)
    cells = [cell for column in columns for cell in _cells(column)]
    if name == unit:
        return _units.unit_column(name, cells, total=total)
    return _tables.one_column(name, cells, total=total)


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


def _texts(name: str, columns: tuple[Any, ...]) -> Any:
    distinct = _tables.Distinct()
    codes = []
    for column in columns:
        own, cells = (column[2], column[3]) if column[1] == "text" else (np.full(len(column[2]), _tables.MISSING), [])
        places = np.array([*map(distinct.place, cells), _tables.BAD, _tables.MISSING], dtype=np.int64)
        codes.append(places[own])
    return name, "text", np.concatenate(codes), distinct.cells
