"""The accountant: what a mechanism costs, and how much noise a budget needs.

Everything is an upper bound, rounded to the safe side.

>>> from privet import account
>>> step = account.sampled_gaussian(rate=0.01, sensitivity=1.0, noise_scale=1.0, neighbours="add-remove")
>>> round((1000 * step).epsilon(1e-5), 3)
1.828
>>> both = account.laplace(sensitivity=1.0, noise_scale=2.0) + account.pure(0.5)
>>> round(both.epsilon(0.0), 6)
1.0
>>> account.calibrate(lambda scale: account.gaussian(1.0, scale), epsilon=1.0, delta=1e-5) < 3.74
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet import _privet
from privet._base import PrivateEstimator
from privet._certificate import Certificate, Plan
from privet._numbers import SMALL, whole
from privet.counts import CountPlan, Counts

NO_EVENT = (
    "it is NOT PRIVATE: there was no noise, or a seed by which it can be taken off again; there is no event to "
    "account for, and no guarantee"
)


class Event:
    """What happened, as far as privacy is concerned.

    ``a + b`` is both, ``n * a`` is ``a`` n times with fresh noise. Made by the functions of this module.
    """

    # NumPy's numbers leave ``count * event`` to the event.
    __array_ufunc__ = None

    _whose: dict[str, Any] | None = None
    """Who a unit is, of what was planned or released (:func:`of`); ``None`` where the caller is to know."""

    def __init__(self, tree: Mapping[str, Any]) -> None:
        self._json = json.dumps(tree)
        _privet.account_check(self._json)

    @property
    def tree(self) -> dict[str, Any]:
        """As certificates write it."""
        return json.loads(self._json)

    def epsilon(self, delta: float) -> float:
        """An upper bound on the smallest epsilon at this delta; infinite when there is none."""
        return _privet.account_epsilon(self._json, float(delta))

    def delta(self, epsilon: float) -> float:
        """An upper bound on delta at this epsilon."""
        return _privet.account_delta(self._json, float(epsilon))

    def bracket(self, epsilon: float) -> tuple[float, float]:
        """Certified lower and upper bounds on delta at this epsilon."""
        return _privet.account_bracket(self._json, float(epsilon))

    def trade_off(self, alpha: Any) -> Any:
        """The least second error of an attacker whose first error is alpha.

        >>> gaussian(1.0, 1.0).trade_off([0.0, 1.0])
        array([1., 0.])
        """
        alphas = np.asarray(alpha, dtype=np.float64)
        betas = _privet.account_trade_off(self._json, alphas.ravel().tolist())
        found = np.asarray(betas).reshape(alphas.shape)
        return found if alphas.ndim else float(found)

    def __add__(self, other: Event) -> Event:
        if not isinstance(other, Event):
            return NotImplemented
        units = [unit for unit in (self._whose, other._whose) if unit is not None]
        _check_alike(units)
        both = _together(self, other)
        both._whose = units[0] if units else None
        return both

    def __mul__(self, count: int) -> Event:
        several = Event({"repeat": {"count": whole("count", count, below=SMALL), "event": self.tree}})
        several._whose = self._whose
        return several

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        return f"Event({self._json})"


def _together(*events: Event) -> Event:
    """All of them, whoever their units are."""
    return Event({"all": [part for event in events for part in event.tree.get("all", [event.tree])]})


def _use(neighbours: str, max_records: int, kind: str, **cost: Any) -> Event:
    records = whole("max_records", max_records, below=SMALL)
    unit = {"kind": "record"} if records == 1 else {"kind": "user", "max_records": records}
    return Event({"use": {"neighbours": neighbours, "unit": unit, "cost": {"kind": kind, **cost}}})


def gaussian(
    sensitivity: float, noise_scale: float, *, neighbours: str = "replace-one", max_records: int = 1
) -> Event:
    """Gaussian noise of this standard deviation on what moves by at most ``sensitivity`` (Euclidean).

    >>> round(gaussian(1.0, 2.0).epsilon(1e-6), 3)
    2.254
    """
    cost = {"sensitivity": float(sensitivity), "noise_scale": float(noise_scale), "grid": None}
    return _use(neighbours, max_records, "gaussian", **cost)


def sampled_gaussian(
    rate: float, sensitivity: float, noise_scale: float, *, neighbours: str = "replace-one"
) -> Event:
    """A Gaussian release of a sum over records that are each drawn with probability ``rate``.

    ``sensitivity`` bounds the contribution of one record under both relations. Not for batches cut from a
    shuffled table.

    >>> event = sampled_gaussian(0.1, 1.0, 2.0, neighbours="add-remove")
    >>> event.epsilon(1e-5) < gaussian(1.0, 2.0).epsilon(1e-5)
    True
    """
    cost = {"sensitivity": float(sensitivity), "noise_scale": float(noise_scale), "grid": None}
    return _use(neighbours, 1, "poisson-gaussian", rate=float(rate), **cost)


def batch_gaussian(population: int, batch: int, sensitivity: float, noise_scale: float) -> Event:
    """A Gaussian release of a sum over ``batch`` of ``population`` records, drawn anew without replacement.

    ``sensitivity`` bounds the difference of two records' contributions. Replace-one neighbours.

    >>> batch_gaussian(1000, 10, 2.0, 4.0).epsilon(1e-5) < gaussian(2.0, 4.0).epsilon(1e-5)
    True
    """
    cost = {"sensitivity": float(sensitivity), "noise_scale": float(noise_scale), "grid": None}
    sizes = {"population": int(population), "batch": int(batch)}
    return _use("replace-one", 1, "without-replacement-gaussian", **sizes, **cost)


def laplace(
    sensitivity: float,
    noise_scale: float,
    *,
    step: float | None = None,
    neighbours: str = "replace-one",
    max_records: int = 1,
) -> Event:
    """Laplace noise of this scale on what moves by at most ``sensitivity`` (sum of absolute values).

    ``step``: values and noise are multiples of it (discrete Laplace).

    >>> round(laplace(1.0, 2.0).epsilon(0.0), 6)
    0.5
    """
    cost: dict[str, Any] = {"sensitivity": float(sensitivity), "noise_scale": float(noise_scale)}
    if step is not None:
        cost["step"] = float(step)
    return _use(neighbours, max_records, "laplace", **cost)


def l2_laplace(
    sensitivity: float, noise_scale: float, *, neighbours: str = "replace-one", max_records: int = 1
) -> Event:
    """A vector of density ∝ exp(−‖b‖/noise_scale) on what moves by at most ``sensitivity`` (Euclidean).

    >>> round(l2_laplace(1.0, 4.0).epsilon(0.0), 6)
    0.25
    """
    cost = {"sensitivity": float(sensitivity), "noise_scale": float(noise_scale)}
    return _use(neighbours, max_records, "l2-laplace", **cost)


def pure(epsilon: float, *, neighbours: str = "replace-one", max_records: int = 1) -> Event:
    """Any mechanism of pure epsilon.

    >>> round((2 * pure(0.5)).epsilon(0.0), 6)
    1.0
    """
    return _use(neighbours, max_records, "pure", epsilon=float(epsilon))


def bounded_range(width: float, *, neighbours: str = "replace-one", max_records: int = 1) -> Event:
    """The exponential mechanism and its kin: the privacy loss has a range of at most ``width``.

    >>> round(bounded_range(0.5).epsilon(0.0), 6)
    0.5
    """
    return _use(neighbours, max_records, "bounded-range", range=float(width))


def zero_concentrated(rho: float, *, neighbours: str = "replace-one", max_records: int = 1) -> Event:
    """Any mechanism of rho zero-concentrated privacy.

    >>> zero_concentrated(0.1).epsilon(1e-6) < 2.5
    True
    """
    return _use(neighbours, max_records, "zero-concentrated", rho=float(rho))


def approximate(
    epsilon: float, delta: float, *, neighbours: str = "replace-one", max_records: int = 1
) -> Event:
    """Any mechanism of (epsilon, delta).

    >>> approximate(1.0, 1e-6).epsilon(2e-6) <= 1.0
    True
    """
    return _use(neighbours, max_records, "approximate", epsilon=float(epsilon), delta=float(delta))


def calibrate(
    event_for: Callable[[float], Event],
    *,
    epsilon: float,
    delta: float,
    search: tuple[float, float] = (1e-6, 1e9),
) -> float:
    """The smallest noise scale within ``search`` at which ``event_for(scale)`` meets the budget.

    >>> scale = calibrate(lambda scale: 100 * gaussian(1.0, scale), epsilon=1.0, delta=1e-6)
    >>> (100 * gaussian(1.0, scale)).delta(1.0) <= 1e-6
    True
    """
    low, high = search
    return _privet.account_calibrate(
        lambda scale: event_for(scale)._json, float(epsilon), float(delta), float(low), float(high)
    )


def of(released: Any, *, same_unit: bool = False) -> Event:
    """The event of a plan, a certificate, counts or a fitted estimator.

    Two such events add up where their units are known to be the same, as in :func:`total`: ``same_unit=True`` states it of
    this one and all that it is added to.

    Where what was done was decided on the way from noised answers, within a limit, or planned under a schema that was
    bought from the records, it is the claim: the events that one run came to prove nothing by themselves. What the bounds
    of a bought schema cost is not in it; :func:`total` counts it.

    >>> from privet import PrivateLogisticRegression
    >>> plan = PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(n_rows=1000, n_features=3)
    >>> of(plan).epsilon(plan.delta) <= 1.0
    True
    """
    document = _document(released)
    if not _promises(document):
        raise ValueError(NO_EVENT)
    event = _event_of(document)
    event._whose = None if same_unit else _whose(document)
    return event


def _event_of(document: Plan | CountPlan | Certificate) -> Event:
    adaptive = isinstance(document, Certificate) and (
        document.document.get("filter") is not None or _bought(document) is not None
    )
    if adaptive:
        return approximate(
            document.epsilon, document.delta, neighbours=document.neighbours, max_records=document.max_records
        )
    return Event(document.events)


def _paid(document: Plan | CountPlan | Certificate) -> dict[str, Any] | None:
    """What a schema says of the release that its bounds were bought by."""
    if not isinstance(document, Certificate):
        return None
    origin = (document.document["request"].get("schema") or {}).get("origin") or {}
    return origin.get("paid")


def _bought(document: Plan | CountPlan | Certificate) -> tuple[str, Event] | None:
    """What the bounds of a schema cost that were bought from records, by the digest of what they were read off."""
    paid = _paid(document)
    return None if paid is None else (paid["certificate"], Event(json.loads(paid["events"])))


_RECORDS, _NOT_SAID = {"kind": "records"}, {"kind": "not-said"}


def _whose(document: Plan | CountPlan | Certificate) -> dict[str, Any]:
    """Who a unit is, as far as it is said."""
    said = getattr(document, "whose", None)
    return _unnamed(document.events) if said is None else said


def _unnamed(events: Any) -> dict[str, Any]:
    """Every event says of what kind the unit is; of records that is all there is to say."""
    return _NOT_SAID if '"kind": "user"' in json.dumps(events) else _RECORDS


def _whose_paid(paid: dict[str, Any]) -> dict[str, Any]:
    """The same of the release that the bounds of a schema were bought by."""
    if paid.get("whose") is None:
        return _unnamed(json.loads(paid["events"]))
    said = {"kind": "column", "column": paid["whose"]}
    spelling = {} if paid.get("spelling", "text") == "text" else {"spelling": paid["spelling"]}
    return {**said, **({} if paid.get("trim", True) else {"trim": False}), **spelling}


def _in_words(whose: dict[str, Any]) -> str:
    if whose["kind"] == "column":
        return f"the rows with one value of {whose['column']!r}"
    return "a row" if whose["kind"] == "records" else "a group that has no name"


def _is_one_unit(documents: list[Plan | CountPlan | Certificate]) -> bool:
    """Whether their units are known to be the same without anybody's word."""
    try:
        _check_same_unit(documents)
    except _privet.PrivacyError:
        return False
    return True


