"""Files of models and counts: reading, and checking without data."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from privet import _privet
from privet._base import PrivateEstimator
from privet._certificate import Certificate, Plan, Verdict
from privet._warnings import NotValidWarning
from privet.classification import NOTE_CLASSES, PrivateClassifier, PrivateLinearSVC, PrivateLogisticRegression
from privet.counts import Counts
from privet.neighbors import PrivateNeighbors
from privet.network import _of_file as _network
from privet.describing import Description
from privet.evaluation import Worth
from privet.online import StreamFile
from privet.recommender import PrivateRecommender
from privet.regression import PrivateLinearRegression, PrivatePoissonRegressor, rate_at_zero
from privet.releasing import Release
from privet.schema import Schema, as_said
from privet.selection import PrivateFeatureSelector
from privet.voting import LabelsFile
from privet.tuning import PrivateTuner


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file, whoever wrote it: a model, chosen columns or answers as a fitted estimator, counts as
    :class:`privet.Counts`, a description as :class:`privet.Description`, a tuning as :class:`privet.PrivateTuner`,
    the newest release of a stream as :class:`privet.StreamFile`, labels as :class:`privet.LabelsFile`, what was
    learnt from ratings as :class:`privet.PrivateRecommender`; what is of no family above as :class:`privet.Release`.

    A file whose seal is broken is refused. Where :func:`verify` refuses what the certificate claims, the
    model can still be used, but its ``certificate_`` (``certificate`` of counts) claims nothing, and a warning
    says why.

    >>> import os, tempfile
    >>> from privet import PrivateLogisticRegression, load
    >>> X, y = [[0.1], [0.9]] * 50, [0, 1] * 50
    >>> fitted = PrivateLogisticRegression(epsilon=2, bounds=(0, 1), classes=[0, 1]).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.json")
    ...     fitted.save(path)
    ...     again = load(path)
    >>> bool((again.coef_ == fitted.coef_).all()), again.classes_
    (True, array([0, 1]))
    """
    found = _privet.load(os.fspath(path))
    made = _READ.get(found.task, Release)(found)
    name = "certificate_" if isinstance(made, BaseEstimator) else "certificate"
    setattr(made, name, _checked(getattr(made, name), found))
    return made


def _checked(certificate: Certificate, release: _privet.Released) -> Certificate:
    """The certificate, with nothing claimed where verification refuses the claim."""
    verdict = verify(release)
    certificate = certificate._read_by(verdict)
    if verdict or not certificate.private:
        return certificate
    refused = certificate._refused(verdict)
    warnings.warn(
        f"this certificate does not hold, rely on no guarantee: {refused.notes[0]}",
        NotValidWarning,
        stacklevel=3,
    )
    return refused


def _estimator(model: _privet.Released) -> Any:
    request = json.loads(model.request())
    schema = as_said(Schema._of(model.schema()), json.loads(model.claim())["whose"])
    budget = request["budget"] or {}
    method = dict(request["method"])
    common = {
        "epsilon": budget.get("epsilon"),
        "delta": budget.get("delta"),
        "method": method.pop("name"),
        "schema": schema,
        "neighbours": request["neighbours"],
        "n_rows": request["rows"],
        "calibration": request["calibration"],
        "settings": method or None,
    }
    loss = _loss(request["loss"])
    if loss["loss"] == "poisson":
        rate = rate_at_zero(request["loss"], schema)
        estimator: PrivateEstimator = PrivatePoissonRegressor(**common, rate_at_zero=rate)
    elif schema.classes is None:
        estimator = PrivateLinearRegression(**common, **loss)
    elif loss["loss"] == "logistic":
        estimator = PrivateLogisticRegression(**common)
    elif loss["loss"] == "huber-svm":
        estimator = PrivateLinearSVC(**common, huber_width=loss["huber_width"])
    else:
        estimator = PrivateClassifier(**common, loss=loss["loss"])
    features = schema.features
    estimator.n_features_in_ = len(features) or schema._checked.number_features
    if features and features != tuple(f"x{place}" for place in range(len(features))):
        estimator.feature_names_in_ = np.asarray(features, dtype=object)
    classes = estimator._class_labels(schema, None)
    estimator._set_model(model, Plan._from_json(model.plan()), schema, classes)
    if NOTE_CLASSES in estimator.certificate_.notes:
        # A plan made again from public facts does not know where the classes came from.
        estimator.plan_ = replace(estimator.plan_, notes=(*estimator.plan_.notes, NOTE_CLASSES))
    return estimator


