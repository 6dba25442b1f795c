"""One `Plan` and one `Released` for every family, and what a family has with nothing written for it."""

import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import privet
from privet import Schema, _privet, families, number

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")

OLD = pickle.loads(Path(__file__).with_name("pickled_by_0_2_1.pickle").read_bytes())
SCHEMA = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="y", classes=["0", "1"])
rng = np.random.default_rng(0)
TABLE = pd.DataFrame(rng.uniform(-1, 1, (2000, 2)), columns=["a", "b"])
TABLE["y"] = np.where(TABLE["a"] > 0, "1", "0")
WORDS = {
    "describe": {"columns": ["a", "y"], "bins": 4, "correlations": False},
    "select": {"size": 1, "method": "exponential"},
}
DECLARED = {family["verb"]: family for family in json.loads(_privet.offered())}


@pytest.mark.parametrize("name", OLD)
def test_what_0_2_1_pickled_is_read(name):
    given = OLD[name]
    assert privet.verify(given).epsilon is None  # made from a seed
    if hasattr(given, "predict") and name not in ("recommender", "vote"):
        assert len(given.predict(TABLE[["a", "b"]] if name == "tuner" else TABLE[["a", "b"]].to_numpy())) == 2000
    again = pickle.loads(pickle.dumps(given))
    assert type(again) is type(given) and privet.verify(again).epsilon is None


def test_every_family_that_is_offered_has_a_class():
    assert set(families.__all__) == {f"Private{verb.title()}" for verb in DECLARED} and set(WORDS) == set(DECLARED)
    for verb, declared in DECLARED.items():
        made = getattr(families, f"Private{verb.title()}")
        names = list(inspect.signature(made).parameters)
        assert names[0] == "epsilon" and {word["name"] for word in declared["words"]} <= set(names)
        assert declared["about"] in made.__doc__ and all(f"\n{name} : " in made.__doc__ for name in names)


@pytest.mark.parametrize("verb", WORDS)
def test_the_class_of_a_family_releases(verb, tmp_path):
    kind = getattr(families, f"Private{verb.title()}")
    made = kind(2, schema=SCHEMA, **WORDS[verb])
    assert clone(made).get_params() == made.get_params() and repr(made).startswith(kind.__name__)
    plan = made.plan(n_rows=2000)
    common = {"task", "method", "rows", "neighbours", "unit", "whose", "guarantee", "arithmetic"}
    assert common | {"settings", "events", "notes"} <= set(plan) and plan["guarantee"]["epsilon"] <= 2
    found = made.fit(TABLE).released_
    assert found.task == DECLARED[verb]["task"] and found.certificate.epsilon == pytest.approx(2, rel=1e-6)
    assert len(found.numbers) and np.isfinite(found.numbers).all() and found.document["kind"]
    assert "(epsilon = 2" in str(found).splitlines()[0] and len(str(found).splitlines()) > 2
    made.save(tmp_path / "found.json")
    assert privet.verify(tmp_path / "found.json") and privet.verify(found) and privet.verify(made)
    again = pickle.loads(pickle.dumps(made))
    assert (again.released_.numbers == found.numbers).all()
    assert _privet.load(tmp_path / "found.json").task == found.task


def test_words_that_are_not_accepted_are_refused():
    for words, why in (
        ({}, "size is missing"),
        ({"size": 0}, "'0' is not accepted|size"),
        ({"size": 1, "method": "guess"}, "'guess' is not a method of select; accepted: correlation"),
        ({"size": 1, "settings": {"guess": 1}}, "guess"),
    ):
        with pytest.raises(ValueError, match=why):
            families.PrivateSelect(1, schema=SCHEMA, **words).plan(1000)
    with pytest.raises(ValueError, match="epsilon is missing"):
        families.PrivateSelect(schema=SCHEMA, size=1).plan(1000)


def test_requests_of_any_family_are_planned():
    head = {"schema": SCHEMA.to_dict(), "rows": 1000, "neighbours": "replace-one"}
    head["budget"] = {"epsilon": 1.0, "delta": 1e-6}
    select = {"task": "select", "size": 1, "method": {"name": "correlation"}}
    plan = _privet.Plan.of(json.dumps(head | select))
    assert plan.task == json.loads(plan.to_json())["task"] == "select"
    for wrong, words in {"cannot be read": {"task": "select"}, "not known; accepted: erm": {"task": "guess"}}.items():
        with pytest.raises(ValueError, match=wrong):
            _privet.Plan.of(json.dumps(head | words))
    with pytest.raises(ValueError, match="field that is not known: sizes|unknown field `sizes`"):
        _privet.Plan.of(json.dumps(head | select | {"sizes": 1}))


def test_what_a_family_does_not_have_is_refused():
    counts = privet.count(TABLE, "y", schema=SCHEMA, epsilon=2)._release
    for refused, accepted in {"weights": "a linear model", "summary": "a description", "model": "a tuning"}.items():
        with pytest.raises(ValueError, match=f"family 'count'; {accepted} is accepted"):
            getattr(counts, refused)()
    with pytest.raises(ValueError, match="chosen columns"):
        counts.columns
