"""Private linear classifiers for scikit-learn.

Each fit is one release: a model under noise with a certificate (``certificate_``). What decides the
guarantee is fixed by the parameters and the number of rows before a record is read; see ``plan``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from privet import _privet
from privet._base import Linear, PrivateEstimator
from privet._labels import classes_in, declared_labels, labels_of, schema_codes, share_right, texts_of
from privet._numbers import listed
from privet._parameters import parameter, parameters
from privet._refusals import flat_labels, target_of
from privet._warnings import PublicClassesWarning
from privet._weights import class_weights
from privet.schema import Schema

NOTE_CLASSES = _privet.NOTE_CLASSES
NOTE_TWO_CLASSES = "classes are not declared: the plan is one for two classes"


def _weighed(estimator: Any, classes: list[str]) -> dict[str, Any]:
    """A schema's target of these classes, with the weights that the estimator was asked for."""
    weights = class_weights(getattr(estimator, "class_weight", None), classes)
    return {"classes": classes} if weights is None else {"classes": classes, "weights": weights}


@parameters
class _Classifier(ClassifierMixin, PrivateEstimator):
    """Classes: what they are, and how they are predicted.

    Parameters
    ----------
    classes : array, optional
        The classes, which are public. Taken from ``y`` unless given, with a warning and a note in the
        certificate, since that says which labels occur. Tools that encode labels themselves (stacking,
        voting, ``cross_val_predict`` with probabilities) need them declared as 0, 1, ..., and ``y`` so.
    """

    classes: Any = parameter(default=None, after="schema")

    def _loss_name(self) -> str:
        return self.loss

    def _target_facts(self, labels: Any) -> tuple[dict[str, Any], list[str]]:
        if self.classes is not None:
            classes = np.unique(np.asarray(listed("classes", self.classes)))
            return _weighed(self, texts_of(classes)), []
        if labels is None:
            return {"classes": ["0", "1"]}, [NOTE_TWO_CLASSES]
        classes = classes_in(labels)
        check_classification_targets(classes if labels.dtype.kind == "O" else labels)
        if len(classes) < 2:
            raise ValueError(
                f"y has {len(classes)} class only; a classifier needs two classes or more. If there are others "
                "that happen not to occur, declare them with classes=[...]"
            )
        warnings.warn(
            "classes were taken from y: which labels occur is then known to whoever sees the model, and the "
            "guarantee does not cover it. Declare them with classes=[...] if that could say something about a "
            "record.",
            PublicClassesWarning,
            stacklevel=5,
        )
        return _weighed(self, texts_of(classes)), [NOTE_CLASSES]

    def _declared_schema(self) -> Schema:
        schema = super()._declared_schema()
        weights = class_weights(getattr(self, "class_weight", None), schema.classes or ())
        if weights is None:
            return schema
        draft = schema.to_dict()
        if "weights" in draft["target"]:
            raise ValueError("class_weight is given, and the schema has weights of its own; one of them is accepted")
        draft["target"]["weights"] = weights
        return Schema.from_dict(draft)

    def _check_schema_target(self, schema: Schema) -> None:
        if schema.classes is None:
            raise ValueError(
                "the schema's target is a number; a classifier accepts one with classes, a regressor this one"
            )
        if self.classes is not None and set(texts_of(np.unique(np.asarray(listed("classes", self.classes))))) != set(schema.classes):
            raise ValueError("classes differ from the schema's; leave them out, or give the same")

    def _encoded_labels(self, y: Any, schema: Schema) -> np.ndarray:
        return schema_codes(y, schema)

    def _class_labels(self, schema: Schema, labels: np.ndarray | None) -> np.ndarray:
        texts = schema.classes or ()
        kind = None if labels is None else labels.dtype
        if self.classes is not None:
            return declared_labels(np.unique(np.asarray(listed("classes", self.classes))), texts, kind, total=schema.is_total)
        if self.schema is None and labels is not None:
            return declared_labels(classes_in(labels), texts, kind)
        return labels_of(texts, kind, total=schema.is_total)

    def _set_target(self, schema: Schema, classes: np.ndarray | None) -> None:
        # From a place among the sorted classes to one in the schema's order.
        self._order = np.argsort(classes)
        self.classes_ = classes[self._order]
        self.coef_ = self._sorted(self.coef_.T).T
        self.intercept_ = self._sorted(self.intercept_[None, :])[0]

    def _sorted(self, columns: np.ndarray) -> np.ndarray:
        """A column for each class, or one that speaks for the second of two, in the order of ``classes_``."""
        if columns.shape[1] == 1:
            return columns if self._order[0] == 0 else -columns
        return columns[:, self._order]

    def _in_order(self, effects: np.ndarray) -> np.ndarray:
        return self._sorted(effects)

    def _linear_model(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression()
        model.classes_ = self.classes_
        weights = self.model_.weights()
        model.coef_ = self._sorted(weights.T).T
        model.intercept_ = np.zeros(len(model.coef_))
        model.n_features_in_ = weights.shape[1]
        model.n_iter_ = np.zeros(1, dtype=np.int32)
        return model

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: above zero for the second of two classes; a column for each of more."""
        features = self._features(X)
        scores = self._sorted(self.model_.scores(features))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class of each row."""
        features = self._features(X)
        return self.classes_[np.argsort(self._order)][self.model_.predict_codes(features)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted. Of private rows, it is itself not private."""
        check_is_fitted(self)
        schema = Schema._of(self.model_.schema())
        total = schema.is_total
        return share_right(flat_labels(target_of(y, schema), total=total), self.predict(X), self.classes_, sample_weight, total=total)


def _has_probabilities(estimator: Any) -> bool:
    if estimator._loss_name() != "logistic":
        raise AttributeError(
            f"loss {estimator._loss_name()!r} gives no probabilities; loss 'logistic' does"
        )
    return True


class _Probabilities(_Classifier):
    """Probabilities, where the loss is logistic."""

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """A probability for each row and class."""
        features = self._features(X)
        return self._sorted(np.asarray(self.model_.probabilities(features)))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of each row and class."""
        return np.log(self.predict_proba(X))


@parameters
class _Weighed(Linear):
    """Linear classifiers, whose classes may count differently.

    Parameters
    ----------
    class_weight : dict, optional
        From each class to how much it counts; 1 for those that are not named. ``"balanced"`` counts private labels
        and is refused. The weights are public, and part of the certificate.
    """

    class_weight: Any = parameter(default=None, after="classes")


@parameters
class PrivateLogisticRegression(_Weighed, _Probabilities):
    """Logistic regression under differential privacy.

    Attributes
    ----------
    coef_, intercept_ : arrays
        The noised weights, in the units of ``X`` where every feature is a plain number. ``X @ coef_.T +
        intercept_`` is ``decision_function`` for rows that no bound touches only. With ``bounds`` and an
        intercept there are next to none: the constant column alone is as long as a row may be, so every row is
        scaled down to length 1, and its score with it. Signs and classes stay.
    classes_ : array
        The classes, sorted, whatever their order in a schema.
    n_features_in_ : int
        How many columns ``X`` had.
    certificate_ : Certificate
        What the model can reveal, and why.
    plan_ : Plan
        What was decided before data.
    model_ : object
        The released model; see ``save``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from privet import PrivateLogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> low, high = [0.0] * 30, [40, 50, 250, 3000, 1, 1, 1, 1, 1, 1] * 3
    >>> model = PrivateLogisticRegression(epsilon=5, bounds=(low, high), classes=[0, 1]).fit(X, y)
    >>> model.certificate_.epsilon, model.predict_proba(X[:3]).shape
    (5.0, (3, 2))
    """

    def _loss_name(self) -> str:
        return "logistic"


@parameters
class PrivateLinearSVC(_Weighed, _Classifier):
    """A linear support vector machine under differential privacy: the hinge with its corner rounded.

    Parameters
    ----------
    huber_width : float
        Half the width over which the hinge's corner is rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateLinearSVC
    >>> X = np.linspace(-1, 1, 2000).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> model = PrivateLinearSVC(epsilon=1, bounds=(-1, 1), classes=["left", "right"]).fit(X, y)
    >>> model.predict([[-0.9], [0.9]])
    array(['left', 'right'], dtype='<U5')
    """

    huber_width: Any = parameter(default=0.1, after="method")

    def _loss_name(self) -> str:
        return "huber-svm"


@parameters
class PrivateClassifier(_Weighed, _Probabilities):
    """A linear classifier with any learner and any loss, all of them under differential privacy.

    Parameters
    ----------
    loss : {"logistic", "huber-svm", "squared"}
        What is minimised.
    huber_width : float
        Half the width over which the corner of ``"huber-svm"`` is rounded.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from privet import PrivateClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PrivateClassifier(epsilon=4, method="auto", bounds=(0, 16), classes=range(10)).fit(X, y)
    >>> model.plan_.method, bool(model.score(X, y) > 0.6)
    ('centred-gd', True)
    """

    loss: Any = parameter(default="logistic", after="method")
    huber_width: Any = 0.1
