"""One record may hold anything: under a policy for bad records nothing is raised, and no other record becomes another.

Every door by which records come in, and every kind of cell, in every place of a table of every make. What is compared is
what reaches the extension, or what that makes of it, without noise.
"""

import datetime
import decimal
import fractions
import importlib
import tracemalloc
import uuid
from collections.abc import Mapping

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn.base

import privet
from privet import (
    PrivateClassifier,
    PrivateFeatureSelector,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateNeighbors,
    PrivateNetworkClassifier,
    PrivateOnlineClassifier,
    PrivateRecommender,
    PrivateTuner,
    PrivateVote,
    Schema,
    SchemaEncoder,
    _joins,
    _privet,
    _records,
    _refusals,
    _tables,
    _units,
    _workers,
    category,
    evaluate,
    number,
)
from privet._cells import identifier, written

pytestmark = pytest.mark.filterwarnings("ignore::privet.PrivacyWarning", "ignore::UserWarning")


class Raising:
    """Whatever it is asked, it raises; some of that no ``except Exception`` holds."""

    def __getattribute__(self, name):
        raise SystemExit(name)

    def _raise(self, *rest):
        raise SystemExit("asked")

    __eq__ = __ne__ = __lt__ = __str__ = __repr__ = __len__ = __iter__ = __bool__ = __float__ = __int__ = __index__ = _raise
    __array__ = __getitem__ = __contains__ = __format__ = __complex__ = _raise
    __hash__ = None


class LyingText(str):
    """Equal to every other text, and in their places of a dictionary."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("x")

    def __str__(self):
        return self

    def encode(self, *rest):
        raise SystemExit("asked")


class LyingNumber(float):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return hash(1)

    def __float__(self):
        return self

    is_integer = __repr__ = __str__ = Raising._raise


class LyingWhole(int):
    __eq__, __hash__ = LyingNumber.__eq__, LyingNumber.__hash__
    __int__ = __index__ = __str__ = __float__ = Raising._raise


class LyingRow(list):
    def __len__(self):
        return 3

    def __iter__(self):
        raise SystemExit("asked")

    __getitem__ = __eq__ = Raising._raise
    __hash__ = None


class LyingScalar(np.float32):
    def item(self):
        return LyingText("x")

    __eq__ = __float__ = Raising._raise
    __hash__ = None


class LyingMapping(dict):
    __getitem__ = __len__ = __iter__ = keys = get = lambda *rest: 1 / 0


class LyingZone(datetime.tzinfo):
    utcoffset = Raising._raise


class ClassThatRaises(type):
    __hash__ = __eq__ = Raising._raise


class ClassOfNoHash(type):
    def __eq__(cls, other):
        raise SystemExit("asked")


class Strange(metaclass=ClassThatRaises):
    pass


class Unhashable(metaclass=ClassOfNoHash):
    pass


class LaterZone(datetime.tzinfo):
    """A zone that is asked when a time is made, and raises from then on."""

    armed = False

    def utcoffset(self, when):
        if self.armed:
            raise SystemExit("asked")
        return datetime.timedelta(0)

    dst, tzname = utcoffset, Raising._raise


class RaisingMapping(Mapping):
    __getitem__ = __iter__ = __len__ = items = Raising._raise


def later(year=2020):
    return pd.Timestamp(datetime.datetime(year, 1, 1, tzinfo=ZONE))


def tampered(made, **parts):
    """An object of a library's own class, with something else inside."""
    for name, part in parts.items():
        setattr(made, name, part)
    return made


ZONE = LaterZone()
TAMPERED = [
    *[Strange(), Unhashable(), Strange, [Unhashable()], RaisingMapping()],
    tampered(fractions.Fraction(1, 3), _denominator=Raising()),
    tampered(fractions.Fraction(1), _numerator=Unhashable()),
    *[tampered(np.ma.array(1.0), _mask=Raising()), tampered(np.ma.array([1.0, 2.0, 3.0]), _mask=Raising())],
    tampered(np.ma.array([1.0, 2.0, 3.0]), tolist=Raising()),
    tampered(pd.Timestamp("2020"), isoformat=Raising()),
    *[later(), pd.Interval(later(), later(2021))],
    *[range(3 * 10**8), range(10**30), np.broadcast_to(np.float64(1), 3 * 10**8)],
]
LaterZone.armed = True


def itself():
    """An array without dimensions that holds itself."""
    found = np.empty((), dtype=object)
    found[()] = found
    return found


JUNK = [
    *[None, True, False, 0, 1, -7, 2**53, 2**53 + 1, 2**63, 2**64, 10**20, 10**400, -(10**400), 10**5000],
    *[0.0, -0.0, 0.5, 2.0, 1e-320, 1e308, float("nan"), float("inf"), float("-inf")],
    *["", " ", "x", "y", "1", "1.0", "01", "+1", "nan", "inf", "1e400", "1_0", "true", "\u0663", "\ud800", "a\udcff"],
    *["\x00", "a" * 10_000, "ValueError: secret", b"", b"1", bytearray(b"1"), memoryview(b"1"), 1j],
    *[decimal.Decimal(text) for text in ("1", "1.0", "0.5", "NaN", "sNaN", "Infinity", "1E+999999", "1E-999999")],
    *[fractions.Fraction(1), fractions.Fraction(1, 3), fractions.Fraction(10**400, 3)],
    *[np.int8(1), np.uint64(2**63), np.float16(0.5), np.float32(0.1), np.float64("nan"), np.longdouble(1), np.bool_(True)],
    *[np.str_("x"), np.bytes_(b"1"), np.datetime64("NaT"), np.datetime64("2020-01-01"), np.timedelta64(1, "s"), np.void(b"1")],
    *[np.array(1.0), np.array("x"), np.array(None), np.arange(2), np.zeros((1, 1)), np.zeros(0), np.ma.masked, itself()],
    *[np.ma.array(9.0, mask=True), np.ma.array([1.0, 2.0], mask=[1, 0]), np.zeros(1, dtype=[("a", "i8")])[0]],
    *[pd.NA, pd.NaT, pd.Timestamp("2020"), pd.Timedelta("1s"), pd.Period("2020"), pd.Interval(0, 1), pd.Series([1, 2])],
    *[pd.DataFrame({"a": [1]}), [], [1], [1, 2], [[1]], (), (1,), ("x", "y", 1), {}, {"a": 1}, {1, 2}, range(3), iter(())],
    *[object(), object, len, ..., NotImplemented, datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), uuid.UUID(int=1)],
    *[datetime.datetime(2020, 1, 1, tzinfo=LyingZone()), datetime.timedelta(1), Raising(), LyingText("x"), LyingText("1")],
    *TAMPERED,
    *[LyingNumber(1), LyingWhole(1), LyingRow([1, 2]), LyingScalar(1), LyingMapping(a=1), KeyError("secret")],
]
assert len(JUNK) >= 66

ROWS = 5
PLACES = (0, 2, ROWS - 1)

COLUMNS = {
    "a": number(0, 10),
    "b": category(["x", "y", "1"], unknown="other", missing="category"),
    "c": number(0, 1, missing="category"),
}
GOOD = [[1.5, "x", 0.25], [2, "1", None], [3.25, 1, 0.5], [7, "other", 1], [4.5, None, 0]]
LABELS = [1, "1", 0, 1.0, "0"]
PEOPLE = [1, "a", "1", 2.0, 7]
CLASSES = Schema(COLUMNS, target="y", classes=["0", "1"], invalid="drop")
NUMBER = Schema(COLUMNS, target="y", target_bounds=(0, 2), invalid="drop")
UNITS = Schema(COLUMNS, target="y", classes=["0", "1"], invalid="drop", unit="who", max_records=2)
PLAIN = Schema({name: number(0, 10) for name in "abc"}, target="y", classes=["0", "1"], invalid="drop")
STRICT = Schema({name: number(0, 10) for name in "abc"}, target="y", classes=["0", "1"])


def block(cells):
    """An array of objects, each put in for itself."""
    found = np.empty(len(cells), dtype=object)
    for place in range(len(cells)):
        found[place] = cells[place]
    return found


def square(rows):
    found = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        for column in range(len(row)):
            found[place, column] = row[column]
    return found


def frame(rows):
    return pd.DataFrame({name: pd.Series(block([row[place] for row in rows]), dtype=object) for place, name in enumerate("abc")})


