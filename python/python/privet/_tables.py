"""From what a caller holds to what the extension reads: arrays, sparse rows or named columns.

Arrays of ``float64`` and ``float32`` go as they are, in any memory order; a frame's number columns go as
arrays, its texts as codes with the list of distinct texts. Nothing here looks at a value to decide
anything but its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from privet.schema import label_text

Column = tuple[str, str, np.ndarray, Any]


def is_frame(X: Any) -> bool:
    """Whether it is a pandas or polars frame or a PyArrow table."""
    return nw.dependencies.is_into_dataframe(X)


def csr_parts(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The arrays of a CSR matrix, its columns in order and each once in a row."""
    if not sparse.issparse(X) or X.format != "csr":
        X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X.data, X.indices, X.indptr, X.shape[1]


def frame_columns(X: Any) -> list[Column]:
    """The columns of a frame."""
    frame = nw.from_native(X, eager_only=True)
    return [_series_column(str(name), frame.get_column(name)) for name in frame.columns]


def array_columns(X: Any, names: Sequence[str]) -> list[Column]:
    """The columns of an array without names, which are taken from a schema."""
    values = np.asarray(X)
    if values.ndim != 2 or values.shape[1] != len(names):
        found = values.shape[1] if values.ndim == 2 else f"{values.ndim} dimensions"
        raise ValueError(
            f"X has {found} columns; the schema has {len(names)} features, and an array without names "
            "is read by position"
        )
    return [one_column(name, values[:, place]) for place, name in enumerate(names)]


def one_column(name: str, values: Any) -> Column:
    """A single column from a series, an array or a list."""
    if nw.dependencies.is_into_series(values):
        return _series_column(name, nw.from_native(values, series_only=True))
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; one value for each row is accepted")
    if array.dtype == object:
        array = _tightened(array)
    if array.dtype.kind == "f":
        return (name, "number", np.ascontiguousarray(array, dtype=np.float64), np.isnan(array))
    if array.dtype.kind in "iu":
        return (name, "integer", np.ascontiguousarray(array, dtype=np.int64), None)
    return _text_column(name, array.tolist(), None)


def _tightened(array: np.ndarray) -> np.ndarray:
    """Numbers that are stored as objects, as numbers."""
    try:
        tight = np.asarray(array.tolist())
    except ValueError:
        return array
    return tight if tight.dtype.kind in "fiu" else array


def _series_column(name: str, series: Any) -> Column:
    dtype = series.dtype
    missing = series.is_null()
    mask = missing.to_numpy().astype(bool) if missing.any() else None
    if dtype.is_integer():
        filled = series.fill_null(0) if mask is not None else series
        return (name, "integer", np.ascontiguousarray(filled.to_numpy(), dtype=np.int64), mask)
    if dtype.is_float() or dtype.is_decimal():
        return (name, "number", np.ascontiguousarray(series.to_numpy(), dtype=np.float64), mask)
    if dtype.is_temporal() or dtype.is_nested():
        raise ValueError(
            f"column {name!r} is of type {dtype}; accepted are numbers, texts, categories and booleans"
        )
    if dtype == nw.Boolean:
        texts = ("true" if value else "false" for value in series.to_list())
        return _text_column(name, list(texts), mask)
    return _text_column(name, series.to_list(), mask)


def _text_column(name: str, values: list[Any], mask: np.ndarray | None) -> Column:
    places: dict[Any, int] = {}
    codes = np.fromiter(
        (places.setdefault(value, len(places)) for value in values), dtype=np.int64, count=len(values)
    )
    absent = [value for value in places if value is None or value != value]
    for value in absent:
        codes[codes == places[value]] = -1
    if mask is not None:
        codes[mask] = -1
    return (name, "text", codes, [label_text(value) for value in places])
