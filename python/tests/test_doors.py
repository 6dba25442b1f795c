"""What one record's keys, length or cells may not decide, at every entry; and whose guarantee is paid for, at each."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import privet
from privet import (
    Ledger,
    PrivacyError,
    PrivateFeatureSelector,
    PrivateLogisticRegression,
    PrivateOnlineClassifier,
    PrivateRecommender,
    PrivateTuner,
    PrivateVote,
    Schema,
    SchemaEncoder,
    account,
    binary,
    category,
    cluster,
    count,
    describe,
    evaluate,
    families,
    load,
    number,
)
from privet.recommender import _by_user

pytestmark = [
    pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
    pytest.mark.filterwarnings("ignore:X has feature names"),
    pytest.mark.filterwarnings("ignore:Constructing a DataFrame from a list of sequences"),
    pytest.mark.filterwarnings("ignore:.*are none that the student can read"),
]

ROWS = 600
RNG = np.random.default_rng(5)
X = RNG.uniform(-1, 1, (ROWS, 2))
Y = (X[:, 0] > 0).astype(int)
COLUMNS = {"a": number(-1, 1), "b": number(-1, 1)}
DROP = Schema(COLUMNS, target="ill", classes=["0", "1"], invalid="drop")
LOOSE = Schema(COLUMNS, target="ill", classes=["0", "1"], invalid="drop", other_columns="ignore")
PEOPLE = Schema(COLUMNS, target="ill", classes=["0", "1"], invalid="drop", unit="id", max_records=2)
FRAME = pd.DataFrame(X, columns=["a", "b"])
RECORDS = FRAME.to_dict("records")


def with_record(place, record):
    return pd.DataFrame([*RECORDS[:place], record, *RECORDS[place + 1 :]])


# Whose guarantee is paid for.

VISITS = pd.Series(np.arange(ROWS) // 2, name="visit")


@pytest.fixture
def ledger(tmp_path):
    kept = Ledger(tmp_path / "l.ledger", dataset="riders", unit="patient", create=True)
    kept.open(epsilon=5, delta=1e-4, max_records=4)
    return kept


@pytest.fixture(scope="module")
def unnamed():
    """A model of groups that have no name."""
    facts = {"epsilon": 1, "delta": 1e-6, "bounds": (-1, 1), "classes": [0, 1], "max_records": 4, "n_rows": ROWS}
    return PrivateLogisticRegression(**facts).fit(X, Y, groups=np.arange(ROWS) // 4)


def test_a_limit_on_patients_pays_for_no_visits_under_a_schema_without_a_name(unnamed, ledger, tmp_path):
    unnamed.save(tmp_path / "m.json")
    own = Schema._of(unnamed.model_.schema())
    table = pd.DataFrame(X, columns=["x0", "x1"]).assign(**{own.target: Y})
    tuner = PrivateTuner(
        [{"method": "gd", "steps": [5]}], schema=own, epsilon=0.5, delta=1e-6, n_rows=ROWS, trials=2
    )
    means = {"schema": own, "epsilon": 0.2, "delta": 1e-6, "n_rows": ROWS}
    doors = {
        "evaluate": lambda groups: evaluate(
            unnamed, X, Y, epsilon=0.2, delta=1e-6, n_rows=ROWS, groups=groups, ledger=ledger
        ),
        "evaluate a file": lambda groups: evaluate(
            load(tmp_path / "m.json"), X, Y, epsilon=0.2, delta=1e-6, n_rows=ROWS, groups=groups, ledger=ledger
        ),
        "fit again": lambda groups: load(tmp_path / "m.json")
        .set_params(epsilon=0.2, delta=1e-6)
        .fit(X, Y, groups=groups, ledger=ledger),
        "describe": lambda groups: describe(table, **means, groups=groups, ledger=ledger),
        "count": lambda groups: count(table, own.target, **means, groups=groups, ledger=ledger),
        "tune": lambda groups: tuner.fit(table.drop(columns=own.target), Y, groups=groups, ledger=ledger),
        "family": lambda groups: families.PrivateDescribe(epsilon=0.2, delta=1e-6, schema=own, n_rows=ROWS).fit(
            table, groups=groups, ledger=ledger
        ),
    }
    for name, door in doors.items():
        with pytest.raises(PrivacyError, match='"visit".*"patient"'):
            door(VISITS)
        assert not ledger.history(), name
    for name in ("evaluate", "fit again", "describe", "count"):
        doors[name](pd.Series(VISITS, name="patient"))
        doors[name](VISITS.to_numpy())
    assert [entry["whose"]["column"] for entry in ledger.history()] == ["patient"] * 8
    # Without a ledger nobody is paid for as anybody: it stays not said whose the guarantee is.
    found = evaluate(unnamed, X, Y, epsilon=0.2, delta=1e-6, n_rows=ROWS, groups=VISITS)
    assert found.certificate.whose == {"kind": "not-said"}
    with pytest.raises(ValueError, match="brackets"):
        evaluate(unnamed, X, Y, epsilon=0.2, delta=1e-6, n_rows=ROWS, groups=VISITS.rename("(visit)"))


@pytest.mark.parametrize("unit", ["(not named)", "(not named)_", "(not named) who", " (not named)"])
def test_no_column_is_called_what_has_no_name(unit, tmp_path, ledger, unnamed):
    with pytest.raises(ValueError, match="privet's own word"):
        Schema(COLUMNS, target="ill", classes=["0", "1"], unit=unit, max_records=4)
    draft = DROP.to_dict() | {"unit": {"column": unit, "max_records": 4}}
    made_here = unit.rstrip("_") == "(not named)"
    if not made_here:
        with pytest.raises(ValueError, match="privet's own word"):
            Schema.from_dict(draft)
        return
    # A model's own schema is read again, and no column of a table is its unit.
    schema = Schema.from_dict(draft)
    assert Schema.from_toml(schema.to_toml()) == schema
    table = FRAME.assign(ill=Y, **{unit: VISITS})
    table.to_csv(tmp_path / "t.csv", index=False)
    means = {"schema": schema, "epsilon": 0.2, "delta": 1e-6, "n_rows": ROWS, "ledger": ledger}
    for given in (table, table.to_dict("series"), pl.from_pandas(table), tmp_path / "t.csv"):
        with pytest.raises(ValueError, match="not named|no name"):
            describe(given, **means)
    with pytest.raises(ValueError, match="groups are missing"):
        PrivateLogisticRegression(epsilon=0.2, delta=1e-6, schema=schema, n_rows=ROWS).fit(table, Y, ledger=ledger)
    with pytest.raises(ValueError, match="missing"):
        cluster.fit([table], schema=schema, epsilon=0.2, delta=1e-6, n_rows=ROWS, ledger=ledger)
    assert not any(entry["state"] == "settled" for entry in ledger.history())


def test_groups_of_a_model_of_rows_are_refused():
    model = PrivateLogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(X, Y)
    for more in ({"epsilon": 1, "n_rows": ROWS}, {}):
        with pytest.raises(ValueError, match="groups are given, but the schema has no unit"):
            evaluate(model, X, Y, groups=VISITS, **more)


def test_events_of_different_units_do_not_add_up(unnamed):
    facts = {"epsilon": 1, "delta": 1e-6, "bounds": (-1, 1), "classes": [0, 1], "n_rows": ROWS}
    visits = PrivateLogisticRegression(**facts, max_records=4).fit(X, Y, groups=VISITS)
    rows = PrivateLogisticRegression(**facts).fit(X, Y)
    for one, other in ((unnamed, visits), (visits, unnamed), (unnamed, unnamed), (visits, rows)):
        with pytest.raises(PrivacyError, match="do not add up"):
            account.of(one) + account.of(other)
    both = account.of(visits) + 2 * account.of(visits)
    with pytest.raises(PrivacyError, match="do not add up"):
        both + account.of(unnamed)
    stated = account.of(unnamed, same_unit=True) + account.of(visits)
    expected = account.total([unnamed, visits], delta=1e-5, same_unit=True)
    assert stated.epsilon(1e-5) == float(expected)
    # Who the unit is of an event that somebody describes is theirs to know.
    assert (account.of(rows) + account.pure(0.5)).epsilon(1e-5) > 0


def test_a_unit_that_was_made_up_has_no_name():
    schema = Schema(COLUMNS, target="ill", classes=["0", "1"], unit="group", max_records=4)
    assert privet.schema.as_said(schema, {"kind": "column", "column": "group"}) is schema
    assert privet.schema.as_said(schema, {"kind": "not-said"}).unit == "(not named)"
    assert privet.schema.as_said(DROP, {"kind": "not-said"}) is DROP


# Columns are the schema's, whatever frame was fitted on.


def test_a_selector_chooses_columns_by_their_names(tmp_path):
    first = FRAME.copy()
    first.insert(0, "id", np.arange(ROWS))
    frames = [first, first[["b", "a", "id"]]]
    for frame in [*frames, *map(pl.from_pandas, frames), *map(pa.Table.from_pandas, frames)]:
        chosen = PrivateFeatureSelector(epsilon=30, size=1, schema=PEOPLE, n_rows=ROWS).fit(frame, Y)
        assert list(chosen.get_feature_names_out()) == ["a"] and chosen.get_support().tolist() == [True, False]
        chosen.save(tmp_path / "c.json", overwrite=True)
        for selector in (chosen, load(tmp_path / "c.json")):
            for again in (*frames, pl.from_pandas(frames[1]), pa.Table.from_pandas(frames[1])):
                assert np.array_equal(np.asarray(selector.transform(again))[:, 0], X[:, 0])
            for given in (X, X.tolist(), X.astype(object), RECORDS):
                assert np.array_equal(np.asarray(selector.transform(given), dtype=float)[:, 0], X[:, 0])
        with pytest.raises(ValueError, match="no column 'a'"):
            chosen.transform(FRAME[["b"]])
    # One of an array has no names to go by.
    placed = PrivateFeatureSelector(epsilon=30, size=1, bounds=(-1, 1), classes=[0, 1]).fit(X, Y)
    placed.save(tmp_path / "p.json")
    assert load(tmp_path / "p.json").transform(FRAME).shape == (ROWS, 1)


EXTRA = {
    "order": (0, {"b": X[0, 1], "a": X[0, 0]}),
    "further": (5, RECORDS[5] | {"zz": 1.0}),
    "number": (5, RECORDS[5] | {7: 1.0}),
    "none": (5, RECORDS[5] | {None: 1.0}),
    "tuple": (5, RECORDS[5] | {("a", "b"): 1.0}),
    "blank": (5, RECORDS[5] | {"a ": 1.0}),
}


@pytest.mark.parametrize("kind", EXTRA)
def test_a_records_keys_decide_nothing_for_others(kind, tmp_path):
    frame = with_record(*EXTRA[kind])
    plain = PrivateLogisticRegression(epsilon=20, schema=LOOSE, random_state=1).fit(FRAME, Y)
    model = PrivateLogisticRegression(epsilon=20, schema=LOOSE, random_state=1).fit(frame, Y)
    assert np.array_equal(model.coef_, plain.coef_)
    assert list(model.feature_names_in_) == ["a", "b"] and model.n_features_in_ == 2
    expected = plain.predict(FRAME)
    for given in (FRAME, frame, X, X.tolist(), X.astype(object), RECORDS, FRAME[["b", "a"]], pl.from_pandas(FRAME)):
        assert np.array_equal(model.predict(given), expected)
    values = [
        evaluate(model, given, Y, epsilon=5, model_is_public=True, random_state=1).accuracy.value for given in (FRAME, frame, X.tolist(), RECORDS)
    ]
    assert len(set(values)) == 1
    encoded = SchemaEncoder(LOOSE).fit(frame)
    assert encoded.n_features_in_ == 2
    for given in (FRAME, frame, X.tolist(), RECORDS, X):
        assert np.array_equal(encoded.transform(given), SchemaEncoder(LOOSE).fit_transform(FRAME))
    table, whole = frame.assign(ill=Y), FRAME.assign(ill=Y)
    means = [describe(one, schema=LOOSE, epsilon=5, random_state=1)["a"]["mean"] for one in (table, whole)]
    assert means[0] == means[1]
    if kind != "further":
        # Such a key is no column of a file's, so that the schema's word on other columns is not about it.
        assert np.array_equal(PrivateLogisticRegression(epsilon=20, schema=DROP, random_state=1).fit(frame, Y).coef_, plain.coef_)
    tuned = [
        PrivateTuner([{"method": "gd", "steps": [5]}], schema=LOOSE, epsilon=20, random_state=3).fit(one, Y).best_estimator_.coef_
        for one in (frame, FRAME)
    ]
    assert np.array_equal(*tuned)
    chosen = PrivateFeatureSelector(epsilon=30, size=1, schema=LOOSE).fit(frame, Y)
    assert np.array_equal(np.asarray(chosen.transform(frame), dtype=float)[:, 0], X[:, 0])


def test_lists_after_a_frame_with_a_unit_are_the_schemas_columns():
    frame = FRAME.copy()
    frame.insert(0, "id", np.arange(ROWS))
    model = PrivateLogisticRegression(epsilon=20, schema=PEOPLE, n_rows=ROWS).fit(frame, Y)
    expected = model.predict(frame)
    for given in (FRAME, X, X.tolist(), X.astype(object), RECORDS, frame.to_dict("records")):
        assert np.array_equal(model.predict(given), expected)


def test_votes_are_read_alike_whatever_one_cell_makes_of_the_array():
    public = np.random.default_rng(1).uniform(-1, 1, (60, 2))
    facts = {"epsilon": 20, "delta": 1e-3, "n_teachers": 20, "schema": DROP, "random_state": 1}
    vote = PrivateVote("tree", **facts).fit(FRAME, Y, public=public)
    good = X[:30].tolist()
    expected = np.delete(vote.predict(X[:30]), 3)
    assert len(set(expected)) == 2
    for cell in ("junk", "0.5", b"1", 1j, 1 + 0j, np.clongdouble(1), np.longdouble(1), np.timedelta64(1, "s"), None, (1, 2)):
        rows = [*good[:3], [cell, 0.1], *good[4:]]
        for make in (list, np.array, lambda rows: np.array(rows, dtype=object), lambda rows: pd.DataFrame(rows, columns=["a", "b"])):
            try:
                given = make(rows)
            except (TypeError, ValueError):
                continue
            assert np.array_equal(np.delete(vote.predict(given), 3), expected), (type(given), cell)
    # Nor does a further key, or the order of the first record's.
    named = PrivateVote("tree", **facts).fit(FRAME, Y, public=pd.DataFrame(public, columns=["a", "b"]))
    expected = named.predict(FRAME)
    for place, record in EXTRA.values():
        assert np.array_equal(named.predict(with_record(place, record)), expected)
    # A student of rows without names takes the schema's columns of a frame, and no unit's.
    people = PrivateVote("tree", **facts | {"schema": PEOPLE, "n_rows": ROWS})
    people.fit(FRAME.assign(id=np.arange(ROWS)), Y, public=public)
    frame = FRAME[["b", "a"]].assign(id=np.arange(ROWS))
    assert np.array_equal(people.predict(frame), people.predict(X)) and len(set(people.predict(X))) == 2
    coded = Schema({"a": number(-1, 1), "c": category(["1", "2"], unknown="other")}, target="ill", classes=["0", "1"], invalid="drop")
    rows = np.c_[X[:, 0], RNG.integers(1, 3, ROWS)]
    vote = PrivateVote("tree", **facts | {"schema": coded}, student=privet.voting.LogisticRegression()).fit(rows, Y, public=rows[:100])
    expected = np.delete(vote.predict(rows), 3)
    assert len(set(expected)) == 2
    assert np.array_equal(np.delete(vote.predict(np.array([*rows[:3].tolist(), ["junk", 1], *rows[4:].tolist()])), 3), expected)


# Partitions.


def part(first, rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, rows)
    return {"id": np.arange(first, first + rows), "x": x, "c": rng.integers(1, 3, rows), "ill": (x > 0).astype(int)}


@pytest.mark.parametrize("unit", [{"unit": "id", "max_records": 2}, {}])
def test_one_cell_of_a_partition_leaves_the_others_what_they_were(unit):
    columns = {"x": number(-1, 1), "c": category(["1", "2"], unknown="other")}
    schema = Schema(columns, target="ill", classes=["0", "1"], invalid="drop", **unit)
    means = {"schema": schema, "epsilon": 200, "n_rows": 800, "random_state": 3}

    def told(*parts):
        return cluster.count(parts, "c", **means).counts, cluster.fit(parts, method="gd", **means).coef_

    first, second = part(0, 400, 0), part(400, 400, 1)
    counts, coef = told(first, second)
    for name in ("x", "c", "ill"):
        for junk in ("junk", None, b"x", 1j):
            odd = first | {name: np.array([*first[name][:-1].tolist(), junk])}
            for parts in ((odd, second), (second, odd)):
                found, weights = told(*parts)
                assert all(abs(found[key] - counts[key]) < 3 for key in counts), (name, junk)
                assert np.allclose(weights, coef, atol=3), (name, junk)


def test_what_a_text_means_in_one_partition_no_cell_of_another_decides():
    schema = Schema(
        {"c": category(["1", "2"], unknown="other")}, target="ill", classes=["0", "1"], invalid="drop", unit="id", max_records=1
    )
    ids, ill = np.arange(100), [0, 1] * 50

    def told(cells):
        parts = [
            pd.DataFrame({"id": ids, "c": ["1.0", "2.0"] * 50, "ill": ill}),
            pd.DataFrame({"id": ids + 100, "c": cells, "ill": ill}),
        ]
        return cluster.count(parts, "c", schema=schema, epsilon=1000, n_rows=200, random_state=3).counts

    clean = told([1, 2] * 50)
    for junk in ("junk", 1.5, None):
        found = told([*[1, 2] * 49, 1, junk])
        assert all(abs(found[key] - clean[key]) < 2 for key in clean), junk


@pytest.mark.parametrize("unit", [{"unit": "id", "max_records": 2}, {}])
def test_partitions_are_joined_by_the_names_of_their_columns(unit):
    schema = Schema(COLUMNS, target="ill", classes=["0", "1"], invalid="drop", **unit)
    records = FRAME.assign(id=np.arange(ROWS), ill=Y).to_dict("records")
    means = {"schema": schema, "epsilon": 20, "n_rows": ROWS, "random_state": 3, "method": "gd"}

    def told(second):
        return cluster.fit([pd.DataFrame(records[:-1]), pd.DataFrame([second])], **means).coef_

    last = records[-1]
    expected = told(last)
    turned = {name: last[name] for name in reversed(last)}
    for same in (turned, last | {"zz": 1}, last | {"a ": 1}, last | {7: 1}):
        assert np.array_equal(told(same), expected)
    # What no record of a partition has is without a value there, as in one table.
    for name in (*COLUMNS, "ill", *(["id"] if unit else [])):
        lacking = told({key: cell for key, cell in last.items() if key != name})
        assert np.allclose(lacking, expected, atol=0.5)
    # What none has at all is no column.
    with pytest.raises(ValueError, match="partition 0 has no column 'a'"):
        cluster.fit([pd.DataFrame(records).drop(columns="a")] * 2, **means)


# Streams.

STREAM = {"epsilon": 5, "horizon": ROWS, "classes": [0, 1], "batch": 10, "random_state": 1}


def stream(**more):
    return PrivateOnlineClassifier(**STREAM | {"bounds": (-1, 1)} | more)


def test_frames_need_declared_names():
    for more in ({"features": 2}, {"bounds": ([-1, -1], [1, 1])}, {}, {"bounds": None, "data_norm": 2.0}):
        for frame in (FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)):
            with pytest.raises(ValueError, match="features are missing"):
                stream(**more).partial_fit(frame, Y)
    named = stream(features=["a", "b"]).partial_fit(FRAME, Y)
    for place, record in EXTRA.values():
        assert np.array_equal(stream(features=["a", "b"]).partial_fit(with_record(place, record), Y).coef_, named.coef_)
    assert np.array_equal(stream(features=["a", "b"]).partial_fit(RECORDS, Y).coef_, named.coef_)
    # A column that a frame lacks is one without values, to learn from and to predict.
    assert named.predict(pd.DataFrame([{"a": 1.0}])).tolist() == [0]
    assert np.array_equal(named.predict(FRAME[["b", "a"]].assign(zz=1)), named.predict(X))


def test_a_short_record_takes_its_slot_in_an_array_too():
    def run(first, **more):
        model = stream(features=2, **more)
        for place, row in enumerate([first, *X[1:].tolist()]):
            model.partial_fit(np.array([row]), [Y[place]])
        return model

    whole = run(X[0].tolist())
    for first in ([0.1], [0.1, 0.2, 0.3], []):
        short = run(first)
        assert short.steps_left_ == whole.steps_left_ == 0 and np.allclose(short.coef_, whole.coef_, atol=1)
    for row in (np.array([[0.1, 0.2]]), np.array([0.1, 0.2]), pd.Series([0.1, 0.2])):
        with pytest.raises(ValueError, match="features are missing"):
            stream().partial_fit(row, [1])
    assert stream(features=2).partial_fit(np.array([0.1]), 1).flush().steps_left_ == ROWS // 10 - 1
    # Of what type an array is, and whether it is a table, may be one record's doing.
    for table in (X, X.astype(object), X.tolist(), X[:0]):
        with pytest.raises(ValueError, match="features are missing"):
            stream().partial_fit(table, Y[: len(table)])
    assert stream(bounds=([-1, -1], [1, 1])).partial_fit(X, Y).n_features_in_ == 2
    with pytest.raises(ValueError, match="3 features; 2 are accepted"):
        stream(features=2).partial_fit(np.c_[X, X[:, 0]], Y)


def test_rows_of_several_lengths_in_an_array_are_rows_at_every_entry():
    rows = X[:40].tolist()
    rows[4] = [0.1]
    ragged = np.array(rows, dtype=object)
    for given in (ragged, X[:40].astype(object)):
        with pytest.raises(ValueError, match="features are missing"):
            stream().partial_fit(given, Y[:40])
    model = stream(features=2, batch=1).partial_fit(ragged, Y[:40])
    assert model.steps_left_ == ROWS - 40
    # A batch as long as a row is wide.
    for labels in ([0, 1], np.array([0, 1]), pd.Series([0, 1])):
        for odd in ([0.1], 7, None, "x"):
            cells = np.empty(2, dtype=object)
            cells[:] = [[0.1, 0.2], odd]
            assert stream(features=2, batch=1).partial_fit(cells, labels).steps_left_ == ROWS - 2
    expected = model.predict(X[:40])
    others = np.arange(40) != 4
    for given in (rows, tuple(rows), ragged):
        assert np.array_equal(model.predict(given)[others], expected[others])
        assert len(model.decision_function(given)) == 40 and 0 <= model.score(given, Y[:40]) <= 1
    assert model.predict(np.array([[0.1, 0.2], [0.1]], dtype=object)).shape == (2,)
    assert model.predict(np.array([0.1, 0.2], dtype=object)).shape == (1,)


def test_what_stands_beside_one_row_is_its_label():
    for label in ([1, 0], (1, 0), np.array([1, 0]), np.zeros((2, 2)), [], range(3), pd.Series([1, 2]), pd.DataFrame({"a": [1, 2]})):
        for row in ([[0.1, 0.2]], ((0.1, 0.2),), np.array([[0.1, 0.2]])):
            assert stream(features=2, batch=1).partial_fit(row, label).steps_left_ == ROWS - 1


# Ratings, sparse matrices.


def test_a_rating_of_four_parts_is_left_out():
    ratings = [(user, item, 3.0) for user in range(5) for item in "xyz"]
    expected = _by_user(ratings[:4] + ratings[5:], total=True)
    odd = [*ratings[:4], (*ratings[4], 1.0), *ratings[5:]]
    frame = pd.DataFrame(odd)
    for given in (odd, frame, np.array(odd, dtype=object)):
        assert _by_user(given, total=True) == expected
    with pytest.raises(ValueError, match="4 columns"):
        _by_user(frame, total=False)
    # A further key of one record of names leaves it what it is.
    named = [dict(zip(["user", "item", "rating"], rating, strict=True)) for rating in ratings]
    named[4] = named[4] | {"zz": 1}
    assert _by_user(pd.DataFrame(named), total=True) == _by_user(ratings, total=True)
    model = PrivateRecommender(1, items=list("xyz"), n_users=5, delta=1e-3, invalid="drop", random_state=1)
    assert model.fit(frame).certificate_.epsilon


def test_an_odd_entry_of_a_sparse_matrix_of_lists_is_none():
    for odd in ((1,), [1], pd.DataFrame({"a": [1]})):
        lists = sp.lil_array(X)
        try:
            lists[3, 0] = odd
        except (TypeError, ValueError):
            continue
        model = PrivateLogisticRegression(epsilon=20, schema=DROP, random_state=1).fit(lists, Y)
        assert np.array_equal(np.delete(model.predict(lists), 3), np.delete(model.predict(X), 3))


def test_binary_counts_by_frames_of_records():
    schema = Schema({"smokes": binary("no", "yes")}, target="ill", classes=["0", "1"], invalid="drop")
    records = [{"smokes": "yes" if one else "no", "ill": one} for one in Y.tolist()]
    expected = count(pd.DataFrame(records), "smokes", schema=schema, epsilon=5, random_state=1)
    for key in ("smokes ", 7, None, "ill "):
        frame = pd.DataFrame([*records[:9], records[9] | {key: "no"}, *records[10:]])
        assert count(frame, "smokes", schema=schema, epsilon=5, random_state=1) == expected


def test_labels_in_a_frame_of_records_are_the_targets():
    labels = [{"ill": one} for one in Y.tolist()]
    odd = pd.DataFrame([{"zz": 1, **labels[0]}, *labels[1:]])
    fits = [PrivateLogisticRegression(epsilon=20, schema=DROP, random_state=1).fit(X, y) for y in (pd.DataFrame(labels), odd, Y)]
    assert np.array_equal(fits[1].coef_, fits[0].coef_) and np.array_equal(fits[1].coef_, fits[2].coef_)
    assert fits[1].score(X, odd) == fits[1].score(X, Y)
    assert evaluate(fits[1], X, odd).accuracy == evaluate(fits[1], X, Y).accuracy
    tuned = PrivateTuner([{"method": "gd", "steps": [5]}], schema=DROP, epsilon=20, random_state=3).fit(X, odd)
    assert tuned.score(X, odd) > 0.8