TABLES = [list, lambda rows: tuple(map(tuple, rows)), square, frame]
LISTS = [list, tuple, block, lambda cells: pd.Series(block(cells), dtype=object)]


def spoiled(good, place, junk, column=None):
    rows = list(good)
    rows[place] = junk if column is None else [*rows[place][:column], junk, *rows[place][column + 1 :]]
    return rows


class Reached(BaseException):
    """What reached the extension."""


def reach(*given, **more):
    raise Reached(given, more)


def reached(call, *given, **more):
    with pytest.raises(Reached) as found:
        call(*given, **more)
    return found.value.args[0]


def decoded(column):
    """What each row of a column says: a text, or a number, which is no text even if it is written alike."""
    _, kind, values, more = column
    if kind == "text":
        return [said(more[code]) if code >= 0 else f"code {code}" for code in values.tolist()]
    gone = np.zeros(len(values), dtype=bool) if more is None else more
    return ["code -1" if missing else said(value) for value, missing in zip(values.tolist(), gone, strict=True)]


def said(cell):
    """1 and 1.0 are one number; a truth value is none."""
    return int(cell) if type(cell) is float and cell.is_integer() else cell


def people(column):
    """Whose each row of a column is, by their digits or texts."""
    _, kind, values, more = column
    if kind == "text":
        return [more[code] if code >= 0 else None for code in values.tolist()]
    gone = np.zeros(len(values), dtype=bool) if more is None else more
    return [None if missing else identifier(value) for value, missing in zip(values.tolist(), gone, strict=True)]


def others(rows, place):
    return [repr(row) for at, row in enumerate(rows) if at != place]


def rows_reached(schema, given):
    """The rows of features, labels and units that reach a plan, as the extension encodes them."""
    features, labels, units = given[:3]
    encoded = schema._checked.encode(features)
    whose = people(units) if units is not None else [None] * len(labels)
    return list(zip(encoded.tolist(), np.asarray(labels).tolist(), whose, strict=True))


class Planned:
    """A plan that hands on what it is given to carry out."""

    def __init__(self, plan):
        self.text = plan.to_json()

    def to_json(self):
        return self.text

    run = staticmethod(reach)


@pytest.fixture
def planned(monkeypatch):
    plan = Planned(PrivateLogisticRegression(epsilon=1, schema=CLASSES, method="gd", delta=1e-6)._make_plan(CLASSES, 5, []))
    for kind in (privet._base.PrivateEstimator, PrivateFeatureSelector, PrivateNeighbors, PrivateNetworkClassifier, PrivateVote):
        monkeypatch.setattr(kind, "_make_plan", lambda *rest: plan)


def every_place(read, good, columns, tables, places=PLACES):
    """Every cell, in every place, in every make of table."""
    for make, made in enumerate(tables):
        expected = read(made(good))
        for place in places:
            for column in columns:
                for kind, junk in enumerate(JUNK):
                    try:
                        found = others(read(made(spoiled(good, place, junk, column))), place)
                    except (Exception, SystemExit) as error:
                        found = type(error).__name__
                    if found != others(expected, place):
                        # Without a stack: a reporter asks what is on it for its words.
                        where = f"row {place}, column {column}, table {make}, junk {kind} ({type(junk).__name__})"
                        pytest.fail(f"{where}: {found}, not {others(expected, place)}", pytrace=False)


ESTIMATORS = [
    (PrivateLogisticRegression, {}),
    (PrivateClassifier, {"loss": "squared"}),
    (PrivateNetworkClassifier, {}),
    (privet.PrivateAdditiveClassifier, {}),
    (privet.PrivateSparseClassifier, {}),
]


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
def test_features_of_a_fit(kind, more, planned):
    model = kind(epsilon=1, schema=CLASSES, **more)
    tables = TABLES if kind is PrivateLogisticRegression else [list]
    every_place(lambda X: rows_reached(CLASSES, reached(model.fit, X, LABELS)), GOOD, (0, 1, 2), tables)


def test_labels_of_a_fit(planned):
    model = PrivateLogisticRegression(epsilon=1, schema=CLASSES)
    every_place(lambda y: rows_reached(CLASSES, reached(model.fit, GOOD, y)), LABELS, (None,), LISTS)
    several = [[label] for label in LABELS]
    every_place(lambda y: rows_reached(CLASSES, reached(model.fit, GOOD, y)), several, (None, 0), [list])
    regressor, numbers = PrivateLinearRegression(epsilon=1, schema=NUMBER), [1, "1", 0.5, True, decimal.Decimal("1.5")]
    every_place(lambda y: rows_reached(NUMBER, reached(regressor.fit, GOOD, y)), numbers, (None,), LISTS)


def test_units_of_a_fit(planned):
    model = PrivateLogisticRegression(epsilon=1, schema=UNITS, n_rows=5)
    every_place(lambda who: rows_reached(UNITS, reached(model.fit, GOOD, LABELS, groups=who)), PEOPLE, (None,), LISTS)


def test_rows_that_are_none(planned):
    model = PrivateLogisticRegression(epsilon=1, schema=CLASSES)
    every_place(lambda X: rows_reached(CLASSES, reached(model.fit, X, LABELS)), GOOD, (None,), [list, tuple, block])


def test_numbers_alone(planned):
    """Rows that might be read as one array of numbers."""
    model, rows = PrivateLogisticRegression(epsilon=1, schema=PLAIN), [[1, 2.5, 3], [4, 5, 6], [0.5, 1, 2], [7, 8, 9], [3, 3, 3]]
    every_place(lambda X: rows_reached(PLAIN, reached(model.fit, X, LABELS)), rows, (1,), TABLES)
    every_place(lambda X: rows_reached(PLAIN, reached(model.fit, X, LABELS)), rows, (None,), [list])


def test_selectors_neighbors_and_votes(planned, monkeypatch):
    rows = [[1, 2.5, 3], [4, 5, 6], [0.5, 1, 2], [7, 8, 9], [3, 3, 3]]
    selector = PrivateFeatureSelector(epsilon=1, schema=PLAIN)
    near = PrivateNeighbors(epsilon=1, schema=PLAIN, n_rows=5)
    vote = PrivateVote("tree", epsilon=1, schema=PLAIN)
    for call in (
        lambda X, y: reached(selector.fit, X, y),
        lambda X, y: reached(near.answer, X, y, questions=[[1, 2, 3]]),
        lambda X, y: reached(vote.fit, X, y, public=[[1, 2, 3]]),
    ):
        every_place(lambda X, call=call: rows_reached(PLAIN, call(X, LABELS)), rows, (1,), [list])
        every_place(lambda y, call=call: rows_reached(PLAIN, call(rows, y)), LABELS, (None,), [list])


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = [[float(a), "x" if a > 5 else "y", 0.5] for a in rng.uniform(0, 10, 200)]
    y = [int(row[0] > 5) for row in X]
    return {
        schema: PrivateLogisticRegression(epsilon=20, schema=schema, n_rows=200).fit(X, y, groups=who)
        for schema, who in ((CLASSES, None), (UNITS, list(range(200))))
    }


def test_evaluations(fitted, monkeypatch):
    monkeypatch.setattr(_privet, "evaluate_privately", lambda *given, **more: reach(*given[1:]))
    for schema, model in fitted.items():
        who = {"groups": PEOPLE, "n_rows": 5} if schema is UNITS else {}

        def read(X=GOOD, y=LABELS, model=model, schema=schema, who=who, **more):
            return rows_reached(schema, reached(privet.evaluate, model, X, y, epsilon=1, **(who | more)))

        every_place(lambda y: read(y=y), LABELS, (None,), LISTS)
        every_place(read, GOOD, (1, None), [list])
        if who:
            every_place(lambda groups: read(groups=groups), PEOPLE, (None,), [list])
        else:
            every_place(read, GOOD, (0, 2), TABLES)


def test_predictions(fitted):
    model = fitted[CLASSES]
    every_place(lambda X: model.decision_function(X).tolist(), GOOD, (0, 1, None), [list])
    every_place(lambda X: model.predict(X).tolist(), GOOD, (0, 2), [square, frame])


def test_encoders():
    for made in (list, square, frame):
        every_place(lambda X: SchemaEncoder(CLASSES).fit_transform(X).tolist(), GOOD, (0, 1), [made])


