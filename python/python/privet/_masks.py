"""Entries that are not there: masked, missing, not a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def check_unmasked(name: str, values: Any, *, total: bool = False) -> None:
    """Refuses masked arrays, whole or as the entries of a list; ``total`` reads entries as missing instead.

    What lies under a mask is read by whatever turns the array into another; a caller who masked it meant that
    it is not.
    """
    stored = getattr(values, "data", None) if sparse.issparse(values) else values
    listed = isinstance(values, (list, tuple))
    parts = values if listed else (stored,)
    if not (listed and total) and any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise ValueError(
            f"{name} is masked, and a mask would be ignored; accepted are arrays without one: drop the masked rows, "
            "fill them (.filled(...)), or give a frame whose schema says what missing cells count as"
        )


def check_cells_unmasked(name: str, values: Any) -> None:
    """Refuses masked entries in a table that is read as one array of numbers, which takes what lies under a mask."""
    rows: Any = ()
    if isinstance(values, (list, tuple)):
        rows = (row for row in values if isinstance(row, (list, tuple)))
    elif isinstance(values, np.ndarray) and values.dtype.kind == "O":
        rows = (values.ravel(),)
    for row in rows:
        check_unmasked(name, list(row))


def is_masked(value: Any) -> bool:
    """Whether a cell is a masked entry: NumPy's constant for it, or an array without dimensions."""
    return isinstance(value, np.ma.MaskedArray) and value.ndim == 0 and bool(np.ma.getmaskarray(value))


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: ``None``, NaN, ``pandas.NA``, a masked entry."""
    if value is None or is_masked(value):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA; an array; a signalling NaN
        return type(value).__name__ == "NAType"
