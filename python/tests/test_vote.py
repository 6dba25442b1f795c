"""Any classifier by votes: labels, students, teachers that fail, and what is refused."""

import os
import pathlib
import re
import time

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import privet
from privet import _teachers


def _table(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, 3))
    return X, np.where(X[:, 0] > 0, "yes", "no")


def _vote(estimator, **more):
    settings = {"epsilon": 60, "delta": 1e-6, "n_teachers": 60, "bounds": (-1, 1), "classes": ["no", "yes"], "n_jobs": 2}
    return privet.PrivateVote(estimator, **{**settings, **more})


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=2), "tree", LogisticRegression()])
def test_public_rows_are_labelled_and_a_student_learns(estimator, tmp_path):
    X, y = _table()
    public, truth = _table(150, seed=1)
    # At this budget too few rows are near the threshold for the run to end early.
    vote = _vote(estimator, epsilon=400, settings={"cutoff": 20}, student=DecisionTreeClassifier(max_depth=3))
    vote.fit(X, y, public=public)
    answered = vote.label_codes_ >= 0
    assert answered.mean() > 0.5
    assert (vote.classes_[vote.label_codes_[answered]] == truth[answered]).mean() > 0.9
    assert vote.score(X, y) > 0.85
    assert vote.certificate_.epsilon == 400.0
    path = tmp_path / "labels.json"
    vote.save(path)
    assert privet.verify(path).valid and privet.verify(vote).valid
    again = privet.load(path)
    assert isinstance(again, privet.LabelsFile) and again.classes == ("no", "yes")
    assert (again.codes == np.where(answered, vote.label_codes_, -1)).all()


def test_a_plan_needs_no_data():
    plan = _vote("forest").plan(n_rows=5000, n_features=3, n_public=100)
    assert plan.settings["teachers"] == 60
    assert any("taken for public" in note for note in plan.notes)


def test_public_rows_are_needed_and_must_have_the_same_columns():
    X, y = _table(200)
    with pytest.raises(ValueError, match="public is missing"):
        _vote("tree").fit(X, y)
    with pytest.raises(ValueError, match="features"):
        _vote("tree").fit(X, y, public=X[:, :2])
    with pytest.raises(ValueError, match="time_limit"):
        _vote(DecisionTreeClassifier(), time_limit=0).fit(X, y, public=X[:5])