def _check_same_unit(documents: list[Plan | CountPlan | Certificate]) -> None:
    """Refuses releases whose units are not known to be the same: what one says of people, another may say of visits."""
    units = [_whose(document) for document in documents]
    units += [_whose_paid(paid) for paid in map(_paid, documents) if paid is not None]
    _check_alike(units)


def _check_alike(units: list[dict[str, Any]]) -> None:
    if not units:
        return
    first, *others = units
    for other in others:
        if other != first or other == _NOT_SAID:
            raise _privet.PrivacyError(
                f"the unit is {_in_words(first)} in one release and {_in_words(other)} in another, and whether it is the same "
                "is not known: such claims do not add up. Accepted are releases whose schemas name the same unit, groups that "
                "have a name (a Series), or same_unit=True if you know that it is the same"
            )


def _document(released: Any) -> Plan | CountPlan | Certificate:
    if isinstance(released, PrivateEstimator):
        check_is_fitted(released)
        return released.certificate_
    if isinstance(released, Counts):
        return released.certificate
    if isinstance(released, (Plan, CountPlan, Certificate)):
        return released
    raise TypeError(
        f"it is a {type(released).__name__}; accepted are a plan, a certificate, counts and a fitted estimator of "
        "privet"
    )


def _promises(document: Plan | CountPlan | Certificate) -> bool:
    """Whether noise was drawn that nobody can repeat, or will be."""
    private = document.private if isinstance(document, Certificate) else document.epsilon is not None
    return private and document.events is not None


