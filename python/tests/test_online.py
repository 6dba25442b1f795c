"""Streams: partial_fit, learn_one, the horizon, and what is released of them."""

import numpy as np
import pytest

import privet
from privet import PrivateOnlineClassifier, load


def stream(rows=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, 3))
    return X, (X[:, 0] - X[:, 1] > 0).astype(int)


def model(**more):
    facts = {"epsilon": 4, "horizon": 4000, "bounds": (-1, 1), "classes": [0, 1], "features": 3} | more
    return PrivateOnlineClassifier(**facts)


def test_partial_fit_learns_and_keeps_to_its_horizon(tmp_path):
    X, y = stream()
    fitted = model(batch=8)
    for part in np.array_split(np.arange(4000), 7):
        fitted.partial_fit(X[part], y[part])
    assert fitted.steps_left_ == 0
    # 4,000 rows at epsilon 4: far above chance whatever the noise.
    assert fitted.score(X, y) > 0.7
    with pytest.raises(ValueError, match="horizon of 4000 rows is reached"):
        fitted.partial_fit(X[:8], y[:8])
    assert fitted.certificate_.epsilon == 4 and fitted.certificate_.private
    fitted.released().save(tmp_path / "stream.json")
    again = load(tmp_path / "stream.json")
    assert again.after == [500] and np.allclose(again.values[0], fitted.weights_)
    assert privet.verify(tmp_path / "stream.json").valid


def test_several_classes_and_experts():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, size=6000)
    X = np.clip(np.eye(3)[y] + rng.normal(0, 0.2, size=(6000, 3)), -1, 1)
    names = np.array(["a", "b", "c"])
    fitted = model(epsilon=8, horizon=6000, classes=list(names), batch=10)
    fitted.partial_fit(X, names[y])
    assert fitted.decision_function(X[:5]).shape == (5, 3) and fitted.coef_.shape == (3, 3)
    # A column for each class, 2,000 rows of it: far above a third whatever the noise.
    assert fitted.score(X, names[y]) > 0.7
    X, y = stream()
    chosen = model(method="experts", epsilon=8, settings={"signs": "both"}, batch=40).partial_fit(X, y)
    weights = chosen.weights_
    assert np.count_nonzero(weights) == 1 and abs(weights).max() == 1
    with pytest.raises(ValueError, match="two classes or a number"):
        model(method="giga", classes=[0, 1, 2]).partial_fit(X, y)


def test_river_s_names():
    X, y = stream(200)
    one = model(horizon=200, features=["a", "b", "c"])
    assert one.predict_one({"a": 1.0, "b": 0.0, "c": 0.0}) == 0
    for row, label in zip(X, y):
        one.learn_one(dict(zip("abc", row)), int(label))
    assert one.predict_one({"a": 1.0, "b": 0.0, "c": 0.0}) in (0, 1)
    assert one.steps_left_ == 0


def test_columns_are_declared_and_never_those_of_the_first_record():
    X, y = stream(20)
    with pytest.raises(ValueError, match="features are missing"):
        model(features=None).learn_one({"a": 1.0, "b": 0.0, "c": 0.0}, 1)
    with pytest.raises(ValueError, match="features are missing"):
        model(features=None).partial_fit(X.tolist(), y.tolist())
    shapes = []
    for first in ({"b": 1.0}, {"a": 1.0, "b": 0.0}, {}, "ab", None):
        one = model(features=["a", "b"], horizon=2).learn_one(first, 1).learn_one({"a": 0.5, "b": 0.5}, 0)
        shapes.append((one.coef_.shape, list(one.feature_names_in_), one.steps_left_))
    assert shapes == [((1, 2), ["a", "b"], 0)] * 5
    sides = model(bounds=([-1] * 3, [1] * 3), features=None, horizon=20).partial_fit([[1.0], *X[1:].tolist()], y.tolist())
    assert sides.n_features_in_ == 3 and sides.steps_left_ == 0


def test_labels_may_stand_in_a_column():
    X, y = stream(10)
    assert model(horizon=10).partial_fit(X, y[:, None]).steps_left_ == 0
    assert model(horizon=10, features=3).partial_fit(X.tolist(), [[label] for label in y]).steps_left_ == 0


def test_a_row_that_is_not_finite_takes_its_slot():
    X, y = stream(10)
    X[3] = np.nan
    fitted = model(horizon=10)
    fitted.partial_fit(X, y)
    assert fitted.steps_left_ == 0


def test_what_is_missing_is_named():
    X, y = stream(10)
    with pytest.raises(ValueError, match="horizon"):
        model(horizon=None).partial_fit(X, y)
    with pytest.raises(ValueError, match="bounds"):
        model(bounds=None).partial_fit(X, y)
    with pytest.raises(ValueError, match="epsilon"):
        model(epsilon=None).partial_fit(X, y)
    with pytest.raises(ValueError, match="classes"):
        model(classes=None).partial_fit(X, y)


def test_a_label_or_a_cell_of_no_use_takes_its_slot():
    X, y = stream(10)
    odd = X.astype(object)
    odd[4, 0] = "what"
    fitted = model(horizon=10, features=3)
    fitted.partial_fit(odd, np.where(np.arange(10) == 2, 7, y))
    assert fitted.steps_left_ == 0
