"""Whose each row is: people go by their exact digits or texts.

The rule is that of the file readers (``privet_data::read``): a text is itself, a whole number of any type is
its digits, and 7, 7.0 and "7" are one person. Refused is what may have lost digits before it came here, so
that two people have become one: fractions, ``float64`` from 2**53 on, and floats of any other width, whatever
they hold. So are types that cannot tell people apart, or write one person in several ways: truth values,
times, bytes, and objects of other classes. Where no record is refused, truth values are 1 and 0, and bytes the text that
they are: NumPy makes these of them for the sake of one cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from privet import _privet, _records, _tables
from privet._cells import VOID, anyone, identifier, plain
from privet._masks import check_unmasked
from privet.schema import UNNAMED, Schema

PLACEHOLDER = "("
"""How names begin that are privet's own."""

ACCEPTED = "accepted are texts and whole numbers (read identifiers as texts: dtype=str)"

WHY_UNFIT = (
    "has a cell that does not tell whose its row is, exactly: a number that is not whole or may have lost digits, a text "
    f"with half a character, or a cell of another kind; {ACCEPTED}"
)


def unit_column(name: str, values: Any, *, total: bool = False) -> _tables.Column:
    """A column that says whose each row is. If ``total``, a cell that does not is nobody's, and so is a column of a
    type that cannot."""
    check_unmasked(name, values, total=total)
    series = _records.series_of(values)
    if series is not None:
        held = _records.object_cells(series)
        return _from_series(name, series, total) if held is None else _from_cells(name, held, total)
    array = _records.raw(name, values)
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind in "iu" or (kind == "f" and width == 8):
        return _tables.one_column(name, array)
    if kind in "OUT" or (total and (kind in "bmS" or (kind in "fc" and not _tables.is_narrow(array.dtype)))):
        return _from_cells(name, _records.cells_in(array, total=total), total)
    return _unfit(name, array.dtype, len(array), total)


def name_of(groups: Any) -> str | None:
    """What groups are called where they say it themselves, as a frame's column and its index do: certificates and
    ledgers then know whose guarantee it is."""
    return as_name(_called(groups))


def _called(groups: Any) -> Any:
    """The name of groups, whatever it is; ``None`` where they have none."""
    if groups is None or type(groups) is np.ndarray:
        return None
    if nw.dependencies.is_into_series(groups):
        name = nw.from_native(groups, series_only=True).name
    else:
        name = getattr(groups, "name", None)
    # A series of polars or PyArrow without a name has an empty one.
    return None if type(name) is str and name == "" else name


def _is_of(name: Any, unit: str) -> bool:
    """Whether a column of this name is the unit's."""
    return unit.strip() in (str(name).strip(), _written(name))


def as_name(name: Any) -> str | None:
    """A name as schemas and ledgers have it: without blanks around it, the parts of a tuple with dots between them. A
    number is a place, as in files without a header, and no name. Names in brackets are placeholders of privet's own, and
    refused."""
    if name is None or isinstance(name, (int, np.integer)):
        return None
    text = _written(name)
    if text.startswith(PLACEHOLDER):
        raise ValueError("the groups have a name in brackets, which is privet's own way to name what has no name; rename them")
    return text or None


def _written(name: Any) -> str:
    parts = name if isinstance(name, tuple) else (name,)
    return ".".join(str(part).strip() for part in parts).strip()


def groups_column(unit: str, groups: Any, *, total: bool = False) -> _tables.Column:
    """Whose each row is, of groups that are given beside the rows: where they have a name it is the unit's, since that
    is who the guarantee is about."""
    name = _called(groups)
    if is_unnamed(unit):
        # What they are called themselves is held against the ledger's unit, which they would be paid for as.
        as_name(name)
    elif name is not None and not _is_of(name, unit):
        raise ValueError(
            f"groups are of {_shown(name)}, and the schema's unit is {unit!r}: the guarantee would be about others than "
            "these; accepted are groups of that name, or an array, where you know that it is the same"
        )
    called = "groups" if unit.startswith(PLACEHOLDER) else unit
    return (unit, *unit_column(called, groups, total=total)[1:])


def _shown(name: Any) -> str:
    return repr(name) if isinstance(name, str) else f"a name of type {type(name).__name__}"


def is_unnamed(unit: str) -> bool:
    """Whether a schema's unit is privet's own word for groups that have no name. No column is called so."""
    return unit.startswith(UNNAMED)


def check_paid(groups: Any, unit: str | None) -> None:
    """Refuses groups that have another name than the ledger's unit, whatever schema they are read by: one whose unit has
    no name would be paid for as the ledger's."""
    called = None if unit is None else _called(groups)
    name = as_name(called)
    if unit is not None and name is not None and not _is_of(called, unit):
        raise _privet.PrivacyError(
            f'groups are of "{name}", and the ledger\'s unit is "{unit}": what is spent on the one cannot be counted on the '
            "other. Accepted are groups of that name, or an array, where you know that it is the same"
        )


