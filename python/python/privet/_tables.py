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

from privet import _records
from privet._cells import NOTHING_SPELLED, VOID, moment_texts, number_or_nan, restored, spelled, written
from privet._masks import check_unmasked

Column = tuple[str, str, np.ndarray, Any]

MISSING, BAD = -1, -2
"""Codes of cells that are absent, and of those that hold nothing that can be read."""

WHY_VOID = (
    "has a cell that is no text, number, truth value or date, or a text with half a character (a lone surrogate); "
    "accepted are those, in Unicode"
)


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
    X = sound_sparse("X", X if sparse.issparse(X) else sparse.csr_array(X))
    if X.format != "csr":
        X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return readable(X.data), readable(X.indices), readable(X.indptr), X.shape[1]


UNSOUND = (
    "{name} is a sparse matrix whose parts do not fit together: an index is out of range, rows overlap, or there are not as "
    "many indices as values; accepted is one that its check_format(full_check=True) passes"
)


def sound_sparse(name: str, X: Any) -> Any:
    """The same sparse matrix of numbers; refused is one whose parts do not fit together. SciPy believes the parts, and
    reads and writes beside its memory by those that lie."""
    if X.dtype.kind not in "iufb":
        what = "complex data not supported" if X.dtype.kind == "c" else "a sparse matrix holds no numbers"
        raise ValueError(f"{name}: {what}; real numbers are accepted")
    if X.format not in ("csr", "csc", "bsr", "coo"):
        X = _as_coordinates(X)
    if X is None or not _fits(X):
        raise ValueError(UNSOUND.format(name=name))
    return X


def real_sparse(X: Any) -> Any:
    """The same sparse matrix for use where no record is refused. Complex entries, if any, are real: a number where they are,
    otherwise NaN. SciPy may have made all of them complex for the sake of one."""
    if sparse.issparse(X) and X.format == "lil":
        X = _numbers_in_lists(X)
    if not sparse.issparse(X) or X.dtype.kind != "c":
        return X
    if X.format not in ("csr", "csc", "bsr", "coo"):
        X = _as_coordinates(X)
        if X is None:
            raise ValueError(UNSOUND.format(name="X"))
    stored = X.data
    if not isinstance(stored, np.ndarray) or stored.dtype.kind != "c":
        raise ValueError(UNSOUND.format(name="X"))
    X = X.copy()
    with np.errstate(all="ignore"):  # of long doubles
        X.data = np.where(stored.imag != 0, np.nan, stored.real).astype(np.float64)
    return X


def _numbers_in_lists(X: Any) -> Any:
    """The same matrix of lists, which keep whatever they are given: what is no number is NaN."""
    if all(type(row) is list and all(isinstance(cell, (float, int, np.number)) for cell in row) for row in X.data):
        return X
    found = X.copy()
    for place, row in enumerate(X.data):
        found.data[place] = list(map(number_or_nan, row)) if type(row) is list else []
    return found


def _as_coordinates(X: Any) -> Any:
    """Of a format that SciPy builds matrices with, the entries with their places, or ``None``."""
    try:
        if X.format == "lil" and any(len(row) != len(data) for row, data in zip(X.rows, X.data, strict=True)):
            return None
        return X.tocoo()
    except (ValueError, TypeError, IndexError):
        return None


