"""Weights of encoded columns as coefficients of what the caller gave.

Where every feature is a number, its encoding is a straight line within its bounds, and the coefficients
are those of ``X`` itself: for a row that no bound touches, a classifier's ``decision_function`` and a
regressor's ``predict`` are ``X @ coef_.T + intercept_``. The bound on a row's norm is one of them: with
``bounds`` and an intercept it touches every row, unless rows are filled to learn from: then every row is divided
by one public length to be scored, which is in the coefficients. Where there are categories, logarithms, hats or
pairs, the coefficients are those of the encoded columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.schema import Schema


def coefficients(
    weights: np.ndarray, schema: Schema, numeric_target: bool
) -> tuple[np.ndarray, Any]:
    """``coef_`` and ``intercept_``; the schema is the settled one of the model."""
    factor = schema._checked.score_factor
    bias = (schema._checked.bias or 0.0) * factor
    lines = schema._checked.lines()
    if lines is not None:
        lines = lines[0] * factor, lines[1] * factor
    else:
        width = weights.shape[1] - bool(bias)
        lines = np.ones(width), np.zeros(width)
    slopes, offsets = lines
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

