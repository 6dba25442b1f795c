"""What a new user meets: dates, ignored columns, weights of classes, pipelines, notebooks, types, a quick start."""

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

import privet

schema: privet.Schema = privet.Schema({"age": privet.number(0, 100)}, target="ill", classes=["no", "yes"])
model = privet.PrivateLogisticRegression(epsilon=1.0, schema=schema, class_weight={"yes": 2.0})
plan: privet.Plan = model.plan(n_rows=1000)
print(plan.epsilon, plan.method)
bounded = privet.Bounded(bounds=(0, 1))
sql: str = privet.PrivateLogisticRegression(epsilon=1.0, bounds=(0, 1)).to_sql("visits")
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


def test_intervals_of_weights_are_bought_on_request(table):
    X, y = table
    widths = []
    for settings in ({}, {"intervals": "bought"}):
        model = privet.PrivateLogisticRegression(
            epsilon=8, bounds=(-1, 1), classes=[0, 1], method="centred-gd", settings=settings
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
    """From pandas to a signed page and ONNX at a named total; says SKIPPED where the data are absent."""
    script = Path(__file__).parents[1] / "examples" / "bank_marketing.py"
    usual = script.parents[3] / "shared" / "data" / "bank-marketing" / "bank-full.csv.zst"
    monkeypatch.setattr(sys, "argv", [str(script), str(usual), str(tmp_path / "left")])
    runpy.run_path(str(script), run_name="__main__")
    told = capsys.readouterr().out
    assert "SKIPPED" in told or "left: model.html, model.json, model.onnx, worth.json" in told
