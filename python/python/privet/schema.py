"""Schemas: what may be known of a table without looking at it.

A schema names columns with their bounds or categories. Whatever decides a guarantee follows from it
and never from the records, so take its numbers from a data dictionary, not from the table.

>>> from privet import Schema, number, category, binary
>>> schema = Schema(
...     columns={
...         "age": number(0, 100),
...         "work": category(["private", "public"], unknown="other"),
...         "smokes": binary("no", "yes"),
...     },
...     target="income",
...     classes=["<=50K", ">50K"],
... )
>>> schema.encoded_columns
('age', 'work=private', 'work=public', 'work=(other)', 'smokes', '(bias)')
>>> Schema.from_toml(schema.to_toml()) == schema
True
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privet import _privet
from privet._masks import is_masked
from privet._numbers import SMALL, listed, whole

UNNAMED = "(not named)"
"""What the unit's column is called where groups have no name: then nobody knows whether those of two fits are the same."""


def number(
    low: float,
    high: float,
    *,
    scale: str | None = None,
    basis: str | dict[str, Any] | None = None,
    missing: float | str | None = None,
    transform: str | None = None,
    invalid: float | None = None,
) -> dict[str, Any]:
    """A number from ``low`` to ``high``; values outside are moved to the nearest of them.

    ``basis``: what it is expanded in, ``"linear"``, ``{"hats": 8}`` and the like, or ``"auto"``; ``scale``:
    ``"symmetric"`` (to [-1, 1]), ``"unit"`` (to [0, 1]) or ``"none"``. With neither it is in [-1, 1], and the
    default method chooses what it is expanded in. ``missing``: a number
    that stands in, ``"category"`` for an indicator, ``None`` to refuse. ``transform``: ``"log1p"``.
    ``invalid``: what a bad cell becomes in a schema with ``invalid="stand-in"``.

    >>> number(0, 120, missing=38.5)
    {'type': 'number', 'bounds': [0.0, 120.0], 'missing': 38.5}
    >>> number(0, 24, basis={"hats": 8, "cyclic": True})
    {'type': 'number', 'bounds': [0.0, 24.0], 'basis': {'hats': 8, 'cyclic': True}}
    """
    column: dict[str, Any] = {"type": "number", "bounds": [float(low), float(high)]}
    if scale is not None:
        column["scale"] = scale
    if basis is not None:
        column["basis"] = basis
    if missing is not None:
        column["missing"] = missing
    if transform is not None:
        column["transform"] = transform
    if invalid is not None:
        column["invalid"] = float(invalid)
    return column


def category(
    categories: Sequence[str] | int,
    *,
    unknown: str | None = None,
    missing: str | None = None,
    invalid: str | None = None,
) -> dict[str, Any]:
    """One of a list of texts, or any text hashed to so many columns.

    ``unknown``: ``"other"`` (a column of its own), ``"none"``, a listed category, or ``None`` to refuse.
    ``missing``: ``"category"`` (a column of its own), a listed category, or ``None`` to refuse.
    ``invalid``: what a bad cell becomes in a schema with ``invalid="stand-in"``.

    >>> category(["red", "green"], unknown="red")
    {'type': 'category', 'categories': ['red', 'green'], 'unknown': {'as': 'red'}}
    >>> category(64)
    {'type': 'category', 'hash_buckets': 64}
    """
    column: dict[str, Any] = {"type": "category"}
    if isinstance(categories, int):
        column["hash_buckets"] = categories
    else:
        column["categories"] = [str(text) for text in listed("categories", categories)]
    if unknown is not None:
        column["unknown"] = unknown if unknown in ("error", "other", "none") else {"as": unknown}
    if missing is not None:
        column["missing"] = missing if missing in ("error", "category") else {"as": missing}
    if invalid is not None:
        column["invalid"] = {"as": invalid}
    return column


def binary(
    zero: str = "0", one: str = "1", *, missing: str | None = None, invalid: str | None = None
) -> dict[str, Any]:
    """One of two texts, as 0 and 1.

    >>> binary("no", "yes")
    {'type': 'binary', 'values': ['no', 'yes']}
    """
    column: dict[str, Any] = {"type": "binary", "values": [str(zero), str(one)]}
    if missing is not None:
        column["missing"] = missing if missing in ("error", "category") else {"as": missing}
    if invalid is not None:
        column["invalid"] = {"as": invalid}
    return column


