"""What is promised: plans before data, certificates after, verdicts on files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from privet import _html, _privet


def _number(value: Any) -> float | None:
    """JSON has no infinity of its own."""
    return float("inf") if value == "infinity" else value


def facts_of(kind: type, text: str) -> dict[str, Any]:
    """What a plan's JSON says of the fields of a dataclass."""
    facts = json.loads(text)
    guarantee = facts["guarantee"] or {}
    facts |= {"epsilon": _number(guarantee.get("epsilon")), "delta": guarantee.get("delta")}
    facts["max_records"] = facts["unit"].get("max_records", 1)
    found = {field.name: facts[field.name] for field in fields(kind) if field.name in facts}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


@dataclass(frozen=True)
class Plan:
    """Everything that decides a guarantee, fixed before any record is read.

    >>> from privet import PrivateLogisticRegression
    >>> plan = PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(n_rows=10_000, n_features=20)
    >>> plan.method, plan.epsilon, plan.delta
    ('placed-gd', 1.0, 1e-08)
    """

    method: str
    """The learner; the one that was chosen, where ``method="auto"`` left it open."""
    epsilon: float | None
    """What the certificate will claim; ``None`` without privacy."""
    delta: float | None
    """What probabilities may differ by beyond the factor exp(epsilon)."""
    neighbours: str
    """``"replace-one"`` or ``"add-remove"``."""
    max_records: int
    """How many rows the privacy unit may own; 1: a row."""
    rows: int
    """The declared number of rows."""
    columns: int
    """Encoded columns, the constant one included."""
    radius: float
    """The largest norm of an encoded row."""
    loss: str
    """What is minimised."""
    calibration: str
    """Whose constants."""
    arithmetic: str
    """``"finite"``: proved with rounding, for the program as it runs; ``"real"``: proved on paper, for exact numbers."""
    settings: dict[str, float]
    """The numbers of the learner; names ending in ``_noise`` are scales of noise."""
    predicted_cost: float | None
    """Of what the same model without privacy gains over the commonest class (of its R², for a number), the share that
    privacy is expected to take, on a table like most; ``None`` where nothing is known."""
    notes: tuple[str, ...]
    """Conditions and gaps."""
    events: Any = field(repr=False, default=None)
    """What the accountant is told; see :class:`privet.account.Event`."""
    predicted_gain: float | None = None
    """Points of accuracy above the commonest class (of R², for a number) that are expected to be left; ``None`` where
    nothing is known."""
    base_rate: float | None = None
    """The share of the commonest class that this is for: the declared one, or that of classes of equal size."""
    whose: Any = field(repr=False, default=None)
    """Who a unit is: every record by itself, or the records with one identifier of a column, as certificates say it."""

    def _repr_html_(self) -> str:
        return _html.plan(self)

    @classmethod
    def _from_json(cls, text: str) -> Plan:
        return cls(**facts_of(cls, text))


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a model, or a table of counts, can reveal about a record, and why.

    >>> from privet import PrivateLogisticRegression
    >>> X, y = [[0.1], [0.9]] * 50, [0, 1] * 50
    >>> fitted = PrivateLogisticRegression(epsilon=2, bounds=(0, 1), classes=[0, 1]).fit(X, y)
    >>> fitted.certificate_.private, fitted.certificate_.epsilon, fitted.certificate_.delta
    (True, 2.0, 0.0001)
    """

    epsilon: float | None
    """The claim; infinite if the noise was repeatable, ``None`` if there was none."""
    delta: float | None
    """What probabilities may differ by beyond the factor exp(epsilon)."""
    neighbours: str
    """``"replace-one"`` or ``"add-remove"``."""
    max_records: int
    """How many rows the privacy unit may own; 1: a row."""
    arithmetic: str
    """``"finite"``: proved with rounding, for the program as it runs; ``"real"``: proved on paper, for exact numbers."""
    notes: tuple[str, ...]
    """Conditions and gaps."""
    _model: _privet.Released = field(repr=False)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole certificate, as in the model's file."""
        return json.loads(self._model.certificate())

    @cached_property
    def whose(self) -> dict[str, Any]:
        """Who a unit is: every record by itself (``{"kind": "records"}``), the records with one identifier of a column
        (``"column"``), or nobody said (``"not-said"``)."""
        return json.loads(self._model.claim())["whose"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self._unsealed() == other._unsealed()

    __hash__ = None  # type: ignore[assignment]

    def _unsealed(self) -> dict[str, Any]:
        """Without what is added where a model becomes a file."""
        return {key: value for key, value in self.document.items() if key not in ("digest", "signature")}

    def _read_by(self, verdict: Verdict) -> Certificate:
        """With the notes of the plan made again, and words of whoever made the file marked as such."""
        own = [note for note in self.notes if note in verdict.notes]
        more = [note for note in verdict.notes if note not in own]
        marked = [f"words of whoever made the file, which nothing checks: {note}" for note in verdict.stated]
        return replace(self, notes=(*own, *more, *marked))

    def _refused(self, verdict: Verdict) -> Certificate:
        """With nothing claimed, because verification refuses the claim."""
        failed = "; ".join(f"{check.what}: {check.detail}" for check in verdict.checks if not check.holds)
        return replace(self, epsilon=float("inf"), notes=(f"NOT VALID: {failed}", *self.notes))

    def _repr_html_(self) -> str:
        return _html.certificate(self)

    @property
    def private(self) -> bool:
        """Whether anything finite is claimed."""
        return self.epsilon is not None and self.epsilon < float("inf")

    @property
    def events(self) -> Any:
        """What was done, as the accountant is told it."""
        return self.document["events"]

    @classmethod
    def _of(cls, model: _privet.Released) -> Certificate:
        claim = json.loads(model.claim())
        guarantee = claim["guarantee"] or {}
        return cls(
            epsilon=_number(guarantee.get("epsilon")),
            delta=guarantee.get("delta"),
            neighbours=claim["neighbours"],
            max_records=claim["unit"].get("max_records", 1),
            arithmetic=claim["arithmetic"],
            notes=tuple(claim["notes"]),
            _model=model,
        )


@dataclass(frozen=True)
class Check:
    """One thing that was checked."""

    what: str
    holds: bool
    detail: str


@dataclass(frozen=True)
class Verdict:
    """Whether a model's certificate holds; true as a condition if it does."""

    valid: bool
    """Whether there is a finite guarantee and every check holds."""
    epsilon: float | None
    """What may be relied on; ``None`` when nothing is."""
    delta: float | None
    """Its probability of failure."""
    checks: tuple[Check, ...]
    """Each check in words."""
    signer: str | None
    """Public key of the signer, if the file is signed and the signature holds; ``None``: nobody vouches."""
    arithmetic: str | None = None
    """``"finite"``: proved with rounding, for the program as it runs; ``"real"``: proved on paper, for exact numbers."""
    notes: tuple[str, ...] = ()
    """Conditions and gaps: those of the plan made again, and what else there is to say of the claim."""
    stated: tuple[str, ...] = ()
    """Words of whoever made the file. Nothing shows that it is so."""
    unchecked: tuple[str, ...] = ()
    """What the claim takes for granted and nothing checks: how many records there were, that the schema is public, what
    was fitted on the records before; of a model by ``dpsl-kt``, how long its public rows are."""
    made: dict[str, str] | None = None
    """By which version of the program, when, and which certificate; ``None`` for files of 0.1.0."""

    def __bool__(self) -> bool:
        return self.valid

    @classmethod
    def _from_json(cls, text: str) -> Verdict:
        found = json.loads(text)
        guarantee = found["guarantee"] or {}
        return cls(
            valid=found["valid"],
            epsilon=_number(guarantee.get("epsilon")),
            delta=guarantee.get("delta"),
            checks=tuple(Check(**check) for check in found["checks"]),
            signer=found["signer"],
            arithmetic=found["arithmetic"],
            notes=tuple(found["notes"]),
            stated=tuple(found["stated"]),
            unchecked=tuple(one["what"] for one in found["unchecked"]),
            made=found["made"],
        )
