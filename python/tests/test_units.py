"""Whose each row is: people go by their exact digits or texts, in every kind of table."""

import array
import ctypes
import datetime
import decimal
import fractions
import traceback
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet import PrivateLogisticRegression, Schema, _units, category, count, number

pytestmark = pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning", "ignore::UserWarning")

SCHEMA = Schema({"a": number(0, 1)}, target="t", classes=["0", "1"], unit="who", max_records=1)


def fit(groups, *, in_frame=False, **more):
    """A fit with one row of each person; the first column tells rows apart."""
    rows = len(groups)
    features = {"a": np.linspace(0, 1, rows)}
    settings = {"epsilon": 5.0, "schema": SCHEMA, "n_rows": max(rows, 2), "random_state": 1} | more
    model, labels = PrivateLogisticRegression(**settings), np.arange(rows) % 2
    if in_frame:
        named = {**features, "who": groups}
        frame = {"pd": pd.DataFrame, "pl": pl.DataFrame, "pa": pa.table}[in_frame](named)
        return model.fit(frame, labels)
    return model.fit(pd.DataFrame(features), labels, groups=groups)


def same(first, second):
    return np.array_equal(first.coef_, second.coef_) and np.array_equal(first.intercept_, second.intercept_)


class Narrow(pa.ExtensionType):
    """A type of some other library."""

    def __init__(self):
        super().__init__(pa.float32(), "privet.narrow")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


SPELT = ["2", "2.0", "02", "+2", "3", "two", None, "e\u0301", "\u00e9"]


def spelt(spelling, groups, *, in_frame=False, **more):
    """How much of a fit comes of people with these names: as many rows as are used, of at most one each."""
    schema = Schema(
        {"a": number(0, 1)}, target="t", classes=["0", "1"], unit="who", max_records=1, invalid="drop", unit_spelling=spelling
    )
    return fit(groups, in_frame=in_frame, schema=schema, n_rows=9, **more)


@pytest.mark.parametrize("spelling,alike", [
    ("number", [2, 2, 2, 2, 3, None, None, None, None]),
    ("nfc", ["2", "2.0", "02", "+2", "3", "two", None, "\u00e9", "\u00e9"]),
    ("text", ["2", "2.0", "02", "+2", "3", "two", None, "e", "f"]),
])
def test_a_declared_spelling_says_who_is_one_person(spelling, alike):
    """Under any door, rows are those of people whose names are written alike already."""
    plain = spelt("text", alike)
    for groups in (SPELT, tuple(SPELT), np.array(SPELT, dtype=object), pd.Series(SPELT), pl.Series(SPELT), pa.array(SPELT)):
        assert same(spelt(spelling, groups), plain)
    for kind in ("pd", "pl", "pa"):
        assert same(spelt(spelling, SPELT, in_frame=kind), plain)


def test_a_spelling_that_merges_people_is_refused_under_add_remove():
    for spelling in ("number", "nfc"):
        with pytest.raises(ValueError, match="replace-one"):
            spelt(spelling, SPELT, neighbours="add-remove")
    with pytest.raises(ValueError, match="nfc"):
        spelt("NFC", SPELT)
    with pytest.raises(ValueError, match="unit_spelling"):
        Schema({"a": number(0, 1)}, target="t", classes=["0", "1"], unit_spelling="number")


