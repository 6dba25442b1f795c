"""Columns chosen privately, as a scikit-learn transformer."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from privet import _privet, _records, _tables
from privet._array_schema import feature_names
from privet._base import Normed, PrivateEstimator
from privet._cells import VOID
from privet._certificate import Certificate, Plan
from privet._numbers import SMALL, optional_number, whole
from privet._parameters import parameter, parameters
from privet._pipelines import prior_fits
from privet.classification import _Classifier
from privet.regression import _Regressor
from privet.schema import Schema, as_schema


def _real(frame: Any) -> Any:
    """The same frame of pandas, with numbers in columns of which one cell may have made complex ones."""
    for place, kind in enumerate(frame.dtypes):
        if isinstance(kind, np.dtype) and kind.kind == "c":
            cells = frame.iloc[:, place].to_numpy()
            frame = frame.copy()
            frame.isetitem(place, np.where(cells.imag != 0, np.nan, cells.real))
    return frame


def _declared_columns(X: Any, schema: Schema) -> Any:
    """The schema's columns of a frame, in its order and under its names."""
    found = _tables.meant(_tables.names_of(X), schema.features, total=schema.is_total)
    lacking = [name for name in schema.features if name not in found]
    if lacking and list(schema.features) == feature_names(len(schema.features), None):
        # Those of an array, which nobody declared: by their places.
        return X
    if lacking:
        raise ValueError(f"X has no column {lacking[0]!r}, which the schema names")
    return _tables.renamed(X, found)


@parameters
class PrivateFeatureSelector(SelectorMixin, Normed, PrivateEstimator):
    """The columns that say most of the target, under differential privacy.

    What is chosen is a release of its own: a model fitted afterwards on the same rows adds its epsilon.

    Parameters
    ----------
    size : int
        How many columns to choose.
    method : {"correlation", "exponential", "distance", "subsample", "lasso-stability"}
        How: the most associated columns one after the other; a set by how well it fits, for few columns; what
        most chunks, or random parts, of the rows choose. The last two choose nothing where no answer is
        stable enough, which spends the budget as well. ``python -m privet methods --select`` says more.
    target_bounds : (low, high), optional
        Public bounds of ``y``, where it is a number; without them ``y`` is classes.
    classes : array, optional
        The classes, which are public. Taken from ``y`` unless given, with a warning and a note in the certificate.
    settings : mapping, optional
        Settings of the method by name.

    Attributes
    ----------
    support_ : object
        What was released.
    certificate_ : Certificate
        What it can reveal, and why.
    plan_ : Plan
        What was decided before data.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateFeatureSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 20))
    >>> y = (X[:, 3] - X[:, 11] > 0).astype(int)
    >>> chosen = PrivateFeatureSelector(epsilon=2, size=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    >>> chosen.get_support(indices=True), chosen.transform(X).shape
    (array([ 3, 11]), (5000, 2))
    """

    size: Any = parameter(default=1, after="epsilon")
    method: Any = parameter(default="correlation", after="delta")
    target_bounds: Any = parameter(default=None, after="bounds")
    classes: Any = parameter(default=None, after="schema")
    settings: Any = parameter(default=None, after="max_records")

    calibration = "sound"
    fit_intercept = False

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
        if schema._checked.number_features is None:
            raise ValueError(
                "the schema has columns that are encoded as several; a selector of features accepts one whose "
                "columns are numbers or two values, and `privet select` any"
            )
        self._kind()._check_schema_target(self, schema)

    def _encoded_labels(self, y: Any, schema: Schema) -> np.ndarray:
        return self._kind()._encoded_labels(self, y, schema)

    def _make_plan(self, schema: Schema, rows: int, notes: list[str]) -> Any:
        if rows == 1 and self.delta is None:
            raise ValueError(
                "n_samples=1: delta, which is 1/n_samples² unless given, would be 1 and promise nothing; give "
                "delta, or more rows"
            )
        return _privet.plan_selection(
            schema._checked,
            whole("size", self.size, below=SMALL),
            rows,
            epsilon=optional_number("epsilon", self.epsilon),
            delta=optional_number("delta", self.delta),
            neighbours=self.neighbours,
            method=self.method,
            settings=[(str(name), str(value)) for name, value in self._settings().items()],
            notes=notes,
            prior_fits=prior_fits(self),
        )

    def _set_model(self, model: Any, plan: Plan, schema: Schema, classes: Any) -> None:
        self.support_ = model
        self.plan_ = plan
        self.certificate_ = Certificate._of(model)

    def transform(self, X: Any) -> Any:
        """The chosen columns: of a frame by their names, where there is a schema, and of all else by their places in it. Of a
        list each cell is taken for itself: what stands in one row makes no other another."""
        X = _tables.collected(X)
        total = self._is_total()
        if self.schema is not None and _tables.is_frame(X):
            X = _declared_columns(X, as_schema(self.schema))
        if sparse.issparse(X):
            X = _tables.sound_sparse("X", _tables.real_sparse(X) if total else X)
        elif total and _records.is_typed(X) and np.asarray(X).dtype.kind in "cmMV":
            X = _records.matrix("X", X, total=True)
        elif total and type(X).__module__.startswith("pandas."):
            X = _real(X)
        elif not _tables.is_frame(X) and not _records.is_typed(X):
            X = _records.matrix("X", X) if self.schema is None else self._cells(X, as_schema(self.schema))
        return super().transform(X)

    def _is_total(self) -> bool:
        return self.schema is not None and as_schema(self.schema).is_total

    def __sklearn_tags__(self) -> Any:
        # What the schema's word on bad records deals with is handed on as it is.
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.allow_nan or self._is_total()
        return tags

    def _cells(self, X: Any, schema: Schema) -> np.ndarray:
        columns = _tables.cells_of_array(X, schema.features, total=schema.is_total)
        found = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
        for place, column in enumerate(columns):
            found[:, place] = [None if cell is VOID else cell for cell in _records.objects(column)]
        return found

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_.columns or []] = True
        return mask

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write columns and certificate into one file, which ``privet verify`` and ``privet inspect`` read."""
        check_is_fitted(self, "support_")
        self.support_.save(os.fspath(path), bool(overwrite))
