"""The one door by which records come in: lists, arrays, series and tables as entries that each were read for themselves.

A typed array, series or column is of one type because its owner declared it so, and is taken as it is. In a list,
a tuple or an array of objects every record is looked at alone (:mod:`privet._cells`): no type is found for all of
them together, since one record would then decide how every other is read. A row that is none, or of another length,
is void as a whole.
"""

from __future__ import annotations

import array
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from privet._cells import VOID, number, number_or_nan, plain

TYPED = "iufbUSTMmcV"
"""Kinds of arrays whose owner declared a type."""

NOT_NUMBERS = (
    "{name} has an entry that is not a number; accepted are numbers, or texts in columns that a schema describes"
)


def series_of(values: Any) -> Any:
    """The values as a series of narwhals where they are a column of pandas, polars or PyArrow, else ``None``."""
    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas is not None and isinstance(values, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        values = pandas.Series(values)
    elif arrow is not None and isinstance(values, arrow.Array):
        values = arrow.chunked_array([values])
    return nw.from_native(values, series_only=True) if nw.dependencies.is_into_series(values) else None


def entries(name: str, values: Any, *, single: bool = False) -> np.ndarray:
    """One entry for each record: a typed array, or one of objects that :func:`privet._cells.plain` made of each.

    ``single``: an entry that is a list of one cell is that cell.
    """
    series = series_of(values)
    if series is not None:
        return _of_series(series)
    if not isinstance(values, np.ndarray) and nw.dependencies.is_into_dataframe(values):
        frame = nw.from_native(values, eager_only=True)
        if len(frame.columns) != 1:
            raise ValueError(f"{name} has {len(frame.columns)} columns; one value for each row is accepted")
        return _of_series(frame.get_column(frame.columns[0]))
    found = raw(name, values, single=single)
    return objects(found.tolist(), single=single) if found.dtype.kind in "OT" else found


def raw(name: str, values: Any, *, single: bool = False) -> np.ndarray:
    """The entries of what is no series: a typed array, or the cells as they are, of which nothing was asked."""
    found = _in_one_block(values)
    if found is None:
        values = _listed(name, values)
        found = np.empty(len(values), dtype=object)
        for place, cell in enumerate(values):
            found[place] = cell
    if found.ndim == 2 and found.shape[1] == 1 and single and found.dtype.kind == "O":
        found = found[:, 0]
    if found.ndim != 1 and not (single and found.ndim == 2 and found.shape[1] == 1):
        raise ValueError(f"{name} has {found.ndim} dimensions; one value for each row is accepted")
    return found


def objects(cells: Sequence[Any], *, single: bool = False) -> np.ndarray:
    """Cells, each read for itself."""
    found = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        found[place] = plain(_only(cell) if single else cell)
    return found


def _only(cell: Any) -> Any:
    listed = row_cells(cell)
    return listed[0] if listed is not None and len(listed) == 1 else cell


def _of_series(series: Any) -> np.ndarray:
    held = object_cells(series)
    if held is not None:
        return objects(held, single=True)
    dtype = series.dtype
    if (dtype.is_integer() or dtype == nw.Boolean) and dtype not in (nw.Int128, nw.UInt128):
        if not series.is_null().any():
            return series.to_numpy()
    elif dtype.is_float():
        return np.asarray(series.to_numpy())
    return objects(cells_of(series))


def object_cells(series: Any) -> list[Any] | None:
    """The cells of a series of narwhals that holds objects. pandas is not asked what they are: it would ask them."""
    native = series.to_native()
    if getattr(native, "dtype", None) == np.dtype(object):
        return native.to_numpy().tolist()
    return series.to_list() if series.dtype == nw.Object else None


def cells_of(series: Any, name: str = "", *, total: bool = True) -> list[Any]:
    """The cells of a series of narwhals. A text that is not UTF-8, which Arrow keeps as it came, is ``VOID``, or refused
    unless ``total``."""
    held = object_cells(series)
    if held is not None:
        return held
    try:
        return series.to_list()
    except Exception:  # of the decoder or of Arrow: its words hold bytes of the text, or all of it
        pass
    if not total:
        raise ValueError(f"column {name!r} has a text that is not UTF-8; accepted is Unicode")
    return _decoded_cells(series)


def _decoded_cells(series: Any) -> list[Any]:
    import pyarrow as pa

    texts = series.to_arrow()
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    return [_decoded(cell) for cell in texts.cast(pa.large_binary()).to_pylist()]


def _decoded(cell: bytes | None) -> Any:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return VOID


def _in_one_block(values: Any) -> np.ndarray | None:
    """The array that lies in one piece of memory with one type for all of it, in any library's."""
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if isinstance(values, (list, tuple, str, bytes)):
        return None
    if hasattr(values, "__array__") or _has_buffer(values):
        return np.asarray(values)
    return None


def _has_buffer(values: Any) -> bool:
    try:
        memoryview(values)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _listed(name: str, values: Any) -> Sequence[Any]:
    if isinstance(values, (list, tuple)):
        return values
    if sparse.issparse(values):
        raise ValueError(f"{name} is a sparse matrix, which is not read here; accepted is {name}.toarray()")
    if isinstance(values, (str, bytes, Mapping, set, frozenset)) or not hasattr(values, "__len__"):
        raise ValueError(f"{name} is a {type(values).__name__}; accepted are lists, arrays and columns of frames")
    return list(values)


def row_cells(row: Any) -> list[Any] | None:
    """The cells of one row, or ``None`` where it is none. No code of the row's own class runs."""
    kind = type(row)
    try:
        if issubclass(kind, list):
            return list.copy(row)
        if issubclass(kind, tuple):
            return list(tuple.__getitem__(row, slice(None)))
        if kind in (np.ndarray, np.ma.MaskedArray) and row.ndim == 1:
            return row.tolist()  # None where an entry is masked
        return list(row) if kind in (range, array.array) else None
    except Exception:  # of an array whose parts do not fit
        return None


def rows_of(name: str, X: Any) -> list[list[Any] | None]:
    """The cells of each row of a list, a tuple or an array of objects; ``None`` for what is no row."""
    if isinstance(X, np.ndarray):
        if X.ndim == 2:
            return np.asarray(X).tolist()
        if X.ndim != 1:
            raise ValueError(not_a_table(X.ndim))
        X = X.tolist()
    return [row_cells(row) for row in _listed(name, X)]


def not_a_table(dimensions: int) -> str:
    """The words for what has other dimensions than a table; scikit-learn's own, without the values in them."""
    if dimensions > 2:
        return f"Found array with dim {dimensions}, while dim <= 2 is required"
    found = "1D" if dimensions else "scalar"
    return (
        f"Expected 2D array, got {found} array instead. Reshape your data either using array.reshape(-1, 1) if it has a "
        "single feature or array.reshape(1, -1) if it is a single row."
    )


def columns(name: str, X: Any, width: int, *, total: bool) -> list[list[Any]]:
    """The cells of each of ``width`` columns. A row of another length has void cells alone if ``total``."""
    rows = [row if row is not None and len(row) == width else None for row in rows_of(name, X)]
    if not total and None in rows:
        raise ValueError(f"{name} has a row that is not a list of {width} cells; accepted are rows of that length")
    return [[VOID if row is None else row[place] for row in rows] for place in range(width)]


def is_typed(X: Any) -> bool:
    """Whether it lies in one block, of a type that its owner declared."""
    found = _in_one_block(X)
    return found is not None and found.dtype.kind in TYPED


def matrix(name: str, X: Any, *, width: int | None = None, total: bool = False) -> np.ndarray:
    """A table of numbers, each read for itself: typed arrays of numbers as they are, all else as ``float64``.

    A cell that holds nothing is NaN. What is no number, and a row of another length than ``width`` (or than the other
    rows, where it is not given), is NaN too if ``total``, else refused.
    """
    found = _in_one_block(X)
    if found is not None and found.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is of type {found.dtype}; real numbers are accepted")
    if found is not None and found.dtype.kind in TYPED:
        if found.ndim != 2:
            raise ValueError(not_a_table(found.ndim))
        return found if found.dtype.kind in "iufb" else _read(name, found.ravel().tolist(), found.shape, total)
    if not hasattr(X, "__len__"):
        raise ValueError(not_a_table(0))
    rows = rows_of(name, X if found is None else found)
    if width is None:
        if rows and all(row is None for row in rows):
            raise ValueError(not_a_table(1))
        # Whether all are of one length shows where they are not; none of them decides about the others.
        if len({None if row is None else len(row) for row in rows}) > 1:
            raise ValueError(f"{name} has rows of different lengths; accepted are rows of one length")
        width = len(rows[0] or ()) if rows else 0
    elif not total and any(row is None or len(row) != width for row in rows):
        raise ValueError(f"{name} has a row that is not a list of {width} cells; accepted are rows of that length")
    void = [VOID] * width
    rows = [row if row is not None and len(row) == width else void for row in rows]
    return _read(name, list(chain.from_iterable(rows)), (len(rows), width), total)


def _read(name: str, cells: list[Any], shape: tuple[int, ...], total: bool) -> np.ndarray:
    return numbers(name, cells, total=total).reshape(shape)


def numbers(name: str, cells: Sequence[Any], *, total: bool) -> np.ndarray:
    """A number for each cell; NaN where it holds nothing. What is no number is NaN too if ``total``, else refused."""
    if set(map(type, cells)) <= {float, int}:
        try:
            return np.fromiter(cells, dtype=np.float64, count=len(cells))
        except OverflowError:  # a whole number beyond all floats
            pass
    if total:
        return np.fromiter(map(number_or_nan, cells), dtype=np.float64, count=len(cells))
    found = list(map(number, cells))
    if VOID in found:
        raise ValueError(NOT_NUMBERS.format(name=name))
    return np.fromiter(found, dtype=np.float64, count=len(found))