def once(plan):
    """The plan that was made first for a schema."""
    made = {}

    def kept(*given, **more):
        schema = next(each for each in given if isinstance(each, Schema))
        if schema not in made:
            made[schema] = plan(*given, **more)
        return made[schema]

    return kept


def table_reached(columns):
    return list(zip(*(people(column) if column[0] == "who" else decoded(column) for column in columns), strict=True))


def test_tuning_counting_and_describing(monkeypatch):
    read = _privet.Records

    def records(given, schema, *rest, **more):
        read(given, schema, *rest, **more)  # nothing is raised there either
        reach(given)

    monkeypatch.setattr(_privet, "Records", records)
    # Plans are public, and made once.
    for name in ("privet.counts", "privet.describing"):
        module = importlib.import_module(name)
        monkeypatch.setattr(module, "_plan", once(module._plan))
    monkeypatch.setattr(PrivateTuner, "_plan", once(PrivateTuner._plan))
    tuner = PrivateTuner([{"method": "gd", "steps": [5]}], schema=CLASSES, epsilon=1)
    tuned = lambda X=GOOD, y=LABELS: table_reached(reached(tuner.fit, X, y)[0])  # noqa: E731
    every_place(tuned, GOOD, (0, 1), TABLES, (0, 2))
    every_place(tuned, GOOD, (None,), [list])
    every_place(lambda y: tuned(y=y), LABELS, (None,), LISTS)
    people = PrivateTuner([{"method": "gd", "steps": [5]}], schema=UNITS, epsilon=1, n_rows=5)
    every_place(lambda who: table_reached(reached(people.fit, GOOD, LABELS, who)[0]), PEOPLE, (None,), [list])

    def column(name, cells):
        table = {key: [row[place] for row in GOOD] for place, key in enumerate("abc")} | {"y": LABELS, "who": PEOPLE}
        return table | {name: cells}

    for name, cells in (("b", [row[1] for row in GOOD]), ("y", LABELS), ("who", PEOPLE)):
        for schema, more in ((CLASSES, {}), (UNITS, {"n_rows": 5})):
            if name == "who" and schema is CLASSES:
                continue
            for made in LISTS:
                counted = lambda given, name=name, schema=schema, more=more: table_reached(  # noqa: E731
                    reached(privet.count, column(name, given), "b", schema=schema, epsilon=1, **more)[0]
                )
                every_place(counted, cells, (None,), [made], (2,))
            described = lambda given, name=name, schema=schema, more=more: table_reached(  # noqa: E731
                reached(privet.describe, column(name, given), schema=schema, epsilon=1, **more)[0]
            )
            every_place(described, cells, (None,), [list], (2,))


class Taken:
    """A stream that keeps what it is handed."""

    batch = 1

    def __init__(self, *rest, **more):
        self.rows = []

    def take(self, X, codes):
        self.rows += list(zip(X.tolist(), codes.tolist(), strict=True))
        return len(X), 1

@pytest.fixture
def streams(monkeypatch):
    monkeypatch.setattr(_privet, "OnlineStream", Taken)
    monkeypatch.setattr(PrivateOnlineClassifier, "released", lambda self: type("Free", (), {"certificate": None})())


ONLINE = {"epsilon": 1, "horizon": 5, "bounds": (0, 10), "classes": [0, 1]}
NUMBERS = [[1.5, 2, 0.25], [2, 1, 3], [3.25, 1, 0.5], [7, 0, 1], [4.5, 2, 0]]


def test_streams(streams):
    def read(X=NUMBERS, y=LABELS):
        model = PrivateOnlineClassifier(**ONLINE, features=list("abc"))
        return model.partial_fit(X, y)._stream.rows

    every_place(read, NUMBERS, (0, 2), TABLES)
    # An array in one dimension is a row, whatever is in it.
    every_place(read, NUMBERS, (None,), [list, tuple])
    every_place(lambda y: read(y=y), LABELS, (None,), LISTS)


