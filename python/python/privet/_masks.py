"""Entries that are not there: masked, missing, not a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from privet._records import row_cells, row_length


def check_unmasked(name: str, values: Any, *, total: bool = False) -> None:
    """Refuses masked arrays, whole or as the entries of a list; ``total`` reads entries as missing instead.

    What lies under a mask is read by whatever turns the array into another; a caller who masked it meant that
    it is not.
    """
    stored = getattr(values, "data", None) if sparse.issparse(values) else values
    listed = isinstance(values, (list, tuple))
    parts = values if listed else (stored,)
    if not (listed and total) and any(issubclass(type(part), np.ma.MaskedArray) for part in parts):
        raise ValueError(
            f"{name} is masked, and a mask would be ignored; accepted are arrays without one: drop the masked rows, "
            "fill them (.filled(...)), or give a frame whose schema says what missing cells count as"
        )


def check_cells_unmasked(name: str, values: Any) -> None:
    """Refuses masked entries in a table that is read as one array of numbers, which takes what lies under a mask."""
    rows: Any = ()
    if isinstance(values, (list, tuple)):
        rows = values
    elif isinstance(values, np.ndarray) and values.dtype.kind == "O":
        rows = (values.ravel().tolist(),)
    for row in rows:
        listed = row_cells(row, row_length(row) or 0) if issubclass(type(row), (list, tuple)) else row
        check_unmasked(name, listed)


def is_masked(value: Any) -> bool:
    """Whether a cell is a masked entry: NumPy's constant for it, or an array without dimensions."""
    return isinstance(value, np.ma.MaskedArray) and value.ndim == 0 and bool(np.ma.getmaskarray(value))
