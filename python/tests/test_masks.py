"""What is masked, missing or half a character is refused or counts as missing, and is never read or repeated."""

import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from privet import PrivateLinearRegression, PrivateLogisticRegression, Schema, SchemaEncoder, category, number

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning", "ignore::UserWarning")

SCHEMA = Schema(
    {"a": number(0, 1, missing=0.5), "b": category(["x", "y", "0"], missing="category")},
    target="t",
    classes=["0", "1"],
)


def logistic(**more):
    return PrivateLogisticRegression(**({"epsilon": 2.0, "bounds": (-1, 1), "classes": [0, 1]} | more))


def masked(values):
    mask = np.zeros(np.shape(values), dtype=bool)
    mask[0] = True
    return np.ma.MaskedArray(values, mask)


def test_masked_arrays_are_refused_everywhere(table):
    X, y = table
    people = np.arange(len(X))
    ridge = PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(0, 1)).fit(X, y)
    model = logistic().fit(X, y)
    cells = np.array([[0.5, "x"], [0.1, "y"]] * 10, dtype=object)
    by_schema = PrivateLogisticRegression(epsilon=2.0, schema=SCHEMA)
    hidden = sparse.csr_array(X)
    hidden.data = masked(hidden.data)
    grouped = logistic(max_records=1, n_rows=2000)
    for name, call in [
        ("X", lambda: logistic().fit(masked(X), y)),
        ("X", lambda: logistic().fit(list(masked(X)), y)),
        ("X", lambda: logistic().fit(hidden, y)),
        ("X", lambda: model.predict(masked(X))),
        ("X", lambda: model.predict_proba(masked(X))),
        ("X", lambda: model.score(masked(X), y)),
        ("X", lambda: ridge.predict(masked(X))),
        ("X", lambda: by_schema.fit(masked(cells), ["0", "1"] * 10)),
        ("X", lambda: SchemaEncoder(SCHEMA).fit(cells).transform(masked(cells))),
        ("y", lambda: logistic().fit(X, masked(y))),
        ("y", lambda: logistic().fit(X, [np.ma.masked, *y[1:]])),
        ("y", lambda: ridge.fit(X, masked(y))),
        ("y", lambda: by_schema.fit(cells, masked(np.array(["0", "1"] * 10)))),
        ("y", lambda: model.score(X, masked(y))),
        ("y", lambda: ridge.score(X, masked(y))),
        ("groups", lambda: grouped.fit(X, y, groups=masked(people))),
        ("groups", lambda: grouped.fit(X, y, groups=[np.ma.masked, *people[1:]])),
    ]:
        with pytest.raises(ValueError, match=f"{name} is masked, and a mask would be ignored; accepted"):
            call()


def test_masked_cells_among_objects_are_missing(table):
    X, y = table
    cells = np.array([[np.ma.masked, np.ma.masked], [None, None], [0.5, "0"]], dtype=object)
    rows = SchemaEncoder(SCHEMA).fit(cells).transform(cells)
    assert np.array_equal(rows[0], rows[1]) and not np.array_equal(rows[0], rows[2])
    labels = np.array([np.ma.masked, *y[1:]], dtype=object)
    with pytest.raises(ValueError, match="none of the classes"):
        logistic().fit(X, labels)
    people = np.array([np.ma.masked, *range(1, len(X))], dtype=object)
    with pytest.raises(ValueError, match=r'row 0, column "\(not named\)": missing'):
        logistic(max_records=1, n_rows=2000).fit(X, y, groups=people)


def test_a_mask_around_one_cell_hides_it():
    hidden = np.ma.array(0.9, mask=True)
    cells = [[hidden, "x"], [None, "x"], [0.9, "x"], [np.ma.array(0.9, mask=False), "x"]]
    rows = SchemaEncoder(SCHEMA).fit(cells).transform(cells)
    assert np.array_equal(rows[0], rows[1]) and not np.array_equal(rows[0], rows[2])
    assert np.array_equal(rows[2], rows[3])
    for numbers in ([[hidden], [0.5]] * 10, ((hidden,), (0.5,)) * 10, np.array([[hidden], [0.5]] * 10, dtype=object)):
        with pytest.raises(ValueError, match="X is masked, and a mask would be ignored; accepted|missing|NaN"):
            logistic().fit(numbers, [0, 1] * 10)


NOTHING = [
    pd.Series([None, *([0, 1] * 10)], dtype="Int64"),
    pd.Series([None, *([0, 1] * 10)], dtype="int64[pyarrow]"),
    pd.Series([None, *([0, 1] * 10)], dtype="Float64"),
    pd.Series([None, *([0, 1] * 10)], dtype=object),
    pl.Series([None, *([0, 1] * 10)]),
    pa.chunked_array([pa.array([None, *([0, 1] * 10)])]),
]


@pytest.mark.parametrize("column", NOTHING, ids=lambda column: f"{type(column).__module__} {getattr(column, 'dtype', '')}")
def test_missing_entries_of_frames_and_labels_are_refused(column):
    X, y = np.linspace(-1, 1, 21)[:, None], [0, *([0, 1] * 10)]
    with pytest.raises(ValueError, match="none of the classes|NaN|missing|Unknown label"):
        logistic().fit(X, column)
    with pytest.raises(ValueError, match="NaN|missing|not a number"):
        PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(0, 1)).fit(X, column)
    frame = pa.table({"a": column}) if isinstance(column, pa.ChunkedArray) else column.to_frame(name="a")
    with pytest.raises(ValueError, match="NaN|missing|not a number"):
        logistic().fit(frame, y)
    strict = Schema({"a": number(0, 1)}, target="t", classes=["0", "1"])
    with pytest.raises(ValueError, match='row 0, column "a": missing|row 0, column "a": NaN'):
        PrivateLogisticRegression(epsilon=2.0, schema=strict).fit(frame, y)


@pytest.mark.parametrize("text", ["\ud800", "hush\udcff"])
def test_halves_of_characters_are_refused_and_not_repeated(table, text):
    X, y = table
    cells = [[0.5, text], [0.1, "y"]] * 10
    by_schema = PrivateLogisticRegression(epsilon=2.0, schema=SCHEMA)
    frame = pd.DataFrame(cells, columns=["a", "b"], dtype=object)
    labels = ["0", "1"] * 10
    spoiled = [text, *(["0", "1"] * 1000)[1:]]
    for call in (
        lambda: by_schema.fit(cells, labels),
        lambda: by_schema.fit(np.array(cells, dtype=object), labels),
        lambda: by_schema.fit(frame, labels),
        lambda: by_schema.fit(frame.assign(a=pd.Series([text] * 20, dtype=object)), labels),
        lambda: SchemaEncoder(SCHEMA).fit(cells).transform(cells),
        lambda: logistic().fit([[text, 0.5, 0.5]] * 20, y[:20]),
        lambda: logistic().fit(X, spoiled),
        lambda: logistic(classes=None).fit(X, spoiled),
        lambda: logistic(classes=None).fit(X, np.array(spoiled, dtype=object)),
        lambda: by_schema.fit([[0.5, "x"]] * 2000, spoiled),
        lambda: PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(0, 1)).fit(X, spoiled),
        lambda: SCHEMA._checked.encode([("b", "text", np.zeros(1, dtype=np.int64), [text])]),
    ):
        with pytest.raises(ValueError) as refused:
            call()
        shown = "".join(traceback.format_exception_only(refused.value))
        assert not isinstance(refused.value, UnicodeError), shown
        assert "ud800" not in shown and "udcff" not in shown and "hush" not in shown, shown
        assert refused.value.__cause__ is None and refused.value.__context__ is None
