"""Whose each row is: people go by their exact digits or texts.

The rule is that of the file readers (``privet_data::read``): a text is itself, a whole number of any type is
its digits, and 7, 7.0 and "7" are one person. Refused is what may have lost digits before it came here, so
that two people have become one: fractions, ``float64`` from 2**53 on, and floats of any other width, whatever
they hold. So are types that cannot tell people apart, or write one person in several ways: truth values,
times, bytes, and objects of other classes.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from privet import _tables
from privet._masks import check_unmasked, is_missing

EXACT_BELOW = 2.0**53
"""From here on, two whole numbers may be one ``float64``."""

MOST_DIGITS = 1000
"""A whole number of more digits is nobody's."""

ACCEPTED = "accepted are texts and whole numbers (read identifiers as texts: dtype=str)"


def unit_column(name: str, values: Any, *, total: bool = False) -> _tables.Column:
    """A column that says whose each row is. If ``total``, a cell that does not is nobody's; what a type
    cannot tell is refused all the same."""
    check_unmasked(name, values, total=total)
    if nw.dependencies.is_into_series(values):
        return _from_series(name, nw.from_native(values, series_only=True), total)
    if total and isinstance(values, (list, tuple)):
        return _from_cells(name, list(values), floats=True, total=True)
    array = values if isinstance(values, np.ndarray) else _tables.objects(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; one value for each row is accepted")
    kind = array.dtype.kind
    if kind in "iu" or (kind == "f" and array.dtype.newbyteorder("=") == np.float64):
        return _tables.one_column(name, array)
    if kind in "OUT":
        return _from_cells(name, array.tolist(), floats=True, total=total)
    raise _unfit(name, array.dtype)


def name_of(groups: Any) -> str | None:
    """What groups are called where they say it themselves, as a frame's column does: certificates and ledgers then know
    whose guarantee it is."""
    if groups is None or not nw.dependencies.is_into_series(groups):
        return None
    name = nw.from_native(groups, series_only=True).name
    # A column has a name of this form; what is in brackets is a placeholder of privet's own.
    return name if isinstance(name, str) and name.strip() == name != "" and not name.startswith("(") else None


def frame_unit(name: str, frame: Any, *, total: bool = False) -> _tables.Column | None:
    """The same from the frame's column of that name, if it has one."""
    if not _tables.is_frame(frame):
        return None
    frame = nw.from_native(frame, eager_only=True)
    found = [column for column in frame.columns if str(column) == name]
    return unit_column(name, frame.get_column(found[0]).to_native(), total=total) if found else None


def _from_series(name: str, series: Any, total: bool) -> _tables.Column:
    dtype = series.dtype
    if dtype == nw.Float64 or (dtype.is_integer() and not _tables.is_long(dtype)):
        return _tables.series_column(name, series)
    if dtype.is_float() or dtype.is_temporal() or dtype.is_nested() or dtype in (nw.Boolean, nw.Binary):
        raise _unfit(name, dtype)
    # What lies behind categories, runs and types of other libraries may be narrower floats than a cell tells.
    return _from_cells(name, _tables.cells(name, series, total=total), floats=dtype == nw.Object, total=total)


def _from_cells(name: str, values: list[Any], *, floats: bool, total: bool) -> _tables.Column:
    def text(value: Any) -> str | None:
        if is_missing(value):
            return None
        if isinstance(value, float) and not floats:
            raise _unfit(name, "float")
        found = _digits(name, value)
        if found is None:
            raise ValueError(
                f"{name}: numbers that are not whole, or too large to be exact, do not tell whose a row is; {ACCEPTED}"
            )
        return found

    return _tables.text_column(name, values, None, text, total=total)


def _digits(name: str, value: Any) -> str | None:
    """How a person is written, from nothing but the cell; ``None`` where digits may be lost."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < EXACT_BELOW else None
    if isinstance(value, Decimal):
        if not value.is_finite() or value.adjusted() >= MOST_DIGITS or value != value.to_integral_value():
            return None
        return str(int(value))
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        whole = int(value)
        return str(whole) if whole.bit_length() < 3 * MOST_DIGITS else None
    raise _unfit(name, type(value).__name__)


def _unfit(name: str, kind: Any) -> ValueError:
    return ValueError(f"{name} holds values of type {kind}, which do not tell people apart exactly; {ACCEPTED}")
