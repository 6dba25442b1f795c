"""What a pipeline fits on the records before privet sees them is warned of, named in the request, and told by ``verify``,
whatever lies between the pipeline and the estimator; what learns nothing is not."""

import json
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import privet
from privet import (
    Bounded,
    FittedTransformerWarning,
    PrivateFeatureSelector,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateNetworkClassifier,
    PrivateTuner,
    PrivateVote,
    Schema,
    SchemaEncoder,
    number,
)

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning", "ignore::UserWarning")


def private(**given):
    return PrivateLogisticRegression(**({"epsilon": 9, "bounds": (-4, 4), "classes": [0, 1], "method": "gd"} | given))


def certified(fitted):
    """The certificates of all private models that are part of this."""
    found, seen, left = [], set(), [fitted]
    while left:
        part = left.pop()
        if id(part) in seen or isinstance(part, (np.ndarray, str, bytes)):
            continue
        seen.add(id(part))
        if hasattr(part, "certificate_") and hasattr(part, "save"):
            found.append(part.certificate_)
        elif isinstance(part, (list, tuple)):
            left += part
        elif isinstance(part, dict):
            left += part.values()
        elif hasattr(part, "__dict__") and type(part).__module__.startswith(("sklearn", "privet")):
            left += part.__dict__.values()
    return found


def named(certificate):
    return certificate.document["request"].get("prior_fits", [])


WRAPPED = {
    "alone": private,
    "searched": lambda **jobs: GridSearchCV(private(), {"epsilon": [8, 9]}, cv=2, **jobs),
    "each class": lambda **jobs: OneVsRestClassifier(private(), **jobs),
    "each pair": lambda **jobs: OneVsOneClassifier(private(), **jobs),
    "calibrated": lambda **jobs: CalibratedClassifierCV(private(), cv=2, **jobs),
    "bagged": lambda **jobs: BaggingClassifier(private(), n_estimators=2, **jobs),
    "in a pipeline": lambda: make_pipeline(Bounded((-4, 4)), private(bounds=(-1, 1))),
    "searched in a pipeline": lambda **jobs: GridSearchCV(
        make_pipeline(Normalizer(), private()), {"privatelogisticregression__epsilon": [8, 9]}, cv=2, **jobs
    ),
}


@pytest.mark.parametrize("jobs", [None, "threading", "loky"])
@pytest.mark.parametrize("name", WRAPPED)
def test_a_scaler_is_named_however_deep_the_estimator_lies(name, jobs, table, tmp_path):
    X, y = table
    if jobs is None:
        wrapped = WRAPPED[name]()
    elif name in ("alone", "in a pipeline"):
        pytest.skip("has no jobs")
    else:
        wrapped = WRAPPED[name](n_jobs=2)
    with joblib.parallel_config(backend=jobs or "sequential"):
        fitted = make_pipeline(StandardScaler(), MaxAbsScaler(), wrapped).fit(X, y)
    found = certified(fitted)
    assert found
    for certificate in found:
        assert named(certificate) == ["StandardScaler", "MaxAbsScaler"]
        assert any("fitted on these records before" in note for note in certificate.notes)


def test_it_is_warned_of_and_verify_says_it(table, tmp_path):
    X, y = table
    searched = make_pipeline(StandardScaler(), GridSearchCV(private(), {"epsilon": [8, 9]}, cv=2))
    with pytest.warns(FittedTransformerWarning, match="fits StandardScaler on the records"):
        searched.fit(X, y)
    best = searched[-1].best_estimator_
    path = tmp_path / "model.json"
    best.save(path)
    verdict = privet.verify(path)
    assert verdict.valid and any("StandardScaler" in note for note in verdict.notes)
    assert named(privet.load(path).certificate_) == ["StandardScaler"]
    assert any("StandardScaler" in note for note in best.plan_.notes)
    # A search around the pipeline.
    around = GridSearchCV(make_pipeline(PCA(2), private()), {"privatelogisticregression__epsilon": [8, 9]}, cv=2)
    assert named(around.fit(X, y).best_estimator_[-1].certificate_) == ["PCA"]


def test_validation_fits_a_scaler_in_every_part(table):
    X, y = table
    steps = make_pipeline(StandardScaler(), private())
    for fitted in cross_validate(steps, X, y, cv=2, return_estimator=True)["estimator"]:
        assert named(fitted[-1].certificate_) == ["StandardScaler"]
    with pytest.warns(FittedTransformerWarning, match="StandardScaler"):
        cross_val_predict(steps, X, y, cv=2)


def test_steps_within_steps_are_named(table):
    X, y = table
    parts = FeatureUnion([("few", make_pipeline(StandardScaler(), PCA(2))), ("same", FunctionTransformer())])
    columns = ColumnTransformer([("a", MinMaxScaler(), [0]), ("b", "passthrough", [1])], remainder=Normalizer())
    assert named(make_pipeline(parts, private()).fit(X, y)[-1].certificate_) == ["StandardScaler", "PCA"]
    assert named(make_pipeline(columns, private()).fit(X, y)[-1].certificate_) == ["MinMaxScaler"]
    # What was fitted on the target, and what other models say of the records.
    target = TransformedTargetRegressor(PrivateLinearRegression(epsilon=5, bounds=(-1, 1), target_bounds=(-3, 3)), transformer=StandardScaler())
    assert named(target.fit(X, X[:, 0]).regressor_.certificate_) == ["StandardScaler"]
    stacked = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=2)), ("own", private())], private(bounds=(0, 1)), cv=2).fit(X, y)
    assert named(stacked.final_estimator_.certificate_) == ["DecisionTreeClassifier"]
    assert all(named(found) == [] for found in certified(stacked.estimators_[1]))