def check_wanted(groups: Any, schema: Schema | None) -> None:
    """Refuses groups where the guarantee would be about rows for all that."""
    if groups is not None and schema is not None and schema.unit is None:
        raise ValueError(
            "groups are given, but the schema has no unit, so that the guarantee would be about single rows; accepted is a "
            "schema with unit=... and max_records=..., or a model that was fitted with groups"
        )


def check_one(name: str, table: Any, groups: Any) -> None:
    """Refuses groups beside a table that has the unit's column itself: it might say otherwise, and which of them the
    guarantee is about would be a guess."""
    if groups is None or is_unnamed(name):
        return
    if _tables.is_frame(table):
        there = name in _tables.meant(_tables.names_of(table), [name], total=True)
    else:
        there = isinstance(table, Mapping) and table.get(name) is not None
    if there:
        raise ValueError(
            f"groups are given, and the table has the unit's column {name!r} itself; accepted is one of them: leave groups "
            "out, or drop the column"
        )


def frame_unit(name: str, frame: Any, *, total: bool = False) -> _tables.Column | None:
    """The same from the frame's column of that name, if it has one."""
    if not _tables.is_frame(frame) or is_unnamed(name):
        return None
    found = _tables.meant(_tables.names_of(frame), [name], total=total)
    if name not in found:
        return None
    column = nw.from_native(frame, eager_only=True).get_column(found[name])
    return unit_column(name, column.to_native(), total=total)


def table_unit(name: str, table: Any, *, total: bool = False) -> _tables.Column | None:
    """The same of a frame or a mapping."""
    if _tables.is_frame(table) or is_unnamed(name):
        return frame_unit(name, table, total=total)
    found = table.get(name)
    return None if found is None else unit_column(name, found, total=total)


def _from_series(name: str, series: Any, total: bool) -> _tables.Column:
    dtype = series.dtype
    if dtype == nw.Float64 or (dtype.is_integer() and not _tables.is_long(dtype)):
        return _tables.series_column(name, series)
    native = series.to_native()
    if dtype == nw.Unknown and isinstance(getattr(native, "dtype", None), np.dtype):
        return unit_column(name, native.to_numpy(), total=total)
    held = _held(native)
    unfit = dtype.is_temporal() or dtype.is_nested() or (dtype in (nw.Boolean, nw.Binary) and not total)
    if unfit or _is_narrow(dtype, held):
        return _unfit(name, dtype, len(series), total)
    cells = _records.cells_of(series, name, total=total)
    if dtype == nw.Unknown and not held:
        # Of another library's type, whose floats may be narrower than a cell tells.
        cells = [VOID if type(plain(cell)) is float else cell for cell in cells]
    return _from_cells(name, cells, total)


def _is_narrow(dtype: Any, held: str) -> bool:
    """Whether numbers of a type may have lost digits that no cell tells of."""
    return (dtype.is_float() and dtype != nw.Float64) or ("float" in held and held != "float64")


def exact_cells(name: str, values: Any, *, total: bool) -> list[Any]:
    """The cells of a column of frames or arrays that names people; void where its type may have lost digits."""
    series = _records.series_of(values)
    held = None if series is None else _records.object_cells(series)
    if held is not None:
        return held
    if series is None:
        cells = _records.cells_in(values, total=total)
        kind = values.dtype
        wide = kind in (np.float64, np.complex128) or (total and not _tables.is_narrow(kind))
        narrow = kind.kind in "fc" and not wide
    else:
        cells, kind = _records.cells_of(series), series.dtype
        narrow = _is_narrow(kind, _held(series.to_native()))
    if narrow and not total:
        raise _why_unfit(name, kind)
    return [VOID] * len(cells) if narrow else cells


def _held(native: Any) -> str:
    """The type of what lies behind categories, runs and sparse entries, where the library says it."""
    dtype = getattr(native, "dtype", getattr(native, "type", None))
    dtype = getattr(dtype, "pyarrow_dtype", dtype)
    categories = getattr(getattr(dtype, "categories", None), "dtype", None)
    held = (categories, getattr(dtype, "subtype", None), getattr(dtype, "value_type", None))
    return next((str(kind).lower() for kind in held if kind is not None), "")


def _from_cells(name: str, values: list[Any], total: bool) -> _tables.Column:
    return _tables.text_column(name, values, anyone if total else identifier, total=total, why=WHY_UNFIT)


def _unfit(name: str, kind: Any, rows: int, total: bool) -> _tables.Column:
    """A column of a type that does not tell people apart: refused, and if ``total`` nobody's, since a library may have
    found the type in a single cell."""
    if not total:
        raise _why_unfit(name, kind)
    return (name, "text", np.full(rows, _tables.BAD, dtype=np.int64), [])


def _why_unfit(name: str, kind: Any) -> ValueError:
    return ValueError(f"{name} holds values of type {kind}, which do not tell people apart exactly; {ACCEPTED}")
