"""Weights of encoded columns as coefficients of what the caller gave.

Where every feature is a number, its encoding is a straight line within its bounds, and the coefficients
are those of ``X`` itself: for a row that no bound touches, a classifier's ``decision_function`` and a
regressor's ``predict`` are ``X @ coef_.T + intercept_``. The bound on a row's norm is one of them: with
``bounds`` and an intercept it touches every row. Where there are categories or logarithms, the
coefficients are those of the encoded columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.schema import Schema


def coefficients(
    weights: np.ndarray, schema: Schema, numeric_target: bool
) -> tuple[np.ndarray, Any]:
    """``coef_`` and ``intercept_``."""
    draft = schema.to_dict()
    bias = draft.get("bias") or 0.0
    slopes, offsets = _lines(draft, weights.shape[1] - bool(bias))
    columns = weights[:, : len(slopes)]
    coef = columns * slopes
    intercept = columns @ offsets
    if bias:
        intercept = intercept + weights[:, -1] * bias
    if not numeric_target:
        return coef, intercept
    low, high = schema.target_bounds or (-1.0, 1.0)
    half = (high - low) / 2.0
    return coef[0] * half, float(low + half * (intercept[0] + 1.0))


def _lines(draft: dict[str, Any], width: int) -> tuple[np.ndarray, np.ndarray]:
    """Slope and offset of each encoded column as a function of its feature."""
    slopes, offsets = np.ones(width), np.zeros(width)
    if "libsvm" in draft:
        bounds = draft["libsvm"].get("bounds")
        return (slopes / max(abs(bound) for bound in bounds) if bounds else slopes), offsets
    columns = [column for column in draft["columns"] if column["type"] not in ("ignore", "target", "unit")]
    plain = all(
        column["type"] == "number" and "missing" not in column and "transform" not in column
        for column in columns
    )
    if not plain:
        return slopes, offsets
    for place, column in enumerate(columns):
        low, high = column["bounds"]
        scale = column.get("scale", "unit")
        if scale == "unit":
            slopes[place], offsets[place] = 1.0 / (high - low), -low / (high - low)
        elif scale == "symmetric":
            slopes[place], offsets[place] = 2.0 / (high - low), -1.0 - 2.0 * low / (high - low)
    return slopes, offsets
