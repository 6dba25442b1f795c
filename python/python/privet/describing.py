"""Private descriptions: counts, means, quantiles, histograms and correlations of a table, in one release.

>>> import pandas as pd
>>> from privet import Schema, category, describe, number
>>> schema = Schema(
...     {"age": number(0, 100), "work": category(["farm", "shop"], unknown="other")},
...     target="ill", classes=["no", "yes"],
... )
>>> frame = pd.DataFrame({"age": [30, 50] * 5000, "work": ["farm", "shop"] * 5000, "ill": ["no", "yes"] * 5000})
>>> found = describe(frame, schema=schema, epsilon=1)
>>> found.columns, abs(found["age"]["mean"]["value"] - 40) < 1
(('age', 'work', 'ill'), True)
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from privet import _privet
from privet._certificate import Certificate, facts_of
from privet._interrupts import Finishing
from privet._numbers import SMALL, WHY_EPSILON, optional_number, whole
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet.counts import _given
from privet.ledger import paid_by
from privet.schema import Schema, as_schema


@dataclass(frozen=True)
class DescribePlan:
    """What decides the guarantee of a description, fixed before any record is read."""

    columns: tuple[str, ...]
    """The columns described."""
    bins: int
    """Bins of each number's histogram."""
    correlations: bool
    """Whether numbers are correlated with each other."""
    noise: float
    """The standard deviation of the noise on every sum that the description is made of."""
    sums: int
    """How many sums there are."""
    epsilon: float
    """What the certificate will claim."""
    delta: float
    """What probabilities may differ by beyond the factor exp(epsilon)."""
    neighbours: str
    """``"replace-one"`` or ``"add-remove"``."""
    max_records: int
    """How many rows the privacy unit may own; 1: a row."""
    rows: int
    """The declared number of rows."""
    arithmetic: str
    """``"finite"``: proved with rounding, for the program as it runs."""
    notes: tuple[str, ...]
    """Conditions and gaps."""
    events: Any = field(repr=False, default=None)
    """What the accountant is told; see :class:`privet.account.Event`."""
    whose: Any = field(repr=False, default=None)
    """Who a unit is, as certificates say it."""

    @classmethod
    def _from_json(cls, text: str) -> DescribePlan:
        return cls(**facts_of(cls, text))


class Description:
    """A private description with its certificate: what :func:`describe` returns and :func:`privet.load` reads.

    ``description["age"]`` is what is said of one column, as a ``dict``; every estimate has ``value``, ``low`` and
    ``high``, between which it lies without the noise in 95 of 100 cases.
    """

    certificate: Certificate
    """What it can reveal."""

    def __init__(self, release: _privet.Released) -> None:
        self._release = release
        self.certificate = Certificate._of(release)
        self._summary = json.loads(release.summary())
        self._columns = {column["name"]: column for column in self._summary["columns"]}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns described, in order."""
        return tuple(self._columns)

    @property
    def rows(self) -> dict[str, float]:
        """How many records were looked at; exact where that is public."""
        return self._summary["rows"]

    @property
    def noise(self) -> float:
        """The standard deviation of the noise on every sum."""
        return self._summary["noise"]

    @property
    def margin(self) -> float:
        """How far each count is from the truth at most, in 95 of 100 cases."""
        return self._summary["margin"]

    def __getitem__(self, column: str) -> dict[str, Any]:
        return self._columns[column]

    def to_frame(self) -> Any:
        """A pandas frame with a row for each number and each category of each other column.

        Numbers have ``mean``, ``std``, their quantiles and how many are ``missing``, each with ``_low`` and
        ``_high``; categories have ``count``.
        """
        import pandas as pd

        rows, index = [], []
        for name, column in self._columns.items():
            if column["kind"] == "category":
                for cell in column["cells"]:
                    index.append((name, cell["category"]))
                    rows.append(_estimate("count", _around(cell["count"], self.margin)))
                continue
            row = _estimate("mean", column["mean"]) | _estimate("std", column["deviation"])
            for quantile in column["quantiles"]:
                row |= _estimate(f"{100 * quantile['level']:g}%", quantile)
            if column["missing"] is not None:
                row |= _estimate("missing", column["missing"])
            index.append((name, ""))
            rows.append(row)
        return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(index, names=["column", "category"]))

    def histogram(self, column: str) -> Any:
        """A pandas frame with a row for each bin of a number: ``from``, ``to`` and ``count``."""
        import pandas as pd

        if self._columns[column]["kind"] != "number":
            raise ValueError(f"{column!r} is a category, whose counts are in to_frame(); accepted are numbers")
        return pd.DataFrame(self._columns[column]["histogram"])

    def correlations(self) -> Any:
        """A pandas frame with a row for each pair of numbers: ``first``, ``second``, ``value``, ``low``, ``high``."""
        import pandas as pd

        return pd.DataFrame(self._summary["correlations"], columns=["first", "second", "value", "low", "high"])

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write description and certificate into one file, which ``privet verify`` and :func:`privet.load` read.

        The file is written whole or not at all, readable by its owner alone. A file that is there already is kept
        unless ``overwrite``.
        """
        self._release.save(os.fspath(path), bool(overwrite))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Description):
            return NotImplemented
        return (self._summary, self.certificate) == (other._summary, other.certificate)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        claim = self.certificate
        promise = f"epsilon = {claim.epsilon:g}, delta = {claim.delta:g}" if claim.private else "NOT PRIVATE"
        return (
            f"Description of {len(self.columns)} columns, counts within ± {self.margin:.0f} in 95 of 100 cases "
            f"({promise})"
        )