def test_streams_of_single_rows(streams):
    names = ["a", "b", "c"]
    rows = [dict(zip(names, row, strict=True)) for row in NUMBERS]

    def read(rows=rows, y=LABELS):
        model = PrivateOnlineClassifier(**ONLINE, features=names)
        for row, label in zip(rows, y, strict=True):
            model.learn_one(row, label)
        return model._stream.rows

    expected = read()
    odd = [{"b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "d": 3}, {"a": 1, "b": 2, "c": 3, "d": 4}, {1: 2}]
    for place in PLACES:
        for junk in JUNK:
            for given in (spoiled(rows, place, rows[place] | {"a": junk}), spoiled(rows, place, junk)):
                assert others(read(given), place) == others(expected, place)
            assert others(read(y=spoiled(LABELS, place, junk)), place) == others(expected, place)
        for row in odd:
            assert others(read(spoiled(rows, place, row)), place) == others(expected, place)


def test_ratings(monkeypatch):
    monkeypatch.setattr(_privet, "learn_ratings", reach)
    good = [(1, "x", 3), ("a", 2, 4.5), (2.0, "y", "1"), ("b", "x", 2), (7, "z", 5)]

    def read(ratings):
        model = PrivateRecommender(1, items=["x", "y", "z", 2], n_users=5, invalid="drop")
        return reached(model.fit, ratings)[0]

    own = ("x", 3.0), ("2", 4.5), ("y", 1.0), ("x", 2.0), ("z", 5.0)

    def check(given, place):
        found = [rating for user in read(given) for rating in user]
        kept = [rating for at, rating in enumerate(own) if at != place]
        assert all(rating in found for rating in kept) and len(found) <= len(own)

    for made in (list, tuple, block, lambda rows: frame([list(row) for row in rows])):
        for place in PLACES:
            for junk in JUNK:
                for column in (0, 1, 2):
                    check(made([tuple(row) for row in spoiled([list(row) for row in good], place, junk, column)]), place)
                if made in (list, tuple, block):
                    check(made(spoiled(good, place, junk)), place)


def test_users_that_may_have_lost_digits(monkeypatch):
    """Two people of whom single precision made one would be one user, with the ratings of both."""
    monkeypatch.setattr(_privet, "learn_ratings", reach)
    users, items, rated = np.array([2**24, 2**24 + 1, 1]), ["x", "y", "z"], [3.0, 4.0, 5.0]
    narrow = pd.DataFrame({"user": users.astype(np.float32), "item": items, "rating": rated})
    forms = [narrow, pl.from_pandas(narrow), narrow.assign(user=narrow["user"].astype("category"))]
    forms += [np.c_[users, users % 3, rated].astype(np.float32)]
    for form in forms:
        with pytest.raises(ValueError, match="exactly"):
            PrivateRecommender(1, items=[*items, 0, 1, 2], n_users=5).fit(form)
        assert reached(PrivateRecommender(1, items=[*items, 0, 1, 2], n_users=5, invalid="drop").fit, form)[0] == []
    whole = narrow.assign(user=users)
    assert len(reached(PrivateRecommender(1, items=items, n_users=5).fit, whole)[0]) == 3


def inferred(part):
    """What a library makes of a part by itself, which differs from part to part."""
    try:
        return part.infer_objects()
    except (Exception, SystemExit):
        return part


def test_partitions():
    def read(rows=GOOD, y=LABELS, who=PEOPLE):
        table = {name: [row[place] for row in rows] for place, name in enumerate("abc")} | {"y": y, "who": who}
        whole = pd.DataFrame({name: pd.Series(block(list(cells)), dtype=object) for name, cells in table.items()})
        parts = [inferred(whole.iloc[edges]) for edges in (slice(0, 2), slice(2, ROWS), slice(ROWS, ROWS))]
        tables = [_workers.columns_of(part, UNITS) for part in parts]
        return table_reached(_joins.joined(tables, "who", total=True))

    expected = read()
    for place in (0, 2):
        for junk in JUNK:
            for found in (
                *(read(spoiled(GOOD, place, junk, column)) for column in (0, 1, 2)),
                read(y=spoiled(LABELS, place, junk)),
                read(who=spoiled(PEOPLE, place, junk)),
            ):
                assert others(found, place) == others(expected, place), (type(junk), place)


DRAFT = {
    "bias": True,
    "clip": {"norm": "l2", "radius": 100.0},
    "invalid": "drop",
    "target": {"column": "y", "classes": ["0", "1"]},
}
DAYS = {
    "type": "date",
    "range": ["2010-01-01", "2025-12-31"],
    "parts": ["year", "month", "hour"],
    "missing": "category",
}
WRITTEN = ["2020-05-05T10:20:30.75", "2021-06-06T00:00:00", "2022-01-02T03:04:05"]
TIMES = list(map(datetime.datetime.fromisoformat, ("2020-05-05T10:20:30.750", *WRITTEN[1:])))
BERLIN = [pd.Timestamp(time).tz_localize("Europe/Berlin") for time in TIMES]
NUMBER_OR = {"type": "number", "bounds": [-1000, 1000], "missing": "category"}
LISTED = {"type": "category", "unknown": "other", "missing": "category"}
KINDS = {
    "days": (DAYS, [18_000, 18_500, 19_000], []),
    "days as fractions": (DAYS, [18_000.0, 18_500.0, 19_000.0], []),
    "milliseconds": (DAYS, [1_600_000_000_000, 1_610_000_000_000, 1_620_000_000_001], []),
    "times": (DAYS, TIMES, []),
    "times of a zone": (DAYS, BERLIN, []),
    "listed times": ({**LISTED, "categories": WRITTEN}, TIMES, []),
    "listed times of a zone": ({**LISTED, "categories": WRITTEN}, BERLIN, []),
    "hashed times": ({"type": "category", "hash_buckets": 64, "missing": "category"}, TIMES, []),
    "missing integers": (NUMBER_OR, [-999, 5, 7], ["-999.0"]),
    "missing fractions": (NUMBER_OR, [0.5, 1000.0, -3.25], ["0.50", "1e3"]),
    "missing listed": ({**LISTED, "categories": ["1", "5", "1000"]}, [1000, 5, 1], ["1e3"]),
    "nan": (NUMBER_OR, [float("nan"), 5.0, 7.5], []),
    "listed nan": ({**LISTED, "categories": ["5", "7.5"]}, [float("nan"), 5.0, 7.5], []),
    "truths": ({**LISTED, "categories": ["False", "True"]}, [True, False, True], []),
    "two truths": ({"type": "binary", "values": ["no", "true"], "missing": "category"}, [True, True, True], []),
}
ODD = ["x", None, 2.5, 2**63, 2**64, 3, 1j, object(), datetime.date(2020, 1, 1), decimal.Decimal("1.25")]


def arrow(cells):
    """With NaN that is no null, as Arrow itself has it."""
    cells = [cell.to_pydatetime() if isinstance(cell, pd.Timestamp) else cell for cell in cells]
    return pa.table({"a": pa.array(cells)})


def arrow_in_pandas(cells):
    column = arrow(cells)["a"]
    return pd.DataFrame({"a": pd.Series(column, dtype=pd.ArrowDtype(column.type))})


def naive(cells, unit):
    if not all(isinstance(cell, datetime.date) for cell in cells):
        raise TypeError("no times")
    return np.array([[np.datetime64(pd.Timestamp(cell).tz_localize(None), unit)] for cell in cells])


MAKES = {
    "list": lambda cells: [[cell] for cell in cells],
    "objects": lambda cells: square([[cell] for cell in cells]),
    "frame of objects": lambda cells: pd.DataFrame({"a": pd.Series(block(cells), dtype=object)}),
    "array": lambda cells: np.array([[cell] for cell in cells]),
    "pandas": lambda cells: pd.DataFrame({"a": cells}),
    "nullable": lambda cells: pd.DataFrame({"a": cells}).convert_dtypes(),
    "category": lambda cells: pd.DataFrame({"a": pd.Series(cells).astype("category")}),
    "arrow in pandas": arrow_in_pandas,
    "polars": lambda cells: pl.DataFrame({"a": cells}),
    "arrow": arrow,
    "nanoseconds": lambda cells: naive(cells, "ns"),
    "microseconds": lambda cells: naive(cells, "us"),
}


def encoded(schema, X):
    if _tables.is_frame(X):
        columns = _tables.frame_columns(X, total=True, read=schema.features)
    else:
        columns = _tables.array_columns(X, schema.features, total=True)
    return schema._checked.encode(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_type_that_one_cell_decides(kind):
    """Whatever type a library finds for a column, and whether or not an odd cell is in it, the others mean the same."""
    column, cells, missing = KINDS[kind]
    file, columns = {"missing_values": ["", *missing]}, [{"name": "a", **column}]
    schema = Schema.from_dict(DRAFT | {"file": file, "columns": columns})
    expected = encoded(schema, [[cell] for cell in cells])
    assert expected.any(axis=1).all()  # none is void
    made = 0
    for name, make in MAKES.items():
        for given in (cells, *([*cells, junk] for junk in ODD)):
            try:
                X = make(given)
            except Exception:  # a library does not make a column of these
                continue
            if name in ("array", "polars", "arrow", "arrow in pandas") and _made_texts(X):
                continue  # the library's own texts of numbers, which docs/python.md warns of
            made += 1
            assert np.array_equal(encoded(schema, X)[: len(cells)], expected), (name, type(given[-1]))
            if len(given) > len(cells) and name == "pandas":
                parts = [_workers.columns_of(part, schema) for part in (make(cells), make(given[-1:]))]
                joined = _joins.joined(parts, None, total=True)
                assert np.array_equal(schema._checked.encode(joined)[: len(cells)], expected), (name, type(given[-1]))
    assert made > 30


def _made_texts(X):
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "US"
    column = X["a"]
    return str(column.type if isinstance(X, pa.Table) else column.dtype).lower() in ("string", "string[pyarrow]")


def test_people_of_a_type_that_one_cell_decides():
    def whose(groups):
        return people(_units.unit_column("who", groups, total=True))

    def runs(cells):
        return pa.chunked_array([pa.array(cells).dictionary_encode()])

    for odd in (3, 2.5, None, 1j, 3.0, b"x", np.timedelta64(3, "s"), decimal.Decimal("1.5")):
        cells = [1, 2, odd]
        makes = [list, np.array, pd.Series, lambda cells: pd.Series(cells).astype("category")]
        makes += [lambda cells: pd.Series(cells, dtype="Sparse"), runs, lambda cells: runs(cells).to_pandas()]
        makes += [lambda cells: pd.Series(runs(cells), dtype=pd.ArrowDtype(runs(cells).type))]
        for number_, make in enumerate(makes):
            try:
                groups = make(cells)
            except Exception:  # a library does not make a column of these
                continue
            assert whose(groups)[:2] == ["1", "2"], (cells, number_)
    # What a library makes of a single cell is nobody, and no error; so are floats that are narrower than a cell tells.
    narrow = np.array([1, 2], dtype=np.float32)
    assert whose(np.array([True, False])) == whose(np.array([True, False, 2]))[:2] == ["1", "0"]
    assert whose(pd.Series([True, False])) == whose(pd.Series([True, False, 2]))[:2] == ["1", "0"]
    lone = [pd.Series([pd.Timestamp("2020")]), pd.Series([pd.Timedelta("1s")])]
    lone += [narrow, pd.Series(narrow), pd.Series(narrow).astype("category"), runs(narrow), np.zeros(2, dtype="c8")]
    for groups in lone:
        assert set(whose(groups)) == {None}
        with pytest.raises(ValueError, match="exactly"):
            _units.unit_column("who", groups)


def test_labels_that_numpy_made_others_of(planned):
    model = PrivateLogisticRegression(epsilon=1, schema=CLASSES)
    regressor = PrivateLinearRegression(epsilon=1, schema=NUMBER)
    for odd in (1j, np.timedelta64(3, "s"), b"x", 2, 0.5):
        y = np.array([1, 0, 0, 1, odd])
        assert [row[1] for row in rows_reached(CLASSES, reached(model.fit, GOOD, y))][:4] == [1, 0, 0, 1], y.dtype
        assert [row[1] for row in rows_reached(NUMBER, reached(regressor.fit, GOOD, y))][:4] == [1, 0, 0, 1], y.dtype
    truths = Schema(COLUMNS, target="y", classes=["False", "True"], invalid="drop")
    model = PrivateLogisticRegression(epsilon=1, schema=truths)
    labels = [True, False, True, False]
    for y in ([*labels, 2], np.array([*labels, 2]), np.array([*labels, 0.5])):
        assert [row[1] for row in rows_reached(truths, reached(model.fit, GOOD, y))][:4] == [1, 0, 1, 0]


def test_cells_that_numpy_made_others_of(planned):
    rows = [[1, 2, 3], [4, 5, 6], [0, 1, 2], [7, 8, 9], [3, 3, 3]]
    model = PrivateLogisticRegression(epsilon=1, schema=PLAIN)
    expected = rows_reached(PLAIN, reached(model.fit, rows, LABELS))
    for odd in (1j, np.timedelta64(3, "s"), b"x", "x", 0.5):
        X = np.array(spoiled(rows, 4, odd, 1))
        assert rows_reached(PLAIN, reached(model.fit, X, LABELS))[:4] == expected[:4], X.dtype


def test_scores():
    rng = np.random.default_rng(0)
    X = [[float(a), "x" if a > 5 else "y", 0.5] for a in rng.uniform(0, 10, 300)]
    y = [int(row[0] > 5) for row in X]
    words = Schema(COLUMNS, target="y", classes=["no", "yes"], invalid="drop")
    models = [
        (PrivateLogisticRegression(epsilon=50, schema=CLASSES, random_state=0), y),
        (PrivateLogisticRegression(epsilon=50, schema=words, random_state=0), [("no", "yes")[one] for one in y]),
        (PrivateLinearRegression(epsilon=50, schema=NUMBER, random_state=0), y),
        (privet.PrivatePoissonRegressor(epsilon=50, schema=NUMBER, random_state=0), y),
    ]
    for model, labels in models:
        model.fit(X, labels)
        usual = model.score(X, labels)
        for junk in JUNK:
            assert abs(model.score(X, [*labels[:-1], junk]) - usual) < 0.1, type(junk)


def test_rows_by_names(planned):
    """A dictionary is a row by its names, and no row where it lacks one. A sparse matrix is refused by its type."""
    model = PrivateLogisticRegression(epsilon=1, schema=CLASSES)
    named = [dict(zip("abc", row, strict=True)) | {"d": 1} for row in GOOD]
    expected = rows_reached(CLASSES, reached(model.fit, GOOD, LABELS))
    assert rows_reached(CLASSES, reached(model.fit, named, LABELS)) == expected
    every_place(lambda X: rows_reached(CLASSES, reached(model.fit, X, LABELS)), named, (None,), [list])
    for odd in ({"a": 1, "b": "x"}, {"a": 1, "b": "x", ("c",): 1}):
        found = rows_reached(CLASSES, reached(model.fit, spoiled(named, 2, odd), LABELS))
        assert others(found, 2) == others(expected, 2)
    matrix = sp.csr_array(np.ones((5, 3)))
    with pytest.raises(ValueError, match="sparse"):
        SchemaEncoder(PLAIN).fit(matrix).transform(matrix)
    with pytest.raises(ValueError, match="sparse"):
        PrivateTuner([{"method": "gd", "steps": [5]}], schema=PLAIN, epsilon=1).fit(matrix, LABELS)


def test_streams_of_odd_calls(streams):
    names = ["a", "b", "c"]
    # A bare label beside one row, whatever it is, is one label.
    for label in (*JUNK, [1], (1,), np.array([1]), pd.Series([1])):
        model = PrivateOnlineClassifier(**ONLINE, features=3)
        assert len(model.partial_fit(np.array([1.0, 2, 3]), label)._stream.rows) == 1, type(label)
    for label in ([1], (1,), np.array([1]), pd.Series([1]), pl.Series([1]), "1", np.array(1), 1.0):
        model = PrivateOnlineClassifier(**ONLINE, features=3)
        assert model.partial_fit(np.array([1.0, 2, 3]), label)._stream.rows == [([1.0, 2.0, 3.0], 1)]
    # A record that lacks a column is an empty slot, in a frame too.
    model = PrivateOnlineClassifier(**ONLINE, features=names).partial_fit(pd.DataFrame([{"a": 1.0, "c": 2.0}]), [1])
    assert np.isnan(model._stream.rows[0][0][1])
    # Names are what they say, whoever holds them, and nothing else is a name.
    model = PrivateOnlineClassifier(**ONLINE, features=np.array(names)).learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, 1)
    assert model._stream.rows == [([1.0, 2.0, 3.0], 1)]
    for odd in ([("a", 1), ("b", 2)], ["a", "a"], [None, "a"], [1.5]):
        with pytest.raises(ValueError, match="features"):
            PrivateOnlineClassifier(**ONLINE, features=odd).learn_one({}, 1)
    # The columns of a frame, and their order, may be those of a single record: their names are declared.
    for declared in ({}, {"features": 2}, {"bounds": ([0, 0], [10, 10])}):
        with pytest.raises(ValueError, match="features are missing"):
            PrivateOnlineClassifier(**ONLINE | declared).partial_fit(pd.DataFrame([{"b": 1.0, "a": 1.0}, {"a": 2.0, "b": 1.0}]), [1, 0])
    model = PrivateOnlineClassifier(**ONLINE, features=["a", "b"])
    model.partial_fit(pd.DataFrame([{"b": 2.0, "a": 1.0}, {"a": 3.0, "b": 4.0, "zz": 1.0}]), [1, 0])
    assert model._stream.rows == [([1.0, 2.0], 1), ([3.0, 4.0], 0)]


def test_an_array_of_rows_of_several_lengths_is_rows(streams):
    ragged = np.array([[1.0, 2.0, 3.0], [1.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], dtype=object)
    model = PrivateOnlineClassifier(**ONLINE, features=3).partial_fit(ragged, [1, 0, 1, 0])
    rows = model._stream.rows
    assert rows[2:] == [([4.0, 5.0, 6.0], 1), ([7.0, 8.0, 9.0], 0)] and np.isnan(rows[1][0]).all()


def test_lists_are_read_by_estimators_that_learnt_from_a_frame():
    """One row of another length is void, and the others are what they were."""
    schema = Schema(
        {"age": number(0, 100), "work": category(["farm", "shop"], unknown="other")},
        target="ill",
        classes=["0", "1"],
        invalid="drop",
    )
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.uniform(0, 100, 60), "work": rng.choice(["farm", "shop"], 60)})
    y = (frame["age"] > 50).astype(int)
    model = PrivateLogisticRegression(epsilon=5, schema=schema, random_state=1).fit(frame, y)
    expected = model.predict(frame)
    rows = frame.to_numpy(dtype=object).tolist()
    assert (model.predict(rows) == expected).all()
    assert (model.predict(frame.to_dict("records")) == expected).all()
    rows[7] = [1.0]
    others = np.arange(60) != 7
    for ragged in (rows, np.array(rows, dtype=object), tuple(rows)):
        assert (model.predict(ragged)[others] == expected[others]).all()
        evaluate(model, ragged, y, epsilon=1, model_is_public=True, random_state=1)


def test_rows_that_are_too_long_are_not_listed(streams):
    """A row of 2.4 GB is void by its length alone."""
    tracemalloc.start()
    for row in (range(3 * 10**8), np.broadcast_to(np.float64(1), 3 * 10**8)):
        model = PrivateOnlineClassifier(**ONLINE, features=3)
        model.partial_fit([[1.0, 2, 3], row], [1, 0])
        assert [one for _, one in model._stream.rows] == [1, 0]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10_000_000


def test_decimals_of_a_scale_that_one_cell_decides():
    """0.5 is 0.5 in a column of one decimal and of twenty, and so is a number that no float holds."""
    long = decimal.Decimal("0.12345678901234567")
    in_pandas = lambda cells: pd.Series(pa.array(cells), dtype=pd.ArrowDtype(pa.array(cells).type))  # noqa: E731
    for make in (pa.array, pl.Series, in_pandas):
        for odd in ("0.25", "0.12345678901234567890", "12345678901234.00000000000000000001"):
            cells = [decimal.Decimal("0.5"), long, decimal.Decimal("3.0"), decimal.Decimal(odd)]
            column = _tables.one_column("a", make(cells), total=True)
            assert decoded(column)[:3] == [0.5, "0.12345678901234567", 3]
    assert written(decimal.Decimal("-1500E-1000")) == written(decimal.Decimal("-1.5E-997")) == "-1.5E-997"


def test_numbers_wider_than_a_float(planned, streams, recwarn):
    rows = [[1, 2, 3], [4, 5, 6], [0, 1, 2], [7, 8, 9], [3, 3, 3]]
    model = PrivateLogisticRegression(epsilon=1, schema=PLAIN)
    expected = rows_reached(PLAIN, reached(model.fit, rows, LABELS))
    for odd in (np.clongdouble(1j), np.complex64(1j), np.longdouble("1e4000")):
        X, y = np.array(spoiled(rows, 4, odd, 1)), np.array([1, 1, 0, 1, odd])
        assert rows_reached(PLAIN, reached(model.fit, X, LABELS))[:4] == expected[:4], X.dtype
        assert rows_reached(PLAIN, reached(model.fit, pd.DataFrame(X, columns=[*"abc"]), LABELS))[:4] == expected[:4]
        assert rows_reached(PLAIN, reached(model.fit, rows, y))[:4] == expected[:4]
        assert PrivateOnlineClassifier(**ONLINE, features=3).partial_fit(X, y)._stream.rows[0] == ([1.0, 2.0, 3.0], 1)
        _records.numbers("y", [odd], total=True)
    assert written(np.complex64(0.5)) == 0.5 and written(np.clongdouble(2)) == 2
    assert not [one for one in recwarn if issubclass(one.category, RuntimeWarning)]


@pytest.mark.parametrize(
    ("classes", "cells", "made"),
    [
        (["0", "1"], ["0", "1", "0", "1"], np.array([0, 1])),
        (["False", "True"], [False, True, False, True], np.array([False, True])),
        (["0.5", "1.5"], [0.5, 1.5, 0.5, 1.5], np.array(["0.5", "1.5"])),
        (["no", "yes"], ["no", "yes", "no", "yes"], np.array(["no", "yes"])),
    ],
)
def test_classes_of_a_schema_are_of_its_own_type(classes, cells, made):
    """Whatever a library made of the labels for one of them, the classes and the predictions are of one type."""
    schema = Schema({"a": number(0, 1)}, target="y", classes=classes, invalid="drop")
    X, cells = np.linspace(0, 1, 200)[:, None], [*cells] * 50
    forms = [cells, np.array(cells), block(cells), pd.Series(cells), np.array([*cells[:-1], "x"]), [*cells[:-1], None]]
    forms += [np.array(cells, dtype=str), np.array(list(map(schema_label, cells)), dtype=float), pl.Series(list(map(str, cells)))]
    for y in forms:
        model = PrivateLogisticRegression(epsilon=9, schema=schema).fit(X, y)
        few = {"batch": 50, "steps": 2, "rate": 1}
        network = PrivateNetworkClassifier(epsilon=9, delta=1e-5, schema=schema, settings=few).fit(X, y)
        near = PrivateNeighbors(epsilon=9, within=0.5, votes=1, schema=schema, n_rows=200)
        near.answer(X, y, questions=[[0.5]])
        for found in (model.classes_, network.classes_, near.classes_, model.predict(X[:1]), near.answers_):
            assert found.dtype == made.dtype, type(y)
        assert (model.classes_ == made).all()
        # Of those that are declared as well, the type is theirs.
        declared = PrivateLogisticRegression(epsilon=9, schema=schema, classes=classes).fit(X, y)
        assert declared.classes_.dtype.kind == "U" and declared.predict(X[:1]).dtype.kind == "U"


def schema_label(cell):
    return {"no": 0.0, "yes": 1.0}.get(cell, cell)


FAR = 2**62
BYTES = pa.array([b"\xff", b"b", b"c"])


def extreme_columns():
    """Columns of pandas, polars and Arrow, each with a first cell that its library cannot read."""
    texts = BYTES.view(pa.string())
    day, count = pa.array([2**31 - 1, 0, 1], pa.int32()), pa.array([FAR, 0, 1], pa.int64())
    arrow = [
        day.cast(pa.date32()),
        pa.array([FAR // 86_400_000 * 86_400_000, 0, 86_400_000]).cast(pa.date64()),
        *[count.cast(kind) for kind in (pa.timestamp("s"), pa.timestamp("us", "Europe/Berlin"), pa.duration("s"))],
        pa.array([2**63 - 1, 0, 1]).cast(pa.timestamp("ns", "Asia/Tokyo")),
        pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), texts),
        pa.StructArray.from_arrays([texts], ["q"]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), texts),
        texts,
    ]
    yield from (pa.chunked_array([column]) for column in arrow)
    yield from (pd.Series(column, dtype=pd.ArrowDtype(column.type)) for column in arrow)
    for lowest in (2**31 - 1, -(2**31)):
        yield pl.Series([lowest, 0, 1], dtype=pl.Int32).cast(pl.Date)
    for kind in (pl.Datetime("ms"), pl.Datetime("ms", "UTC"), pl.Datetime("us", "Europe/Berlin"), pl.Duration("ms")):
        yield pl.Series([FAR, 0, 1]).cast(kind)
    for extreme, zone in ((2**63 - 1, "Asia/Tokyo"), (-(2**63) + 1, "America/New_York")):
        yield pd.Series(np.array([extreme, 0, 1], "M8[ns]")).dt.tz_localize("UTC").dt.tz_convert(zone)
    yield pd.Series(np.array([FAR, 0, 1], "M8[s]"))


