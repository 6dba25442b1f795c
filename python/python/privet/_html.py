"""Plans, certificates and models as small tables of HTML, for notebooks. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

ARITHMETIC = {
    "finite": "proved with rounding, for the program as it runs",
    "real": "proved on paper, for exact numbers",
}


def number(value: float | None) -> str:
    """A number in few digits."""
    if value is None:
        return "none"
    return "∞" if value == float("inf") else f"{value:.6g}"


def table(title: str, rows: Iterable[tuple[str, Any]], notes: Iterable[str] = ()) -> str:
    """A table of two columns, and notes below it."""
    lines = [
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in rows
    ]
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    below = f"<ul>{listed}</ul>" if listed else ""
    return f"<div><strong>{escape(title)}</strong><table>{''.join(lines)}</table>{below}</div>"


def unit(max_records: int) -> str:
    """Whom the guarantee protects."""
    return "a row" if max_records == 1 else f"a person, of whom at most {max_records} rows are used"


def plan(given: Any) -> str:
    """A plan, which no record was read for."""
    rows = [
        ("method", given.method),
        ("ε", number(given.epsilon)),
        ("δ", number(given.delta)),
        ("neighbours", given.neighbours),
        ("protects", unit(given.max_records)),
        ("rows", f"{given.rows:,}"),
        ("encoded columns", f"{given.columns:,}"),
        ("guarantee", ARITHMETIC.get(given.arithmetic, given.arithmetic)),
    ]
    return table("Plan, before any record is read", rows, given.notes)


def certificate(given: Any) -> str:
    """What a release can reveal."""
    title = "Certificate" if given.private else "NOT PRIVATE: rely on no guarantee"
    rows = [
        ("ε", number(given.epsilon)),
        ("δ", number(given.delta)),
        ("neighbours", given.neighbours),
        ("protects", unit(given.max_records)),
        ("guarantee", ARITHMETIC.get(given.arithmetic, given.arithmetic)),
    ]
    return table(title, rows, given.notes)
