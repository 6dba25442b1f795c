"""Refusals of what has no policy for bad records: typed, and without the cell."""

import traceback

import numpy as np
import pandas as pd
import pytest

from privet import (
    Bounded,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateOnlineClassifier,
    PrivateRecommender,
    PrivateTuner,
    PrivateVote,
    Schema,
    category,
    evaluate,
    number,
)

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning", "ignore::UserWarning")

SECRET = "secret 4271828"


class Telling:
    """Whose every word is the cell."""

    def _tell(self, *rest):
        raise ValueError(SECRET)

    __float__ = __str__ = __len__ = __iter__ = __eq__ = __array__ = __int__ = _tell
    __hash__ = None


SCHEMA = Schema({"a": number(0, 1), "b": category(["x", "y"])}, target="y", classes=["0", "1"])
BAD = [SECRET, [SECRET], {"a": SECRET}, Telling(), b"secret 4271828", np.array([4271828.0, 1.0]), 4271828 * 10**400]


def of_numbers(cell):
    return [[0.5, 0.5], [cell, 0.25]] * 10


@pytest.mark.parametrize("cell", BAD, ids=range(len(BAD)))
def test_a_refusal_repeats_no_cell(cell):
    X, y = np.linspace(-1, 1, 40).reshape(20, 2), [0, 1] * 10
    bounded = {"epsilon": 5, "bounds": (-1, 1)}
    model = PrivateLogisticRegression(**bounded, classes=[0, 1]).fit(X, y)
    frame = pd.DataFrame({name: pd.Series([row[place] for row in of_numbers(cell)], dtype=object) for place, name in enumerate("ab")})
    vote = PrivateVote("tree", **bounded, classes=[0, 1], n_teachers=4)
    online = PrivateOnlineClassifier(epsilon=1, horizon=40, bounds=(-1, 1), features=X.shape[1], classes=[0, 1]).partial_fit(X, y)
    tuner = PrivateTuner([{"method": "gd", "steps": [5]}], schema=SCHEMA, epsilon=1)
    texts = [[0.5, "x"], [0.25, "y"]] * 10
    labels = [cell, *y[1:]]
    for call in (
        lambda: PrivateLogisticRegression(**bounded, classes=[0, 1]).fit(of_numbers(cell), y),
        lambda: PrivateLogisticRegression(**bounded, classes=[0, 1]).fit(frame, y),
        lambda: PrivateLogisticRegression(**bounded, classes=[0, 1]).fit(X, labels),
        lambda: PrivateLinearRegression(**bounded, target_bounds=(0, 1)).fit(X, labels),
        lambda: PrivateLogisticRegression(epsilon=1, schema=SCHEMA).fit([[cell, "x"], *texts[1:]], y),
        lambda: PrivateLogisticRegression(epsilon=1, schema=SCHEMA).fit(texts, labels),
        lambda: PrivateLogisticRegression(**bounded, classes=[0, 1], max_records=1, n_rows=20).fit(X, y, groups=[{1: cell}] * 20),
        lambda: model.predict(of_numbers(cell)),
        lambda: model.predict(frame),
        lambda: evaluate(model, X, labels, epsilon=1),
        lambda: evaluate(model, of_numbers(cell), y, epsilon=1),
        lambda: Bounded((-1, 1)).fit(of_numbers(cell)),
        lambda: Bounded((-1, 1)).fit(X).transform(of_numbers(cell)),
        lambda: vote.fit(X, y, public=of_numbers(cell)),
        lambda: vote.fit(X, labels, public=X),
        lambda: vote.fit(X, y, public=X).predict(of_numbers(cell)),
        lambda: tuner.fit([[cell, "x"], *texts[1:]], y),
        lambda: online.score(X, [[cell]] * 3),
        lambda: PrivateRecommender(1, items=["x"], n_users=5).fit([(1, "x", {1: cell})]),
        lambda: PrivateRecommender(1, items=["x"], n_users=5).fit([({1: cell}, "x", 1)]),
    ):
        with pytest.raises(ValueError) as refused:
            call()
        shown = "".join(traceback.format_exception_only(refused.value))
        assert "4271828" not in shown and "secret" not in shown
        assert refused.value.__cause__ is None and refused.value.__context__ is None
