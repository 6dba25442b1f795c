"""Bad input: refused with words that say what would be accepted, and never with a panic."""

import traceback

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import privet
from privet import PrivateLinearRegression, PrivateLogisticRegression, Schema, number


def logistic(**more):
    return PrivateLogisticRegression(**({"epsilon": 2.0, "bounds": (-1, 1), "classes": [0, 1]} | more))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epsilon": -1}, "-1 is not accepted for epsilon: a finite number of at least 1e-9"),
        ({"epsilon": 0}, "not accepted for epsilon"),
        ({"epsilon": float("nan")}, "not accepted for epsilon"),
        ({"epsilon": "much"}, "epsilon is 'much'; a number is accepted"),
        ({"delta": 1.5}, "not accepted for delta"),
        ({"method": "magic"}, "'magic' is not a method; accepted: auto"),
        ({"neighbours": "cousins"}, "'cousins' is not a neighbour relation"),
        ({"calibration": "loose"}, "'loose' is not a calibration"),
        ({"bounds": (1, -1)}, "low that is not below its high"),
        ({"bounds": (0, 1, 2)}, "bounds are not \\(low, high\\)"),
        ({"bounds": ([0, 0], [1, 1])}, "not \\(low, high\\) for 3 features"),
        ({"bounds": None, "data_norm": -2}, "data_norm is -2.0; a finite number above 0"),
        ({"bounds": (float("-inf"), 1)}, "bounds have a low.*or are not finite"),
        ({"n_rows": 2.5}, "n_rows is 2.5; a whole number"),
        ({"n_rows": float("inf")}, "n_rows is inf; a whole number"),
        ({"n_rows": "many"}, "n_rows is 'many'; a whole number"),
        ({"settings": {"nonsense": 1}}, "'nonsense' is not a setting"),
        ({"bounds": None, "schema": 7}, "schema is a int; accepted are"),
    ],
)
def test_parameters(table, parameters, words):
    X, y = table
    with pytest.raises((ValueError, TypeError), match=words):
        logistic(**parameters).fit(X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_no_numbers(table, bad):
    X, y = table
    broken = X.copy()
    broken[1234, 2] = bad
    with pytest.raises(ValueError, match="row 1234, column 2: NaN or infinite"):
        logistic().fit(broken, y)
    with pytest.raises(ValueError, match="row 1234, column 2: NaN or infinite"):
        logistic().fit(sparse.csr_array(broken), y)
    model = logistic().fit(X, y)
    with pytest.raises(ValueError, match="NaN or infinite"):
        model.predict(broken)
    with pytest.raises(ValueError, match="NaN|infinity"):
        PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(0, 1)).fit(X, broken[:, 2])


def test_shapes(table):
    X, y = table
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        logistic().fit(X, y[:-1])
    with pytest.raises(ValueError, match="2D array"):
        logistic().fit(X[:, 0], y)
    with pytest.raises(ValueError, match="0 sample"):
        logistic().fit(X[:0], y[:0])
    model = logistic().fit(X, y)
    with pytest.raises(ValueError, match="2 features, but PrivateLogisticRegression is expecting 3"):
        model.predict(X[:, :2])


def test_texts_where_numbers_belong(table):
    X, y = table
    with pytest.raises(ValueError, match="has an entry that is not a number"):
        logistic().fit([["a", "b", "c"]] * 10, y[:10])


def test_refusals_do_not_repeat_values(table):
    X, y = table
    model = logistic().fit(X, y)
    ridge = PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(0, 1)).fit(X, y)
    secret, marked = 0.4271828, X.copy()
    marked[0, 0] = secret
    frame = pd.DataFrame(marked, columns=["a", "b", "c"]).astype(object)
    frame.loc[0, "a"] = "secret 4271828"
    texts = ["secret 4271828"] + ["0"] * (len(y) - 1)
    for call in (
        lambda: logistic().fit(marked[:, 0], y),
        lambda: logistic().fit(secret, y),
        lambda: logistic().fit(marked * 1j, y),
        lambda: logistic().fit(X, marked[:, 0] * 1j),
        lambda: logistic().fit(frame, y),
        lambda: logistic().fit(X, texts),
        lambda: ridge.fit(X, texts),
        lambda: ridge.fit(X, np.array(texts, dtype=object)),
        lambda: ridge.fit(X, marked[:, 0] * 1j),
        lambda: ridge.score(X, texts),
        lambda: model.score(X, texts),
        lambda: model.score(X, np.array(texts, dtype=object)),
        lambda: model.predict(marked[0]),
        lambda: model.predict(marked * 1j),
        lambda: model.predict(frame.to_numpy()),
        lambda: privet.audit.membership(ridge, X, texts),
    ):
        with pytest.raises((ValueError, TypeError)) as refused:
            call()
        shown = "".join(traceback.format_exception_only(refused.value))
        assert "4271828" not in shown and "e-0" not in shown
        assert refused.value.__cause__ is None and refused.value.__context__ is None


