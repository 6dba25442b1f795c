"""A fit whose rows other machines keep: planned and noised here, asked for there."""

from __future__ import annotations

from typing import Any, Protocol

from privet import _privet
from privet._interrupts import Finishing
from privet._numbers import WHY_EPSILON, optional_number, whole
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet.counts import Counts
from privet.ledger import paid_by
from privet.models import _estimator
from privet.schema import Schema, as_schema


class BackEnd(Protocol):
    """Who keeps the rows."""

    def check(self, schema: Schema) -> None:
        """Refuses a table without the schema's columns, from public facts."""

    def count(self) -> int:
        """How many rows there are."""

    def encode(self, told: str) -> list[str]:
        """Has all rows encoded, once, and tells what may be known of each part."""

    def ask(self, question: str) -> list[bytes]:
        """The parts of an answer."""

    def close(self) -> None:
        """Lets go of the encoded rows."""


def fit(
    back: BackEnd,
    *,
    schema: Any,
    epsilon: float | None,
    delta: float | None,
    method: str,
    loss: str | None,
    neighbours: str,
    n_rows: int | None,
    settings: dict[str, Any] | None,
    calibration: str,
    huber_width: float,
    quantile: float,
    random_state: Any,
    ledger: Any,
) -> Any:
    """One private model, as a fitted estimator."""
    if epsilon is None and method != "non-private":
        raise ValueError(WHY_EPSILON)
    public = as_schema(schema)
    planned = _rows_then_plan(
        back,
        public,
        neighbours,
        n_rows,
        lambda rows: _privet.plan_linear(
            public._checked,
            rows,
            epsilon=optional_number("epsilon", epsilon),
            delta=optional_number("delta", delta),
            neighbours=neighbours,
            loss=loss if loss is not None else "squared" if public.classes is None else "logistic",
            width=float(huber_width),
            quantile=float(quantile),
            rate_at_zero=None,
            method=method,
            settings=[(str(name), str(value)) for name, value in (settings or {}).items()],
            calibration=calibration,
            notes=[],
        ),
    )
    with Finishing() as finishing:
        return finishing.of(_estimator(_carried_out(back, planned, random_state, ledger)))


def count(
    back: BackEnd,
    by: str,
    *,
    schema: Any,
    epsilon: float,
    delta: float,
    neighbours: str,
    n_rows: int | None,
    law: str | None,
    random_state: Any,
    ledger: Any,
) -> Counts:
    """Counts by a column of declared categories."""
    public = as_schema(schema)
    part = Schema._of(public._checked.counting(by))
    budget = {"epsilon": optional_number("epsilon", epsilon), "delta": optional_number("delta", delta) or 0.0}
    if budget["epsilon"] is None:
        raise ValueError(WHY_EPSILON)
    planned = _rows_then_plan(
        back,
        part,
        neighbours,
        n_rows,
        lambda rows: _privet.plan_counts(public._checked, by, rows, **budget, neighbours=neighbours, law=law),
    )
    with Finishing() as finishing:
        return finishing.of(Counts(_carried_out(back, planned, random_state, ledger)))


def _rows_then_plan(back: BackEnd, schema: Schema, neighbours: str, n_rows: int | None, plan: Any) -> Any:
    """The plan for the rows that are declared or, where their number is public, found."""
    if not schema.features:
        raise ValueError("the schema names no columns; on a cluster accepted is one that does, with its [[columns]]")
    back.check(schema)
    if n_rows is not None:
        return plan(whole("n_rows", n_rows))
    if neighbours == "add-remove" or schema.unit is not None:
        raise rows_missing(neighbours)
    rows = back.count()
    if rows == 0:
        raise ValueError("the table has 0 rows; at least one is needed")
    return plan(rows)


def _carried_out(back: BackEnd, planned: Any, random_state: Any, ledger: Any) -> Any:
    seed, paid, told = seed_of(random_state, stacklevel=5), paid_by(ledger, None), planned.told()
    try:
        return planned.run_elsewhere(lambda: back.encode(told), back.ask, seed, paid)
    finally:
        back.close()