def test_every_step_knows_what_came_before_it(table, tmp_path):
    X, y = table
    selector = PrivateFeatureSelector(epsilon=5, size=2, bounds=(-4, 4), classes=[0, 1])
    for memory in (None, str(tmp_path / "cache")):
        steps = Pipeline([("scale", StandardScaler()), ("few", selector), ("own", private())], memory=memory).fit(X, y)
        assert named(steps["few"].certificate_) == ["StandardScaler"]
        # What was selected privately has a certificate of its own.
        assert named(steps["own"].certificate_) == ["StandardScaler"]
    first = Pipeline([("few", clone(selector)), ("scale", StandardScaler()), ("own", private())]).fit(X, y)
    assert named(first["few"].certificate_) == [] and named(first["own"].certificate_) == ["StandardScaler"]


def test_every_family_names_them(table):
    X, y = table
    bounded = {"epsilon": 5, "bounds": (-4, 4), "classes": [0, 1]}
    layers = {"layers": [{"kind": "linear", "out": 2}], "delta": 1e-5, "settings": {"batch": 64, "steps": 3}}
    network = make_pipeline(StandardScaler(), PrivateNetworkClassifier(**bounded, **layers)).fit(X, y)
    assert named(network[-1].certificate_) == ["StandardScaler"]
    schema = Schema({name: number(-4, 4) for name in "abc"}, target="y", classes=["0", "1"])
    tuner = PrivateTuner([{"method": "gd", "steps": [5]}], schema=schema, epsilon=3, trials=40)
    tuned = make_pipeline(StandardScaler(), tuner).fit(X, y)[-1]
    assert named(tuned.certificate_) == ["StandardScaler"]
    vote = make_pipeline(StandardScaler(), PrivateVote("tree", n_teachers=20, **bounded))
    assert named(vote.fit(X, y, privatevote__public=X[:40])[-1].certificate_) == ["StandardScaler"]


STATELESS = [
    Bounded((-1, 1)),
    Normalizer(),
    Binarizer(),
    FunctionTransformer(np.tanh),
    PolynomialFeatures(2),
    PolynomialFeatures(2, interaction_only=True),
    SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
    FrozenEstimator(StandardScaler().fit(np.random.default_rng(0).normal(size=(50, 3)))),
    "passthrough",
    ColumnTransformer([("a", Normalizer(), [0, 1])], remainder="passthrough"),
    make_pipeline(Bounded((-1, 1)), Normalizer()),
    SchemaEncoder(Schema({f"x{k}": number(-1, 1) for k in range(3)}, target="y", classes=["0", "1"])),
    OneHotEncoder(categories=[[-1, 0, 1]] * 3, handle_unknown="ignore"),
]


@pytest.mark.parametrize("step", STATELESS, ids=[type(step).__name__ for step in STATELESS])
def test_what_learns_nothing_is_not_named(step, table):
    X, y = table
    X = np.round(X) if isinstance(step, OneHotEncoder) else X
    with warnings.catch_warnings():
        warnings.simplefilter("error", FittedTransformerWarning)
        for wrapped in (private(), GridSearchCV(private(), {"epsilon": [9]}, cv=2)):
            fitted = make_pipeline(step, wrapped).fit(X, y)
            assert all(named(found) == [] for found in certified(fitted[-1]))


def test_texts_that_are_hashed_teach_nothing():
    texts, y = ["a b", "b c d"] * 200, [0, 1] * 200
    with warnings.catch_warnings():
        warnings.simplefilter("error", FittedTransformerWarning)
        make_pipeline(HashingVectorizer(n_features=16), private(bounds=None, data_norm=1)).fit(texts, y)


def test_what_looks_alike_but_learns_is_named(table):
    X, y = table
    for step in (OneHotEncoder(handle_unknown="ignore"), SimpleImputer(), SimpleImputer(strategy="constant", add_indicator=True)):
        found = make_pipeline(step, private()).fit(np.round(X), y)[-1].certificate_
        assert named(found) == [type(step).__name__]


def test_a_mark_ends_with_the_pipeline_that_made_it(table):
    """Clones and copies that outlive it, fitted by themselves on other rows, say nothing of a scaler."""
    X, y = table
    searched = make_pipeline(StandardScaler(), GridSearchCV(private(), {"epsilon": [9]}, cv=2, n_jobs=2)).fit(X, y)
    best = searched[-1].best_estimator_
    for again in (best, clone(best), pickle.loads(pickle.dumps(clone(best))), clone(searched[-1].estimator)):
        assert named(again.fit(X, y).certificate_) == []
        assert "_marks" not in pickle.dumps(again).decode("latin-1")


def test_names_are_names(table):
    X, y = table
    odd = type("Scaler: safe to publish\n", (StandardScaler,), {})
    found = make_pipeline(odd(), private()).fit(X, y)[-1].certificate_
    assert named(found) == ["Scaler__safe_to_publish_"]
    assert json.dumps(found.document)


def test_frames_keep_their_names(table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abc"))
    steps = make_pipeline(StandardScaler().set_output(transform="pandas"), private()).fit(frame, y)
    assert named(steps[-1].certificate_) == ["StandardScaler"]
