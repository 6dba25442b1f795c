"""The schema that an array's bounds amount to.

- ``bounds``: each column is clamped to its bounds and scaled to [-1, 1], a constant 1 is added for the
  intercept, and rows, all of which are then at least 1 long, are scaled to that length. Predictions of linear and ridge regression divide
  by one public length in place of each row's own, so that they are a line in ``X``: ``coef_`` and ``intercept_``.
- ``data_norm``: columns are taken as they are and rows longer than ``data_norm`` are scaled down; the
  constant column is half as long, so that a model changes with the unit of ``X`` as it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privet import _privet
from privet.schema import UNNAMED, Schema, draft_text

CLIP_WITH_BOUNDS = 1.0
"""The largest norm of a row whose columns were scaled to [-1, 1]."""
BIAS_SHARE = 0.5
"""The constant column in relation to ``data_norm``."""
UNBOUNDED = 1e150
"""What a schema accepts as the largest bound."""

FEATURES, SPARSE_FEATURES = 2**20, 2**25 - 1
"""The most columns of X: a schema says of each what it holds, but where X is sparse."""

WHY_BOUNDS = (
    "the noise that hides a record must be as large as a record can be, and that is taken from bounds "
    "that you know without the data, such as those of a data dictionary: privet does not look at the "
    "records for them, since bounds taken from the records would give them away. Give bounds=(low, high) "
    "(numbers, or one of each for every feature), data_norm=the largest norm of a row, or a schema"
)


def check_exclusive(bounds: Any, data_norm: Any, schema: Any) -> None:
    """Exactly one of the three must say how large a record can be."""
    given = [
        name
        for name, value in (("bounds", bounds), ("data_norm", data_norm), ("schema", schema))
        if value is not None
    ]
    if not given:
        raise ValueError(f"bounds are missing: {WHY_BOUNDS}")
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are given; one of them is accepted")


def feature_names(n_features: int, names: Sequence[Any] | None) -> list[str]:
    """Names for a schema's columns: the frame's own, where they are texts and differ."""
    if names is not None:
        texts = [str(name) for name in names]
        if len(set(texts)) == n_features and all(text == text.strip() != "" for text in texts):
            return texts
    return [f"x{place}" for place in range(n_features)]


def column_bounds(bounds: Any, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of every feature."""
    try:
        low, high = bounds
        low = np.broadcast_to(np.asarray(low, dtype=np.float64), (n_features,))
        high = np.broadcast_to(np.asarray(high, dtype=np.float64), (n_features,))
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds are not (low, high) for {n_features} features; accepted are two numbers, or two "
            "arrays with a number for each feature"
        ) from None
    _refuse_two_readings(bounds, n_features)
    if not np.all((-UNBOUNDED <= low) & (low < high) & (high <= UNBOUNDED)):
        raise ValueError(
            f"bounds have a low that is not below its high, or are not finite; accepted is low < high, both "
            f"within ±{UNBOUNDED:g}"
        )
    return low, high


def _refuse_two_readings(bounds: Any, n_features: int) -> None:
    """Of two features, two pairs can be meant as (lows, highs) or as a pair for each feature."""
    if isinstance(bounds, (tuple, list)) and all(isinstance(side, np.ndarray) for side in bounds):
        return
    table = np.asarray(bounds, dtype=np.float64) if n_features == 2 and np.ndim(bounds) == 2 else None
    if table is None or table.shape != (2, 2) or np.array_equal(table, table.T):
        return
    as_lows_and_highs, as_pairs = bool(np.all(table[0] < table[1])), bool(np.all(table[:, 0] < table[:, 1]))
    if as_lows_and_highs and as_pairs:
        raise ValueError(
            "bounds can be read two ways: as (lows, highs) or as a pair for each of the two features; accepted is "
            "bounds=(numpy.array(lows), numpy.array(highs)) with two arrays, or a schema"
        )


def array_schema(
    *,
    n_features: int,
    names: Sequence[Any] | None,
    bounds: Any,
    data_norm: float | None,
    fit_intercept: bool,
    sparse: bool,
    target: dict[str, Any],
    max_records: int | None,
    unit: str | None = None,
    invalid: str | None = None,
    radius: float | None = None,
    filled: bool = False,
) -> Schema:
    """The schema; ``unit`` is the groups' own name, ``target`` holds ``classes`` or ``bounds``, and rows are clipped to ``radius`` if it is given.

    ``filled``: where rows have ``bounds`` and a constant, predictions divide by one length, and are a line in ``X``.
    """
    as_libsvm = sparse and max_records is None
    most = SPARSE_FEATURES if as_libsvm else FEATURES
    if n_features > most:
        raise ValueError(f"X has {n_features} features; at most {most} are accepted, and {SPARSE_FEATURES} of a sparse X "
                         "without groups")
    columns = feature_names(0 if as_libsvm else n_features, names)
    draft: dict[str, Any] = {"target": dict(target), "file": {}}
    if any(text != text.strip() for text in target.get("classes", ())):
        draft["file"]["trim"] = False
    if invalid is not None:
        draft["invalid"] = invalid
    if data_norm is not None:
        if not 0 < data_norm < np.inf:
            raise ValueError(f"data_norm is {data_norm!r}; a finite number above 0 is accepted")
        usual, bias = float(data_norm), BIAS_SHARE * float(data_norm)
        usual = float(np.hypot(usual, bias)) if fit_intercept else usual
    else:
        usual, bias = CLIP_WITH_BOUNDS, 1.0
    draft["clip"] = {"norm": "l2", "radius": usual if radius is None else radius}
    if fit_intercept:
        draft["bias"] = bias
        if filled and bounds is not None and radius is None and not as_libsvm:
            # With the constant no row is shorter than 1: filled is clipped, but for how predictions are made.
            draft["clip"]["rows"] = "fill"
    if as_libsvm:
        draft["file"]["format"] = "libsvm"
        draft["libsvm"] = {"features": n_features}
        if bounds is not None:
            draft["libsvm"]["bounds"] = _sparse_bounds(bounds)
        return Schema.from_dict(draft)
    if bounds is not None:
        low, high = column_bounds(bounds, n_features)
    else:
        low, high = np.full(n_features, -UNBOUNDED), np.full(n_features, UNBOUNDED)
    taken = columns if max_records is None else [*columns, unit or UNNAMED]
    draft["target"]["column"] = _free("target", taken)
    if sparse:
        draft["storage"] = "csr"
    if max_records is not None:
        if unit is not None and unit in columns:
            raise ValueError(
                f"groups are called {unit!r}, and so is a column of X, which then is learnt from although it says whose "
                "each row is; accepted is X without it, or groups under another name"
            )
        draft["unit"] = {"column": unit or _free(UNNAMED, columns), "max_records": max_records}
    # The columns are added there: as text, a thousand of them would take longer than many a fit.
    symmetric = bounds is not None
    return Schema._of(
        _privet.Schema.of_numbers(draft_text(draft), columns, low.tolist(), high.tolist(), symmetric)
    )


def _sparse_bounds(bounds: Any) -> list[float]:
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise ValueError(
            "bounds for sparse X are not two numbers; accepted is (low, high) with low <= 0 <= high, the "
            "same for all features, so that zeros stay zeros"
        ) from None
    return [low, high]


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
