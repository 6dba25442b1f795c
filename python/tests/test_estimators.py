"""The estimators among scikit-learn's own tools."""

import copy
import pickle
import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import privet
from privet import (
    PrivateClassifier,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)


def logistic(**more):
    return PrivateLogisticRegression(**({"epsilon": 2.0, "bounds": (-1, 1), "classes": [0, 1]} | more))


def test_a_fit_learns_and_certifies(table):
    X, y = table
    model = logistic().fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.certificate_.private
    assert (model.certificate_.epsilon, model.certificate_.delta) == (2.0, 1 / 2000**2)
    assert model.certificate_.arithmetic == "finite"
    assert privet.verify(model)
    # Numbers are unfolded: a weight for each encoded column but the constant one.
    assert model.coef_.shape == (1, model.plan_.columns - 1) and model.intercept_.shape == (1,)
    assert model.n_features_in_ == 3 and list(model.classes_) == [0, 1]
    shares = model.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1) and log_loss(y, shares) < 0.5
    assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


def test_a_plan_needs_no_data_and_is_what_is_executed(table):
    X, y = table
    model = logistic()
    plan = model.plan(n_rows=2000, n_features=3)
    assert model.fit(X, y).plan_ == plan
    assert plan.method == "placed-gd" and plan.columns > 4
    assert logistic(method="amp").plan(n_rows=2000, n_features=3).columns == 4
    assert any(name.endswith("noise") for name in plan.settings)
    with pytest.raises(ValueError, match="n_features is missing"):
        model.plan(n_rows=10)


def test_coefficients_are_those_of_the_caller(table, numbers):
    X, y = table
    inside = X[:50] * 0.1
    model = PrivateLogisticRegression(
        epsilon=2, data_norm=2.0, classes=[0, 1], random_state=1
    )
    with pytest.warns(privet.NotPrivateWarning):
        model.fit(X, y)
    line = inside @ model.coef_[0] + model.intercept_[0]
    assert np.allclose(line, model.decision_function(inside), atol=1e-5)
    X, y = numbers
    model = PrivateRidge(epsilon=2, bounds=(-1, 1), target_bounds=(-5, 5)).fit(X, y)
    assert np.allclose(inside @ model.coef_ + model.intercept_, model.predict(inside), atol=0.5)


@pytest.mark.parametrize("method", ["amp", "output", "objective", "gd", "sgd", "psgd"])
def test_methods_by_name(table, method):
    X, y = table
    model = logistic(method=method, epsilon=4).fit(X, y)
    assert model.plan_.method == method and model.score(X, y) > 0.7


def test_settings_reach_the_method(table):
    X, y = table
    model = logistic(method="amp", settings={"ridge": 12.5}).fit(X, y)
    assert model.plan_.settings["ridge"] == 12.5
    with pytest.raises(ValueError, match="'steps' is not a setting of method amp"):
        logistic(method="amp", settings={"steps": 3}).fit(X, y)


def test_pure_epsilon(table):
    X, y = table
    model = logistic(delta=0).fit(X, y)
    assert (model.plan_.method, model.certificate_.delta) == ("amp", 0.0)


