"""scikit-learn's own checks.

They fit toy tables of 20 to 300 rows, on which no useful budget leaves anything to learn, so the checks
run at a large epsilon: the same code with less noise. ``random_state`` is set by the checks themselves.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import privet

BOUNDS = {"epsilon": 100.0, "bounds": (-5.0, 5.0)}

ESTIMATORS = [
    privet.PrivateAdditiveClassifier(**BOUNDS),
    privet.PrivateAdditiveRegressor(**BOUNDS, target_bounds=(-5.0, 5.0)),
    privet.PrivateLogisticRegression(**BOUNDS),
    privet.PrivateLinearSVC(**BOUNDS),
    privet.PrivateClassifier(**BOUNDS, method="amp"),
    privet.PrivateLinearRegression(**BOUNDS, target_bounds=(-5.0, 5.0)),
    privet.PrivatePoissonRegressor(**BOUNDS, target_bounds=(0.0, 10.0)),
    privet.PrivateRidge(**BOUNDS, target_bounds=(-5.0, 5.0)),
    privet.PrivateSparseRegression(**BOUNDS, target_bounds=(-5.0, 5.0)),
    privet.PrivateSparseClassifier(**BOUNDS),
    privet.PrivateFeatureSelector(**BOUNDS, target_bounds=(-5.0, 5.0)),
]

# Each check that contradicts privacy, and why.
CONTRADICT_PRIVACY: dict[str, str] = {
    "check_class_weight_classifiers": "weights ten million times apart: a schema declares them from 1e-3 to 1e3",
    "check_dtype_object": "wants another error for a mapping than for a text: what a bad cell holds is not told",
}


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: CONTRADICT_PRIVACY)
def test_check_estimator(estimator, check):
    check(estimator)