FLOAT32 = np.arange(8, dtype=np.float32) + np.float32(2**24)
LOST = [
    np.arange(8, dtype=np.float32),
    FLOAT32,
    np.arange(8, dtype=np.float16),
    np.arange(8, dtype=np.longdouble),
    np.arange(8) + 1e17,
    np.arange(8) + 0.5,
    np.full(8, np.nan),
    np.full(8, np.inf),
    np.array([2**60, -1, 2**63]),  # which NumPy makes floats of
    [n + 0.5 for n in range(8)],
    [1e17 + n for n in range(8)],
    [float("nan")] * 8,
    [float("inf")] * 8,
    list(FLOAT32),
    pd.Series(FLOAT32),
    pd.Series(FLOAT32, dtype="Float32"),
    pd.Series(FLOAT32, dtype="float32[pyarrow]"),
    pd.Series(pd.Categorical(FLOAT32)),
    pd.Series(FLOAT32, dtype="Sparse[float32]"),
    pd.Series([2**60 + 1, None]),
    pd.array(FLOAT32, dtype="Float32"),
    pl.Series(FLOAT32),
    pl.Series([2.0**60, 1.0]),
    pl.Series([decimal.Decimal("1.5")] * 8),
    pa.chunked_array([pa.array(FLOAT32)]),
    pa.chunked_array([pa.array(FLOAT32).dictionary_encode()]),
    pa.array(FLOAT32),
    pa.chunked_array([pa.RunEndEncodedArray.from_arrays(range(1, 9), pa.array(FLOAT32))]),
    pa.RunEndEncodedArray.from_arrays(range(1, 9), pa.array(FLOAT32)),
    pa.chunked_array([pa.ExtensionArray.from_storage(Narrow(), pa.array(FLOAT32))]),
    pa.ExtensionArray.from_storage(Narrow(), pa.array(FLOAT32)),
    pd.array([*FLOAT32, None], dtype="Float32"),
    array.array("f", FLOAT32),
    memoryview(FLOAT32),
    (ctypes.c_float * 8)(*FLOAT32),
    [decimal.Decimal("1.5")] * 8,
    [decimal.Decimal("1e5000")] * 8,
    [fractions.Fraction(1, 3)] * 8,
]


@pytest.mark.parametrize("groups", LOST, ids=range(len(LOST)))
def test_people_that_may_have_lost_digits_are_refused(groups):
    with pytest.raises(ValueError, match="who.*accepted") as refused:
        fit(groups)
    shown = "".join(traceback.format_exception_only(refused.value))
    assert "1677" not in shown and "1e17" not in shown and "1.5" not in shown
    assert refused.value.__cause__ is None and refused.value.__context__ is None


@pytest.mark.parametrize("kind", ["pd", "pl", "pa"])
@pytest.mark.parametrize("groups", [FLOAT32, np.arange(8) + 1e17, np.arange(8) + 0.5, np.full(8, np.nan)])
def test_the_same_in_a_column_of_a_frame(kind, groups):
    with pytest.raises(ValueError, match="who.*accepted"):
        fit(groups, in_frame=kind)


UNFIT = [
    [True, False] * 4,
    np.array([True, False] * 4),
    pd.Series([True, False] * 4),
    pl.Series([True, False] * 4),
    [b"a", b"b"] * 4,
    np.array([b"a", b"b"] * 4),
    pl.Series([b"a", b"b"] * 4),
    pa.chunked_array([pa.array([b"a", b"b"] * 4)]),
    [1j, 2j] * 4,
    np.array([1j, 2j] * 4),
    [datetime.date(2020, 1, n) for n in range(1, 9)],
    np.arange(8).astype("datetime64[ns]"),
    np.arange(8).astype("timedelta64[s]"),
    pd.Series(pd.date_range("2020", periods=8)),
    pd.Series(pd.Categorical(pd.date_range("2020", periods=8))),
    pd.Series(pd.period_range("2020", periods=8)),
    pl.Series([datetime.date(2020, 1, n) for n in range(1, 9)]),
    pl.Series([[n] for n in range(8)]),
    [uuid.UUID(int=n) for n in range(8)],
    [(n, "x") for n in range(8)],
    [object() for n in range(8)],
    [np.arange(n) for n in range(8)],
    np.zeros(8, dtype=[("a", "i8")]),
]


@pytest.mark.parametrize("groups", UNFIT, ids=range(len(UNFIT)))
def test_types_that_do_not_tell_people_apart_are_refused(groups):
    with pytest.raises(ValueError, match="who.*accepted"):
        fit(groups)


MISSING = [
    [None, 1, 2, 3],
    [np.nan, 1, 2, 3],
    [pd.NA, 1, 2, 3],
    [np.datetime64("NaT"), 1, 2, 3],
    pd.Series([None, 1, 2, 3], dtype="Int64"),
    pd.Series([None, 1, 2, 3], dtype="UInt64"),
    pd.Series([None, 1, 2, 3], dtype="int64[pyarrow]"),
    pd.Series([None, "1", "2", "3"]),
    pd.Series([None, "1", "2", "3"], dtype="string[pyarrow]"),
    pd.Series(pd.Categorical([None, "1", "2", "3"])),
    pl.Series([None, 1, 2, 3]),
    pl.Series([None, 1.0, 2.0, 3.0]),
    pl.Series([None] * 4),
    pa.chunked_array([pa.array([None, 1, 2, 3])]),
    pa.array([None, 1, 2, 3]),
    ["", "1", "2", "3"],
    ["NaN", "1", "2", "3"],
]


