"""Models taken away: ONNX, SQL and scikit-learn say what privet says."""

import io
import sqlite3
import subprocess
import sys

import numpy as np
import pandas as pd
import privet
import pytest

duckdb = pytest.importorskip("duckdb")
onnxruntime = pytest.importorskip("onnxruntime")


def people(rows=400, seed=5):
    """Numbers beyond their bounds, categories that are not listed, cells that are missing."""
    random = np.random.default_rng(seed)
    age = random.uniform(-10, 120, rows)
    pay = random.exponential(300, rows)
    pay[random.random(rows) < 0.1] = np.nan
    work = random.choice(np.array(["farm", "shop", "o'brien \"x\"", "elsewhere"], dtype=object), rows)
    work[random.random(rows) < 0.1] = None
    smokes = random.choice(["no", "yes"], rows)
    risk = (age - 50) / 30 + (work == "shop") - (smokes == "no") + random.normal(size=rows) / 2
    frame = pd.DataFrame({"age": age, "my pay": pay, "wo\"rk": work, "smokes": smokes})
    return frame, risk


COLUMNS = {
    "age": privet.number(0, 100),
    "my pay": privet.number(0, 1000, missing="category", transform="log1p"),
    "wo\"rk": privet.category(["farm", "shop", "o'brien \"x\""], unknown="other", missing="category"),
    "smokes": privet.binary("no", "yes"),
}
UNFOLDED = {
    "age": privet.number(0, 100, basis={"hats": 5}),
    "my pay": privet.number(0, 1000, basis={"hats": 4, "knots": "log"}, missing=50.0),
    "wo\"rk": privet.category(["farm", "shop", "o'brien \"x\""], unknown="farm", missing="shop"),
    "smokes": privet.binary("no", "yes"),
}


def schema(columns, clip=1.0, **target):
    draft = privet.Schema(columns, target="y", clip=clip, **target).to_dict()
    if columns is UNFOLDED:
        draft["pairs"] = [{"columns": ["age", "my pay"], "hats": 3}, {"columns": ["wo\"rk", "age"]}]
    return privet.Schema.from_dict(draft)


def by_onnx(model, frame):
    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    feeds = {}
    for given in session.get_inputs():
        column = frame[given.name]
        if given.type == "tensor(double)":
            feeds[given.name] = column.to_numpy(dtype=np.float64)[:, None]
        else:
            # As a file has it: nothing at all is a missing cell.
            feeds[given.name] = column.fillna("").astype(str).to_numpy(dtype=object)[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True)), session


def by_sql(model, frame):
    query = model.to_sql("my \"rows\"", id="place")
    numbered = frame.assign(place=np.arange(len(frame)))
    lite = sqlite3.connect(":memory:")
    numbered.to_sql("my \"rows\"", lite, index=False)
    duck = duckdb.connect()
    duck.register("given", numbered.where(numbered.notna(), None))
    duck.execute("CREATE TABLE \"my \"\"rows\"\"\" AS SELECT * FROM given")
    found = [pd.read_sql(query, lite), duck.execute(query).df()]
    return [table.sort_values("place").reset_index(drop=True) for table in found]


CLASSIFIERS = [
    (COLUMNS, "auto", {}),
    (UNFOLDED, "auto", {}),
    (COLUMNS, "amp", {"clip": 0.7}),
    (UNFOLDED, "amp", {"clip": 1.0}),
    (UNFOLDED, "amp", {"clip": 50.0}),
    (COLUMNS, "gd", {}),
    (COLUMNS, "centred-gd", {}),
]


@pytest.mark.parametrize(("columns", "method", "more"), CLASSIFIERS)
def test_two_classes_are_predicted_alike(columns, method, more):
    frame, risk = people()
    y = np.where(risk > 0, "yes", "no")
    model = privet.PrivateLogisticRegression(
        epsilon=20, schema=schema(columns, classes=["no", "yes"], **more), method=method
    ).fit(frame, y)
    scores = model.decision_function(frame)
    # privet rounds rows to 24 bits, so that scores are the same to 2e-4: only next to 0 could a class differ. A
    # probability changes by at most a quarter of its score's change.
    clear = np.abs(scores) > 2e-4
    assert clear.mean() > 0.95
    found, session = by_onnx(model, frame)
    np.testing.assert_allclose(found["scores"][:, 0], scores, atol=2e-4, rtol=1e-4)
    assert np.array_equal(found["prediction"][clear], model.predict(frame)[clear])
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(frame), atol=5e-5, rtol=1e-4)
    assert "privet.certificate" in session.get_modelmeta().custom_metadata_map
    for table in by_sql(model, frame):
        assert np.array_equal(table["prediction"].to_numpy()[clear], model.predict(frame)[clear])
        np.testing.assert_allclose(table["probability yes"], model.predict_proba(frame)[:, 1], atol=5e-5, rtol=1e-4)
    steps = model.to_sklearn()
    np.testing.assert_allclose(steps.decision_function(frame), scores, atol=1e-6)
    assert np.array_equal(steps.predict(frame)[clear], model.predict(frame)[clear])


