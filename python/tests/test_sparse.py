"""Models of few columns: public inputs, and what chooses and fits columns."""

import numpy as np
import pytest

import privet


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 30))
    return X, X[:, 3] - X[:, 20]


def regression(**given):
    return privet.PrivateSparseRegression(
        **{"epsilon": 20, "size": 2, "data_norm": 4, "target_bounds": (-2, 2), "fit_intercept": False} | given
    )


@pytest.mark.parametrize("teacher", ["minimum", "private"])
def test_public_inputs_are_named_as_unprotected(wide, teacher):
    X, y = wide
    public = np.random.default_rng(1).uniform(-1, 1, size=(200, 30))
    model = regression(epsilon=50, method="dpsl-kt", public=public, settings={"teacher": teacher})
    model.fit(X, y)
    assert privet.verify(model).valid
    assert any("public file" in note for note in model.plan_.notes)
    assert np.count_nonzero(model.coef_) <= 2


def test_public_inputs_that_do_not_fit_are_refused(wide):
    X, y = wide
    with pytest.raises(ValueError, match="30 features"):
        regression(method="dpsl-kt", public=X[:5, :7]).fit(X, y)
    with pytest.raises(ValueError, match="dpsl-kt"):
        regression(method="dp-ight", public=X[:5]).fit(X, y)


@pytest.mark.parametrize("selector", ["correlation", "exponential"])
@pytest.mark.parametrize("fit", ["ssp", "amp", "linear"])
def test_any_selector_goes_before_any_fit(wide, selector, fit):
    X, y = wide
    model = regression(method="two-stage", settings={"selector": selector, "fit": fit}).fit(X, y)
    assert list(np.flatnonzero(model.coef_)) == [3, 20]
    assert privet.verify(model).valid


def test_the_support_of_the_lasso(wide):
    X, y = wide
    selector = privet.PrivateFeatureSelector(
        epsilon=50, delta=1e-6, size=2, bounds=(-1, 1), target_bounds=(-4, 4), method="lasso-stability"
    )
    assert list(np.flatnonzero(selector.fit(X, y).get_support())) in ([], [3, 20])
