"""Refusing records without repeating them.

What is raised ends up in logs and reports, which nobody guards as the records are guarded. scikit-learn
and NumPy put values and whole arrays into their words; here the same mistakes are told without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import validation

from privet import _records, _tables
from privet._masks import check_cells_unmasked, check_unmasked
from privet.schema import Schema


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """scikit-learn's function of that name, on cells that each were read for themselves and in words without values.
    ``y`` is as :func:`privet._records.entries` gives it."""
    if options.get("skip_check_array", False):
        return validation.validate_data(estimator, X, y, **options)
    if _ready(X, y):
        validation.validate_data(estimator, X, reset=options["reset"], skip_check_array=True)
        return X, y
    check_cells_unmasked("X", X)
    if _tables.is_frame(X):
        # Names and their number are those of the frame; its cells are looked at here.
        reset = options.pop("reset")
        validation.validate_data(estimator, X, reset=reset, skip_check_array=True)
        X = _tables.numbers_of(X)
        if isinstance(y, str):
            return validation.check_array(X, estimator=estimator, input_name="X", **options)
        return validation.check_X_y(X, y, estimator=estimator, **options)
    if not sparse.issparse(X):
        X = _records.matrix("X", X)
        if X.dtype.kind == "f" and X.dtype.itemsize > 8:
            with np.errstate(all="ignore"):
                X = X.astype(np.float64)
        return validation.validate_data(estimator, X, y, **options)
    return validation.validate_data(estimator, _tables.sound_sparse("X", X), y, **options)


def declared(estimator: Any, schema: Schema, X: Any) -> None:
    """Sets how many columns there are, and where X has names what they are: those that the schema declares, in its order.
    A frame that is made of records has the columns that any of them has, in the order of the first."""
    estimator.n_features_in_ = len(schema.features) or schema._checked.number_features
    if _tables.is_frame(X):
        estimator.feature_names_in_ = np.asarray(schema.features, dtype=object)
    else:
        estimator.__dict__.pop("feature_names_in_", None)


def check_real(name: str, kind: np.dtype) -> None:
    """Refuses complex numbers."""
    if kind.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is of type {kind}; real numbers are accepted")


def labels(y: Any, *, total: bool = False) -> np.ndarray:
    """Labels, each read for itself; refused are types that no estimator accepts."""
    check_unmasked("y", y, total=total)
    found = _records.entries("y", y, single=True, total=total)
    if total and found.dtype.kind in "cmMSV":
        # NumPy may have found the type for the sake of one label.
        return _records.objects(_records.cells_in(found.ravel(), total=True))
    check_real("y", found.dtype)
    if found.dtype.kind in "SMmV":
        held = "bytes" if found.dtype.kind == "S" else f"values of type {found.dtype}"
        raise ValueError(f"y holds {held}; accepted are numbers and texts: decode them")
    return found


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


def target_of(y: Any, schema: Schema) -> Any:
    """The same labels. Of a frame, where no record is refused, the column of the schema's target: one that is made of
    records has the columns that any of them has."""
    y = _tables.collected(y)
    if not schema.is_total or not _tables.is_frame(y) or len(_tables.names_of(y)) < 2:
        return y
    found = _tables.meant(_tables.names_of(y), [schema.target], total=True)
    return _tables.renamed(y, found) if found else y


def flat_labels(y: Any, *, total: bool = False) -> np.ndarray:
    """The same in one dimension; labels may stand in a column."""
    found = labels(y, total=total)
    return found[:, 0] if found.ndim == 2 else found


def numbers(y: Any, *, total: bool = False) -> np.ndarray:
    """An array of numbers, each read for itself. What is none is NaN if ``total``, else refused."""
    found = labels(y, total=total)
    if found.dtype.kind in "iufb":
        with np.errstate(all="ignore"):  # of long doubles
            return np.ascontiguousarray(found, dtype=np.float64)
    return _records.numbers("y", found.tolist(), total=total)
