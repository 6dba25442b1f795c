"""Private counts: how many records are in each declared category.

>>> import pandas as pd
>>> from privet import Schema, category, count
>>> schema = Schema(
...     {"work": category(["farm", "shop", "none"], unknown="other", missing="category")},
...     target="ill", classes=["no", "yes"],
... )
>>> frame = pd.DataFrame({"work": ["farm"] * 600 + ["shop"] * 390 + [None] * 10, "ill": ["no", "yes"] * 500})
>>> found = count(frame, "work", schema=schema, epsilon=1)
>>> list(found.counts), abs(found.counts["farm"] - 600) < 100
(['farm', 'shop', 'none', '(other)', '(missing)'], True)
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from privet import _privet, _tables, _units
from privet._certificate import Certificate, facts_of
from privet._interrupts import Finishing
from privet._masks import check_unmasked
from privet._numbers import WHY_EPSILON, optional_number, whole
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet.ledger import paid_by
from privet.schema import Schema, as_schema


@dataclass(frozen=True)
class CountPlan:
    """What decides the guarantee of counts, fixed before any record is read."""

    by: str
    """The column."""
    categories: tuple[str, ...]
    """Its categories, in declared order."""
    law: str
    """The law of the noise: ``"laplace"`` or ``"gaussian"``."""
    noise: float
    """The standard deviation of the noise on each count."""
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
    def _from_json(cls, text: str) -> CountPlan:
        return cls(**facts_of(cls, text))


class Counts:
    """Noised counts with their certificate: what :func:`count` returns and :func:`privet.load` reads."""

    certificate: Certificate
    """What they can reveal."""

    def __init__(self, release: _privet.Released) -> None:
        self._release = release
        self.certificate = Certificate._of(release)

    @property
    def by(self) -> str:
        """The column."""
        return self._release.by

    @property
    def counts(self) -> dict[str, float]:
        """About how many records are in each category, in declared order; below 0 where next to none is."""
        return dict(self._release.cells)

    @property
    def law(self) -> str:
        """The law of the noise: ``"laplace"`` or ``"gaussian"``."""
        return self._release.law

    @property
    def noise(self) -> float:
        """The standard deviation of the noise on each count."""
        return self._release.noise

    @property
    def margin(self) -> float:
        """How far each count is from the truth at most, in 95 of 100 cases."""
        return self._release.margin

    def to_frame(self) -> Any:
        """A pandas frame with a row for each category: ``count``, and what it lies between in 95 of 100 cases."""
        import pandas as pd

        counts = pd.Series(self.counts, name="count", dtype=float).rename_axis(self.by)
        return counts.to_frame().assign(low=counts - self.margin, high=counts + self.margin)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write counts and certificate into one file, which ``privet verify`` and :func:`privet.load` read.

        The file is written whole or not at all, readable by its owner alone. A file that is there already is
        kept unless ``overwrite``, and counts that cannot be put at ``path`` are put elsewhere, as the
        ``OSError`` says: they were paid for.
        """
        self._release.save(os.fspath(path), bool(overwrite))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (self.counts, self.certificate) == (other.counts, other.certificate)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        claim = self.certificate
        if claim.private:
            promise = f"epsilon = {claim.epsilon:g}, delta = {claim.delta:g}, {claim.neighbours}"
        else:
            promise = "NOT PRIVATE" if not claim.notes or not claim.notes[0].startswith("NOT VALID") else "NOT VALID"
        digits = 0 if self.law == "laplace" else max(0, 1 - math.floor(math.log10(self.noise)))
        shown = {name: f"{number:.{digits}f}" for name, number in self.counts.items()}
        margin = f"± {self.margin:.{digits}f}"
        left, right = (max(map(len, texts), default=0) for texts in (shown, shown.values()))
        lines = [f"  {name:<{left}}  {number:>{right}} {margin}" for name, number in shown.items()]
        return "\n".join([f"Counts by {self.by!r}, right within ± in 95 of 100 cases ({promise})", *lines])