@pytest.mark.parametrize("groups", MISSING, ids=range(len(MISSING)))
def test_nobody_is_nobody(groups):
    with pytest.raises(ValueError, match='row 0, column "who": (missing|NaN).*accepted'):
        fit(groups)


def test_one_person_is_the_same_in_every_type():
    people = np.arange(60) // 3
    settings = {"epsilon": 5.0, "bounds": (-1, 1), "classes": [0, 1], "random_state": 1, "n_rows": 60}
    X, y = np.linspace(-1, 1, 60)[:, None], np.arange(60) % 2

    def coef(groups):
        return PrivateLogisticRegression(**settings, max_records=1).fit(X, y, groups=groups).coef_

    texts = [str(person) for person in people]
    alike = [
        people.astype(np.int8),
        people.astype(">i4"),
        people.astype(np.uint64),
        people.astype(float),
        people.astype(">f8"),
        people.astype(str),
        people.astype(object),
        np.array(texts, dtype=np.dtypes.StringDType()),
        list(people),
        tuple(texts),
        [float(person) for person in people],
        [decimal.Decimal(int(person)) for person in people],
        [decimal.Decimal(f"{person}.00") for person in people],
        [np.uint8(person) for person in people],
        array.array("q", people),
        array.array("d", people),
        memoryview(people),
        [f" {person} " for person in people],
        pd.Series(people, dtype="UInt64"),
        pd.Series(people, dtype="uint64[pyarrow]"),
        pd.Series(people, dtype="Float64"),
        pd.Series(texts, dtype="category"),
        pd.Series(people, dtype="category"),
        pd.Series(people, dtype="Sparse[int64]"),
        pd.Index(people),
        pl.Series(people, dtype=pl.Int128),
        pl.Series(people).cast(pl.Decimal(20, 2)),
        pl.Series(texts, dtype=pl.Categorical),
        pa.chunked_array([pa.array(texts).dictionary_encode()]),
        pa.chunked_array([pa.array(people).cast(pa.decimal128(20, 0))]),
    ]
    expected = coef(people)
    for groups in alike:
        assert np.array_equal(coef(groups), expected), type(groups)
    assert not np.array_equal(coef(people + 1), expected)


@pytest.mark.parametrize(
    "groups",
    [
        np.arange(1000, dtype=np.uint64) + np.uint64(2**63),
        np.arange(1000) + 2**62,
        [2**70 + n for n in range(1000)],
        [decimal.Decimal(2**70 + n) for n in range(1000)],
        [f"{n}.5" for n in range(1000)],
        pd.Series(np.arange(1000, dtype=np.uint64) + np.uint64(2**63)),
        pd.Series(np.arange(1000) + 2**62, dtype="Int64"),
        pl.Series([2**70 + n for n in range(1000)], dtype=pl.Int128),
        pa.chunked_array([pa.array(np.arange(1000, dtype=np.uint64) + np.uint64(2**63))]),
    ],
)
def test_a_thousand_people_are_a_thousand(groups):
    """With one row of each kept, none is dropped: the model is that of as many records."""
    alone = fit([f"person {n}" for n in range(1000)])
    assert same(fit(groups), alone)
    kind = {"pandas": "pd", "polars": "pl", "pyarrow": "pa"}.get(type(groups).__module__.split(".")[0])
    if kind:
        assert same(fit(groups, in_frame=kind), alone)


def test_one_odd_person_does_not_regroup_the_others():
    big = [2**60 + n for n in range(200)]
    expected = fit([*(f"person {n}" for n in range(200)), "odd"])
    for odd in (-1, 2**63, 2**70, "x", 5.0, decimal.Decimal(3)):
        assert same(fit([*big, odd]), expected), odd
        assert same(fit(pd.Series([*big, odd], dtype=object)), expected), odd


