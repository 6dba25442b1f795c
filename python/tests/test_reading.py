"""What a row becomes follows from that row alone, however the table lies in memory."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from privet import (
    PrivateLogisticRegression,
    PrivateRidge,
    Schema,
    SchemaEncoder,
    _privet,
    _tables,
    audit,
    binary,
    category,
    noise,
    number,
)

pytestmark = pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning", "ignore::UserWarning")


def logistic(**more):
    settings = {"epsilon": 2.0, "bounds": (-1, 1), "classes": [0, 1], "random_state": 1}
    return PrivateLogisticRegression(**(settings | more))


def packed(X, *, before="i4", kind="f8"):
    """The table as a field of records with something odd in front of it."""
    records = np.zeros(len(X), dtype=[("id", before), ("x", kind, X.shape[1:])])
    records["x"] = X
    return records["x"]


@pytest.mark.parametrize("before", ["i4", "u1"])
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_fields_of_packed_records_are_read_where_they_lie(table, before, kind):
    X, y = table
    X = X.astype(kind)
    odd = packed(X, before=before, kind=kind)
    assert not odd.flags.aligned or odd.strides[0] % odd.itemsize or before == "i4"
    expected, model = logistic().fit(X, y), logistic().fit(odd, y)
    assert np.array_equal(model.coef_, expected.coef_)
    assert np.array_equal(model.decision_function(odd), expected.decision_function(X))
    assert model.score(packed(X[:1], before=before, kind=kind), y[:1]) in (0.0, 1.0)


def test_labels_and_groups_in_packed_records(numbers):
    X, y = numbers
    people = np.arange(len(X)) // 2
    settings = {"epsilon": 1, "bounds": (-1, 1), "target_bounds": (-5, 5), "random_state": 1}
    grouped = PrivateRidge(**settings, max_records=2, n_rows=2000)
    expected = grouped.fit(X, y, groups=people).coef_
    for before in ("i4", "u1"):
        odd = grouped.fit(X, packed(y, before=before), groups=packed(people, before=before, kind="i8"))
        assert np.array_equal(odd.coef_, expected)


def test_the_extension_itself_refuses_odd_steps():
    schema = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="t", classes=[0, 1])
    X = np.linspace(-1, 1, 20).reshape(10, 2)
    assert schema._checked.encode(X).shape == (10, 3)
    for before in ("i4", "u1"):
        with pytest.raises(ValueError, match="not in steps of their own length, or not aligned"):
            schema._checked.encode(packed(X, before=before))
        column = packed(X[:, 0], before=before)
        with pytest.raises(ValueError, match="not in steps of their own length, or not aligned"):
            schema._checked.encode([("a", "number", column, None), ("b", "number", column, None)])
    data = np.zeros(20 * 8 + 1, dtype="u1")[1:].view("f8")
    rows = sparse.csr_array(np.ones((10, 2)))
    parts = (data, rows.indices, rows.indptr, 2)
    with pytest.raises(ValueError, match="not aligned"):
        schema._checked.encode(parts)
    assert schema._checked.encode(tuple(map(_tables.readable, parts[:3])) + (2,)).shape == (10, 3)


@pytest.mark.parametrize("starts", [[0, 30, 4, 6], [0, 4, 2, 6], [-1, 2, 4, 6], [0, 2, 4, 60]])
def test_sparse_rows_that_overlap_are_refused(starts):
    schema = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="t", classes=[0, 1])
    parts = (np.ones(6), np.array([0, 1] * 3, dtype=np.int32), np.array(starts, dtype=np.int32), 2)
    with pytest.raises(ValueError, match="overlap or reach beyond"):
        schema._checked.encode(parts)


FLAGS = Schema({"a": category(["True", "False", "1", "0"], unknown="other")}, target="t", classes=["0", "1"])


def test_one_row_cannot_change_how_others_are_encoded():
    encode = SchemaEncoder(FLAGS).fit(pd.DataFrame({"a": ["1"]})).transform
    for cells in ([True, False, True], [1, 0], [1.0, 0.0], ["1", True, 1]):
        alone = encode([[cell] for cell in cells])
        for more in (2, 2.5, "x", 2**70, True):
            for table in ([[c] for c in [*cells, more]], np.array([[c] for c in [*cells, more]], dtype=object)):
                assert np.array_equal(encode(table)[: len(cells)], alone), (cells, more)
            # And not by coming first.
            assert np.array_equal(encode([[more], *([c] for c in cells)])[1:], alone), (cells, more)


def test_arrays_after_a_frame_are_read_in_the_schemas_order():
    """Whose order a frame has is not said: of one that is made of records it is that of the first one's keys."""
    names = ["a", "b", "c"]
    plain = Schema({name: number(-1, 1) for name in names}, target="t", classes=[0, 1])
    mixed = Schema(
        {"a": number(-1, 1), "b": number(-1, 1), "c": category(["0", "1"], unknown="other")},
        target="t",
        classes=[0, 1],
    )
    rng = np.random.default_rng(1)
    for schema in (plain, mixed):
        frame = pd.DataFrame(rng.uniform(-1, 1, (300, 3)), columns=names)
        frame["c"] = (frame["c"] > 0).astype(int)
        y = (frame["a"] > 0).astype(int)
        turned = frame[["c", "b", "a"]]
        model = PrivateLogisticRegression(epsilon=8, schema=schema, random_state=1).fit(turned, y)
        expected = model.decision_function(frame)
        assert np.array_equal(model.decision_function(turned), expected)
        assert np.array_equal(model.decision_function(frame.to_numpy()), expected)
        if schema is plain:
            assert np.array_equal(model.decision_function(sparse.csr_array(frame.to_numpy())), expected)
        encoder = SchemaEncoder(schema).fit(turned)
        assert np.array_equal(encoder.transform(frame.to_numpy(dtype=object)), encoder.transform(frame))