def test_teachers_that_fail_vote_for_the_first_class(tmp_path, monkeypatch):
    # Teachers are made in processes that have to find their class.
    source = tmp_path / "moody_teachers.py"
    source.write_text(
        "import numpy as np\nfrom sklearn.base import BaseEstimator, ClassifierMixin\n"
        "class Moody(ClassifierMixin, BaseEstimator):\n"
        "    def fit(self, X, y):\n"
        "        if len(X) < 40:\n            raise RuntimeError('no mood')\n"
        "        return self\n"
        "    def predict(self, X):\n        return np.ones(len(X), dtype=int)\n"
        "class Broken(Moody):\n    def fit(self, X, y):\n        raise RuntimeError('never')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import moody_teachers

    X, y = _table(1200)
    vote = _vote(moody_teachers.Moody(), student=DecisionTreeClassifier(), settings={"cutoff": 2})
    vote.fit(X, y, public=X[:20])
    assert (vote.label_codes_ == 0).all()
    with pytest.raises(ValueError, match="made-up rows"):
        _vote(moody_teachers.Broken()).fit(X, y, public=X[:20])


def test_labels_alone():
    X, y = _table()
    vote = _vote("tree", neighbours="replace-label", settings={"cutoff": 20}).fit(X, y, public=X[:100])
    assert any("labels alone" in note for note in vote.certificate_.notes)


@pytest.fixture
def odd_teachers(tmp_path, monkeypatch):
    source = tmp_path / "odd_teachers.py"
    source.write_text(
        "import os, subprocess, time\nimport numpy as np\n"
        "class Odd:\n"
        "    def __init__(self, mood):\n        self.mood = mood\n"
        "    def fit(self, X, y):\n"
        "        self.fits = getattr(self, 'fits', 0) + 1\n"
        "        if self.mood == 'leave':\n            self.left = subprocess.Popen(['sleep', '300']).pid\n"
        "        self.marked = X.max() >= 5\n"
        "        if not self.marked:\n            return self\n"
        "        if self.mood == 'spin':\n            while True:\n                pass\n"
        "        if self.mood == 'sleep':\n            time.sleep(2)\n"
        "        if self.mood == 'memory':\n            np.ones(2 << 30)\n"
        "        if self.mood == 'exit':\n            os._exit(3)\n"
        "        if self.mood == 'interrupt':\n            raise KeyboardInterrupt\n"
        "        return self\n"
        "    def predict(self, X):\n"
        "        if self.marked and self.mood == 'none':\n            return None\n"
        "        rows = len(X) + {'long': 1, 'short': -1}.get(self.mood, 0) * self.marked\n"
        "        return np.full(rows, self.left if self.mood == 'leave' else self.fits)\n"
        # Ends the child of the marked chunk once that is read, and before it says so.
        "class Early(Odd):\n"
        "    def __setstate__(self, state):\n"
        "        import __main__, pickle, sys\n"
        "        self.__dict__.update(state)\n"
        "        quiet = __main__._quiet\n"
        "        def marked():\n"
        "            rows = pickle.loads(sys._getframe(1).f_locals['data'])[0]\n"
        "            if rows.max() > 5:\n                raise MemoryError\n"
        "            quiet()\n"
        "        __main__._quiet = marked\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import odd_teachers

    return odd_teachers


def _ballots(estimator, marked=True, limit=1.0, n_jobs=4):
    rows = np.random.default_rng(0).uniform(size=(120, 2)).astype(np.float32)
    rows[7, 0] = 9.0 if marked else 0.5
    labels = (np.arange(120) // 10 % 2).astype(np.uint32)
    chunks = [np.arange(start, 120, 10) for start in range(10)]
    return _teachers.ballots(estimator, rows, labels, chunks, rows[:3], n_jobs=n_jobs, limit=limit)


@pytest.mark.parametrize("mood", ["spin", "memory", "exit", "interrupt", "long", "short", "none"])
def test_a_record_that_spoils_its_teacher_moves_no_other_vote(mood, odd_teachers):
    votes = _ballots(odd_teachers.Odd(mood))
    # Nobody was fitted twice: no teacher is warm from another's chunk.
    assert (np.delete(votes, 7, axis=0) == 1).all()
    assert (votes[7] == -1).all()


def test_a_teacher_that_ends_before_it_has_its_chunk_takes_no_other_vote_along(odd_teachers):
    votes = _ballots(odd_teachers.Early("quiet"), n_jobs=1)
    assert (np.delete(votes, 7, axis=0) == 1).all()
    assert (votes[7] == -1).all()


def test_the_clock_is_no_limit_of_a_teacher(odd_teachers):
    assert (_ballots(odd_teachers.Odd("sleep")) == 1).all()


def test_a_teacher_leaves_nothing_running(odd_teachers):
    if not pathlib.Path("/proc/self/stat").exists():
        pytest.skip("this system has no /proc")

    def running(process):
        try:
            stat = pathlib.Path(f"/proc/{process}/stat").read_text()
        except OSError:
            return False
        # Z waits to be collected by whoever inherited it.
        return stat.rpartition(")")[2].split()[0] != "Z"

    left = _ballots(odd_teachers.Odd("leave"))[:, 0]
    assert (left > 0).all()
    until = time.monotonic() + 20
    while any(running(process) for process in left) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(running(process) for process in left)


def test_estimators_need_processes_of_their_own(monkeypatch, odd_teachers):
    monkeypatch.delattr(os, "fork")
    with pytest.raises(RuntimeError, match="process of its own"):
        _ballots(odd_teachers.Odd("calm"))


def test_a_plan_for_outside_teachers_says_what_is_assumed():
    plan = _vote(DecisionTreeClassifier()).plan(n_rows=5000, n_features=3, n_public=100)
    assert any("assumed" in note for note in plan.notes)
    assert not any("assumed" in note for note in _vote("tree").plan(n_rows=5000, n_features=3).notes)


def test_some_rows_are_asked_about_and_labels_are_spread():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 2)) * 0.1 + np.where(rng.uniform(size=3000) < 0.5, -0.5, 0.5)[:, None]
    y = np.where(X[:, 0] > 0, "yes", "no")
    public, X, y = X[:200], X[200:], y[200:]
    some = {"aggregator": "gnmax", "ask": 20, "student": LogisticRegression()}
    few = _vote("tree", teacher_settings={"depth": 3}, **some).fit(X, y, public=public)
    assert len(few.label_codes_) == 200
    assert (few.label_codes_[:20] >= 0).all() and (few.label_codes_[20:] == -1).all()
    chosen = _vote("tree", choose=2, spread=True, **some).fit(X, y, public=public)
    assert (chosen.label_codes_ >= 0).sum() == 20 and (chosen.label_codes_[:10] >= 0).all()
    assert chosen.score(X, y) > 0.95
    # Rounds and rows, the rows by their digest, are in the certificate.
    assert '"choose":2' in chosen.model_.request().replace(" ", "")
    assert re.search('"public":"[0-9a-f]{64}"', chosen.model_.request().replace(" ", ""))
    assert privet.verify(chosen).valid
    with pytest.raises(ValueError, match="built-in"):
        _vote(DecisionTreeClassifier(), teacher_settings={"depth": 3}).fit(X, y, public=public)
    with pytest.raises(Exception, match="gnmax or sparse-vector"):
        _vote("tree", **{**some, "aggregator": "agreed-gnmax"}, choose=2).fit(X, y, public=public)
