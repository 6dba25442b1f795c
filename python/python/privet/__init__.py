"""Differentially private machine learning with certificates that anyone can re-check.

>>> import numpy as np
>>> from privet import PrivateLogisticRegression
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, size=(2000, 2))
>>> y = (X[:, 0] > 0).astype(int)
>>> model = PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
>>> model.certificate_.epsilon, bool(model.score(X, y) > 0.9)
(1.0, True)

The estimators are scikit-learn's kind; :func:`privet.count` counts records by a column;
:func:`privet.describe` describes a table; :func:`privet.evaluate` says what a model is worth; :class:`privet.PrivateTuner` tries several methods;
:class:`privet.PrivateRecommender` learns from ratings;
:mod:`privet.account` is the accountant, :mod:`privet.noise`
draws noise, :mod:`privet.audit` tries to refute a guarantee, and :func:`privet.verify` checks a
model without its data. ``python -m privet`` is the command line.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from privet import _privet as _extension
from privet._privet import PrivacyError, __version__
from privet._warnings import (
    FittedTransformerWarning,
    NotPrivateWarning,
    NotValidWarning,
    PrivacyWarning,
    PublicClassesWarning,
    RepeatedFitWarning,
)

if TYPE_CHECKING:
    from privet import account, audit, families, noise
    from privet._certificate import Certificate, Check, Plan, Verdict
    from privet._shapes import ShapeFunction
    from privet.additive import PrivateAdditiveClassifier, PrivateAdditiveRegressor
    from privet.bounded import Bounded
    from privet.classification import PrivateClassifier, PrivateLinearSVC, PrivateLogisticRegression
    from privet.counts import CountPlan, Counts, count, plan_count
    from privet.describing import DescribePlan, Description, describe, plan_describe
    from privet.encoder import SchemaEncoder
    from privet.evaluation import Estimate, Worth, evaluate
    from privet.ledger import Ledger
    from privet.models import load, verify
    from privet.neighbors import PrivateNeighbors
    from privet.network import PrivateNetworkClassifier
    from privet.online import PrivateOnlineClassifier, StreamFile
    from privet.recommender import PrivateRecommender
    from privet.regression import PrivateLinearRegression, PrivatePoissonRegressor, PrivateRidge
    from privet.releasing import Release
    from privet.schema import Schema, binary, category, date, ignore, number
    from privet.selection import PrivateFeatureSelector
    from privet.sparse import PrivateSparseClassifier, PrivateSparseRegression
    from privet.tuning import PrivateTuner
    from privet.voting import LabelsFile, PrivateVote

_PLACES = {
    "Certificate": "privet._certificate",
    "Check": "privet._certificate",
    "Plan": "privet._certificate",
    "Verdict": "privet._certificate",
    "ShapeFunction": "privet._shapes",
    "PrivateAdditiveClassifier": "privet.additive",
    "PrivateAdditiveRegressor": "privet.additive",
    "Bounded": "privet.bounded",
    "PrivateClassifier": "privet.classification",
    "PrivateLinearSVC": "privet.classification",
    "PrivateLogisticRegression": "privet.classification",
    "CountPlan": "privet.counts",
    "Counts": "privet.counts",
    "count": "privet.counts",
    "plan_count": "privet.counts",
    "DescribePlan": "privet.describing",
    "Description": "privet.describing",
    "describe": "privet.describing",
    "plan_describe": "privet.describing",
    "SchemaEncoder": "privet.encoder",
    "Estimate": "privet.evaluation",
    "Worth": "privet.evaluation",
    "evaluate": "privet.evaluation",
    "Ledger": "privet.ledger",
    "load": "privet.models",
    "verify": "privet.models",
    "PrivateNeighbors": "privet.neighbors",
    "PrivateNetworkClassifier": "privet.network",
    "PrivateOnlineClassifier": "privet.online",
    "StreamFile": "privet.online",
    "PrivateRecommender": "privet.recommender",
    "PrivateLinearRegression": "privet.regression",
    "PrivatePoissonRegressor": "privet.regression",
    "PrivateRidge": "privet.regression",
    "Release": "privet.releasing",
    "Schema": "privet.schema",
    "binary": "privet.schema",
    "category": "privet.schema",
    "date": "privet.schema",
    "ignore": "privet.schema",
    "number": "privet.schema",
    "PrivateFeatureSelector": "privet.selection",
    "PrivateSparseClassifier": "privet.sparse",
    "PrivateSparseRegression": "privet.sparse",
    "PrivateTuner": "privet.tuning",
    "LabelsFile": "privet.voting",
    "PrivateVote": "privet.voting",
}
"""Where each name lives. Modules are read when a name is first asked for: scikit-learn alone takes longer to load than
many a command takes to run."""
_MODULES = ("account", "audit", "families", "noise")

for _name in (
    *("Answers", "Counts", "Description", "Evaluation", "Factors", "Labels"),
    *("Model", "Stream", "Support", "Tallies", "TrainedNetwork", "Tuned"),
):
    # What releases are called in pickles of 0.2.
    setattr(_extension, _name, _extension.Released)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_module(f"privet.{name}")
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'privet' has no attribute {name!r}")
    found = getattr(_import_module(place), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Bounded",
    "Certificate",
    "Check",
    "CountPlan",
    "Counts",
    "LabelsFile",
    "Ledger",
    "DescribePlan",
    "Description",
    "Estimate",
    "FittedTransformerWarning",
    "NotPrivateWarning",
    "NotValidWarning",
    "Plan",
    "PrivacyError",
    "PrivacyWarning",
    "PrivateAdditiveClassifier",
    "PrivateAdditiveRegressor",
    "PrivateClassifier",
    "PrivateFeatureSelector",
    "PrivateNeighbors",
    "PrivateLinearRegression",
    "PrivateLinearSVC",
    "PrivateLogisticRegression",
    "PrivateNetworkClassifier",
    "PrivateOnlineClassifier",
    "PrivatePoissonRegressor",
    "PrivateRecommender",
    "PrivateRidge",
    "PrivateSparseClassifier",
    "PrivateSparseRegression",
    "PrivateVote",
    "PrivateTuner",
    "PublicClassesWarning",
    "Release",
    "RepeatedFitWarning",
    "Schema",
    "SchemaEncoder",
    "ShapeFunction",
    "StreamFile",
    "Verdict",
    "Worth",
    "__version__",
    "account",
    "audit",
    "binary",
    "category",
    "count",
    "date",
    "describe",
    "evaluate",
    "families",
    "ignore",
    "load",
    "noise",
    "number",
    "plan_count",
    "plan_describe",
    "verify",
]
