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

from privet import account, audit, noise
from privet._certificate import Certificate, Check, Plan, Verdict
from privet._privet import PrivacyError, __version__
from privet._shapes import ShapeFunction
from privet._warnings import (
    NotPrivateWarning,
    NotValidWarning,
    PrivacyWarning,
    PublicClassesWarning,
    RepeatedFitWarning,
)
from privet.additive import PrivateAdditiveClassifier, PrivateAdditiveRegressor
from privet.classification import PrivateClassifier, PrivateLinearSVC, PrivateLogisticRegression
from privet.counts import CountPlan, Counts, count, plan_count
from privet.describing import DescribePlan, Description, describe, plan_describe
from privet.encoder import SchemaEncoder
from privet.evaluation import Estimate, Worth, evaluate
from privet.models import load, verify
from privet.neighbors import PrivateNeighbors
from privet.network import PrivateNetworkClassifier
from privet.ledger import Ledger
from privet.online import PrivateOnlineClassifier, StreamFile
from privet.recommender import PrivateRecommender
from privet.regression import PrivateLinearRegression, PrivatePoissonRegressor, PrivateRidge
from privet.schema import Schema, binary, category, ignore, number
from privet.selection import PrivateFeatureSelector
from privet.sparse import PrivateSparseClassifier, PrivateSparseRegression
from privet.voting import LabelsFile, PrivateVote
from privet.tuning import PrivateTuner

__all__ = [
    "Certificate",
    "Check",
    "CountPlan",
    "Counts",
    "LabelsFile",
    "Ledger",
    "DescribePlan",
    "Description",
    "Estimate",
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
    "describe",
    "evaluate",
    "ignore",
    "load",
    "noise",
    "number",
    "plan_count",
    "plan_describe",
    "verify",
]
