"""Labels: as callers write them, as schemas do, and as places among the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privet.schema import label_text


def texts_of(classes: np.ndarray) -> list[str]:
    """How a schema writes the classes."""
    texts = [label_text(label) for label in classes]
    if len(set(texts)) != len(texts):
        raise ValueError("two classes are written alike; each needs a text of its own")
    return texts


FEW_CLASSES = 32
"""Up to so many classes, labels are compared with each: quicker than sorting them."""


def codes_of(y: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """The place of each label among the classes."""
    unknown = len(texts)
    codes = np.full(len(y), unknown, dtype=np.uint32)
    if y.dtype.kind in "iufU" and len(texts) <= FEW_CLASSES:
        for place, text in enumerate(texts):
            label = text if y.dtype.kind == "U" else _number(text)
            if label is not None:
                codes[y == label] = place
    else:
        labels, inverse = np.unique(y, return_inverse=True)
        places = {text: place for place, text in enumerate(texts)}
        found = [places.get(label_text(label), unknown) for label in labels]
        codes = np.asarray(found, dtype=np.uint32)[inverse]
    if unknown in codes:
        # Which label it is stays with the records.
        raise ValueError(f"y has a label that is none of the classes; accepted are {', '.join(texts)}")
    return codes


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def labels_of(texts: Any, kind: np.dtype | None) -> np.ndarray:
    """The classes as the caller writes them; from a file, whole numbers are numbers."""
    if kind is not None and kind.kind in "iufb":
        values = [text == "True" for text in texts] if kind.kind == "b" else [float(text) for text in texts]
        return np.asarray(values).astype(kind)
    if kind is not None:
        return np.asarray(texts, dtype=object if kind.kind == "O" else None)
    if all(text.lstrip("-").isdecimal() and str(int(text)) == text for text in texts):
        return np.asarray([int(text) for text in texts])
    if set(texts) <= {"True", "False"}:
        return np.asarray([text == "True" for text in texts])
    return np.asarray(texts)
