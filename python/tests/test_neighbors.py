"""Answers to public questions by the records near each."""

import numpy as np
import pytest

import privet


def _table(rows=6000):
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, size=(rows, 2))
    return X, X[:, 0]


QUESTIONS = np.array([[0.6, 0.0], [-0.6, 0.4], [0.7, -0.5]])


def test_classes_are_answered_verified_and_read_again(tmp_path):
    X, y = _table()
    labels = np.where(y > 0, "ill", "well")
    near = privet.PrivateNeighbors(
        epsilon=2, within=0.35, votes=2, bounds=(-1, 1), classes=["well", "ill"], n_rows=6000
    )
    answers = near.answer(X, labels, QUESTIONS)
    assert answers.tolist() == ["ill", "well", "ill"]
    assert near.votes_.shape == (3, 2) and near.classes_.tolist() == ["ill", "well"]
    assert (near.counts_ > 100).all()
    assert near.certificate_.epsilon == 2.0
    assert privet.verify(near).valid
    path = tmp_path / "answers.json"
    near.save(path)
    assert privet.verify(path).valid
    again = privet.load(path)
    assert again.answers_.tolist() == answers.tolist()
    assert again.certificate_.epsilon == 2.0


def test_numbers_are_answered():
    X, y = _table()
    near = privet.PrivateNeighbors(
        epsilon=2, within=0.2, votes=1, bounds=(-1, 1), target_bounds=(-1, 1), n_rows=6000
    )
    assert np.abs(near.answer(X, y, QUESTIONS) - QUESTIONS[:, 0]).max() < 0.35


def test_what_is_missing_is_said():
    X, y = _table(50)
    near = privet.PrivateNeighbors(epsilon=1, bounds=(-1, 1), target_bounds=(-1, 1))
    with pytest.raises(ValueError, match="n_rows"):
        near.answer(X, y, QUESTIONS)
    near.set_params(n_rows=50)
    with pytest.raises(ValueError, match="features"):
        near.answer(X, y, [[1.0, 2.0, 3.0]])
    with pytest.raises(TypeError, match="answer"):
        near.fit(X, y)
    with pytest.raises(ValueError, match="epsilon"):
        privet.PrivateNeighbors(bounds=(-1, 1), target_bounds=(-1, 1), n_rows=50).answer(X, y, QUESTIONS)
