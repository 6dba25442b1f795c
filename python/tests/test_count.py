"""Private counts: released, saved, loaded, verified; from frames, mappings and files."""

import json
import pickle
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import privet
from privet import Counts, NotPrivateWarning, NotValidWarning, Schema, account, audit, binary, category, count, number

SEAL = SimpleNamespace(**runpy.run_path(Path(__file__).resolve().parents[2] / "docs" / "check_certificate.py"))

COLUMNS = {
    "work": category(["farm", "shop", "none"], unknown="other", missing="category"),
    "smokes": binary("n", "y"),
    "age": number(0, 100),
}
SCHEMA = Schema(COLUMNS, target="ill", classes=["no", "yes"], invalid="drop", missing_values=["?"])
TABLE = {
    "work": ["farm", "farm", "mine", None, "shop", "farm", "shop"],
    "smokes": ["y", "n", "y", "n", "n", "n", "sometimes"],
    "age": [40, 50, 60, 70, 30, 20, 33],
    "ill": ["no", "yes", "no", "no", "yes", "no", "yes"],
}
EXPECTED = {
    "work": {"farm": 3.0, "shop": 2.0, "none": 0.0, "(other)": 1.0, "(missing)": 1.0},
    # The record that says neither is the null record there, and in no cell.
    "smokes": {"n": 4.0, "y": 2.0},
    "ill": {"no": 4.0, "yes": 3.0},
}
FRAMES = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def exact(table, by, **more):
    """At a huge epsilon the noise is 0 nearly always; with a fixed seed, never by luck."""
    with pytest.warns(NotPrivateWarning):
        return count(table, by, **{"schema": SCHEMA, "epsilon": 100, "random_state": 1} | more)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("by", EXPECTED)
def test_every_declared_category_is_counted(kind, by):
    found = exact(FRAMES[kind](TABLE), by)
    assert found.by == by and found.counts == EXPECTED[by]
    assert list(found.counts) == list(EXPECTED[by]), "in declared order"


@pytest.mark.parametrize("by", EXPECTED)
def test_files_are_counted_as_frames_are(by, tmp_path):
    path, schema = tmp_path / "table.csv", tmp_path / "schema.toml"
    pd.DataFrame(TABLE).to_csv(path, index=False, na_rep="?")
    schema.write_text(SCHEMA.to_toml())
    assert exact(path, by, schema=schema).counts == EXPECTED[by]
    assert exact(str(path), by, schema=SCHEMA.to_dict()).counts == EXPECTED[by]
    draft = SCHEMA.to_dict()
    draft["file"]["format"] = "parquet"
    pa.parquet.write_table(pa.table(TABLE), tmp_path / "table.parquet")
    assert exact(tmp_path / "table.parquet", by, schema=draft).counts == EXPECTED[by]
    with pytest.raises(OSError, match="nowhere"):
        count(tmp_path / "nowhere.csv", by, schema=SCHEMA, epsilon=1)


def test_classes_of_any_type_and_columns_that_are_not_needed():
    schema = Schema({"a": number(0, 1)}, target="t", classes=[0, 1])
    for labels in ([0, 1, 1], [0.0, 1.0, 1.0], ["0", "1", "1"], np.array([0, 1, 1], dtype=np.uint8)):
        assert exact({"a": [0, 0, 0], "t": labels}, "t", schema=schema).counts == {"0": 1.0, "1": 2.0}
    truths = Schema({"a": number(0, 1)}, target="t", classes=[False, True])
    frame = pd.DataFrame({"a": [0, 0, 0], "t": [False, True, True], "when": pd.Timestamp(0)})
    assert exact(frame, "t", schema=truths).counts == {"False": 1.0, "True": 2.0}


def test_counts_are_certified_and_verified():
    for law, delta in (("laplace", 0.0), ("gaussian", 1e-6)):
        found = count(TABLE, "work", schema=SCHEMA, epsilon=1, delta=delta, law=law)
        assert (found.law, found.certificate.epsilon, found.certificate.delta) == (law, 1.0, delta)
        assert found.certificate.private and found.certificate.arithmetic == "finite"
        verdict = privet.verify(found)
        assert verdict.valid and verdict.epsilon == 1.0, verdict.checks
        plan = privet.plan_count("work", schema=SCHEMA, n_rows=7, epsilon=1, delta=delta, law=law)
        assert plan.categories == tuple(found.counts) and plan.noise == found.noise
        assert plan.events == found.certificate.events
        assert account.of(found).epsilon(delta) <= 1.0
        assert account.total([found, plan], delta=2 * delta) <= 2.0 + 1e-9