@pytest.mark.parametrize("text", ["\ud800", "secret\udcff"])
def test_halves_of_characters_are_refused_without_them(text):
    for groups in ([text, "b"], np.array([text, "b"]), pd.Series([text, "b"], dtype=object)):
        with pytest.raises(ValueError, match="'who' has a cell .* half a character") as refused:
            fit(groups)
        shown = "".join(traceback.format_exception(refused.value))
        assert "ud800" not in str(refused.value) and "udcff" not in str(refused.value)
        assert "secret" not in shown.rsplit("ValueError", 1)[1]
        assert refused.value.__cause__ is None and refused.value.__context__ is None
    # The extension alone does not repeat it either.
    with pytest.raises(ValueError, match="not Unicode") as refused:
        SCHEMA._checked.encode([("a", "text", np.zeros(1, dtype=np.int64), [text])])
    assert "ud800" not in str(refused.value) and "secret" not in str(refused.value)


NOBODYS = [0.5, 1e17, b"\xff", "\ud800", None, np.nan, np.float32(3), np.ma.masked, np.ma.array(3, mask=True)]
NOBODYS += [pd.Timestamp("2020"), [1], object(), 10**5000, decimal.Decimal("sNaN"), np.arange(2)]


@pytest.mark.parametrize("nobody", NOBODYS, ids=range(len(NOBODYS)))
def test_where_nothing_is_refused_one_bad_name_is_nobodys(nobody):
    """The row is left out, as where its name is missing, and the others stay."""
    total = Schema({"a": number(0, 1)}, target="t", classes=["0", "1"], unit="who", max_records=1, invalid="drop")
    people = [f"person {n}" for n in range(40)]
    expected = fit([*people[:3], None, *people[4:]], schema=total)
    assert not same(expected, fit(people, schema=total))
    groups = [*people[:3], nobody, *people[4:]]
    assert same(fit(groups, schema=total), expected)
    assert same(fit(tuple(groups), schema=total), expected)
    column = pd.Series(people, dtype=object)
    column.at[3] = nobody
    assert same(fit(column, schema=total), expected)


class Named(np.ndarray):
    """An array with a name."""

    name = "visit"


@pytest.mark.parametrize("name", [" visit", "visit ", " ", "(visit)", 0, ("a", "who"), 1.5, "visit"])
def test_groups_of_another_name_are_refused_however_it_is_written(name):
    schema = Schema({"a": number(0, 1)}, target="y", classes=["0", "1"], invalid="drop", unit="who", max_records=2)
    people = np.arange(60)
    with pytest.raises(ValueError, match="guarantee would be about others"):
        _units.groups_column("who", pd.Series(people, name=name), total=True)
    X, y = np.linspace(0, 1, 60)[:, None], people % 2
    with pytest.raises(ValueError, match="guarantee would be about others|name in brackets"):
        PrivateLogisticRegression(epsilon=1, schema=schema, n_rows=60).fit(X, y, groups=pd.Index(people, name=name))
    # Of a unit without a name they are whoever they are.
    if name != "(visit)":
        _units.groups_column("(not named)", pd.Series(people, name=name))


def test_groups_without_a_name_or_of_the_units():
    people = np.arange(6)
    unnamed = [people, people.tolist(), pd.Series(people), pd.Index(people), pl.Series(people), pa.array(people)]
    of_unit = [pd.Series(people, name="who"), pd.Series(people, name=" who "), pl.Series("who", people)]
    for groups in (*unnamed, *of_unit, pd.Series(people).array):
        assert len(_units.groups_column("who", groups)[2]) == 6
    assert _units.groups_column("0", pd.Series(people, name=0))[0] == "0"
    with pytest.raises(ValueError, match="guarantee would be about others"):
        _units.groups_column("who", people.view(Named))


def test_groups_beside_the_units_own_column_are_refused():
    schema = Schema(
        {"a": category(["x", "y"])}, target="y", classes=["0", "1"], invalid="drop", unit="who", max_records=2
    )
    people = np.arange(60)
    columns = {"a": ["x", "y"] * 30, "y": ["0", "1"] * 30, "who": people}
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        model = PrivateLogisticRegression(epsilon=1, schema=schema, n_rows=60)
        with pytest.raises(ValueError, match="one of them"):
            model.fit(table, columns["y"], groups=people)
        with pytest.raises(ValueError, match="one of them"):
            count(table, "a", schema=schema, epsilon=1, n_rows=60, groups=people)
        model.fit(table, columns["y"])
    with pytest.raises(ValueError, match="one of them"):
        count(columns, "a", schema=schema, epsilon=1, n_rows=60, groups=people)
    del columns["who"]
    count(columns, "a", schema=schema, epsilon=1, n_rows=60, groups=people)