def count(
    table: Any,
    by: str,
    *,
    schema: Any,
    epsilon: float,
    delta: float = 0.0,
    neighbours: str = "replace-one",
    n_rows: int | None = None,
    groups: Any = None,
    law: str | None = None,
    random_state: Any = None,
    ledger: Any = None,
) -> Counts:
    """Count records by a column of declared categories: one private release.

    Parameters
    ----------
    table : frame, mapping or path
        A pandas or polars frame, a PyArrow table, a mapping from names to columns, or the path of a file of
        the schema's format. Of a frame or mapping the counted column, the target and the unit are read, and
        no other; to count classes, the schema's first feature too.
    by : str
        A column of declared categories or two values, or the target if it has classes. A category that nobody
        is in has a noisy count as well.
    schema : Schema, path or mapping
        Public facts about the table.
    epsilon, delta : float
        The budget. Without a delta the guarantee is pure.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private.
    n_rows : int, optional
        About how many rows there are, from public knowledge; needed where their number is private: under
        ``"add-remove"``, and where the schema has a unit.
    groups : array, optional
        Whose each row is, for a schema with a unit that is not a column of the table.
    law : {"laplace", "gaussian"}, optional
        The law of the noise; whichever needs less unless given.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.
    ledger : privet.Ledger, optional
        Who pays; a release that would exceed the limit is refused.

    Examples
    --------
    >>> from privet import Schema, binary, count
    >>> schema = Schema({"smokes": binary("no", "yes")}, target="ill", classes=["no", "yes"])
    >>> people = {"smokes": ["no"] * 80 + ["yes"] * 20, "ill": ["no", "yes"] * 50}
    >>> found = count(people, "smokes", schema=schema, epsilon=2)
    >>> found.law, found.margin, found.certificate.epsilon
    ('laplace', 3.0, 2.0)
    >>> print(found)  # doctest: +ELLIPSIS
    Counts by 'smokes', right within ± in 95 of 100 cases (epsilon = 2, delta = 0, replace-one)
      no ... ± 3
      yes ... ± 3
    """
    public = as_schema(schema)
    part = Schema._of(public._checked.counting(by))
    facts = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, "law": law}
    private_count = neighbours == "add-remove" or part.unit is not None
    # Refused before a record is read, as far as public facts tell.
    if private_count and n_rows is None:
        raise rows_missing(neighbours)
    _plan(public, by, 1 if n_rows is None else n_rows, facts)
    records = _privet.Records(_given(table, part, groups), part._checked, private_count)
    planned = _plan(public, by, records.rows if n_rows is None else n_rows, facts)
    with Finishing() as finishing:
        return finishing.of(Counts(planned.run_on(records, seed_of(random_state), paid_by(ledger, groups))))


def plan_count(
    by: str,
    *,
    schema: Any,
    n_rows: int,
    epsilon: float,
    delta: float = 0.0,
    neighbours: str = "replace-one",
    law: str | None = None,
) -> CountPlan:
    """What :func:`count` would do and claim, without data.

    >>> from privet import Schema, binary, plan_count
    >>> schema = Schema({"smokes": binary("no", "yes")}, target="ill", classes=["no", "yes"])
    >>> plan = plan_count("smokes", schema=schema, n_rows=100, epsilon=2)
    >>> plan.categories, plan.law, round(plan.noise, 2)
    (('no', 'yes'), 'laplace', 1.36)
    """
    facts = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, "law": law}
    return CountPlan._from_json(_plan(as_schema(schema), by, n_rows, facts).to_json())


def _plan(schema: Schema, by: str, rows: Any, facts: dict[str, Any]) -> _privet.Plan:
    epsilon, delta = (optional_number(name, facts[name]) for name in ("epsilon", "delta"))
    if epsilon is None:
        raise ValueError(WHY_EPSILON)
    given = facts | {"epsilon": epsilon, "delta": delta or 0.0}
    return _privet.plan_counts(schema._checked, by, whole("n_rows", rows), **given)


def _given(table: Any, schema: Schema, groups: Any) -> Any:
    """A path, or the columns that are read."""
    _units.check_wanted(groups, schema)
    if isinstance(table, (str, os.PathLike)):
        if schema.unit is not None and _units.is_unnamed(schema.unit):
            raise ValueError(
                "the schema's unit has no name, so that no column of a file is it; accepted is a schema that names one"
            )
        if groups is not None:
            raise ValueError("groups are given with a file; accepted is a file with the schema's unit as a column")
        return os.fspath(table)
    if not _tables.is_frame(table) and not isinstance(table, Mapping):
        raise TypeError(
            f"table is a {type(table).__name__}; accepted are frames, mappings from names to columns, and paths of files"
        )
    return columns_of(table, schema, groups)


def columns_of(table: Any, schema: Schema, groups: Any = None) -> list[Any]:
    """The columns of a frame or a mapping that are read: features, target, and whose each row is."""
    total = schema.is_total
    if schema.unit:
        _units.check_one(schema.unit, table, groups)
    wanted = [name for name in (*schema.features, schema.target) if name != schema.unit]
    if _tables.is_frame(table):
        columns = _tables.frame_columns(table, wanted, total=total)
    else:
        for name in wanted:
            check_unmasked(name, table.get(name), total=total)
        columns = [_tables.one_column(name, table[name], total=total) for name in wanted if name in table]
    unit = None
    if groups is not None:
        unit = _units.groups_column(schema.unit, groups, total=total)
    elif schema.unit:
        unit = _units.table_unit(schema.unit, table, total=total)
    return [*columns, *([] if unit is None else [unit])]