def test_the_noise_is_as_stated():
    """A count off by 20 standard deviations has a probability below e^-28 for Laplace noise; 5 counts."""
    found = count(TABLE, "work", schema=SCHEMA, epsilon=0.1)
    assert found.noise == pytest.approx(20 * 2**0.5, rel=1e-3)
    assert all(abs(found.counts[name] - EXPECTED["work"][name]) < 20 * found.noise for name in found.counts)
    # Pr[|noise| > m] = e^(-m/20), about.
    assert found.margin == pytest.approx(20 * np.log(20), abs=1.5)


def test_a_fixed_seed_says_not_private(tmp_path):
    found = exact(TABLE, "work", epsilon=1)
    assert found.counts == exact(TABLE, "work", epsilon=1).counts
    assert not found.certificate.private and found.certificate.epsilon == float("inf")
    assert "NOT PRIVATE" in repr(found) and not privet.verify(found)
    assert account.total([found], delta=0.0) == float("inf")
    found.save(tmp_path / "counts.json")
    assert not privet.load(tmp_path / "counts.json").certificate.private


def test_files_travel(tmp_path):
    path = tmp_path / "counts.json"
    found = count(TABLE, "work", schema=SCHEMA, epsilon=1)
    found.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    again = privet.load(path)
    assert isinstance(again, Counts) and again == found
    assert (again.by, again.noise, again.margin, repr(again)) == (found.by, found.noise, found.margin, repr(found))
    for copy in (path, again, pickle.loads(pickle.dumps(found)), pickle.loads(pickle.dumps(again))):
        assert privet.verify(copy).epsilon == 1.0
    document = SEAL.read(path.read_text())
    assert SEAL.digest(document) == document["certificate"]["digest"]
    other, kept = count(TABLE, "work", schema=SCHEMA, epsilon=3), path.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True.*counts-2.json"):
        other.save(path)
    assert path.read_bytes() == kept and privet.load(tmp_path / "counts-2.json") == other
    other.save(path, overwrite=True)
    assert privet.load(path) == other != found


def sealed(document):
    """As a forger would write it: with the digest that fits."""
    found = SEAL.read(json.dumps(document))
    return document | {"certificate": document["certificate"] | {"digest": SEAL.digest(found)}}


EDITS = [
    lambda file: file["body"]["cells"][0].update(count=0.3333),
    lambda file: file["body"].update(noise=0.001),
    lambda file: file["certificate"]["request"]["noise"].__setitem__(0, 0.001),
    lambda file: file["certificate"]["guarantee"].update(epsilon=0.5),
]


def test_edits_and_forgeries_are_found(tmp_path):
    path = tmp_path / "counts.json"
    count(TABLE, "work", schema=SCHEMA, epsilon=1).save(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(sealed(document)))
    assert privet.verify(path), "sealed anew it is as it was"
    for edit in EDITS:
        forged = json.loads(json.dumps(document))
        edit(forged)
        path.write_text(json.dumps(forged))
        with pytest.raises(ValueError, match="digest"):
            privet.load(path)
        assert not privet.verify(path)
        path.write_text(json.dumps(sealed(forged)))
        assert not privet.verify(path)
        with pytest.warns(NotValidWarning):
            found = privet.load(path)
        assert not found.certificate.private and "NOT VALID" in repr(found)


def test_units_are_protected_with_all_their_rows():
    people = Schema(COLUMNS, target="ill", classes=["no", "yes"], unit="who", max_records=2)
    table = {name: [cells[0]] * 5 for name, cells in TABLE.items()}
    # Of one person's four rows two are counted.
    for who in (["a", "a", "a", "a", "b"], [7, 7, 7.0, "7", 8]):
        more = {"schema": people, "n_rows": 5}
        assert exact(table | {"who": who}, "work", **more).counts["farm"] == 3.0
        assert exact(table, "work", groups=who, **more).counts["farm"] == 3.0
    frame = pd.DataFrame(table | {"who": [1, 1, 1, 1, 2]})
    found = count(frame, "work", schema=people, epsilon=1, n_rows=5)
    assert found.certificate.max_records == 2
    one = count(TABLE, "work", schema=SCHEMA, epsilon=1)
    assert found.noise == pytest.approx(2 * one.noise, rel=0.05), "twice the rows of a person"
    refusals = [
        (lambda: count(frame, "work", schema=people, epsilon=1), "n_rows is missing: where the privacy unit"),
        (lambda: count(table, "work", schema=people, epsilon=1, n_rows=5), "who"),
        (lambda: count(TABLE, "work", schema=SCHEMA, epsilon=1, groups=[1] * 7), "the schema has no unit"),
        (lambda: count("x.csv", "work", schema=people, epsilon=1, n_rows=5, groups=[1]), "groups are given with a file"),
        (lambda: count(table, "work", schema=people, epsilon=1, n_rows=5, groups=[0.5] * 5), "not tell whose"),
        (lambda: count(table, "work", schema=people, epsilon=1, n_rows=5, groups=[1]), "rows"),
    ]
    for refused, words in refusals:
        with pytest.raises(ValueError, match=words):
            refused()