def _around(value: float, margin: float) -> dict[str, float]:
    return {"value": value, "low": value - margin, "high": value + margin}


def _estimate(name: str, estimate: dict[str, float]) -> dict[str, float]:
    return {name: estimate["value"], f"{name}_low": estimate["low"], f"{name}_high": estimate["high"]}


def describe(
    table: Any,
    *,
    schema: Any,
    epsilon: float,
    delta: float | None = None,
    columns: Any = None,
    bins: int | None = None,
    correlations: bool | None = None,
    neighbours: str = "replace-one",
    n_rows: int | None = None,
    groups: Any = None,
    ledger: Any = None,
    random_state: Any = None,
) -> Description:
    """Describe the declared columns of a table: one private release.

    Parameters
    ----------
    table : frame, mapping or path
        A pandas or polars frame, a PyArrow table, a mapping from names to columns, or the path of a file of
        the schema's format.
    schema : Schema, path or mapping
        Public facts about the table. Values beyond declared bounds count as the nearest bound.
    epsilon, delta : float
        The budget of everything together; delta is ``1 / n_rows**2`` unless given, and 0 asks for pure epsilon.
    columns : list of str, optional
        Only these, the target among them if it is named. What is left out costs nothing.
    bins : int, optional
        Bins of each number's histogram, evenly over its bounds; 32 unless given.
    correlations : bool, optional
        Whether numbers are correlated with each other; if there are from 2 to 24 of them unless given.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private.
    n_rows : int, optional
        About how many rows there are, from public knowledge; needed where their number is private.
    groups : array, optional
        Whose each row is, for a schema with a unit that is not a column of the table.
    ledger : privet.Ledger, optional
        Who pays; a description that would exceed its limit is refused.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.

    Examples
    --------
    >>> from privet import Schema, describe, number
    >>> schema = Schema({"age": number(0, 100)}, target="ill", classes=["no", "yes"])
    >>> people = {"age": list(range(100)) * 50, "ill": ["no", "yes"] * 2500}
    >>> found = describe(people, schema=schema, epsilon=1)
    >>> bool(45 < found.to_frame().loc[("age", ""), "50%"] < 55)
    True
    """
    public = as_schema(schema)
    private_count = neighbours == "add-remove" or public.unit is not None
    # Refused before a record is read, as far as public facts tell.
    if private_count and n_rows is None:
        raise rows_missing(neighbours)
    facts = {
        "epsilon": epsilon,
        "delta": delta,
        "neighbours": neighbours,
        "columns": columns,
        "bins": bins,
        "correlations": correlations,
    }
    part = Schema._of(_plan(public, 1000 if n_rows is None else n_rows, facts).schema())
    records = _privet.Records(_given(table, part, groups), part._checked, private_count)
    planned = _plan(public, records.rows if n_rows is None else n_rows, facts)
    with Finishing() as finishing:
        return finishing.of(Description(planned.run_on(records, seed_of(random_state), paid_by(ledger, groups))))


def plan_describe(
    *,
    schema: Any,
    n_rows: int,
    epsilon: float,
    delta: float | None = None,
    columns: Any = None,
    bins: int | None = None,
    correlations: bool | None = None,
    neighbours: str = "replace-one",
) -> DescribePlan:
    """What :func:`describe` would do and claim, without data.

    >>> from privet import Schema, number, plan_describe
    >>> schema = Schema({"age": number(0, 100)}, target="ill", classes=["no", "yes"])
    >>> plan = plan_describe(schema=schema, n_rows=1000, epsilon=1)
    >>> plan.columns, plan.sums, plan.correlations
    (('age', 'ill'), 36, False)
    """
    facts = {
        "epsilon": epsilon,
        "delta": delta,
        "neighbours": neighbours,
        "columns": columns,
        "bins": bins,
        "correlations": correlations,
    }
    return DescribePlan._from_json(_plan(as_schema(schema), n_rows, facts).to_json())


def _plan(schema: Schema, rows: Any, facts: dict[str, Any]) -> _privet.Plan:
    epsilon, delta = (optional_number(name, facts[name]) for name in ("epsilon", "delta"))
    if epsilon is None:
        raise ValueError(WHY_EPSILON)
    columns, bins = facts["columns"], facts["bins"]
    if isinstance(columns, str):
        raise TypeError(f"columns is the text {columns!r}; accepted is a list of names, such as [{columns!r}]")
    given = facts | {
        "epsilon": epsilon,
        "delta": delta,
        "columns": None if columns is None else [str(name) for name in columns],
        "bins": None if bins is None else whole("bins", bins, below=SMALL),
    }
    return _privet.plan_description(schema._checked, whole("n_rows", rows), **given)
