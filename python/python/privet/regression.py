"""Private linear regression for scikit-learn; see :mod:`privet.classification` for what all share."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.utils.validation import check_is_fitted

from privet import _privet
from privet._base import Linear, PrivateEstimator
from privet._coefficients import coefficients
from privet._parameters import parameter, parameters
from privet._refusals import numbers, target_of
from privet.schema import Schema


@parameters
class _Regressor(RegressorMixin, PrivateEstimator):
    """Numbers: their bounds, and how they are predicted.

    Parameters
    ----------
    target_bounds : (low, high)
        Public bounds of ``y``; values outside are moved to the nearest bound.
    """

    target_bounds: Any = parameter(default=None, after="bounds")

    def _numeric_target(self) -> bool:
        return True

    def _target_facts(self, labels: Any) -> tuple[dict[str, Any], list[str]]:
        if self.target_bounds is None:
            raise ValueError(
                "target_bounds are missing: the noise must hide a record whose y is as large as y can be, and "
                "that is taken from bounds that you know without the data, since bounds taken from y would "
                "give its largest values away. Give target_bounds=(low, high), or a schema"
            )
        try:
            low, high = (float(bound) for bound in self.target_bounds)
        except (TypeError, ValueError):
            raise ValueError(
                f"target_bounds are {self.target_bounds!r}; accepted is (low, high), two numbers"
            ) from None
        return {"bounds": [low, high]}, []

    def _check_schema_target(self, schema: Schema) -> None:
        if schema.target_bounds is None:
            raise ValueError(
                "the schema's target has classes; a regressor accepts one with bounds, a classifier this one"
            )

    def _encoded_labels(self, y: Any, schema: Schema) -> np.ndarray:
        return numbers(y, total=schema.is_total)

    def _linear_model(self) -> Any:
        if self._loss_name() == "poisson":
            raise ValueError("a Poisson model is no linear model of scikit-learn; to_onnx and to_sql export it")
        from sklearn.linear_model import LinearRegression

        low, high = Schema._of(self.model_.schema()).target_bounds or (-1.0, 1.0)
        half = (high - low) / 2
        model = LinearRegression()
        model.coef_ = self.model_.weights()[0] * half
        model.intercept_ = low + half
        model.n_features_in_ = len(model.coef_)
        return model

    def _set_target(self, schema: Schema, classes: np.ndarray | None) -> None:
        pass

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of each row, within the target's bounds."""
        features = self._features(X)
        return self.model_.predict_numbers(features)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the variance that is predicted (R²). Of private rows, it is itself not private."""
        y, predicted, weights = self._compared(X, y, sample_weight)
        return float(r2_score(y, predicted, sample_weight=weights))

    def _compared(self, X: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Targets, predictions and weights of the rows; where bad records are no error, of those whose target is a
        number, which counts as the nearest within the bounds."""
        check_is_fitted(self)
        schema = Schema._of(self.model_.schema())
        y, predicted = numbers(target_of(y, schema), total=schema.is_total), self.predict(X)
        if not schema.is_total or len(y) != len(predicted):
            return y, predicted, weights
        kept = np.isfinite(y)
        weights = None if weights is None else np.asarray(weights)[kept]
        return y[kept].clip(*schema.target_bounds), predicted[kept], weights


