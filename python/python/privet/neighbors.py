"""Answers to public questions by the records near each."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet import _privet
from privet._base import Normed, PrivateEstimator
from privet._certificate import Certificate, Plan
from privet._numbers import SMALL, optional_number, whole
from privet._parameters import parameter, parameters
from privet._pipelines import prior_fits
from privet.classification import _Classifier
from privet.regression import _Regressor
from privet.schema import Schema, as_schema


@parameters
class PrivateNeighbors(Normed, PrivateEstimator):
    """Answers to public questions, by the votes of the records within a distance of each.

    No model is trained, and there is no ``predict``: all questions are answered at once, by :meth:`answer`, which
    is one release. A record that is near to no question pays nothing; one that is near to many votes in the first
    ``votes`` of them (a number in the middle of its bounds, which votes for both ends, in up to twice as many) and then
    stays out. Who that is, is not shown.

    Parameters
    ----------
    within : float, optional
        How near a record must be to vote, in encoded rows; from the questions, ``n_rows`` and the budget unless
        given.
    votes : int, optional
        In how many answers one record (or group) may vote with a whole vote; from the questions unless given. The noise
        grows with its square root.
    target_bounds : (low, high), optional
        Public bounds of ``y``, where it is a number; without them ``y`` is classes.
    classes : array, optional
        The classes, which are public. Taken from ``y`` unless given, with a warning and a note in the certificate.
    neighbours : {"add-remove", "replace-one"}
        Under ``"add-remove"``, the default, the number of rows is private: declare ``n_rows``.

    Attributes
    ----------
    answers_ : ndarray of shape (n_questions,)
        The class, or number, of each question: by its votes and, where next to nobody is near, by those of all questions
        together.
    votes_ : ndarray of shape (n_questions, n_classes)
        Noised votes, classes in the order of ``classes_``; for a number those of its low and its high end.
    counts_ : ndarray of shape (n_questions,)
        About how many voted.
    certificate_ : Certificate
        What it can reveal, and why.
    plan_ : Plan
        What was decided before data.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateNeighbors
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> near = PrivateNeighbors(epsilon=2, within=0.4, votes=1, bounds=(-1, 1), classes=[0, 1], n_rows=5000)
    >>> near.answer(X, y, questions=[[0.6, 0.0], [-0.6, 0.1]])
    array([1, 0])
    """

    within: Any = parameter(default=None, after="epsilon")
    votes: Any = None
    target_bounds: Any = parameter(default=None, after="bounds")
    classes: Any = parameter(default=None, after="schema")
    neighbours: Any = "add-remove"

    calibration = "sound"
    fit_intercept = False
    method = "neighbours"

    # The target is read as an estimator of its kind reads it.

    def _numeric_target(self) -> bool:
        if self.schema is not None:
            return as_schema(self.schema).classes is None
        return self.target_bounds is not None

    def _kind(self) -> Any:
        return _Regressor if self._numeric_target() else _Classifier

    def _target_facts(self, labels: Any) -> tuple[dict[str, Any], list[str]]:
        return self._kind()._target_facts(self, labels)

    def _check_schema_target(self, schema: Schema) -> None:
        self._kind()._check_schema_target(self, schema)

    def _encoded_labels(self, y: Any, schema: Schema) -> np.ndarray:
        return self._kind()._encoded_labels(self, y, schema)

    def _class_labels(self, schema: Schema, labels: np.ndarray | None) -> np.ndarray | None:
        return self._kind()._class_labels(self, schema, labels)

    def _make_plan(self, schema: Schema, rows: int, notes: list[str]) -> Any:
        if rows == 1 and self.delta is None:
            raise ValueError(
                "n_samples=1: delta, which is 1/n_samples² unless given, would be 1 and promise nothing; give "
                "delta, or more rows"
            )
        return _privet.plan_answers(
            schema._checked,
            self._encodable(self._asked),
            rows,
            epsilon=optional_number("epsilon", self.epsilon),
            delta=optional_number("delta", self.delta),
            neighbours=self.neighbours,
            within=optional_number("within", self.within),
            votes=None if self.votes is None else whole("votes", self.votes, below=SMALL),
            notes=notes,
            prior_fits=prior_fits(self),
        )

    def plan(self, n_rows: int | None = None, n_features: int | None = None) -> Plan:
        """Not without questions: what is decided depends on them; see ``plan_`` after :meth:`answer`."""
        raise ValueError("a plan needs the questions: call answer(X, y, questions=...), which checks all before data")

    def fit(self, X: Any, y: Any, *, groups: Any = None, **refused: Any) -> Any:
        """Not without questions."""
        raise TypeError("there is no model to fit: call answer(X, y, questions=...)")

    def answer(
        self, X: Any, y: Any, questions: Any, *, groups: Any = None, ledger: Any = None
    ) -> np.ndarray:
        """Answer all questions: one release.

        Parameters
        ----------
        X, y, groups
            The records, as for :meth:`PrivateLogisticRegression.fit`.
        questions : array, sparse matrix or frame of shape (n_questions, n_features)
            Public rows. They stand in the certificate, and nothing protects them.

        Returns
        -------
        answers_ : ndarray of shape (n_questions,)
        """
        self._asked = questions
        try:
            super().fit(X, y, groups=groups, ledger=ledger)
        finally:
            self.__dict__.pop("_asked", None)
        return self.answers_

    def _set_model(self, model: Any, plan: Plan, schema: Schema, classes: Any) -> None:
        self.released_ = model
        self.plan_ = plan
        self.certificate_ = Certificate._of(model)
        votes, found = model.votes, model.predictions()
        self.counts_ = votes.sum(axis=1)
        if classes is None:
            self.votes_, self.answers_ = votes, found
        else:
            order = np.argsort(classes)
            self.classes_ = classes[order]
            self.votes_, self.answers_ = votes[:, order], classes[found]

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write answers and certificate into one file, which ``privet verify`` and ``privet inspect`` read."""
        check_is_fitted(self, "released_")
        self.released_.save(os.fspath(path), bool(overwrite))