def test_labels(table):
    X, y = table
    with pytest.raises(ValueError, match="label that is none of the classes; accepted are 0, 1"):
        logistic().fit(X, y + 1)
    with pytest.raises(ValueError, match="1 class only"):
        logistic(classes=None).fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="Unknown label type"):
        logistic(classes=None).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="requires y to be passed"):
        logistic().fit(X, None)
    # The refusal does not repeat what a label holds.
    with pytest.raises(ValueError) as refused:
        logistic().fit(X, np.where(y == 0, "0", "secret"))
    assert "secret" not in str(refused.value)


def test_not_fitted(table, tmp_path):
    from sklearn.exceptions import NotFittedError

    for call in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(logistic(), call)(table[0])
    with pytest.raises(NotFittedError):
        logistic().save(tmp_path / "x")
    with pytest.raises(NotFittedError):
        privet.verify(logistic())


def test_files(tmp_path):
    with pytest.raises(OSError, match="missing.json"):
        privet.load(tmp_path / "missing.json")
    (tmp_path / "odd.json").write_text("{}")
    with pytest.raises(ValueError, match="not a privet model"):
        privet.load(tmp_path / "odd.json")
    with pytest.raises(ValueError, match="not a privet model"):
        privet.verify(tmp_path / "odd.json")


def test_sparse_rows_out_of_order_are_put_in_order(table):
    X, y = table
    rows = sparse.csr_array(X)
    shuffled = sparse.csr_array(
        (
            rows.data.reshape(-1, 3)[:, ::-1].ravel(),
            rows.indices.reshape(-1, 3)[:, ::-1].ravel(),
            rows.indptr,
        ),
        shape=X.shape,
    )
    with pytest.warns(privet.NotPrivateWarning):
        a = logistic(random_state=1).fit(rows, y)
        b = logistic(random_state=1).fit(shuffled, y)
    assert np.array_equal(a.coef_, b.coef_)
    with pytest.raises(ValueError, match="sparse X are not two numbers"):
        logistic(bounds=([-1] * 3, [1] * 3)).fit(rows, y)


SIZES = {
    "n_features": [
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, 2**31),
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, 2**62),
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, 2**20 + 1),
        lambda: PrivateLinearRegression(epsilon=1, bounds=(0, 1), target_bounds=(0, 1)).plan(100, 2**31),
        lambda: privet.PrivateFeatureSelector(epsilon=1, size=3, bounds=(0, 1)).plan(100, 2**31),
        lambda: privet.PrivateNetworkClassifier(epsilon=1, delta=1e-5, bounds=(0, 1)).plan(100, 2**31),
        lambda: privet.PrivateVote("tree", epsilon=1, bounds=(0, 1)).plan(100, 2**31),
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, 0),
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, -3),
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, 1.5),
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, "3"),
    ],
    "features": [
        lambda: wide(2**31 - 1).fit(),
        lambda: wide(2**40).fit(),
        lambda: wide(2**31 - 1, max_records=1, n_rows=20).fit(groups=np.arange(20)),
        lambda: privet.PrivateOnlineClassifier(1, horizon=9, bounds=(0, 1), classes=[0, 1], features=2**31).partial_fit([], []),
    ],
    "classes": [
        lambda: PrivateLogisticRegression(epsilon=1, bounds=(0, 1), classes=range(2**40)).plan(100, 3),
        lambda: privet.PrivateOnlineClassifier(1, horizon=9, bounds=(0, 1), features=1, classes=range(2**40)).partial_fit(np.ones((2, 1)), [1, 0]),
        lambda: Schema({"a": number(0, 1)}, target="y", classes=range(2**40)),
    ],
    "categories": [lambda: Schema({"a": privet.category(range(2**40))}, target="y", classes=["0", "1"])],
    "items": [lambda: privet.PrivateRecommender(1, items=range(2**40), n_users=9).fit([])],
    "size": [lambda: privet.PrivateFeatureSelector(epsilon=1, size=2**40, bounds=(0, 1)).plan(100, 3)],
    "n_teachers": [lambda: privet.PrivateVote("tree", epsilon=1, n_teachers=2**40, bounds=(0, 1)).plan(100, 3)],
    "choose": [lambda: privet.PrivateVote("tree", epsilon=1, ask=5, choose=2**40, bounds=(0, 1)).plan(100, 3)],
    "max_ratings": [lambda: privet.PrivateRecommender(1, items=range(4), n_users=9, max_ratings=2**40).fit([])],
    "batch": [lambda: privet.PrivateOnlineClassifier(1, horizon=9, bounds=(0, 1), classes=[0, 1], features=1, batch=2**40).partial_fit(np.ones((2, 1)), [1, 0])],
    "count": [lambda: 2**40 * privet.account.gaussian(1.0, 1e9)],
    "max_records": [lambda: privet.account.gaussian(1.0, 1e9, max_records=2**40)],
}


