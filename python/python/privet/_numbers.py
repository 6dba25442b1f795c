"""Parameters that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

WHY_EPSILON = (
    "epsilon is missing: privet picks no privacy budget for you; a number above 0 is accepted, and smaller is "
    "more private"
)


SMALL = 2**32
"""What counts stay below that a plan keeps in 32 bits."""


def whole(name: str, value: Any, *, below: int = 2**63) -> int:
    """A whole number from 1, however it is written.

    >>> whole("count", 1e3)
    1000
    """
    try:
        number = None if isinstance(value, (bool, np.bool_, str)) else int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or number != value or not 1 <= number < below:
        most = f" to {below - 1}" if number is not None and below <= number < 2**63 else ""
        raise ValueError(f"{name} is {value!r}; a whole number from 1{most} is accepted")
    return number


LISTED = 2**20
"""The most classes, categories and items that are listed."""


def listed(name: str, values: Any) -> Any:
    """The same list, unless it is longer than any that is made into a schema: a range of billions is quickly written."""
    count = len(values) if hasattr(values, "__len__") else 0
    if count > LISTED:
        raise ValueError(f"{name}: {count} are listed; at most {LISTED} are accepted")
    return values


def optional_number(name: str, value: Any) -> float | None:
    """A number, unless it was left out."""
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; a number is accepted") from None
