"""Releases of any family, by its word: what has no function or estimator of its own yet.

>>> from privet import Schema, number, release
>>> schema = Schema({"age": number(0, 100)}, target="ill", classes=["no", "yes"])
>>> people = {"age": list(range(100)) * 50, "ill": ["no", "yes"] * 2500}
>>> found = release("describe", people, schema=schema, epsilon=1, bins=4)
>>> found.task, found.certificate.epsilon, bool(len(found.numbers))
('describe', 1.0, True)
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from privet import _privet
from privet._certificate import Certificate
from privet._interrupts import Finishing
from privet._numbers import WHY_EPSILON, optional_number, whole
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet.counts import _given
from privet.ledger import paid_by
from privet.schema import Schema, as_schema


class Release:
    """What was released, of any family, with its certificate: what :func:`release` returns and :func:`privet.load` reads."""

    certificate: Certificate
    """What it can reveal."""

    def __init__(self, release: _privet.Released) -> None:
        self._release = release
        self.certificate = Certificate._of(release)

    @property
    def task(self) -> str:
        """The word for its family."""
        return self._release.task

    @property
    def numbers(self) -> np.ndarray:
        """All its noised numbers."""
        return np.asarray(self._release.numbers())

    @property
    def document(self) -> dict[str, Any]:
        """All of its file: what was released, and the certificate."""
        return json.loads(self._release.to_json())

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write it with its certificate into one file, which ``privet verify`` and :func:`privet.load` read."""
        self._release.save(os.fspath(path), bool(overwrite))

    def __str__(self) -> str:
        return self._release.report()

    def __repr__(self) -> str:
        return f"Release({self.task!r}, {len(self.numbers)} numbers, epsilon = {self.certificate.epsilon:g})"


def release(
    task: str,
    table: Any,
    *,
    schema: Any,
    epsilon: float,
    delta: float | None = None,
    neighbours: str = "replace-one",
    n_rows: int | None = None,
    groups: Any = None,
    random_state: Any = None,
    ledger: Any = None,
    **words: Any,
) -> Release:
    """Release what a family makes of a table, by its word and its own: one private release.

    Parameters
    ----------
    task : str
        The family, as certificates name it.
    table : frame, mapping or path
        A pandas or polars frame, a PyArrow table, a mapping from names to columns, or the path of a file of
        the schema's format.
    schema : Schema, path or mapping
        Public facts about the table.
    epsilon, delta : float
        The budget; delta is ``1 / n_rows**2`` unless given, and 0 asks for pure epsilon.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private.
    n_rows : int, optional
        About how many rows there are, from public knowledge; needed where their number is private.
    groups : array, optional
        Whose each row is, for a schema with a unit that is not a column of the table.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.
    ledger : privet.Ledger, optional
        Who pays; a release that would exceed its limit is refused.
    **words
        The family's own words, as its requests carry them.
    """
    public = as_schema(schema)
    private_count = neighbours == "add-remove" or public.unit is not None
    if private_count and n_rows is None:
        raise rows_missing(neighbours)
    epsilon, delta = optional_number("epsilon", epsilon), optional_number("delta", delta)
    if epsilon is None:
        raise ValueError(WHY_EPSILON)

    def plan(rows: int) -> _privet.Plan:
        budget = {"epsilon": epsilon, "delta": float(rows) ** -2 if delta is None else delta}
        head = {"task": task, "schema": public.to_dict(), "rows": rows, "budget": budget, "neighbours": neighbours}
        return _privet.Plan.of(json.dumps(head | words))

    rows = 1000 if n_rows is None else whole("n_rows", n_rows)
    part = Schema._of(plan(rows).schema())
    records = _privet.Records(_given(table, part, groups), part._checked, private_count)
    planned = plan(records.rows if n_rows is None else rows)
    with Finishing() as finishing:
        return finishing.of(Release(planned.run_on(records, seed_of(random_state), paid_by(ledger))))