@pytest.mark.parametrize("method", ["auto", "amp", "gd"])
def test_several_classes_are_predicted_alike(method):
    frame, risk = people()
    y = np.select([risk < -0.5, risk < 0.5], ["low", "mid"], "high")
    classes = ["low", "mid", "high"]
    model = privet.PrivateLogisticRegression(epsilon=30, schema=schema(COLUMNS, classes=classes), method=method)
    model.fit(frame, y)
    scores = np.sort(model.decision_function(frame), axis=1)
    clear = scores[:, -1] - scores[:, -2] > 4e-4
    expected = model.predict(frame)[clear]
    found, _ = by_onnx(model, frame)
    assert np.array_equal(found["prediction"][clear], expected)
    order = [classes.index(label) for label in model.classes_]
    np.testing.assert_allclose(found["probabilities"][:, order], model.predict_proba(frame), atol=5e-5, rtol=1e-4)
    for table in by_sql(model, frame):
        assert np.array_equal(table["prediction"].to_numpy()[clear], expected)
    assert np.array_equal(model.to_sklearn().predict(frame)[clear], expected)


def test_numbers_are_predicted_alike():
    frame, risk = people()
    declared = schema(COLUMNS, target_bounds=(-3, 3))
    models = [
        privet.PrivateLinearRegression(epsilon=20, schema=declared),
        privet.PrivateLinearRegression(epsilon=20, schema=declared, method="amp", loss="huber"),
        privet.PrivatePoissonRegressor(epsilon=20, schema=schema(COLUMNS, target_bounds=(0, 6))),
    ]
    for model, y in zip(models, [risk, risk, np.clip(risk, 0, 6)], strict=True):
        model.fit(frame, y)
        expected = model.predict(frame)
        found, _ = by_onnx(model, frame)
        np.testing.assert_allclose(found["prediction"][:, 0], expected, atol=1e-5)
        for table in by_sql(model, frame):
            np.testing.assert_allclose(table["prediction"], expected, atol=1e-5)
    inside = np.abs(models[0].predict(frame)) < 3
    np.testing.assert_allclose(models[0].to_sklearn().predict(frame)[inside], models[0].predict(frame)[inside], atol=1e-6)