def rest_of(column):
    return column.slice(1) if isinstance(column, pa.ChunkedArray) else column[1:]


def test_cells_that_a_library_cannot_read():
    """One is void; the others are what they are without it, and no words of the library are handed on."""
    for number_, column in enumerate(extreme_columns()):
        rest = rest_of(column)
        for read in (
            lambda values: decoded(_tables.one_column("a", values, total=True)),
            lambda values: [repr(label) for label in _refusals.flat_labels(values, total=True)],
            lambda values: [repr(one) for one in _refusals.numbers(values, total=True)],
            lambda values: people(_units.unit_column("a", values, total=True)),
            lambda values: list(map(identifier, _units.exact_cells("a", values, total=True))),
        ):
            assert read(column)[1:] == read(rest), (number_, column)
        for refused in (lambda values: _tables.one_column("a", values), _refusals.flat_labels):
            try:
                refused(column)
            except ValueError as error:
                assert type(error) is ValueError and error.__context__ is None, number_
                assert not any(digits in str(error) for digits in ("2262", "1677", "4611686", "\\xff", "overflow"))
            except TypeError:  # refused by its type
                pass


def test_extreme_dates_leave_the_other_rows():
    schema = Schema({"a": privet.date("1970-01-01", "2030-01-01")}, target="y", classes=["0", "1"], invalid="drop")
    days = [2**31 - 1, 0, 5000]
    frames = [pl.DataFrame({"a": pl.Series(days, dtype=pl.Int32).cast(pl.Date)})]
    frames += [pa.table({"a": pa.array(days, pa.int32()).cast(pa.date32())})]
    expected = encoded(schema, pd.DataFrame({"a": ["x", "1970-01-01", "1983-09-10"]}))
    for X in frames:
        assert np.array_equal(encoded(schema, X), expected)


