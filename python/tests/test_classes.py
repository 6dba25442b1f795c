"""Classes: sorted for scikit-learn whatever a schema's order, of the caller's type, settled before a fit."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict, cross_val_score

import privet
from privet import PrivateLinearSVC, PrivateLogisticRegression, Schema, number


def logistic(**more):
    return PrivateLogisticRegression(**({"epsilon": 50.0, "bounds": (-1, 1), "classes": [0, 1]} | more))


def schema(classes):
    return Schema({f"x{place}": number(-1, 1) for place in range(3)}, target="y", classes=classes)


def test_two_classes_out_of_order(table, tmp_path):
    X, y = table
    names = np.where(y == 1, "high", "low")
    # A method by name: its numbers are not unfolded, and coefficients are those of X.
    settings = {"epsilon": 50, "schema": schema(["low", "high"]), "method": "gd"}
    model = PrivateLogisticRegression(**settings).fit(X, names)
    model.save(tmp_path / "model.json")
    for fitted in (model, privet.load(tmp_path / "model.json")):
        assert list(fitted.classes_) == ["high", "low"]
        shares = fitted.predict_proba(X)
        assert roc_auc_score(names, shares[:, 1]) > 0.9 and log_loss(names, shares) < 0.6
        scores = fitted.decision_function(X)
        assert np.array_equal(np.where(scores > 0, "low", "high"), fitted.predict(X))
        assert np.array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.predict(X))
        assert fitted.score(X, names) > 0.9
        # Every row is scaled to one length, so only the sign of the line is that of the score.
        line = X @ fitted.coef_[0] + fitted.intercept_[0]
        # Rows are kept in 24 bits: next to nothing, the sign may be either.
        clear = np.abs(scores) > 1e-3
        assert clear.mean() > 0.99 and np.array_equal((line > 0)[clear], (scores > 0)[clear])


def test_scores_of_scikit_learn_on_classes_out_of_order(table):
    X, y = table
    names = np.where(y == 1, "high", "low")
    unordered = PrivateLogisticRegression(epsilon=50, schema=schema(["low", "high"]))
    with pytest.warns(privet.RepeatedFitWarning):
        assert cross_val_score(unordered, X, names, cv=3, scoring="roc_auc").min() > 0.9
        assert cross_val_score(unordered, X, names, cv=3, scoring="neg_log_loss").min() > -0.7
        assert CalibratedClassifierCV(unordered, cv=3).fit(X, names).score(X, names) > 0.9


def test_several_classes_out_of_order(table):
    X, _ = table
    third = np.digitize(X[:, 0], [-0.33, 0.33])
    names = np.array(["small", "middle", "big"])[third]
    seeded = {"epsilon": 50.0, "random_state": 1}
    with pytest.warns(privet.NotPrivateWarning):
        model = PrivateLogisticRegression(**seeded, schema=schema(["small", "middle", "big"])).fit(X, names)
    assert list(model.classes_) == ["big", "middle", "small"] and model.score(X, names) > 0.6
    shares, scores = model.predict_proba(X), model.decision_function(X)
    for found in (shares, scores):
        assert np.array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
    # The same model by numbers in the schema's order.
    with pytest.warns(privet.NotPrivateWarning):
        plain = PrivateLogisticRegression(**seeded, schema=schema([0, 1, 2])).fit(X, third)
    assert np.array_equal(plain.coef_[::-1], model.coef_)
    assert np.array_equal(plain.intercept_[::-1], model.intercept_)
    assert np.array_equal(plain.decision_function(X)[:, ::-1], scores)


def test_numbers_are_sorted_as_numbers_and_may_be_declared_twice(table):
    X, y = table
    texts = [str(n) for n in (10, 9, 2)] + [str(n) for n in (0, 1, 3, 4, 5, 6, 7, 8)]
    model = logistic(bounds=None, schema=schema(texts), classes=range(11)).fit(X, y)
    assert list(model.classes_) == list(range(11))
    with pytest.raises(ValueError, match="classes differ from the schema's"):
        logistic(bounds=None, schema=schema(texts), classes=range(10)).fit(X, y)


def test_classes_keep_their_values_where_y_is_narrow(table):
    X, y = table
    model = logistic(classes=[0, 1, 300]).fit(X, y.astype(np.int8))
    assert list(model.classes_) == [0, 1, 300]
    by_schema = logistic(bounds=None, classes=None, schema=schema([0, 1, 300])).fit(X, y.astype(np.int8))
    assert list(by_schema.classes_) == [0, 1, 300]
    large = 2**53
    labels = np.where(y == 1, large + 1, large)
    model = logistic(classes=[large, large + 1]).fit(X, labels)
    assert list(model.classes_) == [large, large + 1] and model.score(X, labels) > 0.9


def test_what_has_no_classes_is_refused_before_a_model_is_drawn(table, monkeypatch):
    X, y = table
    drawn = []

    class Counting:
        def __init__(self, plan):
            self.plan = plan

        def run(self, *rest):
            drawn.append(1)
            return self.plan.run(*rest)

        def to_json(self):
            return self.plan.to_json()

    make = PrivateLogisticRegression._make_plan
    monkeypatch.setattr(PrivateLogisticRegression, "_make_plan", lambda *rest: Counting(make(*rest)))
    logistic().fit(X, y)
    assert len(drawn) == 1
    with pytest.raises(ValueError, match="y is of type int64 and the classes are 0, 1, unknown"):
        logistic(classes=["0", "1", "unknown"]).fit(X, y)
    with pytest.raises(ValueError, match="the classes are 0, 1, unknown"):
        logistic(bounds=None, classes=None, schema=schema(["0", "1", "unknown"])).fit(X, y)
    assert len(drawn) == 1


def test_a_failed_fit_changes_nothing(table):
    X, y = table
    model = logistic().fit(X, y)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="label that is none of the classes"):
        model.fit(X[:, :2], y + 5)
    assert model.__dict__ == before and model.n_features_in_ == 3
    assert model.predict(X).shape == (len(X),)
    never = logistic()
    with pytest.raises(ValueError, match="label that is none"):
        never.fit(X, y + 5)
    assert not hasattr(never, "n_features_in_")


def test_tools_that_encode_labels_need_numbers(table):
    X, y = table
    names = np.where(y == 1, "yes", "no")
    with pytest.raises(ValueError, match="need classes declared as 0, 1, ... and y in these numbers"):
        cross_val_predict(logistic(classes=["no", "yes"]), X, names, cv=2, method="predict_proba")
    with pytest.warns(privet.RepeatedFitWarning):
        shares = cross_val_predict(logistic(), X, y, cv=2, method="predict_proba")
    assert shares.shape == (len(X), 2)


def test_bytes_are_refused(table):
    X, y = table
    labels = np.where(y == 1, b"yes", b"no")
    with pytest.raises(ValueError, match="y holds bytes"):
        logistic(classes=None).fit(X, labels)
    with pytest.raises(ValueError, match="classes are bytes"):
        PrivateLinearSVC(epsilon=1, bounds=(-1, 1), classes=[b"no", b"yes"]).fit(X, y)
    with pytest.raises((ValueError, TypeError), match="bytes"):
        logistic(classes=None).fit(X, labels.astype(object))
