"""Files travel between Python and the command line; predictions agree to the last bit."""

import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privet
from privet import PrivateLinearRegression, PrivateLinearSVC, PrivateLogisticRegression, PrivateRidge, Schema


def privet_command(*arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "privet", *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def write(path, X, y=None, target="target"):
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    if y is not None:
        frame[target] = y
    frame.to_csv(path, index=False, float_format="%.17g")
    return path


def command_predictions(model, rows, probabilities=False):
    text = privet_command("predict", model, rows, *(["--proba"] if probabilities else []))
    lines = [line.split(",") for line in text.strip().split("\n")[1:]]
    return lines


def test_python_writes_and_the_command_line_reads(table, tmp_path):
    X, y = table
    model = PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    verdict = json.loads(privet_command("verify", path, "--json"))
    assert verdict["valid"] and verdict["epsilon"] == 2.0
    rows = write(tmp_path / "rows.csv", X)
    found = command_predictions(path, rows, probabilities=True)
    assert [int(line[0]) for line in found] == list(model.predict(X))
    shares = np.array([[float(share) for share in line[1:]] for line in found])
    assert np.array_equal(shares, model.predict_proba(X))


def test_numbers_agree_to_the_last_bit(numbers, tmp_path):
    X, y = numbers
    for model in (
        PrivateRidge(epsilon=2, bounds=(-1, 1), target_bounds=(-5, 5)),
        PrivateLinearRegression(epsilon=2, data_norm=1.7, target_bounds=(-5, 5), loss="huber"),
    ):
        path = tmp_path / f"{type(model).__name__}.json"
        model.fit(X, y).save(path)
        rows = write(tmp_path / "rows.csv", X)
        found = [float(line[0]) for line in command_predictions(path, rows)]
        assert np.array_equal(found, model.predict(X))
        again = privet.load(path)
        assert np.array_equal(again.predict(X), model.predict(X))
        assert again.plan_ == model.plan_ and again.certificate_.events == model.certificate_.events


def test_the_command_line_writes_and_python_reads(table, tmp_path):
    X, y = table
    data = write(tmp_path / "train.csv", X, np.where(y == 1, "yes", "no"), target="ill")
    schema = Schema(
        {f"x{place}": privet.number(-1, 1) for place in range(3)}, target="ill", classes=["no", "yes"]
    )
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    path = tmp_path / "model.json"
    privet_command(
        "train", data, "--schema", tmp_path / "schema.toml", "--epsilon", 2, "--out", path
    )
    model = privet.load(path)
    assert isinstance(model, PrivateLogisticRegression)
    assert list(model.classes_) == ["no", "yes"] and model.n_features_in_ == 3
    assert privet.verify(path).epsilon == 2.0 and privet.verify(model).valid
    found = command_predictions(path, data, probabilities=True)
    frame = pd.read_csv(data)[["x0", "x1", "x2"]]
    assert [line[0] for line in found] == list(model.predict(frame))
    shares = np.array([[float(share) for share in line[1:]] for line in found])
    assert np.array_equal(shares, model.predict_proba(frame))
    assert np.array_equal(shares, model.predict_proba(X))


def test_labels_come_back_as_they_were(table, tmp_path):
    X, y = table
    for labels in (y, y.astype(float), y == 1, np.where(y == 1, "yes", "no"), y * 5 - 2):
        classes = np.unique(labels)
        model = PrivateLinearSVC(epsilon=4, bounds=(-1, 1), classes=classes).fit(X, labels)
        assert model.classes_.dtype == classes.dtype and np.array_equal(model.classes_, classes)
        model.save(tmp_path / "model.json", overwrite=True)
        again = privet.load(tmp_path / "model.json")
        assert isinstance(again, PrivateLinearSVC)
        assert np.array_equal(again.predict(X), model.predict(X))


def test_a_model_is_neither_overwritten_nor_lost(table, tmp_path, monkeypatch):
    X, y = table
    path = tmp_path / "model.json"
    first, second = (
        PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
        for _ in range(2)
    )
    first.save(path)
    first.save(path)
    assert os.listdir(tmp_path) == ["model.json"]
    kept = path.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True.*model-2.json"):
        second.save(path)
    assert path.read_bytes() == kept
    assert np.array_equal(privet.load(tmp_path / "model-2.json").coef_, second.coef_)
    second.save(path, overwrite=True)
    assert np.array_equal(privet.load(path).coef_, second.coef_)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="model-3.json"):
        first.save(tmp_path / "none" / "model.json")
    assert np.array_equal(privet.load("model-3.json").coef_, first.coef_)
    assert sorted(os.listdir(tmp_path)) == ["model-2.json", "model-3.json", "model.json"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_links_are_followed_and_pipes_written_through(table, tmp_path):
    X, y = table
    model = PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    (tmp_path / "far").mkdir()
    link, pipe = tmp_path / "link.json", tmp_path / "pipe"
    link.symlink_to(tmp_path / "far" / "model.json")
    model.save(link)
    assert link.is_symlink() and privet.verify(tmp_path / "far" / "model.json").valid
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    model.save(pipe)
    reader.join()
    assert pipe.is_fifo() and read == [link.read_bytes()]


def test_a_broken_seal_is_refused_and_told(table, tmp_path):
    X, y = table
    path = tmp_path / "model.json"
    PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y).save(path)
    document = json.loads(path.read_text())
    document["certificate"]["guarantee"]["epsilon"] = 0.1
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="digest"):
        privet.load(path)
    verdict = privet.verify(path)
    assert not verdict.valid and not all(check.holds for check in verdict.checks)
    privet_command("verify", path, code=1)


