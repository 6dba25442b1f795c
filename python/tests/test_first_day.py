"""What a new user meets: dates, ignored columns, weights of classes, pipelines, notebooks, types, a quick start."""

import contextlib
import io
import json
import os
import pty
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import privet
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

SAMPLE = """\
from __future__ import annotations

import numpy as np
import privet

schema: privet.Schema = privet.Schema({"age": privet.number(0, 100)}, target="ill", classes=["no", "yes"])
model = privet.PrivateLogisticRegression(epsilon=1.0, schema=schema, class_weight={"yes": 2.0})
plan: privet.Plan = model.plan(n_rows=1000)
print(plan.epsilon, plan.method)
bounded = privet.Bounded(bounds=(0, 1))
X, y = np.zeros((100, 1)), np.array(["no", "yes"] * 50)
fitted = model.fit(X, y)
told = fitted.predict(X)
worth: privet.Worth = privet.evaluate(model, X, y, epsilon=1.0, costs=(10, 1))
print(told, worth.accuracy, plan.predicted_gain)
sql: str = model.to_sql("visits")
data: bytes = model.to_onnx()
"""


def visits(rows=300):
    random = np.random.default_rng(2)
    age = random.uniform(20, 90, rows)
    seen = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 1000, rows), unit="h")
    frame = pd.DataFrame({"age": age, "seen": seen, "notes": [[1, 2]] * rows, "left": seen})
    return frame, np.where(age > 55, "yes", "no")


def test_dates_are_taken_apart_and_ignored_columns_break_nothing():
    frame, y = visits()
    columns = {
        "age": privet.number(0, 100),
        "seen": privet.date("2020-01-01", "2021-12-31", parts=["year", "month", "weekday", "hour"]),
        "notes": privet.ignore(),
        "left": privet.ignore(),
    }
    schema = privet.Schema(columns, target="y", classes=["no", "yes"])
    model = privet.PrivateLogisticRegression(epsilon=5, schema=schema).fit(frame, y)
    assert any(name.startswith("seen.weekday=monday") for name in model.model_.column_names())
    texts = frame.assign(seen=frame["seen"].dt.strftime("%Y-%m-%d %H:%M:%S"))
    assert np.array_equal(model.decision_function(frame), model.decision_function(texts))
    lazy = pl.from_pandas(frame[["age", "seen", "left"]]).lazy()
    assert np.array_equal(model.decision_function(lazy), model.decision_function(frame))
    with pytest.raises(ValueError, match="not a date"):
        model.fit(frame.assign(seen="yesterday"), y)
    lax = privet.Schema({"age": privet.number(0, 100)}, target="y", classes=["no", "yes"], other_columns="ignore")
    privet.PrivateLogisticRegression(epsilon=5, schema=lax).fit(frame, y)
    strict = privet.Schema({"age": privet.number(0, 100)}, target="y", classes=["no", "yes"])
    with pytest.raises(ValueError, match="other_columns"):
        privet.PrivateLogisticRegression(epsilon=5, schema=strict).fit(frame, y)


def test_a_polars_table_that_is_not_computed_yet_is_collected():
    frame, y = visits()
    lazy = pl.from_pandas(frame[["age"]]).lazy()
    model = privet.PrivateLogisticRegression(epsilon=5, bounds=(0, 100), classes=["no", "yes"]).fit(lazy, y)
    assert model.score(lazy, y) > 0.5


def test_labels_are_merged():
    frame, y = visits()
    labels = np.where(y == "yes", "<30", np.where(np.arange(len(y)) % 2, ">30", "NO"))
    schema = privet.Schema(
        {"age": privet.number(0, 100)}, target="again", classes=["late", "soon"], labels={"soon": ["<30"]}, others="late"
    )
    model = privet.PrivateLogisticRegression(epsilon=50, schema=schema).fit(frame[["age"]], labels)
    merged = np.where(y == "yes", "soon", "late")
    assert set(model.classes_) == {"late", "soon"} and model.score(frame[["age"]], merged) > 0.7


