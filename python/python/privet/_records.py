"""The one door by which records come in: lists, arrays, series and tables as entries that each were read for themselves.

A typed array, series or column is of one type because its owner declared it so, and is taken as it is. In a list,
a tuple or an array of objects every record is looked at alone (:mod:`privet._cells`): no type is found for all of
them together, since one record would then decide how every other is read. A row that is none, or of another length,
is void as a whole.
"""

from __future__ import annotations

import array
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from privet._cells import VOID, is_masked_array, mask_of, number, number_or_nan, plain, restored

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


def entries(name: str, values: Any, *, single: bool = False, total: bool = False) -> np.ndarray:
    """One entry for each record: a typed array, or one of objects that :func:`privet._cells.plain` made of each.

    ``single``: an entry that is a list of one cell is that cell. ``total``: no record is refused.
    """
    series = series_of(values)
    if series is not None:
        return _of_series(series, total)
    if not isinstance(values, np.ndarray) and nw.dependencies.is_into_dataframe(values):
        frame = nw.from_native(values, eager_only=True)
        if len(frame.columns) != 1:
            raise ValueError(f"{name} has {len(frame.columns)} columns; one value for each row is accepted")
        return _of_series(frame.get_column(frame.columns[0]), total)
    found = raw(name, values, single=single)
    return objects(cells_in(found), single=single, total=total) if found.dtype.kind in "OT" else found


def cells_in(array: np.ndarray, *, total: bool = False) -> list[Any]:
    """The cells of an array. If ``total``, one entry of another kind, for which NumPy made texts bytes or numbers
    durations, leaves the others what they were."""
    kind = array.dtype.kind
    if kind == "M" or (kind == "m" and not total):
        return list(array)
    if kind == "m":
        counts = array.astype(np.int64).tolist()
        return [None if gone else count for count, gone in zip(counts, np.isnat(array), strict=True)]
    return list(map(restored, array.tolist())) if kind == "S" and total else array.tolist()


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


def objects(cells: Sequence[Any], *, single: bool = False, total: bool = False) -> np.ndarray:
    """Cells, each read for itself."""
    found = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        cell = _only(cell) if single else cell
        found[place] = plain(restored(cell) if total else cell)
    return found


def _only(cell: Any) -> Any:
    listed = row_cells(cell, 1)
    return cell if listed is None else listed[0]


def _of_series(series: Any, total: bool) -> np.ndarray:
    held = object_cells(series)
    if held is not None:
        return objects(held, single=True, total=total)
    dtype = series.dtype
    if (dtype.is_integer() or dtype == nw.Boolean) and dtype not in (nw.Int128, nw.UInt128):
        if not series.is_null().any():
            return series.to_numpy()
    elif dtype.is_float():
        return np.asarray(series.to_numpy())
    return objects(cells_of(series), total=total)


def object_cells(series: Any) -> list[Any] | None:
    """The cells of a series of narwhals that holds objects. pandas is not asked what they are: it would ask them."""
    native = series.to_native()
    if getattr(native, "dtype", None) == np.dtype(object):
        return native.to_numpy().tolist()
    return series.to_list() if series.dtype == nw.Object else None


def cells_of(series: Any, name: str = "", *, total: bool = True) -> list[Any]:
    """The cells of a series of narwhals. What its library cannot read (a text that is not UTF-8, which Arrow keeps as
    it came, or a time beyond the calendar) is ``VOID``, or refused unless ``total``."""
    held = object_cells(series)
    if held is not None:
        return held
    found = attempted(series.to_list)
    if found is FAILED:
        found = _decoded_cells(series) if total else None
    return cells_by_parts(series, lambda part: part.to_list(), name, total=total) if found is None else found


