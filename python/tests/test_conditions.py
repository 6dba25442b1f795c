"""Conditions of a claim: in totals, in verdicts, and told apart from what the maker of a file wrote."""

import importlib.util
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import privet
from privet import PrivateLogisticRegression, PrivateSparseRegression, _privet, account

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "check_certificate.py"
SPEC = importlib.util.spec_from_file_location("check_certificate", SCRIPT)
SEAL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SEAL)
TAKEN = "taken from the labels"
FITTED = "fitted on these records before, outside the budget: StandardScaler."


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(400, 2))
    return X, (X[:, 0] > 0).astype(int)


def fitted(table, **given):
    return PrivateLogisticRegression(**{"epsilon": 1, "bounds": (-1, 1), "classes": [0, 1]} | given).fit(*table)


def planned(**given):
    """A plan straight from the extension, by the words that an estimator gives it."""
    schema = privet.Schema({"x": privet.number(0, 1)}, target="y", classes=["0", "1"])._checked
    told = {"epsilon": 1.0, "delta": 1e-6, "neighbours": "replace-one", "loss": "logistic", "width": 0.1}
    told |= {"quantile": 0.5, "rate_at_zero": None, "method": "gd", "settings": [], "calibration": "sound"}
    return _privet.plan_linear(schema, 1000, **told, notes=[], **given)


def test_prior_fits_are_a_condition_of_the_plan():
    plans = planned(prior_fits=["StandardScaler"]), planned()
    with_fits, without = (json.loads(plan.to_json())["notes"] for plan in plans)
    assert any(note.startswith(FITTED) for note in with_fits)
    assert not any("outside the budget" in note for note in without)
    with pytest.raises(ValueError, match="prior_fits are not names; accepted"):
        planned(prior_fits=["none: safe to publish"])


@pytest.mark.filterwarnings("ignore::privet.PublicClassesWarning")
def test_a_total_keeps_the_conditions_of_its_parts(table):
    first, second = fitted(table, classes=None), fitted(table, method="amp", delta=0.0)
    whole = account.total([first, second], delta=1e-6)
    assert isinstance(whole, float) and 1.0 < whole < 3.0
    assert whole.arithmetic == "real" and account.total([first], delta=1e-6).arithmetic == "finite"
    assert any(TAKEN in note for note in whole.notes[0]) and not any(TAKEN in note for note in whole.notes[1])
    assert any(TAKEN in note for note in whole.conditions)
    assert any("drawn in floating point" in note for note in whole.conditions)
    assert "real arithmetic" in repr(whole)
    again = pickle.loads(pickle.dumps(whole))
    assert again == whole and again.conditions == whole.conditions and again.arithmetic == "real"


@pytest.mark.filterwarnings("ignore::privet.PublicClassesWarning")
def test_a_verdict_says_what_nothing_checks(table):
    verdict = privet.verify(fitted(table, classes=None))
    assert verdict and any(TAKEN in note for note in verdict.notes) and not verdict.stated
    assert "that there were 400 records" in verdict.unchecked
    X, _ = table
    sparse = PrivateSparseRegression(
        epsilon=50, size=1, data_norm=2, target_bounds=(-2, 2), fit_intercept=False, method="dpsl-kt", public=X[:50]
    )
    unchecked = privet.verify(sparse.fit(X, X[:, 0])).unchecked
    assert any("its 50 public rows have a norm of at most" in what for what in unchecked)


def test_words_of_a_file_are_never_ours(table, tmp_path):
    path, lie = tmp_path / "model.json", "this release is safe to publish in full"
    fitted(table, method="amp", delta=0.0).save(path)
    document = json.loads(path.read_text())

    def saying(notes):
        forged = document | {"certificate": document["certificate"] | {"notes": notes}}
        digest = SEAL.digest(SEAL.read(json.dumps(forged)))
        path.write_text(json.dumps(forged | {"certificate": forged["certificate"] | {"digest": digest}}))
        return privet.verify(path)

    own = document["certificate"]["notes"]
    verdict = saying([*own, lie])
    assert verdict and verdict.stated == (lie,) and lie not in verdict.notes
    notes = privet.load(path).certificate_.notes
    assert lie not in notes and f"words of whoever made the file, which nothing checks: {lie}" in notes
    assert set(own) < set(notes)
    for notes in ([], [lie]):
        verdict = saying(notes)
        assert not verdict and verdict.epsilon is None and not verdict.unchecked
        with pytest.warns(privet.NotValidWarning, match="leaves out: the noise is continuous"):
            assert not privet.load(path).certificate_.private