def _fits(X: Any) -> bool:
    if X.format == "coo":
        coords = (X.row, X.col)
        alike = all(_whole(place) and len(place) == len(X.data) for place in coords)
        return alike and all(_within(place, length) for place, length in zip(coords, X.shape, strict=True))
    high, wide = X.blocksize if X.format == "bsr" else (1, 1)
    lines, length = (X.shape[1], X.shape[0]) if X.format == "csc" else (X.shape[0] // high, X.shape[1] // wide)
    starts, indices = X.indptr, X.indices
    if not (_whole(starts) and _whole(indices) and len(starts) == lines + 1 and starts[0] == 0):
        return False
    rising = bool((starts[1:] >= starts[:-1]).all()) and starts[-1] <= min(len(indices), len(X.data))
    return rising and _within(indices[: starts[-1]], length)


def _whole(places: Any) -> bool:
    return isinstance(places, np.ndarray) and places.ndim == 1 and places.dtype.kind in "iu"


def _within(places: np.ndarray, length: int) -> bool:
    return len(places) == 0 or bool(places.min() >= 0 and places.max() < length)


def names_of(X: Any) -> list[Any]:
    """The names of a frame's columns, as its library has them."""
    # PyArrow's `columns` are the columns themselves.
    return list(getattr(X, "column_names", X.columns))


def meant(names: Sequence[Any], read: Sequence[str], *, total: bool) -> dict[str, Any]:
    """Which column of a frame each of the schema's names means, in the schema's order: the one of that very name, or that
    is a number written so, or that is the same but for blanks. If ``total``, a column of that very name is meant whatever
    others there are: a frame that is made of records has the columns that any one of them has."""
    texts = list(map(_name_text, names))
    if not total:
        _check_repeated(texts)
    named = {name: name for name in names if isinstance(name, str)}
    written = {text: name for name, text in zip(names, texts, strict=True) if text is not None and not isinstance(name, str)}
    alike: dict[str, list[Any]] = {}
    wanted = set(read)
    for name, text in zip(names, texts, strict=True):
        if text is not None and (text not in wanted or text == text.strip()):
            alike.setdefault(text.strip(), []).append(name)
    found: dict[str, Any] = {}
    for name in read:
        several, exact = alike.get(name, ()), name in named or name in written
        if len(several) > 1 and not (exact and total):
            raise ValueError(
                f"X has columns {several[0]!r} and {several[1]!r}, which are the schema's {name!r} but for blanks; accepted is "
                "one of them: drop or rename the other"
            )
        if exact:
            found[name] = named.get(name, written.get(name))
        elif several:
            found[name] = several[0]
    return found


def renamed(X: Any, found: dict[str, Any]) -> Any:
    """The columns of a frame that these names mean, in their order and under them."""
    if type(X).__module__.startswith("pandas."):
        # narwhals does not rename columns whose names are no texts.
        return X[list(found.values())].set_axis(list(found), axis=1)
    return nw.from_native(X, eager_only=True).select(nw.col(old).alias(new) for new, old in found.items()).to_native()


def _name_text(name: Any) -> str | None:
    """How a column's name is written; ``None`` where it cannot be."""
    if isinstance(name, str):
        return name
    text = _records.attempted(lambda: str(name))
    return None if text is _records.FAILED else text


def _check_repeated(texts: Sequence[str | None]) -> None:
    if len(set(texts)) < len(texts):
        repeated = next(text for place, text in enumerate(texts) if text in texts[:place])
        raise ValueError(f"column {repeated!r} occurs more than once; each name once is accepted")


def frame_columns(
    X: Any, read: Sequence[str], *, total: bool = False, others: bool = False, without: str | None = None
) -> list[Column]:
    """The columns of a frame that are to be ``read``, in the schema's order.

    ``others``: of the rest the names are handed on, for the schema's word on other columns, but for the column ``without``,
    which says whose a row is. Of whatever type they are, they break nothing. If ``total``, what has no text for a name, or
    one that is another column's but for blanks, is none of a file's columns either, and is passed over."""
    names = names_of(X)
    frame = nw.from_native(X, eager_only=True)
    found = meant(names, read, total=total)
    # Whether blanks count is the schema's to say.
    called = {name: name if _name_text(native) == name else _name_text(native) for name, native in found.items()}
    columns = [series_column(called[name], frame.get_column(native), total=total) for name, native in found.items()]
    if not others:
        return columns
    unit = [] if without is None else [without]
    taken = set(map(id, (*found.values(), *meant(names, unit, total=total).values())))
    known = {name.strip() for name in (*read, *unit)}
    for name in names:
        text = _name_text(name)
        passed_over = total and (not isinstance(name, str) or name.strip() in known)
        if id(name) not in taken and text is not None and not passed_over:
            columns.append((text, "integer", np.zeros(len(frame), dtype=np.int64), None))
    return columns


def array_columns(X: Any, names: Sequence[str], *, total: bool = False) -> list[Column]:
    """The columns of an array without names, which are ``names``. Of a list, if ``total``, a row that is none
    or of another length has void cells alone."""
    columns = cells_of_array(X, names, total=total)
    return [one_column(name, column, total=total) for name, column in zip(names, columns, strict=True)]


def cells_of_array(X: Any, names: Sequence[str], *, total: bool = False) -> list[Any]:
    """The same before they are read: typed arrays, or lists of cells."""
    X = _records.rows_in(X)
    check_unmasked("X", X, total=total)
    if _records.is_typed(X):
        values = np.asarray(X)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise _other_columns(values.shape[1] if values.ndim == 2 else f"the shape {values.shape}", names)
        return [values[:, place] for place in range(len(names))]
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] != len(names):
        raise _other_columns(X.shape[1], names)
    return _records.columns("X", X, names, total=total)


