"""Private additive models: a function of each column, and of declared pairs, under differential privacy.

They are the estimators of :mod:`privet.classification` and :mod:`privet.regression` with ``method="auto"`` on
expanded rows: each number is expanded in a piecewise-linear basis before anything private happens, so a linear
model of them bends. ``shape_functions_`` says what each column adds, ``plot_shapes()`` draws it.
"""

from __future__ import annotations

from typing import Any

from privet._numbers import whole
from privet._parameters import parameter, parameters
from privet.classification import _Probabilities
from privet.regression import _Regressor
from privet.schema import Schema


@parameters
class _Unfolded:
    """Declared hats and pairs, where they are given.

    Parameters
    ----------
    hats : int, optional
        How many knots each number has, evenly over its bounds; 0 for straight lines. Chosen from public facts unless
        given. Numbers whose basis a schema declares keep it.
    pairs : list of (name, name), optional
        Columns whose interaction is modelled: two numbers, or a listed category and a number. Unless given, all pairs
        of numbers where there are few of them and very many rows.
    bounds : (low, high), optional
        Public bounds of the features: two numbers, or two arrays. Values outside are moved to the nearest bound. One of
        ``bounds`` and ``schema`` is needed.
    fit_intercept : bool
        Whether there is a constant column. It is part of the bounded row.
    """

    hats: Any = parameter(default=None, after="delta")
    pairs: Any = None
    fit_intercept: Any = parameter(default=True, after="max_records")

    method = "auto"
    calibration = "sound"
    settings = {"scores": "sum"}
    data_norm = None

    def _unfolded(self, schema: Schema, fill: bool) -> Schema:
        """With numbers whose basis is not declared unfolded: as ``hats`` says, or for classes by the rule."""
        draft = schema.to_dict()
        numbers = [column for column in draft.get("columns", ()) if column["type"] == "number"]
        numbers = [column for column in numbers if column.get("basis", "auto") == "auto"]
        by_rule = fill and draft["clip"]["norm"] == "l2" and any("basis" not in column for column in numbers)
        if self.hats is None and self.pairs is None and not by_rule:
            return schema
        if self.hats is not None:
            hats = whole("hats", self.hats)
            basis: Any = {"hats": hats} if hats else "linear"
            if draft.get("bias") == "auto":
                draft["bias"] = True
            if fill:
                draft["clip"]["rows"] = "fill"
        else:
            basis = "auto"
        if self.hats is not None or by_rule:
            for column in numbers:
                column["basis"] = basis
        if self.pairs is not None:
            draft["pairs"] = [{"columns": [str(name) for name in pair]} for pair in self.pairs]
        return Schema.from_dict(draft)


@parameters
class PrivateAdditiveClassifier(_Unfolded, _Probabilities):
    """An additive logistic model under differential privacy, with the picture of each column.

    A score is ``shape_intercept_`` plus what each column, and each pair, adds (``shape_functions_``), for every row:
    rows are scaled to one length to learn from, and divided by one public length to be scored. (Not so for sparse
    ``X`` and for schemas that declare every basis and that rows be clipped: see ``shapes_exact_``.) Several classes
    are fitted jointly.

    Attributes
    ----------
    shape_functions_ : list of ShapeFunction
        What each column and pair adds, with bands for the noise of privacy.
    shape_intercept_ : float or array
        What is said of a row before its columns are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateAdditiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = (np.abs(X[:, 0]) > 0.5).astype(int)
    >>> model = PrivateAdditiveClassifier(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), model.shape_functions_[0].name
    (True, 'x0')
    """

    def _loss_name(self) -> str:
        return "logistic"

    def _schema_for(self, **facts: Any) -> tuple[Schema, list[str]]:
        schema, notes = super()._schema_for(**facts)
        return self._unfolded(schema, fill=True), notes


@parameters
class PrivateAdditiveRegressor(_Unfolded, _Regressor):
    """An additive model of a number under differential privacy, with the picture of each column.

    Numbers are straight lines unless ``hats`` or the schema say otherwise: for least squares hats cost more than they
    give at usual sizes. ``predict`` is ``shape_intercept_`` plus what each column adds, kept within the target's
    bounds, for rows that are not longer than the schema's bound on a row; what is said of longer ones is scaled down
    with them. With ``bounds`` most rows of more than two columns are longer; a schema with a ``clip`` that no row
    exceeds makes it hold for all (``shapes_exact_``), at the price of more noise.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import PrivateAdditiveRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(20000, 1))
    >>> y = np.abs(X[:, 0])
    >>> model = PrivateAdditiveRegressor(epsilon=1, hats=5, bounds=(-1, 1), target_bounds=(0, 1)).fit(X, y)
    >>> bool(model.score(X, y) > 0.8), model.shape_functions_[0].band is None
    (True, True)
    """

    def _loss_name(self) -> str:
        return "squared"

    def _schema_for(self, **facts: Any) -> tuple[Schema, list[str]]:
        schema, notes = super()._schema_for(**facts)
        return self._unfolded(schema, fill=False), notes
