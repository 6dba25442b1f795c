"""What must not be looked at, and what must be said."""

import numpy as np
import pytest

import privet
from privet import PrivateLinearRegression, PrivateLogisticRegression, PrivateRidge


def logistic(**more):
    return PrivateLogisticRegression(**({"epsilon": 2.0, "bounds": (-1, 1), "classes": [0, 1]} | more))


def test_missing_bounds_are_not_read_off_the_data(table):
    X, y = table
    with pytest.raises(ValueError, match="bounds are missing.*does not look at the records"):
        PrivateLogisticRegression(epsilon=1).fit(X, y)
    with pytest.raises(ValueError, match="bounds and data_norm are given; one of them"):
        logistic(data_norm=1.0).fit(X, y)
    with pytest.raises(ValueError, match="target_bounds are missing.*give its largest values away"):
        PrivateRidge(epsilon=1, bounds=(-1, 1)).fit(X, y)


def test_a_missing_budget_is_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="epsilon is missing"):
        PrivateLogisticRegression(bounds=(-1, 1)).fit(X, y)


def test_classes_taken_from_labels_are_told(table, tmp_path):
    X, y = table
    with pytest.warns(privet.PublicClassesWarning, match="classes=\\[...\\]"):
        model = logistic(classes=None).fit(X, y)
    assert any("taken from the labels" in note for note in model.certificate_.notes)
    assert privet.verify(model)
    model.save(tmp_path / "model.json")
    assert privet.load(tmp_path / "model.json").plan_ == model.plan_
    declared = logistic().fit(X, y)
    assert not any("taken from the labels" in note for note in declared.certificate_.notes)


def test_a_plan_says_that_it_assumes_two_classes():
    notes = {"n_rows": 1000, "n_features": 3}
    assert any("for two classes" in note for note in logistic(classes=None).plan(**notes).notes)
    assert not any("for two classes" in note for note in logistic().plan(**notes).notes)


def test_a_declared_class_need_not_occur(table):
    X, _ = table
    model = logistic().fit(X, np.zeros(len(X), dtype=int))
    assert set(model.predict(X)) <= {0, 1} and list(model.classes_) == [0, 1]


def test_a_fixed_seed_is_not_private(table):
    X, y = table
    with pytest.warns(privet.NotPrivateWarning, match="NOT PRIVATE"):
        first, second = logistic(random_state=3).fit(X, y), logistic(random_state=3).fit(X, y)
    assert np.array_equal(first.coef_, second.coef_)
    assert not first.certificate_.private and first.certificate_.epsilon == float("inf")
    assert first.certificate_.notes[0].startswith("NOT PRIVATE")
    verdict = privet.verify(first)
    assert not verdict and verdict.epsilon is None
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        with pytest.warns(privet.NotPrivateWarning):
            logistic(random_state=state).fit(X, y)
    with pytest.warns(privet.NotPrivateWarning), pytest.raises(ValueError, match="random_state is -1"):
        logistic(random_state=-1).fit(X, y)


def test_a_private_count_is_declared_and_never_used(table):
    X, y = table
    with pytest.raises(ValueError, match="n_rows is missing.*number of rows is private"):
        logistic(neighbours="add-remove").fit(X, y)
    declared = {"neighbours": "add-remove", "n_rows": 1900}
    plans = [logistic(**declared).fit(X[:count], y[:count]).plan_ for count in (2000, 3)]
    assert plans[0] == plans[1] and plans[0].rows == 1900
    # Not even an empty table is told from its neighbours.
    empty = logistic(**declared).fit(X[:0], y[:0])
    assert privet.verify(empty).epsilon == 2.0
    with pytest.raises(ValueError, match="2000 rows, but 1900 were declared"):
        logistic(n_rows=1900).fit(X, y)


def test_groups_are_the_privacy_unit(table):
    X, y = table
    people = np.arange(len(X)) // 4
    model = logistic(max_records=3, n_rows=1500).fit(X, y, groups=people)
    assert model.certificate_.max_records == 3
    assert model.certificate_.document["guarantee"]["unit"] == {"kind": "user", "max_records": 3}
    assert privet.verify(model)
    by_name = logistic(max_records=3, n_rows=1500).fit(X, y, groups=[f"p{p}" for p in people])
    assert by_name.plan_ == model.plan_
    with pytest.raises(ValueError, match="max_records is missing"):
        logistic(n_rows=1500).fit(X, y, groups=people)
    with pytest.raises(ValueError, match="groups are missing"):
        logistic(n_rows=1500, max_records=3).fit(X, y)
    with pytest.raises(ValueError, match="n_rows is missing.*group of rows"):
        logistic(max_records=3).fit(X, y, groups=people)
    with pytest.raises(ValueError, match="groups have 10 entries"):
        logistic(max_records=3, n_rows=1500).fit(X, y, groups=people[:10])


def test_the_rows_kept_of_a_group_do_not_depend_on_the_others(table):
    """One of four rows of each person is kept. Among strangers with rows of zeros, which add nothing to a sum
    without intercept, the same ones are: noise repeated, the models agree."""
    X, y = table
    people = np.arange(len(X)) // 4
    fit = {"max_records": 1, "n_rows": 500, "random_state": 5, "neighbours": "add-remove"}
    # A method by name: unfolded, a row of zeros would not be zero.
    fit |= {"fit_intercept": False, "method": "gd"}
    with pytest.warns(privet.NotPrivateWarning):
        alone = logistic(**fit).fit(X, y, groups=people)
        strangers = np.vstack([np.zeros((300, 3)), X])
        labels = np.concatenate([np.zeros(300, dtype=int), y])
        # Strangers come first, and their names sort before the others.
        names = np.concatenate([-1 - np.arange(300) // 2, people])
        among = logistic(**fit).fit(strangers, labels, groups=names)
        other = logistic(**fit).fit(X, y, groups=people + 1)
    assert np.array_equal(alone.coef_, among.coef_)
    assert not np.array_equal(alone.coef_, other.coef_)


def test_sample_weights_are_refused_with_the_reason(table):
    X, y = table
    with pytest.raises(ValueError, match="sample_weight is refused: a guarantee rests on"):
        logistic().fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        logistic().fit(X, y, weights=1)


def test_printed_constants_certify_what_is_proved(table):
    X, y = table
    model = logistic(method="amp", calibration="printed", delta=1e-6).fit(X, y)
    assert model.certificate_.private and privet.verify(model)


def test_what_no_proof_covers_is_refused_on_privacy_grounds(table):
    X, y = table
    with pytest.raises(privet.PrivacyError):
        logistic(method="gd", delta=0).fit(X, y)
    with pytest.raises(ValueError, match="spends no budget"):
        logistic(method="non-private").fit(X, y)
    plain = logistic(method="non-private", epsilon=None).fit(X, y)
    assert plain.certificate_.epsilon is None and not privet.verify(plain)


def test_numbers_outside_their_bounds_are_moved_to_them(numbers):
    X, y = numbers
    far = {"epsilon": 2.0, "bounds": (-1, 1), "target_bounds": (-5, 5), "random_state": 1}
    with pytest.warns(privet.NotPrivateWarning):
        a = PrivateLinearRegression(**far).fit(np.clip(X * 50, -1, 1), np.clip(y * 50, -5, 5))
        b = PrivateLinearRegression(**far).fit(X * 50, y * 50)
    assert np.array_equal(a.coef_, b.coef_)