SAME_UNIT = "stated with same_unit=True, and not checked: the unit is the same in all releases"


class Total(float):
    """The epsilon of several releases together, with what it holds under."""

    arithmetic: str
    """``"finite"``, or ``"real"`` where one of them is proved on paper, for exact numbers."""
    notes: tuple[tuple[str, ...], ...]
    """Conditions and gaps of each release, in the order given."""
    stated: tuple[str, ...]
    """Conditions that the caller stated, and that nothing checks."""

    @classmethod
    def _of(cls, epsilon: float, documents: list[Plan | CountPlan | Certificate], *, same_unit: bool = False) -> Total:
        whole = cls(epsilon)
        whole.stated = (SAME_UNIT,) if same_unit else ()
        whole.arithmetic = "real" if any(one.arithmetic == "real" for one in documents) else "finite"
        whole.notes = tuple(tuple(one.notes) for one in documents)
        return whole

    @property
    def conditions(self) -> tuple[str, ...]:
        """Every condition and gap, once."""
        return tuple(dict.fromkeys([*self.stated, *(note for notes in self.notes for note in notes)]))

    def __repr__(self) -> str:
        said = len(self.conditions)
        return f"{float(self)!r} ({self.arithmetic} arithmetic; {said} condition{'s' * (said != 1)})"


