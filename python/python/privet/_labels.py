"""Labels: as callers write them, as schemas do, and as places among the classes.

A number of any type is the class whose text is that number (1, 1.0 and ``Decimal("1.0")`` are the class ``1``), a text
the class of that very text, and a truth value the class by whichever spelling the classes list, or 1 and 0, which are
truth values in turn where the classes list these and neither number. Where no record is refused, a text that is no class is
what NumPy writes so: it makes texts of all numbers for the sake of one. So a label
is the same whether it stands in an array of whole numbers, of floats or of objects: which of them a library makes of a
column is often decided by one record.

A schema has classes in an order of its own; scikit-learn expects ``classes_`` sorted. What is fitted and
saved keeps the schema's order, and estimators show everything in the sorted one.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from privet._cells import NOTHING_SPELLED, VOID, spelled, whole_number
from privet._tables import is_unicode
from privet.schema import Schema, label_text

WHY_ENCODED = (
    ". y holds whole numbers and the classes are texts: tools that encode labels themselves (stacking, voting, "
    "cross_val_predict with probabilities) need classes declared as 0, 1, ... and y in these numbers"
)


def texts_of(classes: np.ndarray) -> list[str]:
    """How a schema writes the classes."""
    if any(isinstance(label, bytes) for label in classes):
        raise ValueError("the classes are bytes; accepted are numbers and texts: decode them")
    texts = [label_text(label) for label in classes]
    if not all(is_unicode(text) for text in texts):
        raise ValueError("a class has half a character (a lone surrogate) in its text; accepted is Unicode")
    _check_different(texts)
    return texts


def _check_different(labels: Any) -> None:
    if len(set(labels)) != len(labels):
        raise ValueError("two classes are written alike; each needs a text of its own")


FEW_CLASSES = 32
"""Up to so many classes, labels are compared with each: quicker than sorting them."""


TRUTHS = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))
"""How classes may spell truth values."""


def codes_of(y: np.ndarray, texts: Sequence[str], *, total: bool = False, as_spelled: bool | None = None) -> np.ndarray:
    """The place of each label among the classes; of none of them, one beyond if ``total``, or refused. ``y`` is as
    :func:`privet._records.entries` gives it. ``as_spelled``: whether a text that is no class is the number or truth value
    that it spells; if ``total`` unless given."""
    unknown = len(texts)
    as_spelled = total if as_spelled is None else as_spelled
    by_number = _by_number(texts) if y.dtype.kind in "iufO" or as_spelled else {}
    by_text, truths = {text: place for place, text in enumerate(texts)}, _truth_places(texts)

    def place_of(label: Any) -> int:
        place = _place_of(label, by_text, by_number, truths, unknown)
        other = spelled(label) if as_spelled and place == unknown else NOTHING_SPELLED
        return place if other is NOTHING_SPELLED else _place_of(other, by_text, by_number, truths, unknown)

    if y.dtype.kind == "O":
        found = map(place_of, y.tolist())
        codes = np.fromiter(found, dtype=np.uint32, count=len(y))
    elif y.dtype.kind == "b":
        codes = np.asarray(_truth_places(texts), dtype=np.uint32)[y.astype(np.intp)]
    elif y.dtype.kind in "iufU":
        places = {label: place for place, label in enumerate(texts)}
        codes = _places_in(y, places if y.dtype.kind == "U" else _comparable(by_number, y.dtype.kind), unknown)
        odd = codes == unknown if as_spelled and y.dtype.kind == "U" else np.zeros(0, dtype=bool)
        if odd.any():
            labels, inverse = np.unique(y[odd], return_inverse=True)
            codes[odd] = np.asarray(list(map(place_of, labels.tolist())), dtype=np.uint32)[inverse]
    else:
        codes = np.full(len(y), unknown, dtype=np.uint32)
    if not total and len(codes) and codes.max() >= unknown:
        # Which label it is stays with the records.
        encoded = WHY_ENCODED if y.dtype.kind in "iu" and not by_number else ""
        raise ValueError(f"y has a label that is none of the classes; accepted are {', '.join(texts)}{encoded}")
    return codes


def _by_number(texts: Sequence[str]) -> dict[int | float, int]:
    """The place of each class that is a number; of two that are one number the first. 0 and 1 are truth values where
    no class is either."""
    places: dict[int | float, int] = {}
    for place, text in enumerate(texts):
        number = _number(text)
        if number is not None:
            places.setdefault(number, place)
    if 0 not in places and 1 not in places and _spelled(texts) is not None:
        places |= {truth: place for truth, place in enumerate(_truth_places(texts)) if place < len(texts)}
    return places


def _spelled(texts: Sequence[str]) -> tuple[str, str] | None:
    """How the classes spell false and true."""
    return next((pair for pair in TRUTHS if any(text in texts for text in pair)), None)


def _truth_places(texts: Sequence[str]) -> tuple[int, int]:
    """The places of false and true."""
    spelling = _spelled(texts)
    if spelling is None:
        by_number = _by_number(texts)
        return by_number.get(0, len(texts)), by_number.get(1, len(texts))
    places = {text: place for place, text in enumerate(texts)}
    return places.get(spelling[0], len(texts)), places.get(spelling[1], len(texts))


def _place_of(
    label: Any, by_text: dict[str, int], by_number: dict[int | float, int], truths: tuple[int, int], unknown: int
) -> int:
    kind = type(label)
    if kind is str:
        return by_text.get(label, unknown)
    if kind is int or kind is float:
        return by_number.get(label, unknown)
    if kind is bool:
        return truths[label]
    if kind is Decimal:
        whole = whole_number(label)
        return by_number.get(float(label) if whole is None else whole, unknown)
    return unknown


def _comparable(places: dict[int | float, int], kind: str) -> dict[int | float, int]:
    """The classes that a label of this kind of numbers can be, as numbers that NumPy compares exactly."""
    found: dict[int | float, int] = {}
    for number, place in places.items():
        try:
            same = float(number) if kind == "f" else int(number)
        except (OverflowError, ValueError):  # beyond all floats; infinite; NaN
            continue
        if same == number:
            found.setdefault(same, place)
    return found


def _places_in(y: np.ndarray, places: dict[Any, int], unknown: int) -> np.ndarray:
    if y.dtype.kind == "f":
        with np.errstate(all="ignore"):  # of long doubles
            y = np.asarray(y, dtype=np.float64)
    if len(places) > FEW_CLASSES:
        labels, inverse = np.unique(y, return_inverse=True)
        return np.asarray([places.get(label, unknown) for label in labels.tolist()], dtype=np.uint32)[inverse]
    # Sums over masks: half the time of assignments through them.
    codes, free = np.zeros(len(y), dtype=np.uint32), np.ones(len(y), dtype=bool)
    for label, place in places.items():
        here = (y == label) & free
        free ^= here
        if place:
            codes += np.multiply(here, place, dtype=np.uint32)
    codes += np.multiply(free, unknown, dtype=np.uint32)
    return codes


def schema_codes(y: np.ndarray, schema: Schema) -> np.ndarray:
    """The place of each label among a schema's classes, labels that it merges included."""
    classes = schema.classes or ()
    further, others = schema._checked.labels
    if not further and others is None:
        return codes_of(y, classes, total=schema.is_total)
    texts = [*classes, *(text for text, _ in further)]
    unknown = len(classes)
    table = [*range(unknown), *(code for _, code in further), unknown if others is None else others]
    found = codes_of(y, texts, total=True, as_spelled=schema.is_total)
    codes = np.asarray(table, dtype=np.uint32)[found]
    if others is not None:
        # What is missing is no label.
        codes[_missing(y, schema.is_total) & (found == len(texts))] = unknown
    if not schema.is_total and len(codes) and codes.max() >= unknown:
        raise ValueError("y has a label that the schema does not list, or one that is missing")
    return codes


