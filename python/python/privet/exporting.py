"""Fitted models for other programs: linear ones as ONNX, SQL, CSV and for scikit-learn, networks as ONNX."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privet import _privet


class EncodedRows(TransformerMixin, BaseEstimator):
    """Rows as a released model sees them: encoded by its schema and, where it has a centre, centred. Learns nothing."""

    _learns_nothing = True

    def __init__(self, model: Any = None, columns: Any = None) -> None:
        self.model = model
        self.columns = columns

    def fit(self, X: Any = None, y: Any = None) -> EncodedRows:
        """Nothing to do."""
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The encoded rows."""
        return np.asarray(self.model._released_rows(X))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the encoded columns."""
        return np.asarray(self.columns, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class Exporting:
    """Taking a fitted model away."""

    model_: _privet.Released

    def _linear(self) -> _privet.Released:
        check_is_fitted(self)
        model = getattr(self, "model_", None)
        if getattr(model, "task", None) != "erm":
            raise ValueError(
                f"{type(self).__name__} is no sum over columns, which SQL, a table of coefficients and scikit-learn's linear "
                "models are; a network has to_onnx"
            )
        return model

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The model as an ONNX file, for ``onnxruntime`` and its like; written to ``path`` if it is given.

        Inputs are the columns, each of shape (rows, 1): numbers as ``float64``, where NaN is missing, and everything
        else as texts. Outputs are ``prediction``, ``scores`` and, where the loss is logistic, ``probabilities``.
        Bounds, categories and the clipping of rows are part of it. The certificate is in its metadata. Of linear models and
        of networks.
        """
        check_is_fitted(self)
        model = getattr(self, "model_", None)
        if getattr(model, "task", None) not in ("erm", "network"):
            raise ValueError(f"{type(self).__name__} cannot be exported; linear models and networks can")
        data = model.to_onnx()
        if path is not None:
            descriptor = os.open(os.fspath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        return data

    def to_sql(self, table: str = "records", id: str | None = None) -> str:
        """The model as one query that SQLite and DuckDB understand, on a table with its columns; with ``id``, that
        column stands beside each prediction."""
        return self._linear().to_sql(table, id)

    def to_csv(self) -> str:
        """Encoded columns with their weights, as CSV."""
        return self._linear().to_csv()

    def to_sklearn(self) -> Any:
        """A ``Pipeline`` whose last step is a plain linear model of scikit-learn with the released weights.

        The first step makes of a table what the model sees, and needs privet; the second is for tools that know
        scikit-learn's linear models. Classes and scores are those of this estimator. A regressor's numbers are too, but
        for those that privet moves within the target's bounds.
        """
        from sklearn.pipeline import Pipeline

        rows = EncodedRows(self, self._linear().column_names())
        return Pipeline([("rows", rows), ("model", self._linear_model())])

    def _linear_model(self) -> Any:
        raise NotImplementedError

    def _released_rows(self, X: Any) -> np.ndarray:
        """Rows as the weights meet them."""
        return self._linear().rows(self._features(X))  # type: ignore[attr-defined]