def test_an_interruption_while_a_column_is_read_is_none_of_its_cells():
    for kind in (KeyboardInterrupt, SystemExit):
        def stop(kind=kind):
            raise kind

        with pytest.raises(kind):
            _records.attempted(stop)


def test_one_row_is_one_by_its_dimensions(streams):
    """An odd cell, for which a library makes objects of a row, leaves it one row and one slot."""
    labels = [*JUNK, [1], (1, 0, 1), np.array([1, 0]), {1}, {"a": 1}]
    forms = [lambda cells: np.array(cells, dtype=object), block, lambda cells: pd.Series(block(cells))]
    for form in forms:
        for cells in ([1.0, 2, 3], [1.0, None, 3], [1.0, "x", 3], [[1.0, 2, 3], 2, 3], [None] * 3):
            for label in (1, ("x", "y", 1), *(labels if form is block else [])):
                rows = PrivateOnlineClassifier(**ONLINE, features=3).partial_fit(form(cells), label)._stream.rows
                assert len(rows) == 1, (cells, type(label))
        model = PrivateOnlineClassifier(**ONLINE, features=3).partial_fit(form([1.0, 2, 3]), 1)
        assert model._stream.rows == [([1.0, 2.0, 3.0], 1)]
        # How many columns there are, no record decides.
        with pytest.raises(ValueError, match="features are missing"):
            PrivateOnlineClassifier(**ONLINE).partial_fit(form([1.0, 2, 3]), 1)
    for series in (pl.Series([1.0, 2, 3]), pd.Index([1.0, None, "x"]), pa.array([1.0, 2, 3]), pd.Series([1.0, 2, None], dtype="Float64")):
        assert len(PrivateOnlineClassifier(**ONLINE, features=3).partial_fit(series, 1)._stream.rows) == 1


