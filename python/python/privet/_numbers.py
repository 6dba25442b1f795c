"""Parameters that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

WHY_EPSILON = (
    "epsilon is missing: privet picks no privacy budget for you; a number above 0 is accepted, and smaller is "
    "more private"
)


def whole(name: str, value: Any) -> int:
    """A whole number from 1, however it is written.

    >>> whole("count", 1e3)
    1000
    """
    try:
        number = None if isinstance(value, (bool, np.bool_, str)) else int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or number != value or not 1 <= number < 2**63:
        raise ValueError(f"{name} is {value!r}; a whole number from 1 is accepted")
    return number


def optional_number(name: str, value: Any) -> float | None:
    """A number, unless it was left out."""
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; a number is accepted") from None
