"""Models of few columns of many, for scikit-learn."""

from __future__ import annotations

from typing import Any

from privet._base import Linear
from privet._numbers import whole
from privet._parameters import parameter, parameters
from privet.classification import _Probabilities
from privet.regression import _Regressor


@parameters
class _Sparse(Linear):
    """How many columns are kept, and public inputs.

    Parameters
    ----------
    size : int, optional
        How many columns have weights; chosen from public facts unless given.
    method : {"dp-ight", "two-stage", "dpsl-kt"}
        A descent that keeps the largest weights; columns chosen (``settings={"selector": ...}``) and then fitted
        (``settings={"fit": ...}``); or what a teacher says of ``public`` inputs
        (``settings={"teacher": "private"}``: a private model).
    public : array, sparse matrix or frame, optional
        Public inputs for ``method="dpsl-kt"``, with the columns of ``X``. They are **not protected**, and the
        certificate says so.
    """

    size: Any = parameter(default=None, after="epsilon")
    method: Any = "dp-ight"
    public: Any = None

    def _public_rows(self) -> Any:
        return None if self.public is None else self._encodable(self.public)  # type: ignore[attr-defined]

    def _settings(self) -> dict[str, Any]:
        own = {} if self.size is None else {"columns": whole("size", self.size)}
        return own | super()._settings()  # type: ignore[misc]


@parameters
class PrivateSparseRegression(_Sparse, _Regressor):
    """Linear regression on few columns of many, under differential privacy.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateSparseRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 100))
    >>> y = X[:, 3] - X[:, 50]
    >>> model = PrivateSparseRegression(epsilon=4, size=2, data_norm=8, target_bounds=(-2, 2), fit_intercept=False)
    >>> np.flatnonzero(model.fit(X, y).coef_), bool(model.score(X, y) > 0.9)
    (array([ 3, 50]), True)
    """

    def _loss_name(self) -> str:
        return "squared"


@parameters
class PrivateSparseClassifier(_Sparse, _Probabilities):
    """Logistic regression on few columns of many, under differential privacy.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateSparseClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 100))
    >>> y = (X[:, 3] - X[:, 50] > 0).astype(int)
    >>> model = PrivateSparseClassifier(epsilon=4, size=2, data_norm=8, classes=[0, 1], fit_intercept=False)
    >>> np.flatnonzero(model.fit(X, y).coef_), bool(model.score(X, y) > 0.9)
    (array([ 3, 50]), True)
    """

    def _loss_name(self) -> str:
        return "logistic"
