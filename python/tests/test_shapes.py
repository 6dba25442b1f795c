"""Shape functions: their sum is the model, whoever fitted it; pictures with and without matplotlib."""

import sys

import numpy as np
import pandas as pd
import pytest

import privet

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")


def said(function, row):
    """What a function says of a row, read off its points: straight between numbers."""
    values = np.asarray(function.contribution)
    for name, points in zip(function.name.split(" × "), function.axes):
        cell = row[name]
        numbers = [point for point in points if not isinstance(point, str)]
        if not isinstance(cell, str) and np.isnan(cell):
            cell = "(missing)"
        if isinstance(cell, str):
            share = np.array([point == cell for point in points], dtype=float)
        else:
            share = np.zeros(len(points))
            share[: len(numbers)] = [np.interp(cell, numbers, one) for one in np.eye(len(numbers))]
        # The first axis that is left.
        values = np.tensordot(share, values, axes=(0, 0))
    return values


def total(model, rows):
    functions = model.shape_functions_
    return np.array([model.shape_intercept_ + sum(said(one, row) for one in functions) for row in rows])


@pytest.mark.parametrize("labels", [[0, 1], ["b", "a"], ["x", "y", "z"]])
def test_the_sum_is_the_decision_function(labels):
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 10, size=(3000, 3))
    y = np.asarray(labels)[np.floor(X[:, 0] / 10 * len(labels)).astype(int)]
    model = privet.PrivateAdditiveClassifier(epsilon=3, bounds=(0, 10), classes=labels).fit(X, y)
    assert model.shapes_exact_
    assert [one.kind for one in model.shape_functions_].count("number") == 3
    rows = [dict(zip(("x0", "x1", "x2"), row)) for row in X[:50]]
    found, scores = total(model, rows), model.decision_function(X[:50])
    if len(labels) > 2:
        # Up to what all classes have in common, which says nothing.
        scores = scores - scores.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(found, scores, atol=1e-4)
    best = model.shape_functions_[0]
    assert best.name == "x0" and best.beyond > 0 and best.band is not None
    assert best.grid[0] == 0 and best.grid[-1] == 10


def test_a_frame_with_pairs_and_missing_cells():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(4000) < 0.1, np.nan, rng.uniform(0, 100, 4000)),
            "hours": rng.uniform(0, 60, 4000),
            "work": rng.choice(["office", "farm"], 4000),
            "smokes": rng.choice(["no", "yes"], 4000),
        }
    )
    y = np.where((frame["hours"] > 30) ^ (frame["smokes"] == "yes"), "high", "low")
    schema = privet.Schema(
        {
            "age": privet.number(0, 100, missing="category"),
            "hours": privet.number(0, 60),
            "work": privet.category(["office", "farm"]),
            "smokes": privet.binary("no", "yes"),
        },
        target="risk",
        classes=["low", "high"],
    )
    model = privet.PrivateAdditiveClassifier(
        epsilon=5, hats=6, pairs=[("age", "hours"), ("work", "age")], schema=schema
    ).fit(frame, y)
    kinds = {one.name: one.kind for one in model.shape_functions_}
    assert kinds["age × hours"] == kinds["work × age"] == "pair"
    assert (kinds["age"], kinds["work"], kinds["smokes"]) == ("number", "category", "binary")
    rows = frame.head(60).to_dict("records")
    # The sorted classes have "high" first: signs are those of classes_.
    np.testing.assert_allclose(total(model, rows), model.decision_function(frame.head(60)), atol=1e-4)
    age = next(one for one in model.shape_functions_ if one.name == "age")
    assert age.levels == ("(missing)",) and len(age.grid) + 1 == len(age.contribution)


def test_a_regressor_predicts_the_sum_where_no_row_is_clipped():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"a": rng.uniform(-1, 1, 5000), "b": rng.uniform(-1, 1, 5000)})
    y = 3 * np.abs(frame["a"]) + frame["b"]
    columns = {name: privet.number(-1, 1) for name in "ab"}
    schema = privet.Schema(columns, target="y", target_bounds=(-4, 8), clip=3.0)
    model = privet.PrivateAdditiveRegressor(epsilon=5, hats=5, schema=schema).fit(frame, y)
    assert model.shapes_exact_ and model.score(frame, y) > 0.8
    found = total(model, frame.head(40).to_dict("records"))
    np.testing.assert_allclose(found, model.predict(frame.head(40)), atol=1e-4)
    short = privet.PrivateAdditiveRegressor(epsilon=5, bounds=(-1, 1), target_bounds=(-4, 8)).fit(frame.to_numpy(), y)
    assert not short.shapes_exact_
    assert all(one.band is None for one in short.shape_functions_)


def test_every_estimator_has_them_and_files_too(table, tmp_path):
    X, y = table
    model = privet.PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    model.save(tmp_path / "model.json")
    again = privet.load(tmp_path / "model.json")
    for one, other in zip(model.shape_functions_, again.shape_functions_, strict=True):
        np.testing.assert_array_equal(one.contribution, other.contribution)
    # A second fit has its own.
    before = model.shape_functions_[0].contribution
    assert not np.array_equal(before, model.fit(X, y).shape_functions_[0].contribution)


def test_they_need_a_fit():
    model = privet.PrivateAdditiveClassifier(epsilon=1, bounds=(0, 1))
    assert not hasattr(model, "shape_functions_")
    with pytest.raises(ValueError, match="hats"):
        privet.PrivateAdditiveClassifier(epsilon=1, bounds=(0, 1), hats=1, classes=[0, 1]).fit([[0.1], [0.9]] * 9, [0, 1] * 9)


def test_without_matplotlib_there_is_a_page(table, monkeypatch, tmp_path):
    X, y = table
    model = privet.PrivateAdditiveClassifier(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = model.plot_shapes()
    assert page.startswith("<!doctype html>") and "changes the probability" in page
    assert "<script" not in page and "srcdoc" in page._repr_html_()
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_with_matplotlib_there_is_a_figure(table):
    pytest.importorskip("matplotlib")
    X, y = table
    model = privet.PrivateAdditiveClassifier(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    assert len(model.plot_shapes(max_shapes=2).axes) >= 2