def test_one_row_and_a_bare_label(streams):
    """Of one row, what is no list, array or column is the label."""
    lists = (list, tuple, range, np.ndarray, pd.Series, pd.DataFrame)
    forms = [np.array([[1.0, 2, 3]]), [[1.0, 2, 3]], pd.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]})]
    forms.append(pl.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]}).lazy())
    for X in forms:
        bare = [label for label in JUNK if not issubclass(type(label), lists) or type(label) is type(np.ma.masked)]
        for label in (*bare, b"0", {1}, {}, datetime.date(2020, 1, 1)):
            assert len(PrivateOnlineClassifier(**ONLINE, features=list("abc")).partial_fit(X, label)._stream.rows) == 1
        for label in (1, [1], (1,), np.array([1]), np.array(1), pd.Series([1]), pd.Index([1]), pl.Series([1]), pa.array([1])):
            model = PrivateOnlineClassifier(**ONLINE, features=list("abc")).partial_fit(X, label)
            assert model._stream.rows == [([1.0, 2.0, 3.0], 1)], type(label)
        # One that looks like several labels is none of the classes.
        for label in (*JUNK, [1, 0], (1, 0), np.array([1, 0]), np.zeros((1, 2)), pd.Series([1, 0]), [], range(3)):
            assert len(PrivateOnlineClassifier(**ONLINE, features=list("abc")).partial_fit(X, label)._stream.rows) == 1


SPARSE = [sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array, sp.lil_array, sp.dok_array, sp.dia_array]


@pytest.mark.parametrize("make", SPARSE)
def test_sparse_matrices_that_one_entry_made_complex(make, planned):
    """They mean what they mean without it; where nothing is left out they are refused, as dense ones."""
    rows = np.array([[1, 2, 3], [4, 5, 6], [0, 1, 2], [7, 8, 9], [3, 3, 3]], dtype=float)
    model = PrivateLogisticRegression(epsilon=1, schema=PLAIN)

    def read(X):
        data, indices, starts, width = reached(model.fit, X, LABELS)[0]
        return sp.csr_array((data, indices, starts), shape=(5, width)).toarray()

    expected = read(make(rows))
    found = read(make(spoiled_complex(rows)))
    assert np.array_equal(found[:4], expected[:4]) and np.isnan(found[4, 1])
    strict = Schema({name: number(0, 10) for name in "abc"}, target="y", classes=["0", "1"])
    with pytest.raises(ValueError, match="[Cc]omplex"):
        PrivateLogisticRegression(epsilon=1, schema=strict).fit(make(spoiled_complex(rows)), LABELS)


def spoiled_complex(rows):
    found = rows.astype(complex)
    found[4, 1] = 1j
    return found


def test_labels_that_numpy_made_texts(planned):
    """A text that is no class is the number or truth value of which NumPy writes it, alone and in every array."""
    numbers = Schema(COLUMNS, target="y", classes=["0", "1", "2.5", "10000000000000000"], invalid="drop")
    truths = Schema(COLUMNS, target="y", classes=["false", "true"], invalid="drop")
    texts = Schema(COLUMNS, target="y", classes=["1.0", "1", "True"], invalid="drop")
    for schema, cells, codes in (
        (numbers, [1.0, 0.0, 2.5, 1e16], [1, 0, 2, 3]),
        (numbers, [True, False, True, True], [1, 0, 1, 1]),
        (truths, [True, False, True, True], [1, 0, 1, 1]),
        (texts, ["1.0", "1", "True", "1.0"], [0, 1, 2, 0]),
    ):
        model = PrivateLogisticRegression(epsilon=1, schema=schema)
        for odd in ("x", 1j, b"x", None, 3, 2.5):
            for make in (list, np.array, lambda cells: np.array(cells, dtype=object), lambda cells: np.array(list(map(str, cells)))):
                y = make([*cells, odd])
                assert [row[1] for row in rows_reached(schema, reached(model.fit, GOOD, y))][:4] == codes, (cells, odd)
    for missing in (float("nan"), np.datetime64("NaT"), 1j):
        alone, beside = privet._labels.spelled(str(missing)), privet._cells.plain(missing)
        assert alone is beside, missing
    regressor = PrivateLinearRegression(epsilon=1, schema=NUMBER)
    for odd in ("x", b"x", None):
        y = np.array([True, False, True, True, odd])
        assert [row[1] for row in rows_reached(NUMBER, reached(regressor.fit, GOOD, y))][:4] == [1, 0, 1, 1]
    # Where records are refused, a text is itself.
    strict = Schema(COLUMNS, target="y", classes=["0", "1"])
    with pytest.raises(ValueError, match="none of the classes"):
        PrivateLogisticRegression(epsilon=1, schema=strict).fit([[1.5, "x", 0.25]] * 5, np.array(["1.0", "0", "1", "1", "0"]))


SPELT = {
    "listed": ({**LISTED, "categories": ["1", "5", "2.5"]}, [1.0, 5.0, 2.5]),
    "listed texts": ({**LISTED, "categories": ["1.0", "1", "5"]}, ["1.0", "1", "5"]),
    "listed truths": ({**LISTED, "categories": ["false", "true"]}, [True, False, True]),
    "two numbers": ({"type": "binary", "values": ["0", "1"], "missing": "category"}, [1.0, 0.0, 1.0]),
    "hashed": ({"type": "category", "hash_buckets": 64, "missing": "category"}, [1.0, 5.0, 2.5]),
    "missing": ({**LISTED, "categories": ["1", "5"]}, [1.0, float("nan"), 5.0]),
    "numbers": (NUMBER_OR, [1.0, float("nan"), -999.0]),
    "truths as numbers": (NUMBER_OR, [True, False, True]),
    "days": (DAYS, [18_000.0, 18_500.0, 19_000.0]),
    "texts in bytes": ({**LISTED, "categories": ["a", "b"]}, ["a", "b", "a"]),
}


@pytest.mark.parametrize("kind", SPELT)
def test_cells_that_numpy_made_texts(kind):
    column, cells = SPELT[kind]
    file = {"missing_values": ["", "nan", "-999"]}
    schema = Schema.from_dict(DRAFT | {"file": file, "columns": [{"name": "a", **column}]})
    expected = encoded(schema, [[cell] for cell in cells])
    assert expected.any(axis=1).all()
    for odd in ("x", b"x", 1j, None, np.timedelta64(3, "s"), object(), 2.5):
        if kind == "texts in bytes":
            cells = [str(cell).encode() for cell in SPELT[kind][1]]
        for given in ([*cells, odd], [*cells, odd, "x"]):
            for make in (list, np.array, lambda cells: np.array(cells, dtype=object)):
                try:
                    made = make(given)
                except TypeError:  # NumPy makes no array of these
                    continue
                table = [[cell] for cell in made] if type(made) is list else made[:, None]
                assert np.array_equal(encoded(schema, table)[: len(cells)], expected), (odd, getattr(made, "dtype", list))