def test_class_weights_are_declared_and_never_counted(table):
    X, y = table
    common = {"epsilon": 5, "bounds": (-1, 1), "classes": [0, 1]}
    weighed = privet.PrivateLogisticRegression(**common, class_weight={1: 4.0}).fit(X, y)
    assert weighed.certificate_.document["request"]["schema"]["target"]["weights"] == [0.25, 1.0]
    with pytest.raises(ValueError, match="counts the labels"):
        privet.PrivateLogisticRegression(**common, class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="no class"):
        privet.PrivateLogisticRegression(**common, class_weight={7: 4.0}).fit(X, y)
    schema = privet.Schema({"x": privet.number(-1, 1)}, target="y", classes=[0, 1])
    one = privet.PrivateLinearSVC(epsilon=5, schema=schema, class_weight={0: 2}).fit(X[:, :1], y)
    assert one.certificate_.document["request"]["schema"]["target"]["weights"] == [1.0, 0.5]


def test_fit_warns_of_nothing_that_rows_decide(recwarn):
    """One class only, columns that never vary, cells beyond their bounds, next to no budget: a warning would tell of it."""
    X, y = np.full((60, 3), 7.0), np.ones(60, dtype=int)
    for epsilon in (0.01, 50):
        privet.PrivateLogisticRegression(epsilon=epsilon, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    assert [str(one.message) for one in recwarn] == []


def test_pages_warn_of_transformers_that_are_fitted_on_private_rows():
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    boxed = [line for line in page.splitlines() if line.startswith("> **Warning.**")]
    assert any("StandardScaler" in line and "OneHotEncoder" in line for line in boxed) and "privet.Bounded" in page


@pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning")
def test_intervals_of_weights_are_bought_on_request(table):
    X, y = table
    widths = []
    for settings in ({}, {"intervals": "bought"}):
        model = privet.PrivateLogisticRegression(
            epsilon=8, bounds=(-1, 1), classes=[0, 1], method="centred-gd", settings=settings, random_state=1
        ).fit(X, y)
        widths.append(float(np.sum(model.coef_interval_[..., 1] - model.coef_interval_[..., 0])))
        assert ("bought" in model.coef_interval_meaning_) == bool(settings)
    assert widths[1] < widths[0]


def test_bounds_that_can_be_read_two_ways_are_refused():
    X, y = np.random.default_rng(0).uniform(0, 1, (50, 2)), [0, 1] * 25
    with pytest.raises(ValueError, match="two ways"):
        privet.PrivateLogisticRegression(epsilon=1, bounds=((0, 1), (5, 10)), classes=[0, 1]).fit(X, y)
    for bounds in [(np.array([0, 1]), np.array([5, 10])), ([0, 0], [1, 10])]:
        privet.PrivateLogisticRegression(epsilon=1, bounds=bounds, classes=[0, 1]).fit(X, y)


def test_a_scaler_fitted_on_private_rows_is_warned_of(table):
    X, y = table
    private = {"epsilon": 5, "bounds": (-1, 1), "classes": [0, 1]}
    for step in (StandardScaler(), OneHotEncoder(handle_unknown="ignore")):
        if isinstance(step, OneHotEncoder):
            X = np.round(X)
        steps = make_pipeline(step, privet.PrivateLogisticRegression(**private))
        with pytest.warns(privet.FittedTransformerWarning, match=type(step).__name__):
            steps.fit(X, y)
    make_pipeline(privet.Bounded(bounds=(-1, 1)), privet.PrivateLogisticRegression(**private)).fit(X, y)
    # Around a pipeline that learns nothing itself.
    inner = make_pipeline(privet.Bounded(bounds=(-1, 1)), privet.PrivateLogisticRegression(**private))
    with pytest.warns(privet.FittedTransformerWarning, match="StandardScaler"):
        make_pipeline(StandardScaler(), inner).fit(X, y)


def test_notebooks_show_what_is_promised(table):
    X, y = table
    model = privet.PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=["<b>", "yes"])
    assert "before any record" in model.plan(n_rows=2000, n_features=3)._repr_html_()
    model.fit(X, np.where(y == 1, "yes", "<b>"))
    html = model.certificate_._repr_html_()
    assert "<table>" in html and "as it runs" in html and "<b>" not in html
    assert "Certificate" in model._repr_mimebundle_()["text/html"]