class wide:
    """A sparse table of very many columns, and what is to be fitted on it."""

    def __init__(self, columns, **given):
        ones, places = np.ones(20), (np.arange(20), np.zeros(20, dtype=int))
        self.X = sparse.csr_array((ones, places), shape=(20, columns))
        self.model = PrivateLogisticRegression(epsilon=1, data_norm=1, classes=[0, 1], **given)

    def fit(self, **given):
        self.model.fit(self.X, np.arange(20) % 2, **given)


@pytest.mark.parametrize("name", SIZES)
def test_a_size_beyond_all_memory_is_refused_by_name(name):
    """Before anything of that size is made: what lets the limit go needs gigabytes, and ends in no ValueError."""
    for call in SIZES[name]:
        with pytest.raises(ValueError, match=rf"\b{name}\b.*accepted"):
            call()


def test_the_limits_are_those_that_are_said():
    assert PrivateLogisticRegression(epsilon=1, bounds=(0, 1)).plan(100, 5000).columns > 5000
    assert wide(2**22).fit() is None


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning", "ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("form", ["array", "objects", "lists", "frame"])
def test_labels_in_one_column_are_labels(form, table):
    X, y = table
    X, y = X[:300], y[:300]
    column = {
        "array": y[:, None],
        "objects": y.astype(object)[:, None],
        "lists": [[label] for label in y.tolist()],
        "frame": pd.DataFrame({"y": y}),
    }[form]
    given = {"epsilon": 5, "bounds": (-1, 1), "classes": [0, 1]}
    names = {name: number(-1, 1) for name in "abc"}
    fixed = {"random_state": 3, "method": "gd"}
    expected = PrivateLogisticRegression(**given, **fixed).fit(X, y)
    assert np.array_equal(PrivateLogisticRegression(**given, **fixed).fit(X, column).coef_, expected.coef_)
    assert expected.score(X, column) == expected.score(X, y)
    assert privet.evaluate(expected, X, column).accuracy == privet.evaluate(expected, X, y).accuracy
    stream = [privet.PrivateOnlineClassifier(1, horizon=300, random_state=3, bounds=(-1, 1), features=3, classes=[0, 1]) for _ in range(2)]
    assert np.array_equal(stream[0].partial_fit(X, column).weights_, stream[1].partial_fit(X, y).weights_)
    for invalid in ("refuse", "drop"):
        schema = Schema(names, target="y", classes=["0", "1"], invalid=invalid)
        tuned = [
            privet.PrivateTuner([{"method": "gd", "steps": [5]}], schema=schema, epsilon=3, trials=50, random_state=3).fit(X, labels)
            for labels in (column, y)
        ]
        assert np.array_equal(tuned[0].best_estimator_.coef_, tuned[1].best_estimator_.coef_)
        fitted = [PrivateLogisticRegression(epsilon=3, schema=schema, **fixed).fit(X, labels) for labels in (column, y)]
        assert np.array_equal(fitted[0].coef_, fitted[1].coef_)
    with pytest.raises(ValueError, match="y has 2 dimensions"):
        expected.score(X, np.c_[y, y])
