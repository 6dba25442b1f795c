"""Every estimator, as it is made and as it is fitted, through pickle, joblib, copy and clone."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import privet
from privet import Schema, number

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning", "ignore::UserWarning")

rng = np.random.default_rng(3)
X = rng.uniform(-1, 1, (600, 3))
Y = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abc"))
SCHEMA = Schema({name: number(-1, 1) for name in "abc"}, target="y", classes=["0", "1"])
CLASSES = {"epsilon": 4, "bounds": (-1, 1), "classes": [0, 1]}
NUMBERS = {"epsilon": 4, "bounds": (-1, 1), "target_bounds": (-1, 1)}
SMALL = {"delta": 1e-5, "layers": [{"kind": "linear", "out": 2}], "settings": {"batch": 64, "steps": 3}}


def fit(estimator, labels=Y):
    return estimator.fit(X, labels)


MADE = {
    "Bounded": (lambda: privet.Bounded((-1, 1)), fit),
    "PrivateAdditiveClassifier": (lambda: privet.PrivateAdditiveClassifier(**CLASSES), fit),
    "PrivateAdditiveRegressor": (lambda: privet.PrivateAdditiveRegressor(**NUMBERS), lambda made: fit(made, X[:, 1])),
    "PrivateClassifier": (lambda: privet.PrivateClassifier(**CLASSES), fit),
    "PrivateFeatureSelector": (lambda: privet.PrivateFeatureSelector(size=2, **CLASSES), fit),
    "PrivateLinearRegression": (lambda: privet.PrivateLinearRegression(**NUMBERS), lambda made: fit(made, X[:, 1])),
    "PrivateLinearSVC": (lambda: privet.PrivateLinearSVC(**CLASSES), fit),
    "PrivateLogisticRegression": (lambda: privet.PrivateLogisticRegression(**CLASSES), fit),
    "PrivateNeighbors": (
        lambda: privet.PrivateNeighbors(**CLASSES, n_rows=600),
        lambda made: (made.answer(X, Y, X[:4]), made)[1],
    ),
    "PrivateNetworkClassifier": (lambda: privet.PrivateNetworkClassifier(**CLASSES, **SMALL), fit),
    "PrivateOnlineClassifier": (
        lambda: privet.PrivateOnlineClassifier(horizon=600, features=X.shape[1], **CLASSES),
        lambda made: made.partial_fit(X, Y),
    ),
    "PrivatePoissonRegressor": (
        lambda: privet.PrivatePoissonRegressor(**(NUMBERS | {"target_bounds": (0, 3)})),
        lambda made: fit(made, np.round(X[:, 1] + 1)),
    ),
    "PrivateRecommender": (
        lambda: privet.PrivateRecommender(1, items=range(4), n_users=50),
        lambda made: made.fit([(user, user % 4, 3) for user in range(50)]),
    ),
    "PrivateRidge": (lambda: privet.PrivateRidge(**NUMBERS), lambda made: fit(made, X[:, 1])),
    "PrivateSparseClassifier": (lambda: privet.PrivateSparseClassifier(size=2, **CLASSES), fit),
    "PrivateSparseRegression": (lambda: privet.PrivateSparseRegression(size=2, **NUMBERS), lambda made: fit(made, X[:, 1])),
    "PrivateTuner": (
        lambda: privet.PrivateTuner([{"method": "gd", "steps": [5]}], schema=SCHEMA, epsilon=3, trials=40),
        lambda made: made.fit(FRAME, Y),
    ),
    "PrivateVote": (lambda: privet.PrivateVote("tree", n_teachers=20, **CLASSES), lambda made: made.fit(X, Y, public=X[:40])),
    "SchemaEncoder": (lambda: privet.SchemaEncoder(SCHEMA), lambda made: made.fit(FRAME)),
}


def through_joblib(made):
    held = io.BytesIO()
    joblib.dump(made, held)
    held.seek(0)
    return joblib.load(held)


WAYS = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "joblib": through_joblib,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def says(fitted):
    """What it does, as something that can be compared."""
    told = []
    for ask in ("predict", "transform"):
        if hasattr(fitted, ask):
            given = {1: 3.0} if isinstance(fitted, privet.PrivateRecommender) else FRAME if hasattr(fitted, "feature_names_in_") else X
            told.append(np.asarray(list(getattr(fitted, ask)(given))))
    if hasattr(fitted, "certificate_"):
        told.append(str(fitted.certificate_.document["events"]))
    return told or [fitted.answers_]


def test_every_estimator_is_here():
    public = [getattr(privet, name) for name in privet.__all__]
    assert {kind.__name__ for kind in public if isinstance(kind, type) and hasattr(kind, "get_params")} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_copies_are_what_they_are_copies_of(name):
    make, learn = MADE[name]
    made = make()
    for way in (*WAYS.values(), clone):
        twin = way(made)
        assert type(twin) is type(made) and repr(twin) == repr(made)
    fitted = learn(made)
    assert repr(clone(fitted)) == repr(make()) and not hasattr(clone(fitted), "certificate_")
    learn(clone(fitted))
    for way, through in WAYS.items():
        if name == "PrivateOnlineClassifier":
            # It would spend its budget twice.
            with pytest.raises(TypeError, match="neither copied nor pickled"):
                through(fitted)
            continue
        twin = through(fitted)
        assert all(np.array_equal(one, other) for one, other in zip(says(twin), says(fitted), strict=True)), way


def test_the_best_of_a_tuning_is_copied_as_part_of_it(tmp_path):
    make, learn = MADE["PrivateTuner"]
    tuner = learn(make())
    for through in WAYS.values():
        best = through(tuner.best_estimator_)
        assert np.array_equal(best.predict(FRAME), tuner.predict(FRAME))
        with pytest.raises(ValueError, match="part of a tuning"):
            best.save(tmp_path / "best.json")
    tuner.save(tmp_path / "tuned.json")
    assert np.array_equal(pickle.loads(pickle.dumps(privet.load(tmp_path / "tuned.json"))).predict(FRAME), tuner.predict(FRAME))


def test_what_was_released_besides_is_pickled_too(tmp_path):
    online = MADE["PrivateOnlineClassifier"]
    released = online[1](online[0]()).released()
    assert np.array_equal(pickle.loads(pickle.dumps(released)).values, released.values)
    frame = FRAME.assign(y=Y.astype(str))
    counts = privet.count(frame, "y", schema=SCHEMA, epsilon=1)
    described = privet.describe(frame, schema=SCHEMA, epsilon=1)
    worth = privet.evaluate(MADE["PrivateClassifier"][1](MADE["PrivateClassifier"][0]()), X, Y, epsilon=1)
    for found in (counts, described, worth):
        for through in WAYS.values():
            assert repr(through(found)) == repr(found)