def _other_columns(found: Any, names: Sequence[str]) -> ValueError:
    has = f"{found} columns" if isinstance(found, int) else found
    return ValueError(f"X has {has}; the schema has {len(names)} features, and an array without names is read by position")


def one_column(name: str, values: Any, *, total: bool = False) -> Column:
    """A single column from a series, an array or a list."""
    series = _records.series_of(values)
    if series is not None:
        return series_column(name, series, total=total)
    array = _records.raw(name, values)
    if array.dtype.kind == "f":
        return (name, "number", _contiguous(array, np.float64), np.isnan(array))
    if array.dtype.kind in "iu" and array.dtype.newbyteorder("=") != np.uint64:
        return (name, "integer", _contiguous(array, np.int64), None)
    if array.dtype.kind == "M":
        return _moments(name, array)
    read = _as_numpy_writes() if total else written
    return text_column(name, _records.cells_in(array, total=total), read, total=total)


def _as_numpy_writes() -> Callable[[Any], Any]:
    """Reads cells of a list or array where no record is refused. A text that NumPy may have made of a number or truth
    value is a pair of both: the text, if the schema lists it, else what it spells (``VOID`` as an empty text)."""
    known: dict[str, Any] = {}

    def read(cell: Any) -> Any:
        found = written(cell)
        if type(found) is not str:
            return found
        if found not in known:
            other = spelled(found)
            known[found] = found if other is NOTHING_SPELLED else (found, "" if other is VOID else other)
        return known[found]

    return read


def _moments(name: str, array: np.ndarray) -> Column:
    """A column of times, by their texts."""
    there = ~np.isnat(array)
    distinct, places = np.unique(array[there], return_inverse=True)
    codes = np.full(len(array), MISSING, dtype=np.int64)
    codes[there] = places
    return (name, "text", codes, moment_texts(distinct))


def _contiguous(array: np.ndarray, dtype: Any) -> np.ndarray:
    with np.errstate(all="ignore"):  # of long doubles
        return readable(np.ascontiguousarray(array, dtype=dtype))


def is_narrow(dtype: np.dtype) -> bool:
    """Whether floats or complex numbers have fewer digits than a ``float64``."""
    return dtype.itemsize < (16 if dtype.kind == "c" else 8)


def is_long(dtype: Any) -> bool:
    """Whether numbers of the type may have more than 63 bits; these go by their digits, as decimals do."""
    return dtype in (nw.UInt64, nw.Int128, nw.UInt128) or dtype.is_decimal()


def series_column(name: str, series: Any, *, total: bool = False) -> Column:
    """A single column from a series of narwhals."""
    held = _records.object_cells(series)
    if held is not None:
        return text_column(name, held, written, total=total)
    dtype = series.dtype
    if dtype.is_integer() and not is_long(dtype):
        missing = series.is_null()
        mask = missing.to_numpy().astype(bool) if missing.any() else None
        filled = series.fill_null(0) if mask is not None else series
        return (name, "integer", _contiguous(filled.to_numpy(), np.int64), mask)
    if dtype.is_float():
        # NaN is missing, as in a list, whether or not the library calls it null.
        values = _contiguous(series.to_numpy(), np.float64)
        return (name, "number", values, np.isnan(values))
    if isinstance(dtype, (nw.Date, nw.Datetime)):
        return _calendar(name, series, _days if isinstance(dtype, nw.Date) else _clock, total)
    if not total and (dtype.is_temporal() or dtype.is_nested()):
        raise ValueError(
            f"column {name!r} is of type {dtype}; accepted are numbers, texts, dates, categories and booleans"
        )
    return text_column(name, _records.cells_of(series, name, total=total), written, total=total)