def test_blanks_around_cells_and_names_do_not_count():
    schema = Schema({"a": number(0, 1), "b": category(["x", "y"])}, target="t", classes=["0", "1"])
    tidy = pd.DataFrame({"a": [0.5, 1.0], "b": ["x", "y"]})
    loose = pd.read_csv(io.StringIO("a, b\n0.5, x\n1.0,y \n"))
    assert list(loose["b" if "b" in loose else " b"]) == [" x", "y "]
    encoder = SchemaEncoder(schema).fit(tidy)
    assert np.array_equal(encoder.transform(loose), encoder.transform(tidy))
    exact = Schema.from_dict(schema.to_dict() | {"file": {"trim": False}})
    with pytest.raises(ValueError, match="schema does not list|not in the schema|missing"):
        SchemaEncoder(exact).fit_transform(loose)


@pytest.mark.parametrize("spelling", [("false", "true"), ("False", "True"), ("0", "1"), ("FALSE", "TRUE")])
def test_booleans_are_written_as_the_schema_writes_them(spelling):
    truths = [True, False, True]
    texts = [spelling[truth] for truth in truths]
    for column in (binary(*spelling), category(spelling)):
        encoder = SchemaEncoder(Schema({"a": column}, target="t", classes=["0", "1"])).fit([["x"]])
        expected = encoder.transform(pd.DataFrame({"a": texts}))
        for same in (
            pd.DataFrame({"a": truths}),
            pl.DataFrame({"a": truths}),
            pd.DataFrame({"a": truths}, dtype=object),
            np.array(truths)[:, None],
            [[truth] for truth in truths],
        ):
            assert np.array_equal(encoder.transform(same), expected)
    numbers = SchemaEncoder(Schema({"a": number(0, 1)}, target="t", classes=["0", "1"])).fit([["x"]])
    assert np.array_equal(numbers.transform(pd.DataFrame({"a": truths})), numbers.transform([[1], [0], [1]]))


def test_whole_numbers_beyond_63_bits_do_not_wrap():
    schema = Schema({"a": number(0, 2.0**64)}, target="t", classes=["0", "1"])
    encoder = SchemaEncoder(schema).fit([["x"]])
    values = np.array([2**63 + 2**62, 2**63, 5], dtype=np.uint64)
    expected = encoder.transform(values.astype(float)[:, None])
    frames = (pd.DataFrame({"a": values}), pl.DataFrame({"a": values}), values[:, None])
    assert all(np.array_equal(encoder.transform(same), expected) for same in frames)


def test_names_that_occur_twice(table):
    X, y = table
    frame = pd.DataFrame(X, columns=["a", "b", "a"])
    schema = Schema({"a": number(-1, 1), "b": number(-1, 1)}, target="t", classes=[0, 1])
    with pytest.raises(ValueError, match="'a' (2 times|occurs more than once)"):
        PrivateLogisticRegression(epsilon=1, schema=schema).fit(frame, y)
    with pytest.raises(ValueError, match="'a' (2 times|occurs more than once)"):
        logistic().fit(frame, y)
    frame.columns = [1, "1", "b"]
    with pytest.raises(ValueError, match="column '1' occurs more than once"):
        _tables.frame_columns(frame, ["1", "b"])


def test_counts_and_numbers_that_are_none(table):
    X, y = table
    for bad in (float("inf"), float("nan"), "many", -1, 10**30):
        with pytest.raises(ValueError, match="n_rows is .*; a whole number from 1 is accepted"):
            logistic(n_rows=bad).fit(X, y)
    with pytest.raises(ValueError, match="runs is -1"):
        audit.learner("output", epsilon=1.0, runs=-1)
    with pytest.raises(ValueError, match="canaries is 0"):
        audit.one_run("output", epsilon=1.0, canaries=0)
    with pytest.raises(ValueError, match="finite numbers are accepted"):
        Schema({"a": number(0, float("inf"))}, target="t", classes=[0, 1])
    with pytest.raises(ValueError) as refused:
        Schema({"a": number(0, 1)}, target="t", classes=[0, 1], unit="who", max_records=-2)
    assert "line 1" not in str(refused.value)
    with pytest.raises(ValueError):
        Schema({"a": number(0, 1)}, target="t", classes=[0, 1], unit="who", max_records=0)


def test_more_noise_than_memory():
    for draw in (noise.gaussian, noise.discrete_gaussian, noise.discrete_laplace, noise.l2_laplace):
        with pytest.raises(MemoryError, match="fewer are accepted"):
            draw(1.0, 10**15)
    with pytest.raises(ValueError, match="2\\*\\*63 or more"):
        noise.exponential_choice(np.array([2**63, 1], dtype=np.uint64), 1.0)
