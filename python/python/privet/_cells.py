"""What one cell of a record is, from nothing but that cell.

A cell of a list, or of a column of objects, may be any object: one that raises, lies, or says something else each
time it is asked. So none of its own code runs. It is read by the class that it really is of: a text, a whole number
and a float by what the base class holds, the scalars of NumPy, pandas and Python's own library by their own rules.
What is of any other class, or has no value that can be written down (half a character, a number without end), is
:data:`VOID`: nothing at all, whatever stands beside it. What is absent is ``None``.
"""

from __future__ import annotations

import datetime
import sys
import uuid
import zoneinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

EXACT_BELOW = 2.0**53
"""From here on, two whole numbers may be one ``float64``."""

MOST_DIGITS = 1000
"""A whole number of more digits is nobody's, and no label."""

NUMPY_SCALARS = frozenset(np.sctypeDict.values())
"""The scalars of NumPy, and no class derived from them."""


class _Void:
    """The cell that holds nothing that can be read."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "void"


VOID = _Void()


def plain(cell: Any) -> Any:
    """The cell as ``None``, ``bool``, ``int``, ``float`` (never NaN), ``str``, ``Decimal`` or ``VOID``."""
    kind = type(cell)
    if cell is None or cell is VOID or kind is int or kind is bool:
        return cell
    try:
        return _read(kind, cell)
    except Exception:  # of the libraries, in whose words the cell may be
        return VOID


def _read(kind: type, cell: Any) -> Any:
    if issubclass(kind, str):
        text = str.__str__(cell)
        return text if text.isascii() or text.encode() else VOID
    if issubclass(kind, float):
        number = float.__float__(cell)
        return None if number != number else number
    if issubclass(kind, int):
        return int.__int__(cell)
    if issubclass(kind, complex):
        # Of a column that a library made complex for the sake of one cell, the others are what they were.
        real, imaginary = complex.real.__get__(cell), complex.imag.__get__(cell)
        return VOID if imaginary != 0 else plain(real)
    if kind is Decimal:
        return None if cell.is_qnan() else VOID if cell.is_snan() else cell
    if kind is Fraction:
        return int(cell) if cell.denominator == 1 else float(cell)
    if kind in NUMPY_SCALARS:
        return _numpy_scalar(kind, cell)
    if kind in (np.ndarray, np.ma.MaskedArray, type(np.ma.masked)):
        return _single(cell)
    if kind is datetime.date or (kind is uuid.UUID and type(cell.int) is int):
        return str(cell)
    if kind in (datetime.datetime, datetime.time):
        return _moment(cell)
    return _of_pandas(kind, cell)


def _moment(cell: Any) -> Any:
    """A time as it writes itself, where its zone is no stranger's."""
    return str(cell) if cell.tzinfo is None or type(cell.tzinfo) in (datetime.timezone, zoneinfo.ZoneInfo) else VOID


def _numpy_scalar(kind: type, cell: Any) -> Any:
    if kind is np.datetime64:
        return None if np.isnat(cell) else str(cell)
    if issubclass(kind, (np.bool_, np.integer)) and kind is not np.timedelta64:
        return cell.item()
    if issubclass(kind, np.floating):
        number = float(cell)
        return None if number != number else number
    return VOID


def _single(array: Any) -> Any:
    """An array without dimensions is its entry, or nothing where that is masked."""
    if array.ndim:
        return VOID
    if isinstance(array, np.ma.MaskedArray) and np.ma.getmaskarray(array):
        return None
    return plain(np.ndarray.__getitem__(array, ()))


def _of_pandas(kind: type, cell: Any) -> Any:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return VOID
    if cell is pandas.NA or cell is pandas.NaT:
        return None
    if kind is pandas.Timestamp:
        return _moment(cell)
    if kind is pandas.Interval:
        known = {int, float, pandas.Timestamp, *NUMPY_SCALARS}
        return str(cell) if type(cell.left) in known and type(cell.right) in known else VOID
    return str(cell) if kind is pandas.Period else VOID


def written(cell: Any) -> Any:
    """The cell's text; a truth value stays one, for its column's schema to write; ``None``; or ``VOID``.

    A number is written as the extension writes a stored one, so that a column means the same whether a library gave
    it a type of numbers or of objects.
    """
    if type(cell) is str and cell.isascii():
        return cell
    found = plain(cell)
    if type(found) is float:
        return float_text(found)
    if type(found) is int or type(found) is Decimal:
        try:
            return str(found)
        except ValueError:  # of more digits than Python writes
            return VOID
    return found


def float_text(number: float) -> str:
    """The shortest digits that are this number, without an exponent, and without a point where it is whole.

    >>> float_text(7.0), float_text(0.5), float_text(1e-7)
    ('7', '0.5', '0.0000001')
    """
    text = repr(number)
    if "e" in text:
        text = format(Decimal(text), "f")
    return text[:-2] if text.endswith(".0") else text


def number(cell: Any) -> Any:
    """The cell as a ``float``, NaN where it is absent, ``VOID`` where it is no number."""
    found = plain(cell)
    if found is None:
        return float("nan")
    try:
        return VOID if found is VOID else float(found)
    except (ValueError, OverflowError):
        return VOID


def number_or_nan(cell: Any) -> float:
    """The cell as a ``float``, NaN where it is none."""
    found = number(cell)
    return float("nan") if found is VOID else found


def identifier(cell: Any) -> Any:
    """How whoever a cell names is written: exact digits, or the text; ``None``; or ``VOID``.

    ``VOID`` is whatever may have lost digits before it came here, so that two people have become one: fractions,
    ``float64`` from 2**53 on, and floats of any other width; and what cannot tell people apart or writes one person
    in several ways: truth values, times, bytes, objects.
    """
    kind = type(cell)
    if kind is str and cell.isascii():
        return cell
    found = plain(cell)
    if found is None or (type(found) is str and issubclass(kind, str)):
        return found
    if type(found) is float and issubclass(kind, (float, complex)):
        return str(int(found)) if found.is_integer() and abs(found) < EXACT_BELOW else VOID
    if type(found) is Decimal or (type(found) is int and issubclass(kind, (int, np.integer))):
        whole = whole_number(found)
        return VOID if whole is None else str(whole)
    return VOID


def whole_number(found: Any) -> int | None:
    """The whole number that a plain ``int`` or ``Decimal`` is, unless it is none or very long."""
    if type(found) is int:
        return found if found.bit_length() < 3 * MOST_DIGITS else None
    if not found.is_finite() or found.adjusted() >= MOST_DIGITS or found != found.to_integral_value():
        return None
    return int(found)
