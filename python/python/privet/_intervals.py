"""Coefficients with what the noise of privacy may have done to them.

Made of the released model and public facts alone, so that it costs nothing. The intervals are about the noise of
privacy, not about how another sample of people would differ.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privet.schema import Schema


class Intervals:
    """For linear estimators: intervals of coefficients, their names, and how far a line is the model."""

    def _weight_margins(self) -> np.ndarray:
        """Half the width of each weight's interval, a row a problem; NaN where nothing is known."""
        found = self.__dict__.get("_found_margins")
        if found is None or found[0] is not self.model_:
            weights = self.model_.weights()
            margins = np.full(weights.shape, np.nan)
            for row in json.loads(self.model_.certainty())["weights"]:
                for one in row:
                    if one["low"] is not None:
                        margins[one["problem"], one["column"]] = (one["high"] - one["low"]) / 2.0
            found = self._found_margins = (self.model_, margins)
        return found[1]

    @property
    def coef_interval_(self) -> np.ndarray:
        """Where each coefficient lies without the noise of privacy, in 95 of 100 fits: ``coef_`` with a last axis of
        (low, high); NaN where nothing is known. How well they are known depends on the method, and on whether the model
        is the best of several: :attr:`coef_interval_meaning_` says it."""
        check_is_fitted(self)
        schema = Schema._of(self.model_.schema())
        coef = np.asarray(self.coef_)
        lines = schema._checked.lines()
        width = coef.shape[-1]
        slopes = np.ones(width) if lines is None else np.asarray(lines[0])
        margins = self._weight_margins()[:, :width] * np.abs(slopes) * schema._checked.score_factor
        margins = self._margins_in_order(margins).reshape(coef.shape)
        if self._numeric_target() and self._loss_name() != "poisson":
            low, high = schema.target_bounds or (-1.0, 1.0)
            margins = margins * (high - low) / 2.0
        return np.stack([coef - margins, coef + margins], axis=-1)

    @property
    def coef_interval_meaning_(self) -> str:
        """What ``coef_interval_`` is for this model, in words: exact, estimated, a bound, or a bound to first order; and
        what choosing the best of several trials does to it."""
        check_is_fitted(self)
        return str(json.loads(self.model_.certainty())["told"])

    def _margins_in_order(self, margins: np.ndarray) -> np.ndarray:
        """A row for each class as ``coef_`` has them."""
        order = getattr(self, "_order", None)
        return margins if order is None or len(margins) == 1 else margins[order]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that ``coef_`` is about: those of ``X`` where every feature is a plain number, those
        of the encoded columns elsewhere."""
        check_is_fitted(self)
        width = np.asarray(self.coef_).shape[-1]
        if Schema._of(self.model_.schema())._checked.lines() is not None:
            given = getattr(self, "feature_names_in_", input_features)
            if given is not None and len(given) == width:
                return np.asarray(given, dtype=object)
        return np.asarray(self.model_.column_names()[:width], dtype=object)

    def coef_frame(self) -> Any:
        """Every coefficient with its interval, those that stand out most from the noise first: a pandas frame, or a
        ``dict`` of columns where pandas is not installed. ``noise`` says that it is not distinguishable from noise."""
        check_is_fitted(self)
        coef, interval = np.atleast_2d(self.coef_), self.coef_interval_
        interval = interval.reshape(*coef.shape, 2)
        names = self.get_feature_names_out()
        classes = getattr(self, "classes_", None)
        of = [None] if classes is None else list(classes[1:]) if len(coef) == 1 else list(classes)
        rows = [
            (names[column], of[problem], coef[problem, column], *interval[problem, column])
            for problem in range(len(coef))
            for column in range(coef.shape[1])
        ]

        def evidence(row: tuple[Any, ...]) -> tuple[float, float]:
            half = (row[4] - row[3]) / 2.0
            return (-abs(row[2]) / half if half > 0 else 0.0, -abs(row[2]))

        rows.sort(key=evidence)
        columns: dict[str, list[Any]] = {
            name: [row[place] for row in rows]
            for place, name in enumerate(("feature", "class", "coef", "low", "high"))
        }
        columns["noise"] = [bool(row[3] <= 0 <= row[4]) if row[3] == row[3] else None for row in rows]
        try:
            import pandas
        except ImportError:
            return columns
        return pandas.DataFrame(columns)

    @property
    def coef_exact_(self) -> bool:
        """Whether ``X @ coef_.T + intercept_`` is ``decision_function`` (a regressor's ``predict``, within the target's
        bounds) for every row within the bounds of the features. Elsewhere :meth:`row_scale` makes up the difference."""
        check_is_fitted(self)
        checked = Schema._of(self.model_.schema())._checked
        return bool(checked.is_additive and self.model_.centre() is None and checked.lines() is not None)

    def row_scale(self, X: Any) -> np.ndarray:
        """What the bound on a row's length multiplies each row of ``X`` by, from 0 to 1; it is public.

        For rows within the bounds of the features, a classifier's ``decision_function(X)`` is ``row_scale(X)`` times
        ``X @ coef_.T + intercept_``, and a regressor's ``predict(X)``, within the target's bounds, is
        ``middle + row_scale(X) * (X @ coef_ + intercept_ - middle)`` with ``middle`` that of the target's bounds (of a
        Poisson regressor the logarithm, with ``middle`` that of ``rate_at_zero``).
        """
        features = self._features(X)
        checked = Schema._of(self.model_.schema())._checked
        if self.model_.centre() is not None:
            raise ValueError(
                "row_scale: this model takes a centre from every row (centred-gd), and its scores are no multiple of a "
                "line; the signs of X @ coef_.T + intercept_ are those of its scores"
            )
        if checked.is_additive or not checked.bias:
            if checked.is_additive:
                return np.ones(np.asarray(self.model_.scores(features)).shape[0])
            raise ValueError("row_scale: accepted for models with an intercept (fit_intercept=True)")
        # The constant column is scaled with its row.
        encoded = np.asarray(checked.encode(features), dtype=np.float64)
        return encoded[:, -1] / checked.bias