def test_other_losses(table, numbers):
    X, y = table
    svc = PrivateLinearSVC(epsilon=4, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    assert svc.score(X, y) > 0.9 and not hasattr(svc, "predict_proba")
    squared = PrivateClassifier(epsilon=4, loss="squared", bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    assert squared.score(X, y) > 0.8 and not hasattr(squared, "predict_proba")
    X, y = numbers
    common = {"epsilon": 4, "bounds": (-1, 1), "target_bounds": (-5, 5)}
    assert PrivateLinearRegression(**common).fit(X, y).score(X, y) > 0.5
    assert PrivateLinearRegression(**common, loss="huber").fit(X, y).plan_.loss == "huber"
    low = PrivateLinearRegression(**common, loss="quantile", quantile=0.1).fit(X, y).predict(X)
    assert np.mean(y < low) < 0.45
    ridge = PrivateRidge(**common, alpha=3.0).fit(X, y)
    assert (ridge.plan_.method, ridge.plan_.settings["ridge"]) == ("ssp", 3.0)


def test_several_classes_and_texts():
    X, y = load_digits(return_X_y=True)
    names = np.array([f"digit {n}" for n in range(10)])
    model = PrivateLogisticRegression(epsilon=20, bounds=(0, 16), classes=names).fit(X, names[y])
    assert model.score(X, names[y]) > 0.6
    assert model.coef_.shape == (10, model.plan_.columns - 1) and model.decision_function(X).shape == (len(X), 10)
    assert set(model.predict(X)) <= set(names)


def test_pipeline_clone_and_output():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    steps = make_pipeline(
        FunctionTransformer(np.log1p, feature_names_out="one-to-one"),
        PrivateLogisticRegression(epsilon=50, bounds=(0, 9), classes=[0, 1]),
    ).set_output(transform="pandas")
    fitted = steps.fit(X, y)
    assert fitted.score(X, y) > 0.6
    assert list(fitted[-1].feature_names_in_) == list(X.columns)
    twin = clone(fitted)
    assert twin[-1].get_params() == steps[-1].get_params() and not hasattr(twin[-1], "coef_")


def test_cross_validation_says_what_it_costs(table):
    X, y = table
    with pytest.warns(privet.RepeatedFitWarning) as told:
        scores = cross_val_score(logistic(), X, y, cv=5)
    assert scores.min() > 0.8
    words = [str(warning.message) for warning in told if warning.category is privet.RepeatedFitWarning]
    assert len(words) == 2  # at two fits and at four, not at every one
    assert "So far 4 models" in words[1] and "epsilon = 8" in words[1]
    assert "each further fit adds its own, the last one epsilon = 2" in words[1]
    with pytest.warns(privet.RepeatedFitWarning):
        GridSearchCV(logistic(), {"epsilon": [1.0, 2.0]}, cv=2).fit(X, y)


def test_copies_share_the_count(table):
    X, y = table
    first = logistic()
    second, third = copy.deepcopy(first), copy.copy(first)
    first.fit(X, y)
    with pytest.warns(privet.RepeatedFitWarning, match="So far 2 models"):
        second.fit(X, y)
    third.fit(X, y)
    with pytest.warns(privet.RepeatedFitWarning, match="So far 4 models"):
        clone(copy.deepcopy([third])[0]).fit(X, y)
    assert np.array_equal(copy.deepcopy(second).coef_, second.coef_)


def test_budgets_of_other_neighbours_are_not_added(table):
    X, y = table
    model = logistic().fit(X, y)
    with pytest.warns(privet.RepeatedFitWarning, match="for replace-one.*for add-remove.*have no sum"):
        model.set_params(neighbours="add-remove", n_rows=2000).fit(X, y)


def test_one_fit_warns_of_nothing(table):
    X, y = table
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = logistic().fit(X, y), logistic().fit(X, y)
    # Fresh noise each time.
    assert not np.array_equal(first.coef_, second.coef_)
    both = privet.account.total([first, second], delta=1e-6)
    assert 2.0 < both < 4.0


def test_pickles_carry_the_model_and_no_records(table, tmp_path):
    X, y = table
    model = logistic().fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert again.certificate_ == model.certificate_ and again.plan_ == model.plan_
    few = logistic(n_rows=2000, neighbours="add-remove").fit(X, y)
    more = logistic(n_rows=2000, neighbours="add-remove").fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert abs(len(pickle.dumps(few)) - len(pickle.dumps(more))) < 200


def test_the_interpreter_is_free_while_fitting():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(40_000, 60))
    y = (X[:, 0] > 0).astype(int)
    model = logistic(method="gd", settings={"steps": 400})
    done, ticks = threading.Event(), 0
    thread = threading.Thread(target=lambda: (model.fit(X, y), done.set()))
    thread.start()
    while not done.wait(0.005):
        ticks += 1
    thread.join()
    assert ticks > 3 and model.score(X, y) > 0.9
