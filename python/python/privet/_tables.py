"""From what a caller holds to what the extension reads: arrays, sparse rows or named columns.

Arrays of ``float64`` and ``float32`` go as they are, in any memory order; a frame's number columns go as
arrays, its texts as codes with the list of distinct texts. What a cell becomes follows from that cell and
from the type that the caller gave its column, never from other rows: lists and columns of objects are
read one cell at a time, because a type found for all of them together would let one record change how
every other is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from privet._masks import check_unmasked, is_masked, is_missing
from privet.schema import label_text

Column = tuple[str, str, np.ndarray, Any]


def is_frame(X: Any) -> bool:
    """Whether it is a pandas or polars frame or a PyArrow table."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def collected(X: Any) -> Any:
    """The same table; one of polars that is not computed yet is."""
    return X.collect() if nw.dependencies.is_polars_lazyframe(X) else X


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


def frame_columns(
    X: Any,
    without: str | None = None,
    *,
    total: bool = False,
    only: Sequence[str] | None = None,
    read: Sequence[str] | None = None,
) -> list[Column]:
    """The columns of a frame but for one, which says whose a row is and is read as such; or ``only`` some, by
    names without blanks around them. Of columns that are not among those to ``read`` only the name is handed on: of
    whatever type they are, they break nothing."""
    names = [str(name) for name in getattr(X, "column_names", X.columns)]
    if len(set(names)) < len(names):
        repeated = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"column {repeated!r} occurs more than once; each name once is accepted")
    frame = nw.from_native(X, eager_only=True)
    wanted = [name for name in frame.columns if str(name) != without and (only is None or str(name).strip() in only)]
    def column(name: Any) -> Column:
        if read is not None and str(name).strip() not in read and str(name) not in read:
            return (str(name), "integer", np.zeros(len(frame), dtype=np.int64), None)
        return series_column(str(name), frame.get_column(name), total=total)

    return [column(name) for name in wanted]


def array_columns(X: Any, names: Sequence[str], *, total: bool = False) -> list[Column]:
    """The columns of an array without names, which are ``names``. Of a list, if ``total``, a row that is none
    or of another length has missing cells alone."""
    check_unmasked("X", X, total=total)
    if isinstance(X, (list, tuple)):
        rows = [list(row) if _is_row(row, len(names)) else None for row in X]
        if rows and (total or None not in rows):
            cells = [[None] * len(names) if row is None else row for row in rows]
            columns = zip(names, zip(*cells, strict=True), strict=True)
            return [text_column(name, list(column), None, _cell, total=total) for name, column in columns]
    values = X if isinstance(X, np.ndarray) else objects(X)
    if values.ndim != 2 or values.shape[1] != len(names):
        found = values.shape[1] if values.ndim == 2 else f"{values.ndim} dimensions"
        raise ValueError(
            f"X has {found} columns; the schema has {len(names)} features, and an array without names "
            "is read by position"
        )
    return [one_column(name, values[:, place], total=total) for place, name in enumerate(names)]


def _is_row(row: Any, width: int) -> bool:
    plain = isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim == 1)
    return plain and len(row) == width


