"""What a model is worth, intervals of coefficients, and the line that they are."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, confusion_matrix, r2_score, roc_auc_score

import privet
from privet import PrivateLinearRegression, PrivateLogisticRegression, evaluate, load, verify

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def table(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, 3))
    return X, (2 * X[:, 0] - X[:, 1] + rng.normal(0, 0.5, rows) > 0).astype(int)


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return PrivateLogisticRegression(epsilon=3, bounds=(-1, 1), classes=[0, 1], method="gd").fit(X, y)


def test_without_a_budget_it_is_what_scikit_learn_says_and_warns(fitted):
    X, y = table(700, 1)
    with pytest.warns(privet.NotPrivateWarning):
        worth = evaluate(fitted, X, y)
    assert not worth.private and worth.certificate is None and worth.rows.value == 700
    assert worth.accuracy.value == pytest.approx(fitted.score(X, y))
    p = fitted.predict_proba(X)[:, 1]
    assert worth.auc.value == pytest.approx(roc_auc_score(y, fitted.decision_function(X)))
    assert worth.brier.value == pytest.approx(brier_score_loss(y, p), abs=1e-5)
    assert np.array_equal(np.array(worth.confusion), confusion_matrix(y, fitted.predict(X)))
    with pytest.raises(ValueError, match="epsilon"):
        worth.save("nowhere.json")


def test_with_a_budget_it_is_one_release_that_verifies(fitted, tmp_path):
    X, y = table(2000, 2)
    for options in ({}, {"delta": 0.0}, {"neighbours": "add-remove", "n_rows": 2000}):
        worth = evaluate(fitted, X, y, epsilon=1, **options)
        assert worth.private and worth.certificate.epsilon == 1 and verify(worth).valid
        assert worth.accuracy.low <= worth.accuracy.value <= worth.accuracy.high
        assert abs(worth.accuracy.value - fitted.score(X, y)) < 0.1
    path = tmp_path / "worth.json"
    worth.save(path)
    assert load(path).accuracy == worth.accuracy and verify(path).valid
    found = worth.threshold_for_share(0.3)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_ledger_pays(fitted, tmp_path):
    X, y = table(500, 3)
    with privet.Ledger(tmp_path / "budget.ledger", dataset="held out", create=True) as ledger:
        ledger.open(epsilon=1.2, delta=1e-4)
        evaluate(fitted, X, y, epsilon=1, ledger=ledger)
        with pytest.raises(privet.PrivacyError):
            evaluate(fitted, X, y, epsilon=1, ledger=ledger)


def test_bad_input_is_refused_in_words(fitted):
    X, y = table(50)
    with pytest.raises(TypeError, match="fitted estimator"):
        evaluate("model.json", X, y, epsilon=1)
    with pytest.raises(ValueError, match="n_rows"):
        evaluate(fitted, X, y, epsilon=1, neighbours="add-remove")
    with pytest.raises(ValueError, match="threshold"):
        evaluate(fitted, X, y, epsilon=1, threshold=2.0)
    with pytest.raises(ValueError, match="epsilon"):
        evaluate(fitted, X, y, delta=1e-6)


def test_a_number_is_measured():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(3000, 2))
    y = X[:, 0] + rng.normal(0, 0.1, 3000)
    model = PrivateLinearRegression(epsilon=5, bounds=(-1, 1), target_bounds=(-2, 2)).fit(X, y)
    with pytest.warns(privet.NotPrivateWarning):
        worth = evaluate(model, X, y)
    assert worth.r2.value == pytest.approx(r2_score(y, model.predict(X)), abs=1e-4)
    private = evaluate(model, X, y, epsilon=2)
    assert private.rmse.low <= private.rmse.value <= private.rmse.high


def test_coefficients_have_intervals_and_names(fitted):
    interval = fitted.coef_interval_
    assert interval.shape == (*fitted.coef_.shape, 2)
    assert (interval[..., 0] < fitted.coef_).all() and (fitted.coef_ < interval[..., 1]).all()
    assert list(fitted.get_feature_names_out()) == ["x0", "x1", "x2"]
    frame = fitted.coef_frame()
    assert list(frame["feature"])[0] in ("x0", "x1")
    assert set(frame.columns) == {"feature", "class", "coef", "low", "high", "noise"}


def test_a_model_without_a_guarantee_is_measured_privately_only_where_it_is_public():
    X, y = table(500)
    with pytest.warns(privet.NotPrivateWarning):
        seeded = PrivateLogisticRegression(epsilon=3, bounds=(-1, 1), classes=[0, 1], random_state=1).fit(X, y)
    with pytest.raises(ValueError, match="model_is_public"):
        evaluate(seeded, X, y, epsilon=1)
    worth = evaluate(seeded, X, y, epsilon=1, model_is_public=True)
    assert worth.certificate.document["request"]["declared_public"] is True
    assert any("declared public" in note for note in worth.certificate.notes)


def test_row_scale_makes_the_line_the_model():
    X, y = table(1000, 5)
    for method in ("gd", "amp"):
        model = PrivateLogisticRegression(
            epsilon=3, bounds=(-1, 1), classes=[0, 1], method=method
        ).fit(X, y)
        line = (X @ model.coef_.T + model.intercept_)[:, 0]
        scale = model.row_scale(X)
        assert ((0 < scale) & (scale <= 1)).all()
        assert np.allclose(scale * line, model.decision_function(X), atol=1e-4)
        assert model.coef_exact_ == bool(np.allclose(line, model.decision_function(X), atol=1e-6))
    # A regressor's own line is the model; without an intercept rows are scaled by their own length.
    target = X[:, 0] + 3
    model = PrivateLinearRegression(
        epsilon=5, bounds=(-1, 1), target_bounds=(0, 6), method="ssp"
    ).fit(X, target)
    assert model.coef_exact_ and (model.row_scale(X) == 1).all()
    assert np.allclose(np.clip(X @ model.coef_ + model.intercept_, 0, 6), model.predict(X), atol=1e-4)


def test_coefficients_reproduce_predictions_on_california_housing():
    path = DATA / "california-housing" / "cal_housing.data.zst"
    if not path.exists() or shutil.which("zstd") is None:
        pytest.skip("no California housing, or no zstd")
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout.decode()
    rows = np.loadtxt(text.splitlines(), delimiter=",")
    X, y = rows[:, :8], rows[:, 8]
    low = np.array([-125, 32, 0, 0, 0, 0, 0, 0.0])
    high = np.array([-114, 42, 52, 10_000, 2_000, 5_000, 2_000, 15.0])
    model = PrivateLinearRegression(epsilon=1, bounds=(low, high), target_bounds=(0, 500_001)).fit(X, y)
    line = np.clip(np.clip(X, low, high) @ model.coef_ + model.intercept_, 0, 500_001)

    def r2(found):
        return 1 - np.mean((found - y) ** 2) / np.var(y)

    assert model.coef_exact_
    assert np.allclose(line, model.predict(X), atol=50), "to the 24 bits of rows, of 500,001"
    assert abs(r2(line) - r2(model.predict(X))) < 1e-3 and r2(line) > 0.45