def test_one_cell_is_one_in_every_array(planned, monkeypatch):
    """Bytes, truth values, durations and long doubles, alone and beside a cell that makes objects of them."""
    kinds = {
        "bytes": (np.array([b"1", b"0", b"0", b"1"]), ["1", "0", "0", "1"]),
        "truths": (np.array([True, False, False, True]), ["1", "0", "0", "1"]),
        "durations": (np.array([1, 0, 0, 1], dtype="m8[s]"), ["1", "0", "0", "1"]),
        "long doubles": (np.array([1, 0, 0, 1], dtype=np.longdouble), ["1", "0", "0", "1"]),
        "wide complex": (np.array([1, 0, 0, 1], dtype=np.clongdouble), ["1", "0", "0", "1"]),
    }
    model, regressor = PrivateLogisticRegression(epsilon=1, schema=CLASSES), PrivateLinearRegression(epsilon=1, schema=NUMBER)
    monkeypatch.setattr(_privet, "learn_ratings", reach)
    for name, (typed, whose) in kinds.items():
        cells = block([*typed, None])
        forms = [np.append(typed, typed[:1]), cells, pd.Series(cells, dtype=object), list(cells), block([*typed, object()])]
        for y in forms:
            for fitted, schema in ((model, CLASSES), (regressor, NUMBER)):
                assert [row[1] for row in rows_reached(schema, reached(fitted.fit, GOOD, y))][:4] == [1, 0, 0, 1], name
            assert people(_units.unit_column("who", y, total=True))[:4] == whose, name
        file, column = {"missing_values": [""]}, {"name": "a", **LISTED, "categories": ["0", "1"]}
        schema = Schema.from_dict(DRAFT | {"file": file, "columns": [column]})
        for X in forms:
            X = X[:, None] if type(X) is np.ndarray else [[cell] for cell in X]
            assert encoded(schema, X)[:4].tolist() == encoded(schema, [[1], [0], [0], [1]]).tolist(), name
    # A long double makes a table of triples long doubles.
    triples = [(1, 2, 3.0), (2, 1, 4.0), (2**52 + 1, 2, 1.0)]
    recommender = PrivateRecommender(1, items=[1, 2], n_users=5, invalid="drop")
    expected = reached(recommender.fit, np.array(triples))[0]
    assert len(expected) == 3
    for odd in (np.longdouble(3), np.clongdouble(3), np.longdouble("1e4000"), np.clongdouble(1j)):
        for place in (0, 1, 2):
            more = [1, 2, 3.0]
            more[place] = odd
            found = reached(recommender.fit, np.array([*triples, tuple(more)]))[0]
            for user in expected[1:]:
                assert user in found, (odd, place)
    # Where records are refused, these are.
    for typed, _ in kinds.values():
        with pytest.raises(ValueError, match="exactly"):
            _units.unit_column("who", typed)


def test_a_vote_answers_bad_rows():
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 10, (600, 3))
    y = (rows[:, 0] < 5).astype(int)
    for policy, stand_in in (("drop", None), ("stand-in", 9.0)):
        columns = {name: number(0, 10, invalid=stand_in) for name in "abc"}
        schema = Schema(columns, target="y", classes=["0", "1"], invalid=policy, bias=False)
        vote = PrivateVote("tree", epsilon=50, n_teachers=20, schema=schema, random_state=1).fit(rows, y, public=rows[:200])
        usual = vote.predict(rows[:5])
        assert set(usual.tolist()) == {0, 1}
        score = vote.score(rows, y)
        for junk in JUNK:
            for given in (spoiled(rows[:5].tolist(), 2, junk, 0), spoiled(rows[:5].tolist(), 2, junk)):
                for made in (list, square)[: 2 if type(given[2]) is list and len(given[2]) == 3 else 1]:
                    found = vote.predict(made(given))
                    assert others(found.tolist(), 2) == others(usual.tolist(), 2), type(junk)
                    assert found[2] in (0, 1)
        for bad in (np.nan, np.inf):
            X = rows.copy()
            X[0, 0] = bad
            assert abs(vote.score(X, y) - score) < 0.01
            # As every other estimator: the first class, or what the stand-in says.
            assert vote.predict(X)[0] == (0 if policy == "drop" else vote.predict([[9.0, *X[0, 1:]]])[0])
            assert vote.predict(X[:1]).shape == (1,) and vote.predict(sp.csr_array(X))[0] in (0, 1)
        # The middle of all bounds is no bad record.
        assert vote.predict([[5.0, 5.0, 5.0]]) == vote.student_.predict([[5.0, 5.0, 5.0]])
    table = pd.DataFrame({"a": rows[:, 0], "b": rng.choice(["x", "y"], 600), "c": rows[:, 2] / 10})
    mixed = PrivateVote("tree", epsilon=50, n_teachers=20, schema=CLASSES, student=Numbers(), random_state=1)
    mixed.fit(table, y, public=table[:200])
    usual = mixed.predict(table[:5])
    for kind in (pl.from_pandas, lambda frame: frame):
        assert mixed.predict(kind(table[:5])).tolist() == usual.tolist()
    for junk in JUNK:
        cells = spoiled(table["b"][:5].tolist(), 2, junk)
        odd = table[:5].assign(b=pd.Series(block(cells), dtype=object))
        assert others(mixed.predict(odd).tolist(), 2) == others(usual.tolist(), 2)


class Numbers(sklearn.base.ClassifierMixin, sklearn.base.BaseEstimator):
    """A student that reads the first column of a frame."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        first = X["a"].to_numpy() if hasattr(X, "columns") else np.array([row[0] for row in X])
        return (first.astype(float) < 5).astype(int)


def test_a_selector_hands_on_what_its_policy_takes():
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 10, (400, 3))
    y = (rows[:, 0] < 5).astype(int)
    selector = PrivateFeatureSelector(epsilon=50, schema=PLAIN, size=1, random_state=1).fit(rows, y)
    assert selector.get_support(indices=True) == [0]
    for bad in (np.nan, np.inf, 1j, np.longdouble("nan"), np.timedelta64(3, "s"), "x", None, np.timedelta64("NaT")):
        X = np.array(spoiled([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1, bad, 0))
        found = selector.transform(X)
        assert found.shape == (3, 1) and [float(cell) for cell in found[[0, 2], 0]] == [1, 7], X.dtype
        for make in (pd.DataFrame, pl.DataFrame):
            try:
                X = make({"a": [1.0, bad, 7.0], "b": [1.0, 2.0, 3.0], "c": [1.0, 2.0, 3.0]})
            except Exception:  # a library does not make a column of these
                continue
            assert len(selector.transform(X)) == 3
    with pytest.raises(ValueError, match="NaN"):
        strict = PrivateFeatureSelector(epsilon=50, bounds=(0, 10), classes=[0, 1], random_state=1).fit(rows, y)
        strict.transform(np.full((2, 3), np.nan))


def test_columns_of_rows_and_frames_of_odd_names(planned):
    """A column of lists is rows, one of numbers is refused; so are two names that are one but for blanks."""
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0], [7.0, 8.0, 9.0], [3.0, 3.0, 3.0]]
    model = PrivateLogisticRegression(epsilon=1, schema=PLAIN)
    loose = PrivateLogisticRegression(epsilon=1, bounds=(0, 10), classes=[0, 1])
    expected = rows_reached(PLAIN, reached(model.fit, rows, LABELS))
    lists = pa.list_(pa.float64())
    forms = [pl.Series(rows), pl.Series(rows, dtype=pl.Array(pl.Float64, 3)), pa.array(rows), pa.chunked_array([rows])]
    forms += [pd.Series(rows), pd.Series(pa.array(rows), dtype=pd.ArrowDtype(lists))]
    forms += [pl.Series([dict(zip("cab", [row[2], *row[:2]], strict=True)) for row in rows])]
    for place, X in enumerate(forms):
        assert rows_reached(PLAIN, reached(model.fit, X, LABELS)) == expected, place
        if place < 6:
            assert np.array_equal(reached(loose.fit, X, [0, 1, 0, 1, 0])[0], np.array(rows)), place
    odd = pl.Series([*rows[:4], [1.0]])
    assert rows_reached(PLAIN, reached(model.fit, odd, LABELS))[:4] == expected[:4]
    for column in (pl.Series([1.0] * 5), pa.array([1.0] * 5), pd.Series([1.0] * 5), pd.Index(range(5)), pl.Series(["x"] * 5)):
        for fit in (model.fit, loose.fit):
            with pytest.raises(ValueError, match="2D array"):
                fit(column, LABELS)
    table = pd.DataFrame(rows, columns=[*"abc"])
    for other in (None, 3, float("nan"), ("a", 1), True):
        frame = table.assign(x=1.0).rename(columns={"x": other})
        assert rows_reached(PLAIN, reached(model.fit, frame, LABELS)) == expected, other
    strict = PrivateLogisticRegression(epsilon=1, schema=STRICT)
    for blank in (table.assign(**{"c ": 0.0}), pl.from_pandas(table.assign(**{"c ": 0.0}))):
        # One record may have such a key: it moves no other's.
        assert rows_reached(PLAIN, reached(model.fit, blank, LABELS)) == expected
        with pytest.raises(ValueError, match="but for blanks"):
            strict.fit(blank, LABELS)
    neither = table[["a", "b"]].assign(**{" c": 0.0, "c ": 1})
    for call in (model.fit, strict.fit, lambda X, y: SchemaEncoder(PLAIN).fit_transform(X)):
        with pytest.raises(ValueError, match="but for blanks"):
            call(neither, LABELS)
    # Of columns that nobody reads the names may be any.
    assert rows_reached(PLAIN, reached(model.fit, table.assign(**{"d ": 0.0, "d": 1.0}), LABELS)) == expected