def cells_by_parts(series: Any, read: Callable[[Any], list[Any]], name: str, *, total: bool) -> list[Any]:
    """The cells of a series that its library cannot read as a whole: ``VOID`` are those that it cannot read alone."""
    if not total:
        raise ValueError(
            f"column {name!r} has a text that is not UTF-8, or a time beyond the calendar; accepted are Unicode and times "
            "of the years 1 to 9999"
        )
    found = attempted(lambda: read(series))
    if found is not FAILED:
        return found
    rows = len(series)
    if rows < 2:
        return [VOID] * rows
    parts = (series[: rows // 2], series[rows // 2 :])
    return [cell for part in parts for cell in cells_by_parts(part, read, name, total=True)]


FAILED = object()
"""What is found where a library fails at its own values."""


def attempted(read: Callable[[], Any]) -> Any:
    """What a library makes of its values, or ``FAILED``: its own words would repeat one of them."""
    try:
        return read()
    except Exception:  # of the decoder, the calendar or Arrow
        return FAILED
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of polars, and no Exception
            raise
        return FAILED


def _decoded_cells(series: Any) -> list[Any] | None:
    """Texts that are not all UTF-8, each decoded for itself; ``None`` where they are no texts."""
    found = attempted(lambda: _text_bytes(series))
    return None if found is FAILED or found is None else list(map(_decoded, found))


def _text_bytes(series: Any) -> list[bytes | None] | None:
    import pyarrow as pa

    texts = series.to_arrow()
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    if texts.type not in (pa.string(), pa.large_string(), pa.string_view()):
        return None
    found: list[bytes | None] = texts.cast(pa.large_binary()).to_pylist()
    return found


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


def row_length(row: Any) -> int | None:
    """How many cells a row has, or ``None`` where it is none. No code of the row's own class runs."""
    kind = type(row)
    try:
        if issubclass(kind, list):
            return list.__len__(row)
        if issubclass(kind, tuple):
            return tuple.__len__(row)
        if kind is np.ndarray or is_masked_array(kind):
            return row.shape[0] if row.ndim == 1 else None
        return len(row) if kind is range or kind is array.array else None
    except Exception:  # of a range that is longer than any list
        return None


def row_cells(row: Any, width: int) -> list[Any] | None:
    """The cells of one row of that many; ``None`` where it is none or has another length, and is never listed."""
    kind = type(row)
    if row_length(row) != width:
        return None
    try:
        if issubclass(kind, list):
            return list.copy(row)
        if issubclass(kind, tuple):
            return list(tuple.__getitem__(row, slice(None)))
        if not is_masked_array(kind):
            return cells_in(row) if kind is np.ndarray else list(row)
        mask = mask_of(row)
        if mask is None:
            return None
        return [None if gone else cell for cell, gone in zip(np.ndarray.tolist(row), mask.tolist(), strict=True)]
    except Exception:  # of an array whose parts do not fit
        return None


def named_cells(row: Any, names: Sequence[Any], *, alone: bool = False) -> list[Any] | None:
    """The cells of these names in a dictionary, which has no others if ``alone``; ``None`` where it is none, or lacks
    one. No code of its own class or of its keys' runs."""
    if not issubclass(type(row), dict):
        return None
    try:
        found = {name: cell for key, cell in dict.items(row) if is_name(name := plain(key))}
        fits = len(found) == dict.__len__(row) if alone else True
        return [found[name] for name in names] if fits and (not alone or len(found) == len(names)) else None
    except Exception:  # of a name that it lacks, and of a dictionary that another thread changes
        return None


def is_name(name: Any) -> bool:
    """Whether a cell that was read can name a column."""
    return type(name) is str or type(name) is int


def rows_of(name: str, X: Any, width: int, names: Sequence[Any] = ()) -> list[list[Any] | None]:
    """The cells of each row of a list, a tuple or an array of objects; ``None`` for what is no row of that length, nor
    a dictionary with these names."""
    if isinstance(X, np.ndarray):
        if X.ndim == 2:
            return np.asarray(X).tolist() if X.shape[1] == width else [None] * len(X)
        if X.ndim != 1:
            raise ValueError(not_a_table(X.ndim))
        X = X.tolist()
    rows = _listed(name, X)
    return [named_cells(row, names) if len(names) and issubclass(type(row), dict) else row_cells(row, width) for row in rows]


def rows_in(X: Any) -> Any:
    """The rows of a column of lists or structs; refused is a column of anything else. All other tables as they are."""
    series = series_of(X)
    if series is None:
        return X
    dtype = series.dtype
    if dtype.is_numeric() or dtype.is_temporal() or dtype in (nw.Boolean, nw.String, nw.Binary, nw.Categorical, nw.Enum):
        raise ValueError(not_a_table(1))
    return cells_of(series)


def not_a_table(dimensions: int) -> str:
    """The words for what has other dimensions than a table; scikit-learn's own, without the values in them."""
    if dimensions > 2:
        return f"Found array with dim {dimensions}, while dim <= 2 is required"
    found = "1D" if dimensions else "scalar"
    return (
        f"Expected 2D array, got {found} array instead. Reshape your data either using array.reshape(-1, 1) if it has a "
        "single feature or array.reshape(1, -1) if it is a single row."
    )


def columns(name: str, X: Any, names: Sequence[Any], *, total: bool) -> list[list[Any]]:
    """The cells of each of the columns of these names. A row of another length has void cells alone if ``total``."""
    width = len(names)
    rows = rows_of(name, X, width, names)
    if not total and None in rows:
        raise ValueError(f"{name} has a row that is not a list of {width} cells; accepted are rows of that length")
    return [[VOID if row is None else row[place] for row in rows] for place in range(width)]


def is_typed(X: Any) -> bool:
    """Whether it lies in one block, of a type that its owner declared."""
    found = _in_one_block(X)
    return found is not None and found.dtype.kind in TYPED


def matrix(
    name: str, X: Any, *, width: int | None = None, names: Sequence[Any] = (), total: bool = False
) -> np.ndarray:
    """A table of numbers, each read for itself: typed arrays of numbers as they are, all else as ``float64``.

    A cell that holds nothing is NaN. What is no number, and a row of another length than ``width`` (or than the other
    rows, where it is not given), is NaN too if ``total``, else refused. Rows may be dictionaries where there are ``names``.
    """
    X = rows_in(X)
    found = _in_one_block(X)
    if found is not None and found.dtype.kind == "c" and not total:
        raise ValueError(f"Complex data not supported: {name} is of type {found.dtype}; real numbers are accepted")
    if found is not None and found.dtype.kind in TYPED:
        if found.ndim != 2:
            raise ValueError(not_a_table(found.ndim))
        if found.dtype.kind in "iufb":
            return found
        return _read(name, cells_in(found.ravel(), total=total), found.shape, total)
    if not hasattr(X, "__len__"):
        raise ValueError(not_a_table(0))
    given = X if found is None else found
    if width is None:
        width = _width_of(name, given)
    rows = rows_of(name, given, width, names)
    if not total and None in rows:
        raise ValueError(f"{name} has a row that is not a list of {width} cells; accepted are rows of that length")
    void = [VOID] * width
    rows = [void if row is None else row for row in rows]
    return _read(name, list(chain.from_iterable(rows)), (len(rows), width), total)


def _width_of(name: str, X: Any) -> int:
    """How many cells every row has. Whether all are of one length shows where they are not; none of them decides about
    the others."""
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return X.shape[1]
    if isinstance(X, np.ndarray) and X.ndim != 1:
        raise ValueError(not_a_table(X.ndim))
    lengths = set(map(row_length, X.tolist() if isinstance(X, np.ndarray) else _listed(name, X)))
    if lengths == {None}:
        raise ValueError(not_a_table(1))
    if len(lengths) > 1:
        raise ValueError(f"{name} has rows of different lengths; accepted are rows of one length")
    return next(iter(lengths), 0) or 0


def _read(name: str, cells: list[Any], shape: tuple[int, ...], total: bool) -> np.ndarray:
    return numbers(name, cells, total=total).reshape(shape)


def numbers(name: str, cells: Sequence[Any], *, total: bool) -> np.ndarray:
    """A number for each cell; NaN where it holds nothing. What is no number is NaN too if ``total``, else refused."""
    if all(kind is float or kind is int for kind in map(type, cells)):
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