@parameters
class PrivateLinearRegression(Linear, _Regressor):
    """Linear regression under differential privacy.

    ``X @ coef_ + intercept_`` is ``predict`` for rows that no bound touches only. With ``bounds`` and an
    intercept there are next to none: the constant column alone is as long as a row may be, so every row is scaled
    down to length 1. Use ``predict``, or ``data_norm``, which leaves room for the constant column.

    Parameters
    ----------
    loss : {"squared", "huber", "quantile"}
        What is minimised; ``"huber"`` for targets with outliers.
    huber_width : float
        The width of ``"huber"``, or that of the rounded corner of ``"quantile"``, in units of half the
        target's span.
    quantile : float
        Which quantile ``loss="quantile"`` predicts.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateLinearRegression
    >>> X = np.linspace(-1, 1, 5000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + 1
    >>> model = PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(-5, 5)).fit(X, y)
    >>> model.plan_.method, bool(model.score(X, y) > 0.9)
    ('ssp', True)
    """

    loss: Any = parameter(default="squared", after="method")
    huber_width: Any = 0.1
    quantile: Any = 0.5

    _filled = True

    def _loss_name(self) -> str:
        if self.loss == "poisson":
            raise ValueError(
                "loss 'poisson' has an estimator of its own, PrivatePoissonRegressor; accepted here: squared, huber, "
                "quantile"
            )
        return self.loss


@parameters
class PrivateRidge(Linear, _Regressor):
    """Ridge regression under differential privacy.

    Parameters
    ----------
    alpha : float, optional
        What is added to the second moments of the encoded columns; chosen from the noise unless given.
        With ``method="auto"``, a given ``alpha`` means ``method="ssp"``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from privet import PrivateRidge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PrivateRidge(epsilon=5, alpha=10.0, bounds=(-0.2, 0.2), target_bounds=(0, 400)).fit(X, y)
    >>> model.plan_.method, model.plan_.settings["ridge"], model.coef_.shape
    ('ssp', 10.0, (10,))
    """

    alpha: Any = parameter(default=None, after="epsilon")

    _filled = True

    def _loss_name(self) -> str:
        return "squared"

    def _learner(self) -> str:
        return "ssp" if self.alpha is not None and self.method == "auto" else self.method

    def _settings(self) -> dict[str, Any]:
        own = {} if self.alpha is None else {"ridge": self.alpha}
        return own | super()._settings()


def rate_at_zero(loss: dict[str, Any], schema: Schema) -> float:
    """The rate that a Poisson loss, as model files write it, predicts at a score of 0."""
    _, high = schema.target_bounds
    return float(high * np.exp(-loss["shift"]))


@parameters
class PrivatePoissonRegressor(Linear, _Regressor):
    """Poisson regression of counts and rates under differential privacy.

    ``np.exp(X @ coef_ + intercept_)`` is ``predict`` for rows that no bound touches, and within the target's
    bounds; see :class:`PrivateLinearRegression`.

    Parameters
    ----------
    target_bounds : (low, high)
        Public bounds of ``y``, with ``low`` at least 0; values outside are moved to the nearest bound.
    rate_at_zero : float, optional
        The rate that a score of 0 predicts, which the ridge pulls to; above 0 and at most ``high``. Give the
        rate that is usual, if it is public knowledge; ``high`` / e² unless given.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivatePoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(20000, 2))
    >>> y = rng.poisson(np.exp(X[:, 0] + 0.5))
    >>> model = PrivatePoissonRegressor(epsilon=2, data_norm=1.5, target_bounds=(0, 10), rate_at_zero=1.5)
    >>> bool(model.fit(X, y).score(X, y) > 0.1), bool((model.predict(X) > 0).all())
    (True, True)
    """

    rate_at_zero: Any = parameter(default=None, after="method")

    def _loss_name(self) -> str:
        return "poisson"

    def _coefficients(self, model: _privet.Released, schema: Schema) -> tuple[np.ndarray, Any]:
        # The scale of the scores is that of the rate's logarithm.
        coef, intercept = coefficients(model.weights(), schema, numeric_target=False)
        rate = rate_at_zero(json.loads(model.request())["loss"], schema)
        return coef[0], float(intercept[0] + np.log(rate))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the Poisson deviance that is explained (D²), as scikit-learn's ``PoissonRegressor``
        gives it. Of private rows, it is itself not private."""
        y, predicted, weights = self._compared(X, y, sample_weight)
        return float(d2_tweedie_score(y, predicted, sample_weight=weights, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
