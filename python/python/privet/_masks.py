"""Entries that are not there: masked, missing, not a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def check_unmasked(name: str, values: Any) -> None:
    """Refuses masked arrays, whole or as the rows of a list.

    What lies under a mask is read by whatever turns the array into another; a caller who masked it meant that
    it is not.
    """
    stored = getattr(values, "data", None) if sparse.issparse(values) else values
    parts = values if isinstance(values, (list, tuple)) else (stored,)
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise ValueError(
            f"{name} is masked, and a mask would be ignored; accepted are arrays without one: drop the masked rows, "
            "fill them (.filled(...)), or give a frame whose schema says what missing cells count as"
        )


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: ``None``, NaN, ``pandas.NA``, a masked entry."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA; an array; a signalling NaN
        return type(value).__name__ == "NAType"
