"""Models of few columns of many, for scikit-learn."""

from __future__ import annotations

from typing import Any

from privet._numbers import whole
from privet.classification import _Probabilities
from privet.regression import _Regressor


class _Sparse:
    """How many columns are kept, and public inputs."""

    size: Any
    public: Any

    def _public_rows(self) -> Any:
        return None if self.public is None else self._encodable(self.public)  # type: ignore[attr-defined]

    def _settings(self) -> dict[str, Any]:
        own = {} if self.size is None else {"columns": whole("size", self.size)}
        return own | super()._settings()  # type: ignore[misc]


class PrivateSparseRegression(_Sparse, _Regressor):
    """Linear regression on few columns of many, under differential privacy.

    Parameters are those of :class:`PrivateLinearRegression` but for the losses, and

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

    def __init__(
        self,
        epsilon: Any = None,
        *,
        size: Any = None,
        delta: Any = None,
        method: Any = "dp-ight",
        public: Any = None,
        bounds: Any = None,
        target_bounds: Any = None,
        data_norm: Any = None,
        schema: Any = None,
        neighbours: Any = "replace-one",
        n_rows: Any = None,
        max_records: Any = None,
        calibration: Any = "sound",
        settings: Any = None,
        fit_intercept: Any = True,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.size = size
        self.delta = delta
        self.method = method
        self.public = public
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.data_norm = data_norm
        self.schema = schema
        self.neighbours = neighbours
        self.n_rows = n_rows
        self.max_records = max_records
        self.calibration = calibration
        self.settings = settings
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _loss_name(self) -> str:
        return "squared"


class PrivateSparseClassifier(_Sparse, _Probabilities):
    """Logistic regression on few columns of many, under differential privacy.

    Parameters are those of :class:`PrivateLogisticRegression`, and ``size``, ``method`` and ``public`` of
    :class:`PrivateSparseRegression`.

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

    def __init__(
        self,
        epsilon: Any = None,
        *,
        size: Any = None,
        delta: Any = None,
        method: Any = "dp-ight",
        public: Any = None,
        bounds: Any = None,
        data_norm: Any = None,
        schema: Any = None,
        classes: Any = None,
        neighbours: Any = "replace-one",
        n_rows: Any = None,
        max_records: Any = None,
        calibration: Any = "sound",
        settings: Any = None,
        fit_intercept: Any = True,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.size = size
        self.delta = delta
        self.method = method
        self.public = public
        self.bounds = bounds
        self.data_norm = data_norm
        self.schema = schema
        self.classes = classes
        self.neighbours = neighbours
        self.n_rows = n_rows
        self.max_records = max_records
        self.calibration = calibration
        self.settings = settings
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _loss_name(self) -> str:
        return "logistic"
