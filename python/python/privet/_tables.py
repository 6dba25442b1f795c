"""From what a caller holds to what the extension reads: arrays, sparse rows or named columns.

Arrays of ``float64`` and ``float32`` go as they are, in any memory order; a frame's number columns go as
arrays, its texts as codes with the list of distinct texts. What a cell becomes follows from that cell and
from the type that the caller gave its column, never from other rows: lists and columns of objects are
read one cell at a time, because a type found for all of them together would let one record change how
every other is read.
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
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def readable(array: np.ndarray) -> np.ndarray:
    """The same array where the extension can read it in place, otherwise a copy.

    A field of a packed record array, for one, lies in steps that are no multiple of its entries' length.
    """
    if array.flags.aligned and not any(step % array.itemsize for step in array.strides):
        return array
    return array.copy(order="C")


def csr_parts(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The arrays of a CSR matrix, its columns in order and each once in a row."""
    if not sparse.issparse(X) or X.format != "csr":
        X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return readable(X.data), readable(X.indices), readable(X.indptr), X.shape[1]


def frame_columns(X: Any) -> list[Column]:
    """The columns of a frame."""
    names = [str(name) for name in getattr(X, "column_names", X.columns)]
    if len(set(names)) < len(names):
        repeated = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"column {repeated!r} occurs more than once; each name once is accepted")
    frame = nw.from_native(X, eager_only=True)
    return [_series_column(str(name), frame.get_column(name)) for name in frame.columns]


def array_columns(X: Any, names: Sequence[str]) -> list[Column]:
    """The columns of an array without names, which are ``names``."""
    values = X if isinstance(X, np.ndarray) else _objects(X)
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
    array = values if isinstance(values, np.ndarray) else _objects(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; one value for each row is accepted")
    if array.dtype.kind == "f":
        return (name, "number", _contiguous(array, np.float64), np.isnan(array))
    if array.dtype.kind in "iu" and array.dtype.newbyteorder("=") != np.uint64:
        return (name, "integer", _contiguous(array, np.int64), None)
    return _text_column(name, array.tolist(), None)


EXACT_BITS = 53
"""A whole number of so many bits is a ``float64`` of its own; a longer one may share it with others."""


def unit_column(name: str, values: Any) -> Column:
    """Whose each row is. Numbers with a point are accepted only where they are exact whole numbers.

    Identifiers that were joined into one type with a fraction or with a larger number have lost digits, and
    two of them may have become one.
    """
    return whole_units(one_column(name, values), _float_bits(values))


def whole_units(column: Column, bits: int = EXACT_BITS) -> Column:
    """A column of units, its numbers as whole numbers."""
    name, kind, values, missing = column
    if kind != "number":
        return column
    missing = np.isnan(values) if missing is None else missing
    present = values[~missing]
    if not np.all((np.abs(present) < 2.0**bits) & (present == np.floor(present))):
        raise ValueError(
            f"{name}: numbers with a point that are not whole, or too large to be exact, do not tell whose a "
            "row is; accepted are texts and whole numbers (read identifiers as texts: dtype=str)"
        )
    return (name, "integer", np.where(missing, 0.0, values).astype(np.int64), missing)


def _float_bits(values: Any) -> int:
    """How long the whole numbers are that the type of a column tells apart."""
    dtype = getattr(values, "dtype", None)
    narrow = isinstance(dtype, np.dtype) and dtype.kind == "f"
    return min(EXACT_BITS, np.finfo(dtype).nmant + 1) if narrow else EXACT_BITS


def _objects(values: Any) -> np.ndarray:
    """Cells as they are, each of its own type."""
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return np.array(values, dtype=object)


def _contiguous(array: np.ndarray, dtype: Any) -> np.ndarray:
    return readable(np.ascontiguousarray(array, dtype=dtype))


def _series_column(name: str, series: Any) -> Column:
    dtype = series.dtype
    missing = series.is_null()
    mask = missing.to_numpy().astype(bool) if missing.any() else None
    # Whole numbers beyond 63 bits and decimals go by their digits.
    long = dtype in (nw.UInt64, nw.Int128, nw.UInt128) or dtype.is_decimal()
    if dtype.is_integer() and not long:
        filled = series.fill_null(0) if mask is not None else series
        return (name, "integer", _contiguous(filled.to_numpy(), np.int64), mask)
    if dtype.is_float():
        return (name, "number", _contiguous(series.to_numpy(), np.float64), mask)
    if dtype.is_temporal() or dtype.is_nested():
        raise ValueError(
            f"column {name!r} is of type {dtype}; accepted are numbers, texts, categories and booleans"
        )
    return _text_column(name, series.to_list(), mask)


def _text_column(name: str, values: list[Any], mask: np.ndarray | None) -> Column:
    places: dict[Any, int] = {}

    def place(value: Any) -> int:
        cell = value if type(value) is str else _cell(value)
        return -1 if cell is None else places.setdefault(cell, len(places))

    codes = np.fromiter(map(place, values), dtype=np.int64, count=len(values))
    if mask is not None:
        codes[mask] = -1
    return (name, "text", codes, list(places))


def _cell(value: Any) -> str | bool | None:
    """A cell's text, from nothing but the cell; a boolean is written as its column's schema writes it."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    try:
        missing = value is None or bool(value != value)
    except TypeError:  # pandas.NA
        missing = True
    return None if missing else label_text(value)


def cells_of(values: Any) -> np.ndarray:
    """One value for each row; those of a list as they are, each of its own type."""
    return _objects(values)
