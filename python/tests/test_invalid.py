"""Records that do not fit, under each policy of a schema."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from privet import PrivateLinearRegression, PrivateLogisticRegression, Schema, SchemaEncoder, category, number

SETTINGS = {"epsilon": 1.0, "delta": 1e-6, "method": "amp", "random_state": 3}


def schema(invalid, stand_in=None, **target):
    columns = {"a": number(0, 10, invalid=stand_in), "b": number(-1, 1)}
    return Schema(columns, target="y", invalid=invalid, **(target or {"classes": ["no", "yes"]}))


def table(rows=200):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (rows, 2)) * [5, 1] + [5, 0]
    return X, np.where(X[:, 0] + 5 * X[:, 1] > 5, "yes", "no").astype(object)


def weights(X, y, policy, **more):
    with pytest.warns(UserWarning):
        return PrivateLogisticRegression(schema=policy, **SETTINGS, **more).fit(X, y).model_.weights()


def test_a_bad_row_is_refused_or_contributes_nothing():
    X, y = table()
    good = X.copy()
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        PrivateLogisticRegression(epsilon=1.0, schema=schema("refuse")).fit(X, y)
    expected = weights(X, y, schema("drop"))
    # Whatever is bad about it: an infinite number, a label that is none, a missing one.
    X[7] = [np.inf, 0]
    assert np.array_equal(weights(X, y, schema("drop")), expected)
    for label in ["perhaps", None, np.nan]:
        y[7] = label
        assert np.array_equal(weights(good, y, schema("drop")), expected)
        frame = pd.DataFrame(good, columns=["a", "b"])
        assert np.array_equal(weights(frame, y, schema("drop")), expected)
    cells = good.tolist()
    cells[7][0] = "x"
    labels = y.tolist()
    labels[7] = "no"
    assert np.array_equal(weights(cells, labels, schema("drop")), expected)


class Hostile:
    """Neither compared nor written."""

    def __ne__(self, other):
        raise RuntimeError("compared")

    __eq__ = __ne__
    __hash__ = None

    def __str__(self):
        raise RuntimeError("written")


BAD_CELLS = ["\ud800", 10**5000, Decimal("sNaN"), np.arange(2), pd.Series([1, 2]), [1, 2], b"\xff", pd.Timestamp("2020")]
BAD_CELLS += [Hostile(), np.ma.masked, np.ma.array(9.0, mask=True), object()]


@pytest.mark.parametrize("bad", BAD_CELLS, ids=lambda bad: type(bad).__name__)
def test_no_cell_or_label_ends_a_training(bad):
    X, y = table()
    rows = X.tolist()
    rows[7][0] = None
    expected = weights(rows, y.tolist(), schema("drop"))
    rows[7][0] = bad
    assert np.array_equal(weights(rows, y.tolist(), schema("drop")), expected)
    frame = pd.DataFrame(X, columns=["a", "b"], dtype=object)
    frame.at[7, "a"] = bad
    assert np.array_equal(weights(frame, y, schema("drop")), expected)
    labels = y.tolist()
    labels[7] = bad
    assert np.array_equal(weights(X, labels, schema("drop")), expected)
    assert np.array_equal(weights(X, [[label] for label in labels], schema("drop")), expected)
    policy, numbers = schema("drop", target_bounds=(0, 10)), X[:, 0].tolist()
    fitted = []
    for entry in (None, bad):
        numbers[7] = entry
        with pytest.warns(UserWarning):
            fitted.append(PrivateLinearRegression(schema=policy, **SETTINGS).fit(X, numbers).coef_)
    assert np.array_equal(*fitted)


@pytest.mark.parametrize("at", [0, 7])
@pytest.mark.parametrize("bad", [[1.0], [1.0, 2.0, 3.0], [], "xy", None, 5.0, np.ma.array([9.0, 0.0], mask=True)])
def test_no_row_ends_a_training(bad, at):
    X, y = table()
    rows = X.tolist()
    rows[at] = [None, None]
    expected = weights(rows, y, schema("drop"))
    rows[at] = bad
    assert np.array_equal(weights(rows, y, schema("drop")), expected)
    assert np.array_equal(weights(tuple(rows), y, schema("drop")), expected)
    with pytest.raises((ValueError, TypeError)):
        PrivateLogisticRegression(epsilon=1.0, schema=schema("refuse")).fit(rows, y)


def test_one_bad_label_leaves_the_others_as_they_are():
    X, y = table()
    policy = schema("drop", classes=[0, 1])
    labels = (y == "yes").astype(float).tolist()
    labels[7] = np.nan
    expected = weights(X, labels, policy)
    labels[7] = "x"
    assert np.array_equal(weights(X, labels, policy), expected)


def test_a_bad_cell_becomes_its_stand_in():
    X, y = table()
    X[7, 0] = 5.0
    expected = weights(X, y, schema("stand-in", 5.0))
    X[7, 0] = np.nan
    assert np.array_equal(weights(X, y, schema("stand-in", 5.0)), expected)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert np.array_equal(weights(frame, y, schema("stand-in", 5.0)), expected)


def test_numbers_as_target():
    X, _ = table()
    y = X[:, 0].tolist()
    policy = schema("drop", target_bounds=(0, 10))
    fitted = []
    for bad in [np.nan, None, "x", np.inf]:
        y[7] = bad
        with pytest.warns(UserWarning):
            fitted.append(PrivateLinearRegression(schema=policy, **SETTINGS).fit(X, y))
    assert all(np.array_equal(model.coef_, fitted[0].coef_) for model in fitted)
    assert fitted[0].predict([[np.nan, 0.0]]) == [5.0]


def test_a_null_record_is_encoded_as_zeros():
    policy = Schema(
        {"age": number(0, 100), "work": category(["a", "b"])}, target="y", classes=["no", "yes"], invalid="drop"
    )
    frame = pd.DataFrame({"age": [50.0, np.nan, 75.0], "work": ["a", "a", "b"]})
    encoded = SchemaEncoder(policy).fit_transform(frame)
    assert not encoded[1].any() and encoded[0].any() and encoded[2].any()
    assert Schema.from_toml(policy.to_toml()) == policy and policy.is_total


def test_a_schema_file_that_is_no_text(tmp_path):
    path = tmp_path / "s.toml"
    path.write_bytes(b"bias = true # \xff\n")
    with pytest.raises(ValueError, match="UTF-8"):
        Schema.load(path)
    with pytest.raises(OSError, match="none.toml"):
        Schema.load(tmp_path / "none.toml")