def test_arrays_have_columns_by_number(table):
    X, y = table
    model = privet.PrivateLogisticRegression(epsilon=5, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    found, _ = by_onnx(model, frame)
    np.testing.assert_allclose(found["scores"][:, 0], model.decision_function(X), atol=2e-4)
    assert model.to_csv().splitlines()[0].startswith("column,weight for 1")


def alike(found, model, X):
    """What the file says beside what privet says; sums are taken in another order, so that next to a tie classes may differ."""
    shares = model.predict_proba(X)
    best = np.sort(shares, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-4
    assert clear.mean() > 0.95 and found["scores"].shape == shares.shape
    np.testing.assert_allclose(found["probabilities"], shares, atol=2e-5)
    assert np.array_equal(found["prediction"][clear], model.predict(X).astype(str)[clear])


def test_networks_of_columns_are_predicted_alike():
    frame, risk = people()
    y = np.select([risk < -0.5, risk < 0.5], ["a", "b"], "c")
    layers = [
        {"kind": "linear", "out": 12}, {"kind": "tanh"}, {"kind": "group-norm", "groups": 3}, {"kind": "linear", "out": 6},
        {"kind": "relu"},
    ]  # fmt: skip
    model = privet.PrivateNetworkClassifier(
        epsilon=50, delta=1e-5, layers=layers, schema=schema(COLUMNS, classes=["a", "b", "c"]), method="dp-gd",
        settings={"steps": 20, "rate": 1},
    )  # fmt: skip
    model.fit(frame, y)
    found, session = by_onnx(model, frame)
    alike(found, model, frame)
    assert len(set(found["prediction"])) > 1
    assert "privet.certificate" in session.get_modelmeta().custom_metadata_map
    for refused in (model.to_sql, model.to_csv, model.to_sklearn):
        with pytest.raises(ValueError, match="to_onnx"):
            refused()


def test_networks_of_images_are_predicted_alike():
    """Every kind of layer; two channels, which privet keeps side by side, and sides that differ."""
    height, width, channels = 9, 8, 2
    random = np.random.default_rng(4)
    X = random.uniform(0, 255, size=(60, height * width * channels))
    y = (X[:, : X.shape[1] // 2].mean(axis=1) > X[:, X.shape[1] // 2 :].mean(axis=1)).astype(int)
    layers = [
        {"kind": "conv", "out": 6, "kernel": 3, "stride": 2, "padding": 1}, {"kind": "group-norm", "groups": 2},
        {"kind": "relu"}, {"kind": "max-pool", "size": 2, "stride": 1}, {"kind": "conv", "out": 4, "kernel": 2},
        {"kind": "tanh"}, {"kind": "average-pool", "size": 2, "stride": 1}, {"kind": "flatten"},
        {"kind": "linear", "out": 5}, {"kind": "relu"},
    ]  # fmt: skip
    model = privet.PrivateNetworkClassifier(
        epsilon=50, delta=1e-5, layers=layers, bounds=(0, 255), classes=[0, 1], method="dp-gd",
        input_shape=(height, width, channels), settings={"steps": 10, "rate": 1},
    )  # fmt: skip
    model.fit(X, y)
    names = [given.name for given in onnxruntime.InferenceSession(model.to_onnx()).get_inputs()]
    found, _ = by_onnx(model, pd.DataFrame(X, columns=names))
    alike(found, model, X)


NETS = {
    "number": ('loss = "squared"', 1, "bounds = [-3, 3]"),
    "two classes, one output": ('loss = "logistic"', 1, 'classes = ["no", "yes"]'),
}


@pytest.mark.parametrize("name", NETS)
def test_networks_from_the_command_line_are_predicted_alike(name, tmp_path):
    loss, outputs, target = NETS[name]
    frame, risk = people()
    frame = frame[["age", "smokes"]].assign(y=risk.round(3) if "bounds" in target else np.where(risk > 0, "yes", "no"))
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "schema.toml").write_text(
        f'[clip]\nnorm = "l2"\nradius = 1.0\n[target]\ncolumn = "y"\n{target}\n[[columns]]\nname = "age"\ntype = "number"\n'
        'bounds = [0, 100]\n[[columns]]\nname = "smokes"\ntype = "binary"\nvalues = ["no", "yes"]\n'
    )
    (tmp_path / "net.toml").write_text(
        f'{loss}\ninput = {{ features = 2 }}\n[[layers]]\nkind = "linear"\nout = 8\n[[layers]]\nkind = "tanh"\n'
        f'[[layers]]\nkind = "linear"\nout = {outputs}\n'
    )

    def command(line):
        told = subprocess.run(
            [sys.executable, "-m", "privet", *line.split()], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stderr
        return told.stdout

    command(
        "train table.csv --schema schema.toml --model net.toml --method dp-gd --epsilon 50 --delta 1e-5 --set steps=20 "
        "--set rate=1 --out model.json"
    )
    command("export model.json --to onnx --out model.onnx")
    expected = pd.read_csv(io.StringIO(command("predict model.json table.csv")))["prediction"].to_numpy()
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    feeds = {"age": frame[["age"]].to_numpy(dtype=np.float64), "smokes": frame[["smokes"]].to_numpy(dtype=object)}
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, feeds), strict=True))
    if "bounds" in target:
        np.testing.assert_allclose(found["prediction"][:, 0], expected, atol=1e-4)
    else:
        clear = np.abs(found["scores"][:, 0]) > 1e-4
        assert clear.mean() > 0.95 and np.array_equal(found["prediction"][clear], expected[clear])


def test_missing_cells_that_are_refused_have_no_prediction():
    frame, risk = people()
    columns = {"age": privet.number(0, 100), "smokes": privet.binary("no", "yes")}
    model = privet.PrivateLogisticRegression(epsilon=20, schema=schema(columns, classes=["no", "yes"]))
    model.fit(frame[["age", "smokes"]], np.where(risk > 0, "yes", "no"))
    frame.loc[3, "age"] = np.nan
    found, _ = by_onnx(model, frame)
    assert found["prediction"][3] == "" and np.isnan(found["scores"][3, 0])
    for table in by_sql(model, frame):
        assert pd.isna(table["prediction"][3]) and table["prediction"].notna().sum() == len(frame) - 1


def test_what_cannot_be_taken_away_is_refused_in_words(table, tmp_path):
    frame, risk = people()
    hashed = {"wo\"rk": privet.category(8), "age": privet.number(0, 100)}
    model = privet.PrivateLogisticRegression(
        epsilon=5, schema=privet.Schema(hashed, target="y", classes=["no", "yes"], invalid="drop")
    )
    model.fit(frame[["wo\"rk", "age"]], np.where(risk > 0, "yes", "no"))
    with pytest.raises(ValueError, match="hash"):
        model.to_onnx()
    X, y = table
    fitted = privet.PrivateLogisticRegression(epsilon=5, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    path = tmp_path / "model.onnx"
    fitted.to_onnx(path)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        fitted.to_onnx(path)
