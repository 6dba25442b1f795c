"""``class_weight``: how much each class counts, declared and never counted from the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privet.schema import label_text

WHY_NOT_BALANCED = (
    "class_weight='balanced' is refused: it counts the labels of the records, which are private, and the counts "
    "would reach the model around the noise. Give a dictionary from what is publicly known, such as "
    "class_weight={0: 1, 1: 9} where about one record in ten is of class 1; privet.count buys such counts"
)


def class_weights(given: Any, classes: Sequence[str]) -> list[float] | None:
    """A weight for each class in order; those that are not named count 1. ``None`` where all count the same.

    >>> class_weights({1: 9}, ["0", "1"])
    [1.0, 9.0]
    """
    if given is None:
        return None
    if isinstance(given, str):
        if given == "balanced":
            raise ValueError(WHY_NOT_BALANCED)
        raise ValueError(f"class_weight={given!r}: a dictionary from each class to its weight is accepted")
    if not isinstance(given, Mapping):
        raise ValueError(
            f"class_weight is a {type(given).__name__}; a dictionary from each class to its weight is accepted"
        )
    weights = {label_text(label): weight for label, weight in given.items()}
    unknown = [text for text in weights if text not in classes]
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is no class; the classes are {', '.join(classes)}")
    try:
        return [float(weights.get(text, 1.0)) for text in classes]
    except (TypeError, ValueError):
        raise ValueError("class_weight has a weight that is no number; numbers above 0 are accepted") from None