def _missing(y: np.ndarray, as_spelled: bool) -> np.ndarray:
    """Labels that are absent, or void."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind not in ("OU" if as_spelled else "O"):
        return np.zeros(len(y), dtype=bool)

    def is_gone(label: Any) -> bool:
        other = spelled(label) if as_spelled else label
        return any(each is None or each is VOID for each in (label, other))

    return np.fromiter(map(is_gone, y.tolist()), dtype=bool, count=len(y))


def classes_in(y: np.ndarray) -> np.ndarray:
    """The classes that occur, sorted: numbers first. Which those are the guarantee does not cover."""
    if y.dtype.kind != "O":
        return np.unique(y)
    labels = set(y.tolist())
    if None in labels or VOID in labels:
        raise ValueError("y has a label that is missing, or no text or number (such as bytes); accepted are texts and numbers")
    ordered = sorted(labels, key=lambda label: (type(label) is str, label))
    kinds = {"number" if type(label) in (int, float) else type(label) for label in ordered}
    return np.asarray(ordered, dtype=object if len(kinds) > 1 else None)


def _number(text: str) -> int | float | None:
    """The number that a text is; whole ones of any size exactly."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def labels_of(texts: Sequence[str], kind: np.dtype | None, *, total: bool = False) -> np.ndarray:
    """The classes of a schema as ``classes_`` has them: numbers where all are, texts where ``y`` is declared to hold
    texts. Whether ``y`` holds whole numbers, floats or objects does not matter: one record may have decided that. From a
    file, whole numbers are numbers; so they are if ``total``, where nothing follows from ``y``."""
    numbers = [_number(text) for text in texts]
    if kind is None or total:
        if all(isinstance(number, int) and str(number) == text for number, text in zip(numbers, texts, strict=True)):
            return np.asarray(numbers)
        return _truths(texts) if set(texts) <= {"True", "False"} else np.asarray(texts)
    if kind.kind == "U":
        return np.asarray(texts)
    if None not in numbers:
        _check_different(numbers)
        return np.asarray(numbers)
    if set(texts) <= {"True", "False"}:
        return _truths(texts)
    _check_kind(texts, kind)
    return np.asarray(texts, dtype=object)


