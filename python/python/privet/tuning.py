"""Tuning that is paid for: the best of several methods and settings, chosen privately, in one release.

>>> import numpy as np
>>> import pandas as pd
>>> from privet import PrivateTuner, Schema, number
>>> schema = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="y", classes=["no", "yes"])
>>> rng = np.random.default_rng(0)
>>> X = pd.DataFrame(rng.uniform(-1, 1, (4000, 2)), columns=["a", "b"])
>>> y = np.where(X["b"] > 0, "yes", "no")
>>> tuner = PrivateTuner([{"method": "gd", "steps": [5, 20]}], schema=schema, epsilon=3).fit(X, y)
>>> tuner.certificate_.epsilon, tuner.best_params_["method"], bool(tuner.score(X, y) > 0.8)
(3.0, 'gd', True)
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from privet import _privet, _tables
from privet._certificate import Certificate
from privet._interrupts import Finishing
from privet._numbers import WHY_EPSILON, optional_number, whole
from privet._parameters import parameter, parameters
from privet._pipelines import fitted_before, hand_over, prior_fits
from privet._refusals import flat_labels, target_of
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet.counts import _given
from privet.ledger import paid_by
from privet.schema import Schema, as_said, as_schema


@parameters
class PrivateTuner(BaseEstimator):
    """The best of several methods and settings, by trials of which only the best is ever seen.

    A trial draws a candidate by lot, trains it on all records, and counts under noise how many of them it predicts
    rightly. How many trials are made is random and secret; the certificate pays for all of them, which for 30 trials is
    two or three times the epsilon of one. *How long* :meth:`fit` *takes tells about how many there were.*

    ``PrivateLogisticRegression(method="auto")`` tries nothing and has the whole budget for one model; the first note of the
    certificate says which is the better buy as far as public facts tell.

    Parameters
    ----------
    candidates : list of dict
        Each with a ``"method"`` and settings of it; a list of values makes a candidate of each, and lists multiply.
    schema : Schema, path or mapping
        Public facts about the table.
    epsilon, delta : float
        The budget of all trials together; delta is ``1 / n_rows**2`` unless given.
    trials : float, optional
        Trials expected; twice the candidates and at least 10 unless given.
    law : {"poisson", "geometric", "logarithmic"}, optional
        The law of their number; of the first two the one that leaves a trial more unless given.
    loss : str, optional
        As for the other estimators; logistic for classes and squared for a number unless given.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private, and ``n_rows`` must be given.
    n_rows : int, optional
        About how many rows there are, from public knowledge; needed where their number is private.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.

    Attributes
    ----------
    best_estimator_ : estimator
        The best trial's model; it predicts, but is saved as part of the tuner alone.
    best_params_ : dict
        Its method and settings, all of them settled.
    best_index_ : int
        Which candidate it is of, after lists are multiplied out.
    certificate_ : Certificate
        What all of it can reveal.
    """

    candidates: Any = parameter(kw_only=False)
    schema: Any
    epsilon: float | None = None
    delta: float | None = None
    trials: float | None = None
    law: str | None = None
    loss: str | None = None
    neighbours: str = "replace-one"
    n_rows: int | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, groups: Any = None, *, ledger: Any = None) -> PrivateTuner:
        """Tune on the rows of a frame, a mapping from names to columns, or an array in the order of the schema;
        ``ledger`` pays, and refuses what would exceed its limit."""
        with fitted_before(self):
            return self._fit(X, y, groups, ledger)

    def _fit(self, X: Any, y: Any, groups: Any, ledger: Any) -> PrivateTuner:
        public = as_schema(self.schema)
        private_count = self.neighbours == "add-remove" or public.unit is not None
        if private_count and self.n_rows is None:
            raise rows_missing(self.neighbours)
        table = _with_target(X, flat_labels(target_of(y, public), total=public.is_total), public)
        rows = len(y) if self.n_rows is None else self.n_rows
        plan = self._plan(public, rows)
        part = Schema._of(plan.schema())
        records = _privet.Records(_given(table, part, groups), part._checked, private_count, any_storage=False)
        with Finishing():
            self._set(plan.run_on(records, seed_of(self.random_state), paid_by(ledger, groups)))
        return self

    def plan(self, n_rows: int) -> dict[str, Any]:
        """What :meth:`fit` would do and claim for so many rows, without data."""
        return json.loads(self._plan(as_schema(self.schema), n_rows).to_json())

    def predict(self, X: Any) -> Any:
        """As the best estimator predicts."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """As the best estimator predicts."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def score(self, X: Any, y: Any) -> float:
        """As the best estimator scores; computed without noise."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.score(X, y)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the best model and the certificate of all trials into one file."""
        check_is_fitted(self, "certificate_")
        self._release.save(os.fspath(path), bool(overwrite))

    @classmethod
    def _loaded(cls, release: _privet.Released) -> PrivateTuner:
        request = json.loads(release.request())
        budget = request["budget"] or {}
        methods = [dict(method) for method in request["candidates"]]
        tuner = cls(
            [{"method": method.pop("name"), **method} for method in methods],
            schema=as_said(Schema._of(release.schema()), json.loads(release.claim())["whose"]),
            epsilon=budget.get("epsilon"),
            delta=budget.get("delta"),
            trials=request["trials"],
            law=request["law"],
            neighbours=request["neighbours"],
            n_rows=request["rows"],
        )
        return tuner._set(release)

    def _set(self, release: _privet.Released) -> PrivateTuner:
        from privet.models import _estimator

        self._release = release
        self.certificate_: Certificate = Certificate._of(release)
        model = release.model()
        if model is None:
            raise RuntimeError(
                "no trial was made, which the law of their number allows: nothing was learnt, and it is paid for"
            )
        method = dict(json.loads(release.request())["candidates"][release.candidate])
        self.best_index_ = release.candidate
        self.best_params_ = {"method": method.pop("name"), **method}
        self.best_estimator_ = _estimator(model)
        self.best_estimator_.certificate_ = self.certificate_
        return self

    def _plan(self, schema: Schema, rows: Any) -> _privet.Plan:
        epsilon, delta, trials = (optional_number(name, getattr(self, name)) for name in ("epsilon", "delta", "trials"))
        if epsilon is None:
            raise ValueError(WHY_EPSILON)
        lists = [_lists(candidate) for candidate in self.candidates]
        return _privet.plan_tuning(
            schema._checked,
            whole("n_rows", rows),
            lists,
            epsilon=epsilon,
            delta=delta,
            neighbours=self.neighbours,
            loss=self.loss,
            trials=trials,
            law=self.law,
            prior_fits=prior_fits(self),
        )

    def __sklearn_clone__(self) -> Any:
        twin = super().__sklearn_clone__()
        hand_over(self, twin.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        hand_over(self, state)
        return state


def _lists(candidate: Any) -> tuple[str, list[tuple[str, list[str]]]]:
    """A method's name with lists of values of its settings."""
    accepted = 'accepted is a dict with "method" and settings, such as {"method": "gd", "steps": [10, 40]}'
    if not isinstance(candidate, Mapping) or not isinstance(candidate.get("method"), str):
        raise ValueError(f"a candidate is {candidate!r}; {accepted}")
    settings = []
    for name, values in candidate.items():
        if name == "method":
            continue
        listed = values if isinstance(values, (list, tuple, np.ndarray)) else [values]
        settings.append((str(name), [_word(value) for value in listed]))
    return candidate["method"], settings


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def _with_target(X: Any, y: Any, schema: Schema) -> dict[str, Any]:
    """Features and target as one table."""
    X = _tables.collected(X)
    if isinstance(X, Mapping):
        table = dict(X)
    elif _tables.is_frame(X):
        wanted = [*schema.features, *([schema.unit] if schema.unit else [])]
        found = _tables.meant(_tables.names_of(X), wanted, total=schema.is_total)
        table = {name: X[column] for name, column in found.items()}
    else:
        cells = _tables.cells_of_array(X, schema.features, total=schema.is_total)
        table = dict(zip(schema.features, cells, strict=True))
    table[schema.target] = y
    return table