def _selector(support: _privet.Released) -> PrivateFeatureSelector:
    request = json.loads(support.request())
    schema = as_said(Schema._of(support.schema()), json.loads(support.claim())["whose"])
    method = dict(request["method"])
    features = schema._checked.number_features
    if features is None:
        raise ValueError(
            "the columns are those of a table whose columns are encoded as several; `privet inspect` shows them"
        )
    selector = PrivateFeatureSelector(
        epsilon=request["budget"]["epsilon"],
        delta=request["budget"]["delta"],
        size=request["size"],
        method=method.pop("name"),
        schema=schema,
        neighbours=request["neighbours"],
        n_rows=request["rows"],
        settings=method or None,
    )
    selector.n_features_in_ = features
    names = schema.features
    if names and names != tuple(f"x{place}" for place in range(len(names))):
        selector.feature_names_in_ = np.asarray(names, dtype=object)
    planned = selector._make_plan(schema, request["rows"], [])
    selector._set_model(support, Plan._from_json(planned.to_json()), schema, None)
    return selector


def _neighbors(answers: _privet.Released) -> PrivateNeighbors:
    request = json.loads(answers.request())
    schema = as_said(Schema._of(answers.schema()), json.loads(answers.claim())["whose"])
    near = PrivateNeighbors(
        epsilon=request["budget"]["epsilon"],
        delta=request["budget"]["delta"],
        within=request["within"],
        votes=request["votes"],
        schema=schema,
        neighbours=request["neighbours"],
        n_rows=request["rows"],
    )
    near.n_features_in_ = len(schema.features) or schema._checked.number_features
    classes = None if near._numeric_target() else near._class_labels(schema, None)
    near._set_model(answers, Plan._from_json(answers.plan()), schema, classes)
    return near


def _loss(loss: Any) -> dict[str, Any]:
    """The parameters that mean this loss."""
    found = {"loss": loss["kind"]}
    width = loss.get("h", loss.get("width"))
    if width is not None:
        found["huber_width"] = width
    if "tau" in loss:
        found["quantile"] = loss["tau"]
    return found


def verify(model: Any) -> Verdict:
    """Check a model or counts without their data: a fitted estimator, :class:`privet.Counts`, :class:`privet.Description`, a fitted
    :class:`privet.PrivateRecommender`, or the path of a file of any of them.

    The guarantee is recomputed from the certificate's events, the plan made again from its public facts,
    and the digest that binds model and certificate compared.

    >>> from privet import PrivateLogisticRegression, verify
    >>> X, y = [[0.1], [0.9]] * 50, [0, 1] * 50
    >>> verdict = verify(PrivateLogisticRegression(epsilon=2, bounds=(0, 1), classes=[0, 1]).fit(X, y))
    >>> verdict.valid, verdict.epsilon
    (True, 2.0)
    """
    return Verdict._from_json(_released(model).verify())


def _released(given: Any) -> _privet.Released:
    """What the extension keeps of a fitted estimator, a release or a file."""
    if isinstance(given, _privet.Released):
        return given
    if isinstance(given, BaseEstimator) and hasattr(type(given), "save"):
        kept = next((name for name in ("support_", "released_", "factors_", "model_", "_release") if hasattr(given, name)), "model_")
        check_is_fitted(given, kept)
        return _released(getattr(given, kept))
    if isinstance(given, Worth) and given._release is None:
        raise ValueError("an evaluation without epsilon claims nothing that could be verified")
    if isinstance(given, (Counts, Description, LabelsFile, Release, StreamFile, Worth)):
        return given._release
    return _privet.load(os.fspath(given), sealed=False)


_READ: dict[str, Any] = {
    "complete": PrivateRecommender._loaded,
    "count": Counts,
    "describe": Description,
    "erm": _estimator,
    "evaluate": lambda found: Worth(json.loads(found.worth()), found),
    "neighbours": _neighbors,
    "network": _network,
    "online": StreamFile,
    "select": _selector,
    "tally": StreamFile,
    "tune": PrivateTuner._loaded,
    "vote": LabelsFile,
}
"""What is made of a release of each family; of any other a :class:`privet.Release`."""