def one_column(name: str, values: Any, *, total: bool = False) -> Column:
    """A single column from a series, an array or a list."""
    if nw.dependencies.is_into_series(values):
        return series_column(name, nw.from_native(values, series_only=True), total=total)
    array = values if isinstance(values, np.ndarray) else objects(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; one value for each row is accepted")
    if array.dtype.kind == "f":
        return (name, "number", _contiguous(array, np.float64), np.isnan(array))
    if array.dtype.kind in "iu" and array.dtype.newbyteorder("=") != np.uint64:
        return (name, "integer", _contiguous(array, np.int64), None)
    return text_column(name, array.tolist(), None, _cell, total=total)


def objects(values: Any) -> np.ndarray:
    """Cells as they are, each of its own type; of the array's type where they lie in one, in any library's."""
    if hasattr(values, "__array__") or _has_buffer(values):
        return np.asarray(values)
    return np.array(values, dtype=object)


def _has_buffer(values: Any) -> bool:
    try:
        memoryview(values)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def each_for_itself(values: Any) -> np.ndarray:
    """The entries of a list, each a cell whatever it holds, so that none decides how others are read."""
    if not isinstance(values, (list, tuple)):
        return objects(values)
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        single = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
        array[place] = None if is_masked(single) else single
    return array


def _contiguous(array: np.ndarray, dtype: Any) -> np.ndarray:
    return readable(np.ascontiguousarray(array, dtype=dtype))


def is_long(dtype: Any) -> bool:
    """Whether numbers of the type may have more than 63 bits; these go by their digits, as decimals do."""
    return dtype in (nw.UInt64, nw.Int128, nw.UInt128) or dtype.is_decimal()


def cells(name: str, series: Any, *, total: bool) -> list[Any]:
    """The cells of a series of narwhals. A text that is not UTF-8, which Arrow keeps as it came, is missing if ``total``."""
    try:
        return series.to_list()
    except Exception:  # of the decoder or of Arrow: its words hold bytes of the text, or all of it
        pass
    found = _decoded_cells(series) if total else None
    if found is None:
        raise ValueError(f"column {name!r} has a text that is not UTF-8; accepted is Unicode")
    return found


def _decoded_cells(series: Any) -> list[Any] | None:
    """The texts of a series, ``None`` for each that is none; nothing where they are not texts at all."""
    import pyarrow as pa

    try:
        texts = series.to_arrow()
        if pa.types.is_dictionary(texts.type):
            texts = texts.cast(texts.type.value_type)
        return [_decoded(cell) for cell in texts.cast(pa.large_binary()).to_pylist()]
    except Exception:
        return None


def _decoded(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def series_column(name: str, series: Any, *, total: bool = False) -> Column:
    """A single column from a series of narwhals."""
    dtype = series.dtype
    if dtype == nw.Object:  # each cell tells whether it is missing; pandas asks some in a way that raises
        return text_column(name, series.to_list(), None, _cell, total=total)
    missing = series.is_null()
    mask = missing.to_numpy().astype(bool) if missing.any() else None
    if dtype.is_integer() and not is_long(dtype):
        filled = series.fill_null(0) if mask is not None else series
        return (name, "integer", _contiguous(filled.to_numpy(), np.int64), mask)
    if dtype.is_float():
        return (name, "number", _contiguous(series.to_numpy(), np.float64), mask)
    if isinstance(dtype, (nw.Date, nw.Datetime)):
        # As a file of text has it; a column of type "date" takes it apart.
        written = "%Y-%m-%d" if isinstance(dtype, nw.Date) else "%Y-%m-%dT%H:%M:%S"
        return text_column(name, series.dt.to_string(written).to_list(), mask, _cell, total=total)
    if dtype.is_temporal() or dtype.is_nested():
        raise ValueError(
            f"column {name!r} is of type {dtype}; accepted are numbers, texts, dates, categories and booleans"
        )
    return text_column(name, cells(name, series, total=total), mask, _cell, total=total)


def text_column(
    name: str,
    values: list[Any],
    mask: np.ndarray | None,
    text_of: Callable[[Any], str | bool | None],
    *,
    total: bool = False,
) -> Column:
    """Cells by their texts; ``None`` is a missing one. If ``total``, so is one that has no text or half of one:
    no record may end the reading of the others."""
    places: dict[Any, int] = {}

    def place(value: Any) -> int:
        cell = value if type(value) is str else text_of(value)
        return -1 if cell is None else places.setdefault(cell, len(places))

    def place_or_missing(value: Any) -> int:
        try:
            cell = value if type(value) is str else text_of(value)
            half = isinstance(cell, str) and not is_unicode(cell)
            return -1 if cell is None or half else places.setdefault(cell, len(places))
        except Exception:  # of whatever kind: the cell's class decides
            return -1

    codes = np.fromiter(map(place_or_missing if total else place, values), dtype=np.int64, count=len(values))
    if not all(is_unicode(text) for text in places if type(text) is str):
        raise ValueError(f"column {name!r} has a text with half a character (a lone surrogate); accepted is Unicode")
    if mask is not None:
        codes[mask] = -1
    return (name, "text", codes, list(places))


def is_unicode(text: str) -> bool:
    """Whether a text can be written down; Python's may hold halves of characters."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:  # whose words and attributes hold the text
        return False


def _cell(value: Any) -> str | bool | None:
    """A cell's text, from nothing but the cell; a boolean is written as its column's schema writes it."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return None if is_missing(value) else label_text(value)
