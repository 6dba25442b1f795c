"""What one cell of a record is, from nothing but that cell.

A cell of a list, or of a column of objects, may be any object: one that raises, lies, or says something else each
time it is asked. So none of its own code runs, nor that of its class's class: classes are compared by identity
alone. It is read by the class that it really is of: a text, a whole number and a float by what the base class holds,
the scalars of NumPy, pandas and Python's own library by their own rules.
What is of any other class, or has no value that can be written down (half a character, a number without end), is
:data:`VOID`: nothing at all, whatever stands beside it. What is absent is ``None``.
"""

from __future__ import annotations

import datetime
import sys
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

EXACT_BELOW = 2.0**53
"""From here on, two whole numbers may be one ``float64``."""

MOST_DIGITS = 1000
"""A whole number of more digits is nobody's, and no label."""

NUMPY_SCALARS = frozenset(map(id, np.sctypeDict.values()))
"""The scalars of NumPy, and no class derived from them; by identity, since a class may have a hash of its own."""


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
        above, below = cell._numerator, cell._denominator
        if type(above) is not int or type(below) is not int:
            return VOID
        return above if below == 1 else above / below
    if id(kind) in NUMPY_SCALARS:
        return _numpy_scalar(kind, cell)
    if kind is np.ndarray or is_masked_array(kind):
        return _single(kind, cell)
    if kind is datetime.date or (kind is uuid.UUID and type(cell.int) is int):
        return str(cell)
    if kind is datetime.datetime:
        return _moment(cell)
    if kind is datetime.time:
        return cell.replace(tzinfo=None).isoformat()
    return _of_pandas(kind, cell)


def is_masked_array(kind: type) -> bool:
    """Whether it is a class of NumPy's masked arrays, and none derived from them."""
    return kind is np.ma.MaskedArray or kind is type(np.ma.masked)


def _moment(cell: Any, nanoseconds: int = 0) -> str:
    """A time as the clock of its own zone has it. The zone is passed over, as in files: it may be a stranger's."""
    day = f"{cell.year:04}-{cell.month:02}-{cell.day:02}"
    time = f"{cell.hour:02}:{cell.minute:02}:{cell.second:02}"
    return _shortest(f"{day}T{time}.{cell.microsecond:06}{nanoseconds:03}")


def moment_texts(array: np.ndarray) -> list[str]:
    """How the times of an array are written, whatever its unit: as those of a column, and in a list."""
    if np.datetime_data(array.dtype)[0] in ("Y", "M", "W", "D", "h", "m"):
        array = array.astype("datetime64[s]")
    return [_shortest(text) for text in np.datetime_as_string(array).tolist()]


def _shortest(text: str) -> str:
    """A time without the zeros of its seconds' fraction."""
    return text.rstrip("0").removesuffix(".") if "." in text else text


def _numpy_scalar(kind: type, cell: Any) -> Any:
    if kind is np.datetime64:
        return None if np.isnat(cell) else moment_texts(np.array([cell]))[0]
    if issubclass(kind, (np.bool_, np.integer)) and kind is not np.timedelta64:
        return cell.item()
    if issubclass(kind, np.floating):
        with np.errstate(all="ignore"):  # of what is wider than a float
            number = float(cell)
        return None if number != number else number
    if issubclass(kind, np.complexfloating):
        return VOID if cell.imag != 0 else plain(cell.real)
    return VOID


def _single(kind: type, array: Any) -> Any:
    """An array without dimensions is its entry, or nothing where that is masked."""
    if array.ndim:
        return VOID
    if kind is not np.ndarray:
        mask = mask_of(array)
        if mask is None or mask.any():
            return VOID if mask is None else None
    return plain(np.ndarray.__getitem__(array, ()))


def mask_of(array: Any) -> np.ndarray | None:
    """The mask of one of NumPy's masked arrays, unless something else was put in its place."""
    mask = object.__getattribute__(array, "_mask")
    if type(mask) is np.bool_:
        return np.full(array.shape, bool(mask))
    fits = type(mask) is np.ndarray and mask.dtype.kind == "b" and mask.shape == array.shape
    return mask if fits else None


def _of_pandas(kind: type, cell: Any) -> Any:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return VOID
    if cell is pandas.NA or cell is pandas.NaT:
        return None
    if kind is pandas.Timestamp:
        return _moment(cell, cell.nanosecond)
    if kind is pandas.Interval:
        return _interval(pandas.Timestamp, cell)
    return str(cell) if kind is pandas.Period else VOID