def test_importing_privet_loads_no_scikit_learn():
    """What makes a start slow is what is imported; seconds depend on the machine and are not tested."""
    code = "import sys, privet; privet.PrivacyError; print(*(name in sys.modules for name in ('sklearn', 'scipy', 'numpy')))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False"] * 3
    assert set(privet.__all__) <= set(dir(privet)) and all(hasattr(privet, name) for name in privet.__all__)


def test_a_typed_program_is_accepted_by_mypy(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "sample.py"
    script.write_text(SAMPLE)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_example_runs(capsys):
    runpy.run_path(str(Path(__file__).parents[1] / "examples" / "visits.py"), run_name="__main__")
    told = capsys.readouterr().out
    assert "agree on 100.0% of 5000" in told or "agree on 99.9" in told


def test_the_walk_with_bank_marketing(monkeypatch, tmp_path, capsys):
    """From pandas to a signed page and ONNX at a named total. Skipped where the data are absent, and with
    PRIVET_REQUIRE_DATA=1 a failure."""
    script = Path(__file__).parents[1] / "examples" / "bank_marketing.py"
    usual = script.parents[3] / "shared" / "data" / "bank-marketing" / "bank-full.csv.zst"
    monkeypatch.setattr(sys, "argv", [str(script), str(usual), str(tmp_path / "left")])
    runpy.run_path(str(script), run_name="__main__")
    told = capsys.readouterr().out
    if "SKIPPED" in told and os.environ.get("PRIVET_REQUIRE_DATA") != "1":
        pytest.skip(told.strip())
    assert "left: model.html, model.json, model.onnx, worth.json" in told


def test_a_plan_is_told_how_common_the_commonest_class_is():
    model = privet.PrivateLogisticRegression(epsilon=0.05, bounds=(0, 1), classes=[0, 1])
    even, skewed = model.plan(2000, 10), model.plan(2000, 10, base_rate=0.95)
    assert (even.base_rate, skewed.base_rate) == (0.5, 0.95)
    assert even.predicted_gain > skewed.predicted_gain >= 0
    assert any("as declared" in note for note in skewed.notes) and not any("as declared" in note for note in even.notes)
    assert model.plan(200_000, 10).predicted_gain > even.predicted_gain
    with pytest.raises(ValueError, match="base rate"):
        model.plan(2000, 10, base_rate=1.5)
    with pytest.raises(ValueError, match="number"):
        privet.PrivateLinearRegression(epsilon=1, bounds=(0, 1), target_bounds=(0, 1)).plan(2000, 3, base_rate=0.5)
    network = privet.PrivateNetworkClassifier(epsilon=1, delta=1e-5, bounds=(0, 1), classes=[0, 1])
    with pytest.raises(ValueError, match="base_rate"):
        network.plan(2000, 3, base_rate=0.5)


@pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning")
def test_what_errors_cost_decides_the_threshold(table):
    X, y = table
    model = privet.PrivateLogisticRegression(epsilon=5, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    by_cost = privet.evaluate(model, X, y, epsilon=1, costs=(9, 1), random_state=1)
    given = privet.evaluate(model, X, y, epsilon=1, threshold=0.1, random_state=1)
    assert by_cost.certificate.document["request"]["threshold"] == pytest.approx(0.1)
    assert by_cost.accuracy.value == given.accuracy.value
    for costs in ((9,), (9, 0), "9:1", 3):
        with pytest.raises(ValueError, match="costs|cost"):
            privet.evaluate(model, X, y, epsilon=1, costs=costs)
    with pytest.raises(ValueError, match="both"):
        privet.evaluate(model, X, y, epsilon=1, costs=(9, 1), threshold=0.1)


def command(folder, *arguments):
    told = subprocess.run(
        [sys.executable, "-m", "privet", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


SCHEMA = """\
bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "ill"
classes = ["no", "yes"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 100]
[[columns]]
name = "smokes"
type = "binary"
values = ["no", "yes"]
"""


@pytest.mark.parametrize("method", ["auto", "gd", "amp", "output"])
def test_the_command_and_python_mean_the_same(method, tmp_path):
    """One scaling of numbers where a schema says nothing, and one sign: what is positive speaks for the second class."""
    random = np.random.default_rng(6)
    age, smokes = random.uniform(0, 100, 4000).round(2), random.choice(["no", "yes"], 4000)
    ill = np.where(age / 50 - 1 + (smokes == "yes") + random.normal(size=4000) / 4 > 0.5, "yes", "no")
    frame = pd.DataFrame({"age": age, "smokes": smokes})
    frame.assign(ill=ill).to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    model = privet.PrivateLogisticRegression(epsilon=20, schema=tmp_path / "schema.toml", method=method).fit(frame, ill)
    model.save(tmp_path / "python.json")
    line = ["--schema", "schema.toml", "--epsilon", "20", "--method", method, "--out", "command.json"]
    command(tmp_path, "train", "table.csv", *line)
    ours, theirs = (json.loads((tmp_path / f"{name}.json").read_text())["certificate"] for name in ("python", "command"))
    assert ours["request"] == theirs["request"], "how numbers are scaled, and everything else that is public"
    for name in ("python", "command"):
        loaded = privet.load(tmp_path / f"{name}.json")
        shown = json.loads(command(tmp_path, "inspect", f"{name}.json", "--json"))["weights"]["weights"][0]
        shown = {one["name"]: one["weight"] for one in shown}
        table = pd.read_csv(io.StringIO(loaded.to_csv())).set_index("column")["weight for yes"]
        assert command(tmp_path, "export", f"{name}.json", "--to", "csv") == loaded.to_csv()
        for column, weight in table.items():
            assert shown[column] == pytest.approx(weight, rel=1e-9), column
        names = list(loaded.get_feature_names_out())
        encoded = dict(zip(names, loaded.coef_[0], strict=True))
        for column, weight in encoded.items():
            assert np.sign(weight) == np.sign(table[column]), column
        # With a budget of 20 on 4,000 rows what decides is seen by far.
        assert encoded["smokes"] > 0 if "smokes" in encoded else encoded["smokes=yes"] > 0
        scores = loaded.decision_function(pd.DataFrame({"age": [5.0, 95.0], "smokes": ["no", "yes"]}))
        assert scores[0] < 0 < scores[1]
        assert list(loaded.predict(pd.DataFrame({"age": [5.0, 95.0], "smokes": ["no", "yes"]}))) == ["no", "yes"]


def test_colours_are_for_terminals_that_want_them():
    """On a terminal help has colours or bold letters, with NO_COLOR and in a pipe none."""

    def told(on_terminal, **more):
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        environment.update({"TERM": "xterm-256color", **more})
        line = [sys.executable, "-m", "privet", "--help"]
        if not on_terminal:
            return subprocess.run(line, capture_output=True, env=environment, check=True).stdout
        ours, theirs = pty.openpty()
        with subprocess.Popen(line, stdout=theirs, stderr=theirs, env=environment) as process:
            os.close(theirs)
            seen = b""
            # The end of a terminal is an error on Linux.
            with contextlib.suppress(OSError):
                while part := os.read(ours, 1 << 16):
                    seen += part
            os.close(ours)
        assert process.returncode == 0
        return seen

    assert b"\x1b[" in told(True)
    for plain in (told(True, NO_COLOR="1"), told(False)):
        assert b"Usage" in plain and b"\x1b[" not in plain
