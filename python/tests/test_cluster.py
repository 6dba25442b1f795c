"""Fits on rows that workers keep: the bits of a fit in memory, however rows are cut up, and refusals in words.

The workers are plain functions here; `scripts/spark.sh` has a real cluster.
"""

import json
import subprocess
import sys
import types
import warnings
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privet import (
    Ledger,
    NotPrivateWarning,
    PrivacyError,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    Schema,
    _spark_tasks,
    category,
    cluster,
    load,
    number,
    spark,
    verify,
)
from privet import count as count_here
from privet.schema import date

ROWS = 6000


def frame(rows=ROWS, seed=3):
    rng = np.random.default_rng(seed)
    age, ward = rng.uniform(18, 100, rows), rng.choice(["surgery", "medicine", "ear"], rows)
    dose = np.where(rng.uniform(size=rows) < 0.1, np.nan, rng.uniform(0, 5, rows))
    risk = (age - 60) / 12 + 2 * (ward == "surgery") - 1 + rng.normal(size=rows)
    return pd.DataFrame({"age": age, "ward": ward, "dose": dose, "ill": np.where(risk > 0, "yes", "no"), "cost": risk})


COLUMNS = {
    "age": number(18, 100),
    "ward": category(["medicine", "surgery"], unknown="other"),
    "dose": number(0, 5, missing="category"),
}
CLASSES = Schema(COLUMNS, target="ill", classes=["no", "yes"])
NUMBER = Schema(COLUMNS, target="cost", target_bounds=(-8, 8))


