"""Repeatable noise, for tests only."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from privet._warnings import NotPrivateWarning


def seed_of(random_state: Any, *, stacklevel: int = 3) -> int | None:
    """A seed for the generator, or ``None`` for the operating system's randomness."""
    if random_state is None:
        return None
    warnings.warn(
        "random_state makes the noise repeatable: whoever knows the seed can take it off again. What is "
        "drawn is NOT PRIVATE and its certificate says so; leave random_state out but for tests.",
        NotPrivateWarning,
        stacklevel=stacklevel,
    )
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**64:
        return int(random_state)
    raise ValueError(
        f"random_state is {random_state!r}; accepted are None, a whole number from 0 to 2**64 - 1, a NumPy "
        "RandomState or a Generator"
    )
