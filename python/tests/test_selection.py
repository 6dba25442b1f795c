"""Columns chosen privately, and models of few columns."""

import numpy as np
import pytest

import privet


def _table(rows=4000, columns=30):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(rows, columns))
    return X, X[:, 4] - X[:, 17]


@pytest.mark.parametrize("method", ["correlation", "exponential", "distance"])
def test_the_columns_that_matter_are_chosen(method, tmp_path):
    X, y = _table()
    chosen = privet.PrivateFeatureSelector(
        epsilon=6, size=2, method=method, bounds=(-1, 1), target_bounds=(-2, 2)
    ).fit(X, y)
    assert chosen.get_support(indices=True).tolist() == [4, 17]
    assert chosen.transform(X).shape == (4000, 2)
    assert chosen.certificate_.epsilon == 6.0
    path = tmp_path / "columns.json"
    chosen.save(path)
    assert privet.verify(path).valid
    again = privet.load(path)
    assert again.get_support(indices=True).tolist() == [4, 17]
    assert privet.verify(chosen).valid


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_nothing_is_chosen_where_nothing_is_stable():
    X, y = _table(rows=200)
    chosen = privet.PrivateFeatureSelector(
        epsilon=0.1, delta=1e-12, size=2, method="distance", bounds=(-1, 1), target_bounds=(-2, 2)
    ).fit(X, y)
    assert not chosen.get_support().any()
    assert chosen.certificate_.epsilon == 0.1


def test_what_cannot_be_chosen_is_refused():
    X, y = _table(rows=100)
    with pytest.raises(privet.PrivacyError, match="31 columns are to be chosen of 30"):
        privet.PrivateFeatureSelector(epsilon=1, size=31, bounds=(-1, 1), target_bounds=(-2, 2)).fit(X, y)
    with pytest.raises(ValueError, match="epsilon"):
        privet.PrivateFeatureSelector(size=1, bounds=(-1, 1), target_bounds=(-2, 2)).fit(X, y)


@pytest.mark.parametrize("method", ["dp-ight", "two-stage"])
def test_few_columns_are_fitted(method):
    X, y = _table()
    facts = {"epsilon": 4, "size": 2, "method": method, "data_norm": 5, "fit_intercept": False}
    model = privet.PrivateSparseRegression(**facts, target_bounds=(-2, 2)).fit(X, y)
    assert np.flatnonzero(model.coef_).tolist() == [4, 17]
    assert model.score(X, y) > 0.8
    assert privet.verify(model).valid
    labels = (y > 0).astype(int)
    classes = privet.PrivateSparseClassifier(**facts, classes=[0, 1]).fit(X, labels)
    assert np.flatnonzero(classes.coef_).tolist() == [4, 17]
    assert classes.score(X, labels) > 0.85
