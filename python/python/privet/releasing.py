"""Releases of any family, and estimators made of what a family declares (:mod:`privet.families`)."""

from __future__ import annotations

import json
import os
import textwrap
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from privet import _privet
from privet._certificate import Certificate
from privet._interrupts import Finishing
from privet._numbers import WHY_EPSILON, optional_number, whole
from privet._parameters import parameter, parameters
from privet._pipelines import prior_fits
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet.counts import _given
from privet.ledger import paid_by
from privet.schema import Schema, as_schema


class Release:
    """What was released, of any family, with its certificate: what
    :mod:`privet.families` return and :func:`privet.load` reads."""

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
        report, claim = json.loads(self._release.report()), self.certificate
        promise = f"epsilon = {claim.epsilon:g}, delta = {claim.delta:g}" if claim.private else "NOT PRIVATE"
        lines = [f"{report['purpose']} ({promise})"]
        for section in report["sections"]:
            lines += ["", section["title"]]
            for part in section["parts"]:
                ((kind, said),) = part.items()
                lines += _table(said) if kind == "table" else said.splitlines()
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Release({self.task!r}, {len(self.numbers)} numbers, epsilon = {self.certificate.epsilon:g})"


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _text(value: Any) -> str:
    """A word's value as it is written on a command line."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@parameters
class Releaser(BaseEstimator):
    """The base of what is made of a family's declaration; not for use itself.

    Parameters
    ----------
    epsilon : float
        The privacy budget. Smaller is more private; privet picks none for you.
    delta : float, optional
        What probabilities may differ by beyond the factor exp(epsilon); 0 asks for pure epsilon. 1/n_rows² unless given.
    schema : Schema, path or mapping
        Public facts about the table.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private.
    n_rows : int, optional
        About how many rows there are, from public knowledge; needed where their number is private.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.
    """

    epsilon: Any = parameter(default=None, kw_only=False)
    delta: Any = None
    schema: Any = None
    neighbours: Any = "replace-one"
    n_rows: Any = None
    random_state: Any = None

    _declared: ClassVar[dict[str, Any]]

    def plan(self, n_rows: int | None = None) -> dict[str, Any]:
        """What :meth:`fit` would do and claim for so many rows, without data."""
        rows = self.n_rows if n_rows is None else n_rows
        if rows is None:
            raise ValueError("n_rows is missing: how many rows there will be")
        return json.loads(self._plan(as_schema(self.schema), whole("n_rows", rows)).to_json())

    def fit(self, table: Any, y: Any = None, *, groups: Any = None, ledger: Any = None) -> Any:
        """One private release, in ``released_``, of a frame, a mapping from names to columns, or the path of a file;
        ``groups`` says whose each row is, and ``ledger`` pays."""
        if self.schema is None:
            raise ValueError("schema is missing: public facts about the table")
        public = as_schema(self.schema)
        private_count = self.neighbours == "add-remove" or public.unit is not None
        if private_count and self.n_rows is None:
            raise rows_missing(self.neighbours)
        rows = None if self.n_rows is None else whole("n_rows", self.n_rows)
        part = Schema._of(self._plan(public, rows or 1000).schema())
        records = _privet.Records(_given(table, part, groups), part._checked, private_count)
        planned = self._plan(public, rows or records.rows)
        with Finishing():
            self.released_ = Release(planned.run_on(records, seed_of(self.random_state), paid_by(ledger, groups)))
            self.certificate_ = self.released_.certificate
        return self

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write what was released and its certificate into one file."""
        check_is_fitted(self, "released_")
        self.released_.save(path, overwrite)

    def _plan(self, schema: Schema, rows: int) -> _privet.Plan:
        epsilon = optional_number("epsilon", self.epsilon)
        if epsilon is None:
            raise ValueError(WHY_EPSILON)
        given = {word["name"]: getattr(self, word["name"]) for word in self._declared["words"]}
        settings = getattr(self, "settings", None) or {}
        return _privet.plan_offered(
            self._declared["verb"],
            schema._checked,
            rows,
            epsilon=epsilon,
            delta=optional_number("delta", self.delta),
            neighbours=self.neighbours,
            words=[(name, _text(value)) for name, value in given.items() if value is not None],
            method=getattr(self, "method", None),
            settings=[(str(name), str(value)) for name, value in settings.items()],
            prior_fits=prior_fits(self),
        )


def _described(name: str, kind: str, meaning: str) -> str:
    return f"{name} : {kind}\n" + textwrap.fill(meaning, 110, initial_indent="    ", subsequent_indent="    ")


_KINDS = {"X": "float", "N": "int", "WORD": "str", "TEXT": "str", "A,B,…": "list of str", "YES|NO": "bool"}


def family(declared: dict[str, Any], module: str) -> type[Releaser]:
    """The class of a family, made of its declaration."""
    fields: dict[str, Any] = {}
    entries = []
    for place, word in enumerate(declared["words"]):
        fields[word["name"]] = parameter(default=None, after="epsilon") if place == 0 else None
        limits = f" ({word['limits']})" if word["limits"] else ""
        kind = _KINDS[word["value"]] + ("" if word["needed"] else ", optional")
        entries.append(_described(word["name"], kind, word["meaning"] + limits))
    if declared["methods"]:
        fields |= {"method": parameter(default=declared["method"], after="delta"), "settings": None}
        methods = ", ".join(f'"{name}"' for name in declared["methods"])
        entries.append(_described("method", f"{{{methods}}}", f"How; {declared['method']} unless given."))
        entries.append(_described("settings", "mapping, optional", "Settings of the method by name."))
    name = "Private" + "".join(part.title() for part in declared["verb"].split("-"))
    doc = f"{declared['about']}.\n\n{declared['long']}\n\nParameters\n----------\n" + "\n".join(entries)
    annotations = {field: "Any" for field in fields}
    body = {"__doc__": doc, "__module__": module, "__annotations__": annotations, "_declared": declared} | fields
    return parameters(type(name, (Releaser,), body))
