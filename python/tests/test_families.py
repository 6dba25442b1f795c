"""One `Plan` and one `Released` for every family, and what a family has with nothing written for it."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privet
from privet import Schema, _privet, number, release

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")

OLD = pickle.loads(Path(__file__).with_name("pickled_by_0_2_1.pickle").read_bytes())
SCHEMA = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="y", classes=["0", "1"])
rng = np.random.default_rng(0)
TABLE = pd.DataFrame(rng.uniform(-1, 1, (2000, 2)), columns=["a", "b"])
TABLE["y"] = np.where(TABLE["a"] > 0, "1", "0")
PLAIN = {
    "count": {"by": "y"},
    "describe": {"columns": ["a", "y"], "bins": 4, "correlations": False},
    "select": {"size": 1, "method": {"name": "correlation"}},
}


@pytest.mark.parametrize("name", OLD)
def test_what_0_2_1_pickled_is_read(name):
    given = OLD[name]
    assert privet.verify(given).epsilon is None  # made from a seed
    if hasattr(given, "predict") and name not in ("recommender", "vote"):
        assert len(given.predict(TABLE[["a", "b"]] if name == "tuner" else TABLE[["a", "b"]].to_numpy())) == 2000
    again = pickle.loads(pickle.dumps(given))
    assert type(again) is type(given) and privet.verify(again).epsilon is None


@pytest.mark.parametrize("task", PLAIN)
def test_a_family_is_released_by_its_word(task, tmp_path):
    found = release(task, TABLE, schema=SCHEMA, epsilon=2, **PLAIN[task])
    assert found.task == task and found.certificate.epsilon == pytest.approx(2, rel=1e-6)
    assert len(found.numbers) and np.isfinite(found.numbers).all() and found.document["kind"]
    assert "-differential privacy" in str(found).splitlines()[1]
    found.save(tmp_path / "found.json")
    assert privet.verify(tmp_path / "found.json") and privet.verify(found)
    again = pickle.loads(pickle.dumps(found))
    assert (again.numbers == found.numbers).all()
    assert _privet.load(tmp_path / "found.json").task == task


def test_plans_of_any_family_say_the_same_things():
    head = {"schema": SCHEMA.to_dict(), "rows": 1000, "neighbours": "replace-one"}
    head["budget"] = {"epsilon": 1.0, "delta": 1e-6}
    common = {"task", "method", "rows", "neighbours", "unit", "whose", "guarantee", "arithmetic"}
    common |= {"settings", "events", "notes"}
    for task, words in PLAIN.items():
        plan = _privet.Plan.of(json.dumps(head | {"task": task} | words))
        facts = json.loads(plan.to_json())
        assert plan.task == facts["task"] == task and common <= set(facts)
        assert facts["guarantee"]["epsilon"] <= 1.0
    for wrong, words in {"cannot be read": {"task": "select"}, "not known; accepted: erm": {"task": "guess"}}.items():
        with pytest.raises(ValueError, match=wrong):
            _privet.Plan.of(json.dumps(head | words))
    with pytest.raises(ValueError, match="field that is not known: sizes|unknown field `sizes`"):
        _privet.Plan.of(json.dumps(head | {"task": "select"} | PLAIN["select"] | {"sizes": 1}))


def test_what_a_family_does_not_have_is_refused():
    counts = privet.count(TABLE, "y", schema=SCHEMA, epsilon=2)._release
    for refused, accepted in {"weights": "a linear model", "summary": "a description", "model": "a tuning"}.items():
        with pytest.raises(ValueError, match=f"family 'count'; {accepted} is accepted"):
            getattr(counts, refused)()
    with pytest.raises(ValueError, match="chosen columns"):
        counts.columns
