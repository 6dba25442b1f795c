"""Weights of encoded columns as coefficients of what the caller gave.

Where every feature is a number, its encoding is a straight line within its bounds, and the coefficients
are those of ``X`` itself: for a row that no bound touches, a classifier's ``decision_function`` and a
regressor's ``predict`` are ``X @ coef_.T + intercept_``. The bound on a row's norm is one of them: with
``bounds`` and an intercept it touches every row of a classifier, whose scores are the line times a positive number of the
row's own. Rows of linear and ridge regression with ``bounds`` are filled to learn from: then predictions divide by one public length, and
the line holds for every row within the bounds, up to the target's own. Where there are categories,
logarithms, hats or pairs, the coefficients are those of the encoded columns (``model_.column_names()``).
Where a model of classes whose rows are neither clipped nor filled takes a centre from every row and makes it as
long as the clip allows again (``centred-gd``), ``X @ coef_.T + intercept_`` has the signs of
``decision_function``, and of several classes their order, which is that times a positive number of the row's own.

``coef_exact_`` says whether the line holds for every row within the bounds; where it does not, ``row_scale(X)`` is the
public factor that makes it hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.schema import Schema


def coefficients(
    weights: np.ndarray,
    schema: Schema,
    numeric_target: bool,
    centre: np.ndarray | None = None,
) -> tuple[np.ndarray, Any]:
    """``coef_`` and ``intercept_``; the schema is the settled one of the model."""
    factor = schema._checked.score_factor
    bias = (schema._checked.bias or 0.0) * factor
    lines = schema._checked.lines()
    if lines is None:
        width = weights.shape[1] - bool(bias)
        lines = np.ones(width), np.zeros(width)
    slopes, offsets = (factor * part for part in lines)
    columns = weights[:, : len(slopes)]
    coef = columns * slopes
    intercept = columns @ offsets
    if bias:
        intercept = intercept + weights[:, -1] * bias
    if centre is not None:
        intercept = intercept - weights @ centre
    if not numeric_target:
        return coef, intercept
    low, high = schema.target_bounds or (-1.0, 1.0)
    half = (high - low) / 2.0
    return coef[0] * half, float(low + half * (intercept[0] + 1.0))

