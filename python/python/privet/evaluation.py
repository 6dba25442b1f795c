"""What a model is worth on labelled rows: without noise, or privately in one certified release.

>>> import numpy as np
>>> from privet import PrivateLogisticRegression, evaluate
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, size=(6000, 2))
>>> y = (X[:, 0] > 0).astype(int)
>>> model = PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X[:3000], y[:3000])
>>> worth = evaluate(model, X[3000:], y[3000:], epsilon=1)
>>> worth.private, bool(worth.accuracy.low <= worth.accuracy.value <= worth.accuracy.high)
(True, True)
>>> worth.certificate.epsilon
1.0
"""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet import _privet, _units
from privet._base import PrivateEstimator
from privet._certificate import Certificate
from privet._interrupts import Finishing
from privet._numbers import optional_number, whole
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet._warnings import NotPrivateWarning
from privet.ledger import paid_by
from privet.schema import Schema


class Estimate(NamedTuple):
    """A number, and where it lies without the noise in 95 of 100 releases; without noise there is no width."""

    value: float
    low: float
    high: float


class Worth:
    """What a model is worth: what :func:`evaluate` returns and :func:`privet.load` reads.

    Of classes ``accuracy``, ``majority`` (always saying the largest class), ``majority_class``, ``classes`` (share, recall
    and precision of each), ``confusion`` (rows: what is; columns: what is predicted), ``never_predicted``, ``auc``,
    ``log_loss`` (a probability below 1 % counts as 1 %), ``brier`` and ``calibration``; of a number ``rmse``,
    ``rmse_of_mean``, ``mae``, ``r2`` and ``mean``. ``rows`` and ``private`` of both. What does not apply is ``None``.
    """

    certificate: Certificate | None
    """What it can reveal; ``None`` where it is not private."""

    def __init__(self, facts: dict[str, Any], release: _privet.Released | None = None) -> None:
        self._release = release
        self._facts = _read(facts)
        self.certificate = None if release is None else Certificate._of(release)

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("_facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(f"{type(self).__name__!r} has no {name!r}; it has {', '.join(facts)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._facts]

    @property
    def measures(self) -> dict[str, Any]:
        """All of it."""
        return dict(self._facts)

    def threshold_for_share(self, share: float) -> Estimate:
        """The probability above which about this share of the records lies. It is read off the paid release; without
        one it is refused."""
        if self._release is None:
            raise ValueError("threshold_for_share needs a private evaluation: give evaluate() an epsilon")
        return Estimate(*self._release.threshold_for_share(float(share)))

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a private evaluation and its certificate into one file, which ``privet verify`` reads."""
        if self._release is None:
            raise ValueError("only what was released privately is written: give evaluate() an epsilon")
        self._release.save(os.fspath(path), bool(overwrite))

    def __repr__(self) -> str:
        shown = [name for name in ("accuracy", "majority", "auc", "rmse", "r2") if self._facts.get(name)]
        words = [f"{name}={self._facts[name].value:.4g}" for name in shown]
        return f"Worth({', '.join([*words, f'private={self.private}'])})"


def _read(value: Any) -> Any:
    """Intervals as :class:`Estimate`."""
    if isinstance(value, dict):
        if set(value) == {"value", "low", "high"}:
            return Estimate(**value)
        return {name: _read(one) for name, one in value.items()}
    return [_read(one) for one in value] if isinstance(value, list) else value


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    neighbours: str = "replace-one",
    n_rows: int | None = None,
    groups: Any = None,
    threshold: float | None = None,
    costs: tuple[float, float] | None = None,
    model_is_public: bool = False,
    ledger: Any = None,
    random_state: Any = None,
) -> Worth:
    """Measure a fitted model on labelled rows.

    Without ``epsilon`` everything is computed from the rows without noise and is *not private*; a
    :class:`privet.NotPrivateWarning` says so. With it everything, the number of rows included, comes from one noised
    release with a certificate, and every number has an interval for the noise.

    Parameters
    ----------
    model : a fitted estimator of privet
        Whose predictions are compared with ``y``.
    X, y : rows and labels
        As for ``fit``.
    epsilon, delta : float, optional
        The privacy budget; delta is 1/n² unless given.
    neighbours, n_rows, groups
        As for ``fit``; ``groups`` where the model was fitted with groups, or its schema has a unit.
    threshold : float, optional
        Above which probability the second of two classes is predicted, from public knowledge.
    costs : (missed, false alarm), optional
        The same by what errors cost: ``(10, 1)`` where missing one of the second class costs ten false alarms. The threshold
        follows from these numbers alone.
    model_is_public : bool, optional
        With ``epsilon`` the noise is for a public model: one with a guarantee, or one that you declare to be public, made
        without these records. The certificate states that you said so.
    ledger : privet.Ledger, optional
        Who pays.
    """
    if not isinstance(model, PrivateEstimator):
        raise TypeError(f"model is a {type(model).__name__}; accepted is a fitted estimator of privet")
    check_is_fitted(model)
    threshold = optional_number("threshold", threshold)
    if costs is not None:
        if threshold is not None:
            raise ValueError("threshold and costs are both given; each decides when the second class is predicted: give one")
        try:
            missed, alarm = (float(cost) for cost in costs)
        except (TypeError, ValueError):
            raise ValueError(f"costs is {costs!r}; two numbers above 0 are accepted, as (10, 1)") from None
        threshold = _privet.threshold_by_cost(missed, alarm)
    schema = Schema._of(model.model_.schema())
    _units.check_wanted(groups, schema)
    features, labels = model._labelled(X, y)
    if epsilon is None:
        if delta is not None or ledger is not None:
            raise ValueError("epsilon is missing: delta and ledger are for a private evaluation")
        warnings.warn(
            "what evaluate() returns is computed from these rows without noise: it is not private. Give an epsilon to "
            "release it",
            NotPrivateWarning,
            stacklevel=2,
        )
        return Worth(json.loads(_privet.evaluate_exactly(model.model_, features, labels, threshold)))
    if not model.certificate_.private and not model_is_public:
        raise ValueError(
            "the model has no guarantee: what it says of one record may give away others, and the noise of an evaluation "
            "is for what a public model says; accepted are a model that was fitted privately, or model_is_public=True for "
            "one that was made without these records"
        )
    private_count = neighbours == "add-remove" or schema.unit is not None
    if n_rows is None and private_count:
        raise rows_missing(neighbours)
    found = len(labels)
    units = model._units(X, groups, schema, found)
    with Finishing() as finishing:
        release = _privet.evaluate_privately(
            model.model_,
            features,
            labels,
            units,
            found if n_rows is None else whole("n_rows", n_rows),
            epsilon=optional_number("epsilon", epsilon),
            delta=optional_number("delta", delta),
            neighbours=neighbours,
            threshold=threshold,
            declared_public=bool(model_is_public),
            seed=seed_of(random_state, stacklevel=3),
            paid=paid_by(ledger, groups),
        )
        return finishing.of(Worth(json.loads(release.worth()), release))