def test_a_private_number_of_rows_is_declared():
    with pytest.raises(ValueError, match='n_rows is missing: under neighbours="add-remove"'):
        count(TABLE, "work", schema=SCHEMA, epsilon=1, neighbours="add-remove")
    found = exact(TABLE, "work", neighbours="add-remove", n_rows=1000)
    assert found.counts == EXPECTED["work"] and found.certificate.neighbours == "add-remove"
    empty = exact({name: [] for name in TABLE}, "work", neighbours="add-remove", n_rows=10)
    assert set(empty.counts.values()) == {0.0}
    with pytest.raises(ValueError, match="holds no records"):
        count({name: [] for name in TABLE}, "work", schema=SCHEMA, epsilon=1)
    with pytest.raises(ValueError, match="8"):
        count(TABLE, "work", schema=SCHEMA, epsilon=1, n_rows=8)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"by": "age"}, "age.*categories are not declared.*work, smokes, ill"),
        ({"by": "nothing"}, "nothing.*no such column"),
        ({"epsilon": None}, "epsilon is missing"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "much"}, "epsilon is 'much'"),
        ({"delta": 1.5}, "delta"),
        ({"neighbours": "next-door"}, "next-door"),
        ({"law": "cauchy"}, "'cauchy' is not a law; accepted: laplace, gaussian"),
        ({"law": "gaussian"}, "delta above 0"),
        ({"n_rows": 1.5}, "n_rows is 1.5"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_words(more, words):
    # A table that cannot be read: nothing of it was.
    asked = {"table": None, "by": "work", "schema": SCHEMA, "epsilon": 1} | more
    with pytest.raises(ValueError, match=words):
        count(**asked)


STRICT = Schema(COLUMNS | {"work": category(["farm", "shop"])}, target="ill", classes=["no", "yes"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"work": ["farm", "secret"]}, "unknown category|not list|category"),
        ({"work": ["farm", None]}, "missing"),
        ({"ill": ["no", "secret"]}, "class"),
        ({"ill": ["no"]}, "rows"),
        ({"work": np.ma.masked_array(["farm", "shop"], [0, 1])}, "masked"),
        ({"work": [["farm"], "shop"]}, "has a cell that is no text"),
        ({"work": pd.Series(pd.to_datetime([0, 1]))}, "not list"),
    ],
)
def test_bad_tables_are_refused_and_not_repeated(change, words):
    table = {"work": ["farm", "shop"], "ill": ["no", "yes"]} | change
    with pytest.raises(ValueError, match=words) as refused:
        count(table, "work", schema=STRICT, epsilon=1)
    assert "secret" not in str(refused.value)


def test_tables_without_names_or_columns_are_refused():
    for table in (np.zeros((2, 2)), [["farm", "no"]], None, 7):
        with pytest.raises(TypeError, match="accepted are frames, mappings"):
            count(table, "work", schema=STRICT, epsilon=1)
    for lacking in ("work", "ill"):
        table = {"work": ["farm"], "ill": ["no"]}
        del table[lacking]
        with pytest.raises(ValueError, match=lacking):
            count(table, "work", schema=STRICT, epsilon=1)


def test_counts_are_shown_with_their_noise():
    found = count(TABLE, "work", schema=SCHEMA, epsilon=1)
    first, *lines = repr(found).split("\n")
    assert "'work'" in first and "epsilon = 1" in first and "95 of 100" in first
    assert [line.split()[0] for line in lines] == list(EXPECTED["work"])
    assert all(line.endswith(f"± {found.margin:.0f}") for line in lines)
    frame = found.to_frame()
    assert list(frame.index) == list(found.counts) and frame.index.name == "work"
    assert (frame["high"] - frame["count"] == found.margin).all() and (frame["low"] < frame["count"]).all()


def test_counts_are_audited():
    """Another seed would refute with a probability of at most 1e-9 for all three; this one is fixed."""
    for law, delta, most in (("laplace", 0.0, None), ("laplace", 0.0, 3), ("gaussian", 1e-5, None)):
        found = audit.counts(law, epsilon=4, delta=delta, max_records=most, runs=4000, confidence=1 - 1e-10)
        assert found.method == "count" and found.epsilon_claimed == 4.0 and not found.refuted
        assert found.epsilon_lower > (2 if law == "laplace" else 0.3)
    with pytest.raises(ValueError, match="max_records"):
        audit.counts(epsilon=1, max_records=0)
    with pytest.raises(ValueError, match="delta > 0"):
        audit.counts("gaussian", epsilon=1)