def date(
    first: str,
    last: str,
    *,
    parts: Sequence[str] = ("year", "month", "weekday"),
    order: str = "ymd",
    missing: str | None = None,
) -> dict[str, Any]:
    """A date from ``first`` to ``last``, taken apart: ``"year"``, ``"month"``, ``"weekday"``, ``"hour"``.

    Columns of dates and texts are accepted; ``order`` says how texts write them (``"ymd"``, ``"dmy"``, ``"mdy"``).
    ``missing``: ``"category"`` (a column of its own), or ``None`` to refuse.

    >>> date("2010-01-01", "2025-12-31", parts=["year", "month"])
    {'type': 'date', 'range': ['2010-01-01', '2025-12-31'], 'parts': ['year', 'month']}
    """
    column: dict[str, Any] = {"type": "date", "range": [str(first), str(last)], "parts": [str(part) for part in parts]}
    if order != "ymd":
        column["order"] = order
    if missing is not None:
        column["missing"] = missing
    return column


def ignore() -> dict[str, Any]:
    """A column that is left out.

    >>> ignore()
    {'type': 'ignore'}
    """
    return {"type": "ignore"}


class Schema:
    """Checked public facts about a table; see the module's documentation for an example.

    Parameters
    ----------
    columns : mapping
        From a column's name to :func:`number`, :func:`category`, :func:`binary`, :func:`date` or :func:`ignore`.
    target : str
        The name of what is predicted.
    classes : sequence, optional
        Its labels in order; or
    target_bounds : (low, high), optional
        for a number.
    clip : float
        The largest Euclidean norm of an encoded row; longer rows are scaled down.
    bias : bool or float
        The constant column's value inside the clipped row.
    unit, max_records : optional
        The column that says whose a row is, and how many rows of each are used.
    unit_spelling : {"text", "number", "nfc"}
        When two entries of that column name one person: the same text; the same integer, so that ``2``, ``"2.0"``,
        ``"02"`` and ``"+2"`` are one (pandas writes ``2.0`` into a file where another row has no id) and what writes
        none is nobody's; or the same characters, however an accent is composed. The last two need neighbours
        ``"replace-one"``.
    weights : sequence, optional
        How much each class counts.
    missing_values : sequence of str
        Texts that count as missing, beside a frame's own nulls.
    invalid : {"refuse", "drop", "stand-in"}
        What becomes of a record with a bad cell or label: refused; a row of zeros that counts and
        contributes nothing; or, cell by cell, what the columns declare as ``invalid``.
    other_columns : {"refuse", "ignore"}
        Columns of a table that are not named here: refused, so that a mistyped name shows, or left out.
    labels, others : optional
        From a class to further labels that count as it, and the class of all labels that are not listed.
    """

    def __init__(
        self,
        columns: Mapping[str, Mapping[str, Any]],
        *,
        target: str,
        classes: Sequence[Any] | None = None,
        target_bounds: tuple[float, float] | None = None,
        clip: float = 1.0,
        bias: bool | float = True,
        unit: str | None = None,
        max_records: int | None = None,
        unit_spelling: str = "text",
        weights: Sequence[float] | None = None,
        missing_values: Sequence[str] = ("",),
        invalid: str = "refuse",
        other_columns: str = "refuse",
        labels: Mapping[str, Sequence[str]] | None = None,
        others: str | None = None,
    ) -> None:
        draft: dict[str, Any] = {
            "bias": bias,
            "clip": {"norm": "l2", "radius": float(clip)},
            "target": {"column": target},
            "columns": [{"name": name, **column} for name, column in columns.items()],
        }
        if invalid != "refuse":
            draft["invalid"] = invalid
        if any("missing" in column for column in columns.values()):
            draft["file"] = {"missing_values": [str(text) for text in missing_values]}
        if classes is not None:
            draft["target"]["classes"] = [label_text(label) for label in listed("classes", classes)]
        if target_bounds is not None:
            draft["target"]["bounds"] = [float(bound) for bound in target_bounds]
        if weights is not None:
            draft["target"]["weights"] = [float(weight) for weight in weights]
        if other_columns != "refuse":
            draft["other_columns"] = other_columns
        if labels is not None:
            draft["target"]["labels"] = {label_text(one): [label_text(text) for text in texts] for one, texts in labels.items()}
        if others is not None:
            draft["target"]["others"] = label_text(others)
        if unit is not None:
            check_unit(unit)
            records = 1 if max_records is None else whole("max_records", max_records, below=SMALL)
            draft["unit"] = {"column": unit, "max_records": records}
            if unit_spelling != "text":
                draft["unit"]["spelling"] = unit_spelling
        elif unit_spelling != "text":
            raise ValueError("unit_spelling is given without a unit; accepted with unit=... and max_records=...")
        self._checked = _privet.Schema(draft_text(draft))

    @classmethod
    def _of(cls, checked: _privet.Schema) -> Schema:
        schema = cls.__new__(cls)
        schema._checked = checked
        return schema

    @classmethod
    def from_dict(cls, draft: Mapping[str, Any]) -> Schema:
        """From a mapping with the keys of a schema file."""
        return cls._given(_privet.Schema(draft_text(draft)))

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """From the text of a schema file."""
        return cls._given(_privet.Schema.from_toml(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """From a schema file."""
        return cls._given(_privet.Schema.load(os.fspath(path)))

    @classmethod
    def _given(cls, checked: _privet.Schema) -> Schema:
        """One that somebody wrote, or that privet made for groups without a name."""
        unit = checked.unit
        if unit is not None and unit.rstrip("_") != UNNAMED:
            check_unit(unit)
        return cls._of(checked)

    def to_dict(self) -> dict[str, Any]:
        """A mapping with the keys of a schema file."""
        return json.loads(self._checked.to_json())

    def to_toml(self) -> str:
        """The text of a schema file, for the command line."""
        return self._checked.to_toml()

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns that are features."""
        return tuple(self._checked.features)

    @property
    def encoded_columns(self) -> tuple[str, ...]:
        """Names of the encoded columns, the constant one last."""
        return tuple(self._checked.encoded_columns)

    @property
    def target(self) -> str:
        """The name of what is predicted."""
        return self._checked.target

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The labels in order, unless the target is a number."""
        classes = self._checked.classes
        return None if classes is None else tuple(classes)

    @property
    def target_bounds(self) -> tuple[float, float] | None:
        """Bounds of the target, if it is a number."""
        return self._checked.target_bounds

    @property
    def unit(self) -> str | None:
        """The column that says whose a row is."""
        return self._checked.unit

    @property
    def is_total(self) -> bool:
        """Whether no record can make the reading of a table fail."""
        return self._checked.is_total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._checked.to_json() == other._checked.to_json()

    def __hash__(self) -> int:
        return hash(self._checked.to_json())

    def __repr__(self) -> str:
        kind = "classes" if self.classes is not None else "a number"
        return f"Schema({len(self.features)} features, target {self.target!r}: {kind})"


def check_unit(unit: Any) -> None:
    """Refuses privet's own word for groups without a name: whoever is called so is nobody in particular, and would be paid
    for as anybody."""
    if str(unit).strip().startswith(UNNAMED):
        raise ValueError(
            f"unit begins with {UNNAMED!r}, which is privet's own word for groups without a name; accepted is the name of the "
            "column that says whose a row is"
        )


def as_said(schema: Schema, whose: Mapping[str, Any]) -> Schema:
    """The schema of a release, whose unit has the name that the certificate says: none, where it was made up by 0.2.0."""
    if schema.unit is None or schema.unit.startswith(UNNAMED) or whose["kind"] != "not-said":
        return schema
    draft = schema.to_dict()
    name, taken = UNNAMED, {column["name"] for column in draft.get("columns", [])}
    while name in taken:
        name += "_"
    return Schema._of(_privet.Schema(draft_text(draft | {"unit": draft["unit"] | {"column": name}})))


def draft_text(draft: Mapping[str, Any]) -> str:
    """A schema's keys as the extension reads them."""
    try:
        return json.dumps(draft, allow_nan=False, default=_plain)
    except ValueError:
        raise ValueError("schema: a number is NaN or infinite; finite numbers are accepted") from None


def _plain(value: Any) -> Any:
    """A NumPy number as a plain one."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"schema: a {type(value).__name__} is not accepted; accepted are numbers, texts and lists")


def label_text(label: Any) -> str:
    """A label as schemas and files write it: whole numbers without a point.

    >>> label_text(1.0), label_text(True), label_text("a")
    ('1', 'True', 'a')
    """
    # A masked entry has an item too: what the mask hides, or 0.
    item = label.item() if hasattr(label, "item") and not is_masked(label) else label
    if isinstance(item, float) and item.is_integer():
        item = int(item)
    return str(item)


def as_schema(given: Any) -> Schema:
    """A schema from whatever stands for one."""
    if isinstance(given, Schema):
        return given
    if isinstance(given, Mapping):
        return Schema.from_dict(given)
    if isinstance(given, (str, os.PathLike)):
        return Schema.load(given)
    raise TypeError(
        f"schema is a {type(given).__name__}; accepted are a privet.Schema, the path of a schema "
        "file, or a mapping with its keys"
    )
