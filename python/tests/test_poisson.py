"""Poisson regression: the same mechanism as the command line's, on scikit-learn's scale."""

import csv
import io
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor

import privet
from privet import PrivateLinearRegression, PrivatePoissonRegressor, Schema, number

pytestmark = pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning")

LINE, LEVEL = np.array([0.8, -0.5]), 0.4


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(11)
    X = rng.uniform(-1, 1, size=(20_000, 2))
    return X, rng.poisson(np.exp(X @ LINE + LEVEL))


def poisson(**more):
    settings = {"epsilon": 4.0, "data_norm": 1.5, "target_bounds": (0, 12), "rate_at_zero": 1.5}
    return PrivatePoissonRegressor(**(settings | more))


def test_without_noise_it_is_scikit_learns(counts):
    X, y = counts
    model = poisson(epsilon=None, method="non-private", settings={"ridge": 1e-3}).fit(X, y)
    expected = PoissonRegressor(alpha=0).fit(X, np.minimum(y, 12))
    assert np.allclose(model.coef_, expected.coef_, atol=0.01)
    assert np.isclose(model.intercept_, expected.intercept_, atol=0.01)
    assert np.isclose(model.score(X, y), expected.score(X, y), atol=0.001)


def test_a_private_fit_finds_the_rates(counts):
    X, y = counts
    # Noise of a fixed seed: no false failures.
    model = poisson(random_state=1).fit(X, y)
    assert model.plan_.loss == "poisson" and model.score(X, y) > 0.15
    assert np.allclose(model.coef_, LINE, atol=0.2)
    rates = np.exp(X @ model.coef_ + model.intercept_)
    assert np.allclose(model.predict(X), np.clip(rates, 0, 12), rtol=1e-4)
    fresh = poisson().fit(X, y)
    assert privet.verify(fresh).valid and fresh.certificate_.epsilon <= 4.0


def test_files_agree_with_the_command_line(counts, tmp_path):
    X, y = counts
    path, rows = tmp_path / "model.json", tmp_path / "rows.csv"
    model = poisson().fit(X, y)
    model.save(path)
    np.savetxt(rows, X, delimiter=",", header="x0,x1", comments="", fmt="%.17g")
    command = [sys.executable, "-m", "privet", "predict", path, rows]
    shown = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    found = [float(line[0]) for line in list(csv.reader(io.StringIO(shown)))[1:]]
    assert np.array_equal(found, model.predict(X))
    again = privet.load(path)
    assert isinstance(again, PrivatePoissonRegressor) and np.isclose(again.rate_at_zero, 1.5)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.coef_, model.coef_) and again.intercept_ == model.intercept_


def test_a_schema_and_the_default_rate(counts):
    X, y = counts
    schema = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="n", target_bounds=(0, 12))
    settings = {"bounds": None, "data_norm": None, "target_bounds": None, "rate_at_zero": None}
    model = poisson(**settings, schema=schema, random_state=1).fit(X, y)
    again = poisson(**(settings | {"rate_at_zero": 12 * np.exp(-2)}), schema=schema, random_state=1)
    assert np.allclose(again.fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"target_bounds": None}, "target_bounds are missing"),
        ({"target_bounds": (-1, 5)}, "not accepted for low"),
        ({"rate_at_zero": 13}, "not accepted for rate at zero"),
        ({"rate_at_zero": 0}, "not accepted for rate at zero"),
        ({"rate_at_zero": "much"}, "rate_at_zero is 'much'; a number is accepted"),
        ({"method": "ssp"}, "ssp"),
    ],
)
def test_refusals(counts, more, words):
    with pytest.raises(ValueError, match=words):
        poisson(**more).fit(*counts)


def test_it_is_no_loss_of_the_linear_regression(counts):
    model = PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(0, 12), loss="poisson")
    with pytest.raises(ValueError, match="PrivatePoissonRegressor; accepted here: squared, huber, quantile"):
        model.fit(*counts)
