"""Refusing records without repeating them.

What is raised ends up in logs and reports, which nobody guards as the records are guarded. scikit-learn
and NumPy put values and whole arrays into their words; here the same mistakes are told without them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import validation

from privet import _tables
from privet._masks import check_cells_unmasked, check_unmasked

CONVERSION = re.compile(r"could not convert|unable to parse|invalid literal|cannot be converted", re.IGNORECASE)
"""How the libraries begin words that go on with a value."""


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """scikit-learn's function of that name, in words without values."""
    if not options.get("skip_check_array", False):
        if _ready(X, y):
            validation.validate_data(estimator, X, reset=options["reset"], skip_check_array=True)
            return X, y
        check_cells_unmasked("X", X)
        check_rows(X)
        if not isinstance(y, str):
            check_labels(y)
    try:
        return validation.validate_data(estimator, X, y, **options)
    except ValueError as error:
        if not CONVERSION.search(str(error)):
            raise
    raise ValueError(
        "X or y has an entry that is not a number; accepted are numbers, or texts in columns that a schema "
        "describes"
    )


def _ready(X: Any, y: Any) -> bool:
    """Whether these are arrays that scikit-learn returns as they are: its look at everything else that they
    might be takes longer than reading them."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and y.ndim == 1
        and y.dtype.kind in "iu"
        and X.shape[0] == y.shape[0] > 0
        and X.shape[1] > 0
    )


def check_rows(X: Any) -> None:
    """Refuses what is not a table of real numbers, as far as its type and shape tell."""
    if _tables.is_frame(X):
        return
    array = X if sparse.issparse(X) or isinstance(X, np.ndarray) else np.asarray(X)
    if array.ndim < 2:
        found = "scalar" if array.ndim == 0 else "1D"
        raise ValueError(
            f"Expected 2D array, got {found} array instead. Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it is a single row."
        )
    _check_real("X", array.dtype)


def check_labels(y: Any) -> None:
    """Refuses labels of a type that no estimator accepts."""
    check_unmasked("y", y)
    kind = getattr(y, "dtype", None)
    kind = kind if isinstance(kind, np.dtype) else np.asarray(y).dtype
    _check_real("y", kind)
    if kind.kind == "S":
        raise ValueError("y holds bytes; accepted are numbers and texts: decode them")


def _check_real(name: str, kind: np.dtype) -> None:
    if kind.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is of type {kind}; real numbers are accepted")


def numbers(name: str, values: Any) -> np.ndarray:
    """An array of numbers."""
    check_unmasked(name, values)
    array = np.asarray(values)
    _check_real(name, array.dtype)
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} has an entry that is not a number; numbers are accepted")


def numbers_or_nan(values: Any) -> np.ndarray:
    """An array of numbers, each read for itself; NaN where there is none."""
    array = _tables.each_for_itself(values)
    if array.dtype.kind in "iuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    return np.fromiter(map(_number_or_nan, array.tolist()), dtype=np.float64, count=len(array))


def _number_or_nan(value: Any) -> float:
    try:
        return float(value)
    except Exception:  # of whatever kind: the entry's class decides
        return float("nan")