def total(released: Iterable[Any], *, delta: float, same_unit: bool = False) -> Total:
    """The epsilon of several releases on the same records at ``delta``: estimators, counts, certificates or
    plans. It is a number that knows its conditions: ``arithmetic``, ``notes`` of each release and all ``conditions``.

    Infinite if one of them is not private. What the bounds of a schema cost that were bought from the records is counted
    too, once, unless the release that they were read off is among ``released``. It holds if budgets and number of the
    releases were fixed without looking at earlier ones; otherwise only a limit set beforehand covers them
    (:class:`privet.Ledger`).

    Releases are refused whose unit is not known to be the same: groups of different columns, or groups that have no name.
    ``same_unit=True`` states that it is; the number then rests on that word.

    >>> from privet import PrivateLogisticRegression
    >>> plan = PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(n_rows=1000, n_features=3)
    >>> 1.0 < total([plan, plan], delta=1e-5) < 2.0
    True
    """
    documents = [_document(release) for release in released]
    if not documents:
        return Total._of(0.0, [])
    if not all(map(_promises, documents)):
        return Total._of(float("inf"), documents)
    if not same_unit:
        _check_same_unit(documents)
    stated = same_unit and not _is_one_unit(documents)
    # The digest in a schema is a text that nothing ties to the events beside it: both must be known.
    known = [(d.document.get("digest"), d.events) for d in documents if isinstance(d, Certificate)]
    schemas: list[Event] = []
    for digest, event in filter(None, map(_bought, documents)):
        if (digest, event.tree) not in known:
            known.append((digest, event.tree))
            schemas.append(event)
    events = [*map(_event_of, documents), *schemas]
    return Total._of(_together(*events).epsilon(delta), documents, same_unit=stated)
