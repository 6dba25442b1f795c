"""Labels: as callers write them, as schemas do, and as places among the classes.

A schema has classes in an order of its own; scikit-learn expects ``classes_`` sorted. What is fitted and
saved keeps the schema's order, and estimators show everything in the sorted one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privet._masks import is_missing
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


def codes_of(y: np.ndarray, texts: Sequence[str], *, total: bool = False) -> np.ndarray:
    """The place of each label among the classes; of none of them, one beyond if ``total``, or refused."""
    unknown = len(texts)
    numeric = y.dtype.kind in "iuf"
    classes = [_number(text) for text in texts] if numeric else list(texts)
    places = {label: place for place, label in enumerate(classes) if label is not None}
    if not numeric and y.dtype.kind != "U":
        text_of = _text_or_none if total else label_text
        found = (places.get(text_of(label), unknown) for label in y.tolist())
        codes = np.fromiter(found, dtype=np.uint32, count=len(y))
    elif len(texts) <= FEW_CLASSES:
        # Sums over masks: half the time of assignments through them. Classes may be one number in the type
        # of y; the first of them counts, so that masks do not overlap.
        codes, free = np.zeros(len(y), dtype=np.uint32), np.ones(len(y), dtype=bool)
        for label, place in places.items():
            here = (y == label) & free
            free ^= here
            if place:
                codes += np.multiply(here, place, dtype=np.uint32)
        codes += np.multiply(free, unknown, dtype=np.uint32)
    else:
        labels, inverse = np.unique(y, return_inverse=True)
        codes = np.asarray([places.get(label, unknown) for label in labels.tolist()], dtype=np.uint32)[inverse]
    if not total and len(codes) and codes.max() >= unknown:
        # Which label it is stays with the records.
        encoded = WHY_ENCODED if y.dtype.kind in "iu" and not places else ""
        raise ValueError(f"y has a label that is none of the classes; accepted are {', '.join(texts)}{encoded}")
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
    codes = np.asarray(table, dtype=np.uint32)[codes_of(y, texts, total=True)]
    if others is not None:
        # What is missing is no label.
        codes[_missing(y)] = unknown
    if not schema.is_total and len(codes) and codes.max() >= unknown:
        raise ValueError("y has a label that the schema does not list, or one that is missing")
    return codes


def _missing(y: np.ndarray) -> np.ndarray:
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    return np.fromiter((is_missing(label) for label in y.tolist()), dtype=bool, count=len(y))


def _text_or_none(label: Any) -> str | None:
    """A label's text, if it has one."""
    try:
        return label_text(label)
    except Exception:  # of whatever kind: the label's class decides
        return None


def _number(text: str) -> int | float | None:
    """The number that a text is; whole ones of any size exactly."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def labels_of(texts: Sequence[str], kind: np.dtype | None) -> np.ndarray:
    """The classes as the caller writes labels; from a file, whole numbers are numbers."""
    numbers = [_number(text) for text in texts]
    if kind is None:
        if all(isinstance(number, int) and str(number) == text for number, text in zip(numbers, texts, strict=True)):
            return np.asarray(numbers)
        return _truths(texts) if set(texts) <= {"True", "False"} else np.asarray(texts)
    if kind.kind == "b" and set(texts) <= {"True", "False"}:
        return _truths(texts)
    if kind.kind in "iufb":
        if None in numbers or kind.kind == "b":
            raise ValueError(
                f"y is of type {kind} and the classes are {', '.join(texts)}; accepted are labels of one kind: "
                "give y as texts, or classes that are all numbers"
            )
        _check_different(numbers)
        found = np.asarray(numbers)
        if found.dtype == object:
            return found
        cast = found.astype(kind)
        return cast if np.array_equal(cast, found) else found
    return np.asarray(texts, dtype=object if kind.kind == "O" else None)


def _truths(texts: Sequence[str]) -> np.ndarray:
    return np.asarray([text == "True" for text in texts])


def declared_labels(values: np.ndarray, texts: Sequence[str], kind: np.dtype | None) -> np.ndarray:
    """The labels ``values`` in the order of ``texts``, unless ``y`` writes them as another kind."""
    if kind is not None and kind.kind in "iufbU" and (kind.kind == "U") != (values.dtype.kind in "UO"):
        return labels_of(texts, kind)
    places = {label_text(value): place for place, value in enumerate(values)}
    return values[[places[text] for text in texts]]


def check_alike(labels: np.ndarray, classes: np.ndarray) -> None:
    """Refuses texts among labels where classes are numbers, and the other way round."""
    text = _are_texts(classes)[0]
    if any(found != text for found in _are_texts(labels)):
        accepted = "texts" if text else "numbers"
        raise ValueError(f"y has labels of another kind than the classes; accepted are {accepted}")


def _are_texts(labels: np.ndarray) -> list[bool]:
    """Whether labels are texts: one answer, or one for each where they can differ."""
    if labels.dtype.kind != "O" or not labels.size:
        return [labels.dtype.kind == "U"]
    return [isinstance(label, str) for label in labels.ravel().tolist()]
