"""Tuning: the best of several candidates, released, saved, loaded, verified."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import privet
from privet import PrivateTuner, Schema, number

SCHEMA = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="y", classes=["no", "yes"])
RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.uniform(-1, 1, (3000, 2)), columns=["a", "b"])
Y = np.where(X["b"] > 0, "yes", "no")
CANDIDATES = [{"method": "gd", "steps": [4, 16]}, {"method": "output"}]


def tuner(**more):
    return PrivateTuner(CANDIDATES, **{"schema": SCHEMA, "epsilon": 4, "trials": 30} | more)


def test_the_best_is_kept_and_travels(tmp_path):
    fitted = tuner().fit(X, Y)
    assert fitted.certificate_.epsilon == 4 and privet.verify(fitted).valid
    assert fitted.best_index_ in (0, 1, 2) and fitted.best_params_["method"] in ("gd", "output")
    assert fitted.score(X, Y) > 0.8
    path = tmp_path / "best.json"
    fitted.save(path)
    again = privet.load(path)
    assert isinstance(again, PrivateTuner) and (again.predict(X) == fitted.predict(X)).all()
    with pytest.raises(ValueError, match="tuning"):
        fitted.best_estimator_.save(tmp_path / "part.json")
    with pytest.raises(ValueError, match="tuning"):
        privet.verify(fitted.best_estimator_)


def test_arrays_are_taken_in_the_order_of_the_schema():
    fitted = tuner().fit(X.to_numpy(), Y)
    assert fitted.score(X, Y) > 0.8


def test_it_is_an_estimator_and_plans_without_data():
    assert clone(tuner()).get_params()["epsilon"] == 4
    plan = tuner().plan(3000)
    assert len(plan["candidates"]) == 3 and 1.3 < plan["trial_epsilon"] < 4
    assert any("better buy" in note for note in plan["notes"])


@pytest.mark.parametrize(
    ("candidates", "word"),
    [
        ([], "candidates"),
        (["gd"], "accepted is a dict"),
        ([{"method": "gd", "wings": 2}], "wings"),
        ([{"method": "non-private"}], "no noise"),
    ],
)
def test_bad_candidates_are_refused_in_words(candidates, word):
    with pytest.raises(ValueError, match=word):
        PrivateTuner(candidates, schema=SCHEMA, epsilon=1).fit(X, Y)