def test_the_command_line_is_all_there(tmp_path):
    assert privet_command("--version").startswith("privet ")
    assert "auto" in privet_command("methods")
    assert privet_command("plan", code=2) == ""


def test_schemas_and_certificates_survive_pickling(table):
    X, y = table
    fitted = PrivateLogisticRegression(epsilon=2.0, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    schema = privet.Schema({"a": privet.number(0, 1)}, target="y", classes=["n", "p"])
    assert pickle.loads(pickle.dumps(schema)) == schema
    again = pickle.loads(pickle.dumps(fitted.certificate_))
    assert again.epsilon == fitted.certificate_.epsilon
    assert again == fitted.certificate_ and again.document["digest"] is not None
    other = PrivateLogisticRegression(epsilon=2.0, bounds=(-1, 1), classes=[0, 1]).fit(X[:-1], y[:-1])
    assert fitted.certificate_ == fitted.certificate_ != other.certificate_


def test_a_file_without_its_seal_is_not_valid(table, tmp_path):
    X, y = table
    path = tmp_path / "model.json"
    PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y).save(path)
    document = json.loads(path.read_text())
    del document["certificate"]["digest"]
    document["body"]["weights"][0][0] += 0.5
    path.write_text(json.dumps(document))
    verdict = privet.verify(path)
    assert not verdict.valid and verdict.epsilon is None
    with pytest.raises(ValueError, match="digest"):
        privet.load(path)


def test_a_claim_that_does_not_hold_is_not_repeated(tmp_path):
    golden = Path(__file__).parents[2] / "crates/privet-learn/tests/golden/0.1.0"
    void = golden / "linear-rotated-squared-replace-one-2-approximate.json"
    with pytest.warns(privet.NotValidWarning, match="rely on no guarantee"):
        model = privet.load(void)
    assert not model.certificate_.private and "VOID-1" in model.certificate_.notes[0]
    assert not privet.verify(model)


def test_a_verdict_says_what_the_claim_rests_on(table, tmp_path):
    X, y = table
    path = tmp_path / "model.json"
    PrivateLogisticRegression(epsilon=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y).save(path)
    verdict = privet.verify(path)
    assert verdict and verdict.arithmetic == "finite" and verdict.signer is None
    assert len(verdict.made["id"]) == 32 and verdict.made["version"] == privet.__version__
