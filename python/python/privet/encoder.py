"""Encoding by public facts alone, as a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from privet import _tables
from privet._refusals import declared
from privet.schema import as_schema


class SchemaEncoder(TransformerMixin, BaseEstimator):
    """Turns a table into the bounded numbers that its schema makes of it.

    Unlike a scaler that learns from data, it learns nothing: fitting costs no privacy. Encoded rows have a
    norm of at most the schema's ``clip``, so ``data_norm=`` of the estimator that follows is known.

    Parameters
    ----------
    schema : Schema, path or mapping
        Public facts about the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from privet import Schema, SchemaEncoder, category, number
    >>> schema = Schema(
    ...     {"age": number(0, 100), "work": category(["private", "public"])},
    ...     target="income", classes=["low", "high"], bias=False, clip=2.0,
    ... )
    >>> frame = pd.DataFrame({"age": [50, 75], "work": ["public", "private"]})
    >>> SchemaEncoder(schema).set_output(transform="pandas").fit_transform(frame)
       age  work=private  work=public
    0  0.0           0.0          1.0
    1  0.5           1.0          0.0
    """

    _learns_nothing = True

    def __init__(self, schema: Any = None) -> None:
        self.schema = schema

    def fit(self, X: Any, y: Any = None) -> SchemaEncoder:
        """Take names and number of the columns from the schema, and look at no value."""
        if self.schema is None:
            raise ValueError("schema is missing: the public facts by which a table is encoded")
        self.schema_ = as_schema(self.schema)
        if self.schema_.features:
            declared(self, self.schema_, X)
        else:
            validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Encode."""
        check_is_fitted(self)
        X = _tables.collected(X)
        features, total = self.schema_.features, self.schema_.is_total
        columns = (
            _tables.frame_columns(X, features, total=total)
            if _tables.is_frame(X)
            else _tables.array_columns(X, features, total=total)
        )
        return self.schema_._checked.encode(columns)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the encoded columns."""
        check_is_fitted(self)
        return np.asarray(self.schema_.encoded_columns, dtype=object)