def cut(table, parts):
    edges = [k * len(table) // parts for k in range(parts + 1)]
    return [table.iloc[a:b] for a, b in zip(edges, edges[1:], strict=False)]


@pytest.fixture(autouse=True)
def seeded():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def in_memory(schema, method, table):
    kind = PrivateLogisticRegression if schema.classes else PrivateLinearRegression
    model = kind(epsilon=1, method=method, schema=schema, random_state=5)
    return model.fit(table[list(COLUMNS)], table[schema.target])


@pytest.mark.parametrize("method", ["auto", "gd", "centred-gd", "sgd", "amp", "output", "objective"])
def test_a_model_has_the_bits_of_memory_however_rows_are_cut(method):
    table = frame()
    expected = in_memory(CLASSES, method, table).model_
    for partitions in (cut(table, 1), cut(table, 2), [*cut(table, 7), table.iloc[:0]]):
        found = cluster.fit(partitions, schema=CLASSES, epsilon=1, method=method, random_state=5).model_
        assert (found.weights() == expected.weights()).all()
        assert found.request() == expected.request()


@pytest.mark.parametrize("method", ["ssp", "amp", "linear", "gd"])
def test_numbers_too(method):
    table = frame()
    expected = in_memory(NUMBER, method, table)
    found = cluster.fit(cut(table, 5), schema=NUMBER, epsilon=1, method=method, random_state=5)
    assert (found.model_.weights() == expected.model_.weights()).all()


def test_very_many_partitions_are_merged_in_a_tree():
    """More sums than are merged at a time, twice over: 600 by 16 are 38, and these 3."""
    table, merged = frame(1200), []

    def run(function, *given):
        if function.__name__ == "_merged":
            merged.append(len(given) - 2)
        return function(*given)

    expected = in_memory(CLASSES, "gd", table).model_.weights()
    given = {"schema": CLASSES, "epsilon": 1, "method": "gd", "random_state": 5, "run": run, "gather": list}
    found = cluster.fit(cut(table, 600), **given)
    assert (found.model_.weights() == expected).all()
    assert merged[:41] == [16] * 37 + [8] + [16, 16, 6]
    expected = in_memory(CLASSES, "amp", table).model_.weights()
    found = cluster.fit(cut(table, 40), **(given | {"method": "amp"}))
    assert (found.model_.weights() == expected).all()


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns")])
def test_dates_are_taken_as_a_parquet_file_has_them(kind, tmp_path):
    rng = np.random.default_rng(2)
    seconds = rng.integers(1_262_304_000, 1_735_600_000, 400)
    ticks = {"date32[day]": seconds // 86_400, "timestamp[ms]": seconds * 1000}
    ticks = ticks.get(str(kind), seconds * (10**9 if str(kind) == "timestamp[ns]" else 10**6))
    whole = pa.int32() if kind == pa.date32() else pa.int64()
    ill = pa.array(np.where(seconds % 3 > 0, "yes", "no"))
    table = pa.table({"when": pa.array(ticks, type=whole).cast(kind), "ill": ill})
    parts = ["year", "weekday"] if kind == pa.date32() else ["year", "weekday", "hour"]
    schema = Schema({"when": date("2010-01-01", "2025-12-31", parts=parts)}, target="ill", classes=["no", "yes"])
    given = {"schema": schema, "epsilon": 1, "method": "gd", "random_state": 5}
    found = cluster.fit([table.slice(0, 150), table.slice(150)], **given)
    # Moments are those of UTC; the file's own reader is the judge.
    pq.write_table(table, tmp_path / "table.parquet")
    text = schema.to_dict()
    text["file"] = {"format": "parquet"}
    (tmp_path / "schema.toml").write_text(Schema.from_dict(text).to_toml())
    run = [sys.executable, "-m", "privet", "train", "table.parquet", "--schema", "schema.toml", "--epsilon", "1"]
    run += ["--method", "gd", "--seed", "5", "--out", "m.json"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    assert (found.model_.weights() == load(tmp_path / "m.json").model_.weights()).all()


def test_partitions_may_be_frames_of_any_library():
    table = frame()
    expected = in_memory(CLASSES, "gd", table).model_.weights()
    first, second, third = cut(table, 3)
    mixed = [pa.Table.from_pandas(first), {name: second[name].to_numpy() for name in second}, third]
    found = cluster.fit(mixed, schema=CLASSES, epsilon=1, method="gd", random_state=5)
    assert (found.model_.weights() == expected).all()


def engine(pool):
    """Workers that are threads, and handles that are futures."""

    def run(function, *given):
        return pool.submit(lambda: function(*[each.result() if isinstance(each, Future) else each for each in given]))

    return {"run": run, "gather": lambda handles: [handle.result() for handle in handles]}


def test_an_engine_is_two_functions():
    table = frame()
    with ThreadPoolExecutor(24) as pool:
        for method in ("gd", "amp"):
            expected = in_memory(CLASSES, method, table).model_.weights()
            given = {"schema": CLASSES, "epsilon": 1, "method": method, "random_state": 5}
            found = cluster.fit(cut(table, 20), **given, **engine(pool))
            assert (found.model_.weights() == expected).all()


def test_a_model_is_private_and_verifies():
    model = cluster.fit(cut(frame(), 3), schema=CLASSES, epsilon=1)
    assert model.certificate_.epsilon == 1 and verify(model).valid
    assert model.score(frame(seed=9)[list(COLUMNS)], frame(seed=9)["ill"]) > 0.7


def test_counts():
    table = frame()
    expected = count_here(table, "ward", schema=CLASSES, epsilon=1, random_state=5)
    found = cluster.count(cut(table, 4), "ward", schema=CLASSES, epsilon=1, random_state=5)
    assert found.counts == expected.counts


def units(max_records):
    return Schema(COLUMNS, target="ill", classes=["no", "yes"], unit="person", max_records=max_records)


def test_the_rows_kept_of_a_person_are_those_of_memory():
    table = frame()
    # Whoever is written with blanks, or as a number elsewhere, is one person all the same.
    table["person"] = [f"p{row % 900}" for row in range(len(table))]
    schema = units(3)
    memory = PrivateLogisticRegression(epsilon=1, method="gd", schema=schema, n_rows=ROWS, random_state=5)
    expected = memory.fit(table[[*COLUMNS, "person"]], table["ill"]).model_.weights()
    for parts in (1, 4):
        given = {"schema": schema, "epsilon": 1, "method": "gd", "n_rows": ROWS, "random_state": 5}
        found = cluster.fit(cut(table, parts), **given)
        assert (found.model_.weights() == expected).all()


def test_no_cell_decides_by_its_type_whether_partitions_are_read():
    """One empty cell makes a partition's whole numbers fractions, one word makes them texts."""
    table = frame()
    table["age"] = table["age"].astype(int)
    table["person"] = np.arange(ROWS) % 900
    schema = Schema.from_dict(units(3).to_dict() | {"invalid": "drop"})
    given = {"schema": schema, "epsilon": 1, "method": "gd", "n_rows": ROWS, "random_state": 5}
    for name, cell in (("age", np.nan), ("age", "old"), ("person", np.nan), ("person", 2**60), ("ward", 7)):
        parts = cut(table, 3)
        parts[1] = parts[1].astype({name: object})
        parts[1].iloc[5, parts[1].columns.get_loc(name)] = cell
        whole = pd.concat([part.astype({name: object}) for part in parts])
        memory = PrivateLogisticRegression(epsilon=1, method="gd", schema=schema, n_rows=ROWS, random_state=5)
        expected = memory.fit(whole[[*COLUMNS, "person"]], whole["ill"]).model_.weights()
        parts[1][name] = parts[1][name].infer_objects()
        assert (cluster.fit(parts, **given).model_.weights() == expected).all(), (name, cell)
    # A column without a single cell in one partition is of any type there.
    parts = cut(table, 3)
    parts[2] = parts[2].assign(ward=np.nan)
    cluster.fit(parts, **given)


def test_who_is_nobody_does_not_depend_on_a_partitions_type():
    """A number that a listed text writes is nobody, and so are its digits: as a person, it would be capped in two places."""
    table = frame()
    table["person"] = np.arange(ROWS) % 900 % 450
    told = units(3).to_dict()
    schema = Schema.from_dict(told | {"invalid": "drop", "file": told.get("file", {}) | {"missing_values": ["0.0"]}})
    given = {"epsilon": 1, "method": "gd", "n_rows": ROWS, "random_state": 5}
    memory = PrivateLogisticRegression(schema=schema, **given)
    expected = memory.fit(table[[*COLUMNS, "person"]], table["ill"]).model_.weights()
    for typed in (float, str, object):
        parts = cut(table, 4)
        parts[1] = parts[1].astype({"person": typed})
        assert (cluster.fit(parts, schema=schema, **given).model_.weights() == expected).all(), typed


def not_utf8(table):
    """A PyArrow table in which one text is none; Arrow does not look."""
    broken = pa.array([word if row else "caf?" for row, word in enumerate(table["ward"])])
    buffers = broken.buffers()
    data = buffers[2].to_pybytes().replace(b"caf?", b"caf\xe9", 1)
    ward = pa.Array.from_buffers(pa.string(), len(broken), [buffers[0], buffers[1], pa.py_buffer(data)])
    made = pa.Table.from_pandas(table, preserve_index=False)
    return made.set_column(made.column_names.index("ward"), "ward", ward)


def test_a_text_that_is_not_utf8_is_a_cell_like_any_other():
    table = frame()
    schema = Schema.from_dict(CLASSES.to_dict() | {"invalid": "drop"})
    missing = table.copy()
    missing.loc[0, "ward"] = None
    expected = in_memory(schema, "gd", missing).model_.weights()
    found = cluster.fit([not_utf8(table)], schema=schema, epsilon=1, method="gd", random_state=5)
    assert (found.model_.weights() == expected).all()
    with pytest.raises(ValueError, match="'ward' has a text that is not UTF-8") as refused:
        cluster.fit([not_utf8(table)], schema=CLASSES, epsilon=1, method="gd")
    assert "e9" not in str(refused.value) and not isinstance(refused.value, UnicodeDecodeError)
    # Whose a row is: nobody's.
    people = not_utf8(table).rename_columns(["age", "person", "dose", "ill", "cost"])
    people = people.append_column("ward", pa.array(table["ward"]))
    given = {"epsilon": 1, "method": "gd", "n_rows": ROWS}
    cluster.fit([people], schema=Schema.from_dict(units(ROWS).to_dict() | {"invalid": "drop"}), **given)
    with pytest.raises(ValueError, match="'person' has a text that is not UTF-8"):
        cluster.fit([people], schema=units(ROWS), **given)


def test_an_engine_that_counts_rows_twice_is_found_out():
    """The sum over one partition in place of the sum over another of as many rows."""

    for method, summed in (("gd", "_exact"), ("amp", "_pieces")):
        found = {}

        def run(function, *given, found=found, summed=summed):
            if function.__name__ == summed:
                return found.setdefault(given[0], function(*given))
            return function(*given)

        with pytest.raises((ValueError, RuntimeError), match="rows that were asked for|could not be asked|nothing was released"):
            cluster.fit(cut(frame(), 2), schema=CLASSES, epsilon=1, method=method, run=run, gather=list)


@pytest.mark.parametrize("method, summed", [("gd", "_exact"), ("amp", "_pieces"), ("sgd", "_rows")])
def test_an_engine_that_gives_an_earlier_answer_again_is_found_out(method, summed):
    """As one that keeps what a function returned by the rows that it was given, of this fit or of one before."""
    given = {"schema": CLASSES, "epsilon": 1, "method": method}
    kept, before = {}, {}

    def remembering(function, *args):
        if function.__name__ == summed:
            before.setdefault(function.__name__, []).append(function(*args))
        return function(*args)

    cluster.fit(cut(frame(), 1), **given, run=remembering, gather=list)
    of_another_fit = {summed: iter(before[summed])}

    def another_fit(function, *args):
        return next(of_another_fit[summed]) if function.__name__ == summed else function(*args)

    def another_question(function, *args):
        return kept.setdefault(summed, function(*args)) if function.__name__ == summed else function(*args)

    for run in (another_fit, another_question):
        with pytest.raises((ValueError, RuntimeError), match="of another question|nothing was released"):
            cluster.fit(cut(frame(), 1), **given, run=run, gather=list)


def test_workers_of_another_version_refuse():
    def run(function, *given):
        if function.__name__ == "_encode":
            given = (json.dumps(json.loads(given[0]) | {"version": "0.0.1"}), *given[1:])
        return function(*given)

    with pytest.raises(ValueError, match=r"made by 0\.0\.1: install the same wheel"):
        cluster.fit(cut(frame(), 2), schema=CLASSES, epsilon=1, run=run, gather=list)


def test_a_ledger_pays_once(tmp_path):
    with Ledger(tmp_path / "budget.ledger", dataset="visits", create=True) as ledger:
        ledger.open(epsilon=1.2, delta=1e-7)
        cluster.fit(cut(frame(), 3), schema=CLASSES, epsilon=1, delta=1e-8, method="gd", ledger=ledger)
        assert len(ledger.history()) == 1
        with pytest.raises(PrivacyError):
            cluster.fit(cut(frame(), 3), schema=CLASSES, epsilon=1, delta=1e-8, method="gd", ledger=ledger)
        assert len(ledger.history()) == 1


def test_a_partition_that_comes_out_differently_is_refused():
    """As when an engine computes a lost partition again, and its rows are not the same."""
    first, second, other = *cut(frame(), 2), frame(ROWS // 2, seed=8)
    asked = []

    class Lost:
        def __init__(self, *given):
            self.given = given

    def run(function, *given):
        handle = Lost(function, given)
        return handle

    def value(handle):
        if not isinstance(handle, Lost):
            return handle
        function, given = handle.given
        given = [value(each) for each in given]
        if function.__name__ == "_encode":
            asked.append(function)
            if len(asked) > 4 and given[3] is second:
                given[3] = other
        return function(*given)

    for method in ("gd", "amp"):
        asked.clear()
        with pytest.raises(ValueError, match="a second time and came out differently"):
            cluster.fit(
                [first, second], schema=CLASSES, epsilon=1, method=method, n_rows=ROWS,
                run=run, gather=lambda handles: [value(handle) for handle in handles],
            )


def test_an_engine_that_fails_is_heard():
    def gather(handles):
        if len(calls) > 3:
            raise OSError("the network is gone")
        calls.append(1)
        return list(handles)

    calls = []
    with pytest.raises(OSError, match="the network is gone"):
        cluster.fit(cut(frame(), 2), schema=CLASSES, epsilon=1, method="gd", run=lambda f, *a: f(*a), gather=gather)


def test_bad_input_is_named():
    table = frame()
    given = {"schema": CLASSES, "epsilon": 1}
    with pytest.raises(ValueError, match="no column 'ward'"):
        cluster.fit([table, table.drop(columns="ward")], **given)
    with pytest.raises(ValueError, match="partition 1: .*('age'|\"age\")"):
        cluster.fit([table, table.assign(age="old")], **given)
    with pytest.raises(ValueError, match="0 rows"):
        cluster.fit([table.iloc[:0]], **given)
    with pytest.raises(ValueError, match="no partitions"):
        cluster.fit([], **given)
    with pytest.raises(ValueError, match="needs .* which only a table in memory offers"):
        cluster.fit([table], method="psgd", **given)
    with pytest.raises(ValueError, match="n_rows is missing"):
        cluster.fit([table], neighbours="add-remove", **given)
    with pytest.raises(ValueError, match="6000 rows, but 5999 were declared"):
        cluster.fit(cut(table, 2), n_rows=ROWS - 1, **given)
    with pytest.raises(ValueError, match="run and gather belong together"):
        cluster.fit([table], run=lambda function, *given: function(*given), **given)
    with pytest.raises(ValueError, match="\"ill\""):
        cluster.fit([table.assign(ill="perhaps")], **given)
    with pytest.raises(ValueError, match="\"age\""):
        cluster.fit([table.assign(age=None)], **given)


def test_what_is_missing_goes_the_way_of_the_schema():
    table = frame()
    table.loc[table.index % 50 == 0, "age"] = np.nan
    schema = Schema.from_dict(CLASSES.to_dict() | {"invalid": "drop"})
    expected = in_memory(schema, "gd", table).model_.weights()
    found = cluster.fit(cut(table, 3), schema=schema, epsilon=1, method="gd", random_state=5)
    assert (found.model_.weights() == expected).all()


def test_a_handful_of_rows_and_none():
    table = frame(1)
    given = {"schema": CLASSES, "epsilon": 1, "delta": 1e-6, "method": "amp", "neighbours": "add-remove", "n_rows": 50}
    cluster.fit([table], **given)
    cluster.fit([table.iloc[:0], table.iloc[:0]], **given)


def test_questions_and_answers_are_plain_data():
    seen = []
    back = cluster._Workers(cut(frame(), 2), None, None)
    ask = back.ask
    back.ask = lambda asking: seen.append(json.loads(asking)) or ask(asking)
    from privet import _elsewhere

    facts = {"delta": None, "loss": None, "neighbours": "replace-one", "n_rows": None, "settings": None}
    facts |= {"calibration": "sound", "huber_width": 0.1, "quantile": 0.5, "random_state": None, "ledger": None}
    _elsewhere.fit(back, schema=CLASSES, epsilon=1, method="amp", **facts)
    assert {asked["asking"]["ask"] for asked in seen} == {"inner", "unaccepted"}
    assert [asked["number"] for asked in seen] == list(range(len(seen)))
    assert len({asked["table"] for asked in seen}) == 1


class Frame:
    """A Spark frame without a partition: whatever is run on it gives no rows."""

    sparkSession = None
    dtypes = [("age", "double"), ("ward", "string"), ("dose", "double"), ("ill", "string")]

    def _same(self, *given):
        return self

    select = mapInArrow = persist = unpersist = _same

    def collect(self):
        return []

    def count(self):
        return 0


@pytest.fixture
def no_spark(monkeypatch):
    """The names of PySpark that are asked for where something fails."""
    errors = types.ModuleType("pyspark.errors")
    errors.PySparkException = type("PySparkException", (Exception,), {})
    errors.AnalysisException = type("AnalysisException", (errors.PySparkException,), {})
    monkeypatch.setitem(sys.modules, "pyspark", types.ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.errors", errors)
    return errors


@pytest.mark.parametrize("method", ["gd", "amp"])
def test_a_spark_frame_without_a_partition_is_a_table_like_any_other(method, no_spark):
    given = {"schema": CLASSES, "epsilon": 1, "delta": 1e-6, "method": method, "random_state": 5}
    given |= {"neighbours": "add-remove", "n_rows": 50}
    expected = cluster.fit([frame(0)], **given).model_.weights()
    assert (spark.fit(Frame(), **given).model_.weights() == expected).all()
    with pytest.raises(ValueError, match="0 rows"):
        spark.fit(Frame(), schema=CLASSES, epsilon=1)


def test_of_what_a_worker_of_spark_raises_only_this_packages_words_are_passed_on(no_spark):
    token = "0123456789abcdef"
    unknown = pa.RecordBatch.from_pydict({"part": [0], "number": [0], "block": [b"x"]})

    def batches():
        raise ValueError("secret")
        yield

    class Back:
        @spark._said_plainly
        def ask(self, text):
            raise no_spark.PySparkException(text)

    back = Back()
    back.token = token
    own = {"question": "{}", "columns": 1, "recorded": []}
    with pytest.raises(RuntimeError) as refused:
        list(_spark_tasks.refusing(_spark_tasks.exact, [unknown], token, own))
    stack = f"Traceback (most recent call last):\nRuntimeError: {refused.value}\n"
    with pytest.raises(ValueError, match="read a second time") as said:
        back.ask(stack)
    assert said.value.__context__ is None
    # What it was handed raises: that stays what it was, and the driver says nothing of it.
    with pytest.raises(ValueError, match="secret"):
        list(_spark_tasks.refusing(_spark_tasks.exact, batches(), token, own))
    for text in (
        "Traceback (most recent call last):\nValueError: secret",
        "ValueError: secret",
        "[CAST_INVALID_INPUT] The value 'secret' of the type STRING cannot be cast",
        "\nprivet.PrivacyError: secret\n",
    ):
        with pytest.raises(RuntimeError) as said:
            back.ask(text)
        assert "secret" not in str(said.value) and said.value.__context__ is None
