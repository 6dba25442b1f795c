"""Scaling by public bounds alone, as a transformer that learns nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privet import _tables
from privet._array_schema import column_bounds
from privet._refusals import validate_data


class Bounded(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Moves every number within public bounds and scales it to [-1, 1].

    What stands where a ``StandardScaler`` or ``MinMaxScaler`` would stand before a private estimator. Those take means
    and bounds from the records, which then reach the model around the noise; this takes nothing: ``fit`` looks at how
    many columns there are.

    Parameters
    ----------
    bounds : (low, high)
        Public bounds: two numbers, or two arrays with a number for each column.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from privet import Bounded, PrivateLogisticRegression
    >>> Bounded(bounds=(0, 100)).fit_transform([[0.0], [50.0], [130.0]]).tolist()
    [[-1.0], [0.0], [1.0]]
    >>> steps = make_pipeline(
    ...     Bounded(bounds=(0, 100)),
    ...     PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=["no", "yes"]),
    ... )
    >>> fitted = steps.fit([[20.0], [80.0]] * 200, ["no", "yes"] * 200)
    """

    _learns_nothing = True

    def __init__(self, bounds: Any = None) -> None:
        self.bounds = bounds

    def fit(self, X: Any, y: Any = None) -> Bounded:
        """Look at the number of columns, and at no value."""
        if self.bounds is None:
            raise ValueError("bounds are missing: (low, high), public facts that are not taken from the records")
        validate_data(self, _tables.collected(X), reset=True, ensure_all_finite=False, dtype=np.float64)
        self.low_, self.high_ = column_bounds(self.bounds, self.n_features_in_)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Clamp and scale; what is missing stays missing."""
        check_is_fitted(self)
        X = validate_data(self, _tables.collected(X), reset=False, ensure_all_finite=False, dtype=np.float64)
        return 2 * (np.clip(X, self.low_, self.high_) - self.low_) / (self.high_ - self.low_) - 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
