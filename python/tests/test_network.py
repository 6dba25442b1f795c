"""Networks: fitted, judged, saved, read, verified."""

import subprocess
import sys
import time

import numpy as np
import pytest

import privet
from privet import PrivateNetworkClassifier

LAYERS = [{"kind": "linear", "out": 8}, {"kind": "tanh"}]


def _rows(count=600):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(count, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def _model(**given):
    facts = {
        "epsilon": 8,
        "delta": 1e-5,
        "layers": LAYERS,
        "bounds": (-1, 1),
        "classes": ["other", "same"],
        "settings": {"batch": 100, "steps": 150, "rate": 2},
    }
    return PrivateNetworkClassifier(**{**facts, **given})


def test_a_network_is_released_saved_read_and_verified(tmp_path):
    X, y = _rows()
    model = _model().fit(X, y)
    assert model.certificate_.epsilon == 8
    assert set(model.classes_) == {"same", "other"}
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()
    assert [tensor.shape for tensor in model.tensors_.values()] == [(2, 8), (8,), (8, 2), (2,)]
    assert privet.verify(model)
    model.save(tmp_path / "network.json")
    again = privet.load(tmp_path / "network.json")
    assert (again.predict(X) == model.predict(X)).all()
    assert privet.verify(tmp_path / "network.json").epsilon == 8


def test_weights_of_a_public_network_are_begun_from():
    X, y = _rows()
    public = _model(epsilon=None, delta=None, method="non-private", weights_seed=3).fit(X, y)
    frozen = [{**LAYERS[0], "frozen": True}, LAYERS[1]]
    model = _model(layers=frozen, initial_weights=public).fit(X, y)
    first = next(iter(model.tensors_))
    assert (model.tensors_[first] == public.tensors_[first]).all()
    assert any("said to be public: the weights it began from" in note for note in model.certificate_.notes)
    other = _model(layers=[{"kind": "linear", "out": 5}], initial_weights=public)
    with pytest.raises(ValueError, match="initial_weights"):
        other.fit(X, y)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"layers": [{"kind": "batch-norm"}]}, "layer 1 .batch-norm"),
        ({"layers": [{"kind": "dropout"}]}, "layers"),
        ({"input_shape": (3, 3), "layers": [{"kind": "flatten"}]}, "takes 9 numbers, and a row of this schema has 2"),
        ({"settings": {"batch": 600}}, "sampling rate of 1 or more"),
        ({"settings": {"depth": 3}}, "not a setting of method dp-sgd"),
        ({"method": "adam"}, "accepted: dp-sgd"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(given, words):
    X, y = _rows()
    with pytest.raises(ValueError, match=words):
        _model(**given).fit(X, y)


def test_a_training_that_was_ended_goes_on_and_is_read(tmp_path):
    """Killed in the midst by the package's command, it goes on from its checkpoint under the same claim."""
    X, y = _rows(200)
    lines = [f"{a:.6f},{b:.6f},{label}" for (a, b), label in zip(X, y, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    number = '[[columns]]\nname = "{}"\ntype = "number"\nbounds = [-1, 1]\nscale = "symmetric"\n'
    head = '[clip]\nnorm = "l2"\nradius = 2.0\n[target]\ncolumn = "y"\nclasses = ["other", "same"]\n'
    (tmp_path / "schema.toml").write_text(head + number.format("a") + number.format("b"))
    layers = '[[layers]]\nkind = "linear"\nout = 8\n[[layers]]\nkind = "tanh"\n[[layers]]\nkind = "linear"\nout = 2\n'
    (tmp_path / "net.toml").write_text("input = { features = 2 }\n" + layers)
    words = "train table.csv --schema schema.toml --model net.toml --method dp-sgd --epsilon 4 --delta 1e-5"
    words += " --set steps=400 --set batch=50 --checkpoint aside --every 10 --out net.json"
    command = [sys.executable, "-m", "privet", *words.split()]
    first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (tmp_path / "aside").exists() and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    first.kill()
    first.wait()
    assert not (tmp_path / "net.json").exists(), "it was over before it was ended"
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    model = privet.load(tmp_path / "net.json")
    assert privet.verify(tmp_path / "net.json").epsilon == 4
    assert [tensor.shape for tensor in model.tensors_.values()] == [(2, 8), (8,), (8, 2), (2,)]
    # A second network of the same training is not to be had.
    (tmp_path / "net.json").unlink()
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 0