def _check_kind(texts: Sequence[str], kind: np.dtype) -> None:
    if kind.kind in "iufb":
        raise ValueError(
            f"y is of type {kind} and the classes are {', '.join(texts)}; accepted are labels of one kind: "
            "give y as texts, or classes that are all numbers"
        )


def _truths(texts: Sequence[str]) -> np.ndarray:
    return np.asarray([text == "True" for text in texts])


def declared_labels(values: np.ndarray, texts: Sequence[str], kind: np.dtype | None, *, total: bool = False) -> np.ndarray:
    """The labels ``values``, as they were declared, in the order of ``texts``."""
    if kind is not None and not total and any(_number(text) is None for text in texts) and set(texts) - {"True", "False"}:
        _check_kind(texts, kind)
    places = {label_text(value): place for place, value in enumerate(values)}
    return values[[places[text] for text in texts]]


def share_right(
    y: np.ndarray, predicted: np.ndarray, classes: np.ndarray, sample_weight: Any, *, total: bool = False
) -> float:
    """The share of labels that are the predicted classes. A label that is no class is no right prediction."""
    texts = [label_text(label) for label in classes]
    codes = codes_of(y, texts, total=True, as_spelled=total)
    unknown = codes == len(texts)
    if unknown.any() and not total:
        _check_alike(y[unknown], all(isinstance(label, str) for label in classes.tolist()))
    return float(np.average(codes == codes_of(predicted, texts, total=True), weights=sample_weight))


def _check_alike(labels: np.ndarray, text: bool) -> None:
    """Refuses texts where classes are numbers, and the other way round: that is no wrong prediction."""
    found = [type(label) is str for label in labels.tolist()] if labels.dtype.kind == "O" else [labels.dtype.kind == "U"]
    if any(each != text for each in found):
        raise ValueError(f"y has labels of another kind than the classes; accepted are {'texts' if text else 'numbers'}")