def _calendar(name: str, series: Any, read: Callable[[Any], Any], total: bool) -> Column:
    """A column of dates or times, by their texts. One that its library cannot take apart is void."""
    found = _records.attempted(lambda: read(series))
    if found is not _records.FAILED:
        return text_column(name, found, written, total=total) if isinstance(found, list) else _moments(name, found)

    def cells(part: Any) -> list[Any]:
        texts = read(part)
        if isinstance(texts, list):
            return texts
        _, _, codes, distinct = _moments(name, texts)
        return [None if code < 0 else distinct[code] for code in codes.tolist()]

    return text_column(name, _records.cells_by_parts(series, cells, name, total=total), written, total=total)


def _days(series: Any) -> list[Any]:
    """As a file of text has them; a column of type "date" takes them apart."""
    return series.dt.to_string("%Y-%m-%d").to_list()


def _clock(series: Any) -> np.ndarray:
    times = (series.dt.replace_time_zone(None) if series.dtype.time_zone else series).to_numpy()
    return times.astype("datetime64[us]") if times.dtype.kind == "O" else times


class Distinct:
    """Different cells, and the place of each. 1, 1.0 and True differ, and so do 0.0 and -0.0."""

    def __init__(self) -> None:
        self.cells: list[Any] = []
        self._places: dict[Any, int] = {}

    def place(self, cell: Any) -> int:
        key = cell if type(cell) is str else (type(cell), repr(cell))
        place = self._places.setdefault(key, len(self.cells))
        if place == len(self.cells):
            self.cells.append(cell)
        return place


def text_column(
    name: str, values: Sequence[Any], read: Callable[[Any], Any], *, total: bool = False, why: str = WHY_VOID
) -> Column:
    """Cells as codes: ``MISSING`` for ``None``, and for ``VOID`` ``BAD``, which the schema's word on bad records deals
    with if ``total`` and which is refused otherwise. ``read`` gives a text, a number or a truth value; it never
    raises."""
    found = Distinct()

    def place(value: Any) -> int:
        cell = read(restored(value) if total else value)
        return MISSING if cell is None else BAD if cell is VOID else found.place(cell)

    codes = np.fromiter(map(place, values), dtype=np.int64, count=len(values))
    if not total and (codes == BAD).any():
        raise ValueError(f"column {name!r} {why}")
    return (name, "text", codes, found.cells)


def is_unicode(text: str) -> bool:
    """Whether a text can be written down; Python's may hold halves of characters."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:  # whose words and attributes hold the text
        return False


def numbers_of(
    X: Any, *, read: Sequence[Any] | None = None, total: bool = False, lacking: bool = False
) -> np.ndarray:
    """A frame without a schema as numbers: each column by its type, cells of objects and texts each for itself. NaN is
    what is missing and, if ``total``, what is no number; ``lacking``: so is all of a column that the frame lacks."""
    frame = nw.from_native(X, eager_only=True)
    names = list(frame.columns) if read is None else list(read)
    found = np.empty((len(frame), len(names)), order="F")
    for place, name in enumerate(names):
        if name not in frame.columns:
            if lacking:
                found[:, place] = np.nan
                continue
            raise ValueError(f"X has no column {name!r}, which features= names")
        column = series_column(str(name), frame.get_column(name), total=True)
        found[:, place] = _numbers("X", column, total=total)
    return found


def _numbers(name: str, column: Column, *, total: bool) -> np.ndarray:
    _, kind, values, more = column
    if kind != "text":
        return values if more is None else np.where(more, np.nan, values)
    if not total and (values == BAD).any():
        raise ValueError(_records.NOT_NUMBERS.format(name=name))
    # Codes of what is no text count from the end.
    return np.append(_records.numbers(name, more, total=total), [np.nan, np.nan])[values]