def _interval(timestamp: type, cell: Any) -> Any:
    ends = []
    for end in (cell.left, cell.right):
        kind = type(end)
        if kind is timestamp:
            ends.append(_moment(end, end.nanosecond).replace("T", " "))
        elif kind is int or kind is float or id(kind) in NUMPY_SCALARS:
            ends.append(str(end))
        else:
            return VOID
    closed = cell.closed
    first, last = "[" if closed in ("left", "both") else "(", "]" if closed in ("right", "both") else ")"
    return f"{first}{ends[0]}, {ends[1]}{last}"


def restored(cell: Any) -> Any:
    """The cell as it is in whatever array NumPy makes of it and the cells beside it: bytes are a text, a duration is the
    number of its units, and a text has no zeros at its end. For use where no record is refused."""
    kind = type(cell)
    if kind is str:
        return cell if cell[-1:] != "\0" else cell.rstrip("\0")
    if issubclass(kind, bytes):
        try:
            return bytes.decode(bytes.rstrip(cell, b"\0"))
        except UnicodeDecodeError:
            return VOID
    if kind is np.timedelta64:
        return None if np.isnat(cell) else int(cell.astype(np.int64))
    return cell


NOTHING_SPELLED = object()
"""What a text spells that is only a text."""

NUMERALS = frozenset("0123456789+-.einfajTrueFlsNT()")


def spelled(text: Any) -> Any:
    """The number or truth value of which NumPy writes this very text, when it makes texts of a whole array for the sake
    of one; ``None`` for NaN and NaT, ``VOID`` for what is not real, and ``NOTHING_SPELLED`` for all other texts."""
    if type(text) is not str or not 0 < len(text) < 64 or not NUMERALS.issuperset(text):
        return NOTHING_SPELLED
    if text in ("True", "False"):
        return text == "True"
    if text in ("nan", "NaT"):
        return None
    for kind in (int, float, complex):
        try:
            found = kind(text)
        except ValueError:
            continue
        if str(found) == text:
            # Of more than 63 bits the digits are the text.
            found = written(found)
            return NOTHING_SPELLED if type(found) is str else found
    return NOTHING_SPELLED


def written(cell: Any) -> Any:
    """The cell as its column's schema is to read it: a text, a number, a truth value, ``None`` or ``VOID``.

    A number stays one, so that it means the same whether a library gave its column a type of numbers or of objects. Of
    those that no such type holds, the digits are a text.
    """
    if type(cell) is str and cell.isascii():
        return cell
    found = plain(cell)
    if type(found) is Decimal:
        found = _decimal(found)
    if type(found) is int and -(2**63) <= found < 2**63:
        return found
    if type(found) is int or type(found) is Decimal:
        try:
            return str(found)
        except ValueError:  # of more digits than Python writes
            return VOID
    return found


def _decimal(found: Decimal) -> Any:
    """The number that a decimal is, where one has all its digits: a library makes a column decimals for one cell."""
    whole = whole_number(found)
    if whole is not None or not found.is_finite():
        return found if whole is None else whole
    sign, digits, exponent = found.as_tuple()
    # A column has as many decimals as its longest cell: the zeros at the end are not the number's own.
    zeros = next((place for place, digit in enumerate(reversed(digits)) if digit), 0)
    digits = digits[: len(digits) - zeros]
    if len(digits) <= 15 and abs(found.adjusted()) < 300:
        return float(found)
    return Decimal((sign, digits, int(exponent) + zeros))


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
    """The cell as a ``float``, NaN where it is none. For use where no record is refused."""
    cell = restored(cell)
    found = number(cell)
    if found is VOID:
        found = spelled(cell)
    return float(found) if type(found) in (bool, int, float) else float("nan")


def anyone(cell: Any) -> Any:
    """The same as :func:`identifier` where no record is refused: in whatever array the cell sits, truth values are 1 and
    0, and a number wider than a ``float`` is whom its digits name."""
    cell = restored(cell)
    kind = type(cell)
    if kind is bool or kind is np.bool_:
        return str(int(cell))
    if kind is np.clongdouble and cell.imag == 0:
        cell = cell.real
    if type(cell) is np.longdouble:
        if np.isnan(cell):
            return None
        return str(int(cell)) if abs(cell) < EXACT_BELOW and cell == np.floor(cell) else VOID
    return identifier(cell)


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
