"""Threads and forks: nobody waits for who waits for them, and nothing is left to threads of another process.

Time limits are guards against waiting for ever, far above what the work takes.
"""

import os
import subprocess
import sys
import textwrap

import pytest

GUARD = 400

SETUP = """
import os, signal, threading, warnings
import numpy as np, pandas as pd
warnings.simplefilter("ignore")
import privet
from privet import *
from privet import _privet, account, audit, cluster, noise
rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, (3000, 4))
y = (X[:, 0] > 0).astype(int)
given = {"epsilon": 3, "bounds": (-1, 1), "classes": [0, 1]}
frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.where(y, "yes", "no"))
names = {name: number(-1, 1) for name in "abcd"}
schema = Schema(names, target="y", classes=["no", "yes"])
wards = Schema({"w": category(["x", "z"])}, target="y", classes=["no", "yes"])
frame["w"] = np.where(y, "x", "z")
total = Schema(names, target="y", classes=["no", "yes"], invalid="drop")
parts = [frame[:1000], frame[1000:]]
model = PrivateLogisticRegression(**given).fit(X, y)
framed = PrivateLogisticRegression(epsilon=3, schema=schema).fit(frame[list("abcd")], frame["y"])
"""

DOORS = """
from sklearn.tree import DecisionTreeClassifier
from scipy import sparse

def doors():
    for method in ("gd", "amp", "sgd", "auto"):
        cluster.fit(parts, schema=schema, epsilon=1, method=method)
        PrivateLogisticRegression(**given, method=method).fit(X, y).predict_proba(X.astype(np.float32))
    cluster.count(parts, "w", schema=wards, epsilon=1)
    framed.predict(frame[list("abcd")])
    PrivateLogisticRegression(epsilon=1, schema=schema).fit(frame[list("abcd")], frame["y"])
    rows = sparse.random_array((400, 50), density=0.1, format="csr", rng=rng)
    thin = PrivateLogisticRegression(epsilon=1, data_norm=1, classes=[0, 1]).fit(rows, np.arange(400) % 2)
    thin.predict(rows)
    PrivateLinearRegression(epsilon=1, bounds=(-1, 1), target_bounds=(-1, 1)).fit(X, X[:, 1]).predict(X)
    evaluate(model, X, y, epsilon=1), evaluate(model, X, y)
    PrivateTuner([{"method": "gd", "steps": [5]}], schema=schema, epsilon=3, trials=30).fit(frame[list("abcd")], frame["y"])
    PrivateFeatureSelector(epsilon=1, size=2, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    PrivateNeighbors(epsilon=1, bounds=(-1, 1), classes=[0, 1], n_rows=3000).answer(X, y, X[:5])
    network = {"layers": [{"kind": "linear", "out": 4}, {"kind": "tanh"}], "settings": {"batch": 64, "steps": 5}}
    PrivateNetworkClassifier(**given, delta=1e-5, **network).fit(X, y).predict(X)
    ratings = [(user, item, 3) for user in range(60) for item in range(5)]
    PrivateRecommender(1, items=range(5), n_users=60).fit(ratings).recommend({1: 5})
    for teacher in ("forest", "propagation", DecisionTreeClassifier(max_depth=2)):
        PrivateVote(teacher, epsilon=8, bounds=(-1, 1), classes=[0, 1], n_teachers=20).fit(X, y, public=X[:50]).predict(X)
    count(frame, "w", schema=wards, epsilon=1), describe(frame[[*"abcd", "y"]], schema=schema, epsilon=1)
    SchemaEncoder(total).fit_transform(frame[list("abcd")])
    stream = PrivateOnlineClassifier(epsilon=1, horizon=500, bounds=(-1, 1), classes=[0, 1], features=X.shape[1], batch=50).partial_fit(X[:500], y[:500])
    stream.predict(X), stream.released()
    account.gaussian(1.0, 2.0).epsilon(1e-5), noise.discrete_gaussian(3.0, size=4)
    audit.learner("output", epsilon=1.0, runs=100)
    framed.to_onnx(), framed.to_sql("t"), framed.to_csv(), framed.shape_functions_, framed.coef_interval_
"""


def run(*parts, **environment):
    code = "".join(textwrap.dedent(part) for part in (SETUP, *parts))
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=GUARD
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_fits_on_a_cluster_let_arrays_be_read_meanwhile(threads):
    """Each cluster's fit asks Python while threads of its own wait; whoever reads an array keeps Python for itself."""
    code = """
    def clustered():
        for method in ("gd", "amp"):
            cluster.fit(parts, schema=schema, epsilon=1, method=method)

    def predicting():
        for _ in range(60):
            model.predict(X), framed.predict(frame[list("abcd")])

    def fitting():
        for _ in range(10):
            PrivateLogisticRegression(**given).fit(X, y)

    jobs = [threading.Thread(target=job) for job in (clustered, predicting, fitting, clustered, predicting)]
    [job.start() for job in jobs], [job.join() for job in jobs]
    print("done")
    """
    assert run(code, RAYON_NUM_THREADS=threads) == ["done"]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_engine_may_use_models_itself(threads):
    """What a fit calls on its way predicts and fits, in its own thread and in others, and asks the ledger that is paying."""
    code = """
    import tempfile
    from concurrent.futures import ThreadPoolExecutor
    calls = []

    def work(function, *given):
        model.predict(X)
        calls.append(function.__name__)
        if len(calls) < 3:
            PrivateLogisticRegression(**globals()["given"]).fit(X, y)
        return function(*given)

    here = cluster.fit(parts, schema=schema, epsilon=1, method="gd", run=work, gather=list)
    with ThreadPoolExecutor(2) as pool:
        gather = lambda handles: [handle.result() for handle in handles]
        arguments = lambda given: [one.result() if hasattr(one, "result") else one for one in given]
        run = lambda function, *given: pool.submit(lambda: work(function, *arguments(given)))
        cluster.fit(parts, schema=schema, epsilon=1, method="gd", run=run, gather=gather)

    ledger = Ledger(os.path.join(tempfile.mkdtemp(), "budget.ledger"), dataset="rows", create=True)
    ledger.open(epsilon=5, delta=1e-6)
    for asked in ("_encode", "_exact"):
        def run(function, *given, asked=asked):
            return (ledger.left() if function.__name__ == asked else 0, function(*given))[1]
        try:
            cluster.fit(parts, schema=schema, epsilon=1, delta=1e-7, method="gd", ledger=ledger, run=run, gather=list)
        except ValueError as refused:
            assert "once that fit is done" in str(refused), refused
        else:
            raise AssertionError(asked)
    cluster.fit(parts, schema=schema, epsilon=1, delta=1e-7, method="gd", ledger=ledger)
    assert ledger.left() < 1
    print("done")
    """
    assert run(code, RAYON_NUM_THREADS=threads) == ["done"]


@pytest.mark.skipif(sys.platform != "linux", reason="lists the threads of a process by /proc")
def test_no_work_is_left_to_threads_that_a_forked_child_cannot_make_again():
    """A pool that a library made for all, once for ever, is dead in a child: whoever gave it work would wait for ever."""
    code = """
    def others():
        found = set()
        for task in os.listdir("/proc/self/task"):
            try:
                found |= {task} - ({task} if open(f"/proc/self/task/{task}/comm").read().startswith("privet-") else set())
            except OSError:  # it has ended
                pass
        return found

    import sklearn.ensemble, sklearn.svm
    DecisionTreeClassifier().fit(X, y), np.linalg.eigh(np.eye(300))
    before = others()
    doors()
    assert others() <= before, others() - before
    print("done")
    """
    assert run(DOORS, code) == ["done"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_threads_of_its_own():
    code = """
    doors()
    stream = PrivateOnlineClassifier(epsilon=1, horizon=500, bounds=(-1, 1), features=X.shape[1], classes=[0, 1]).partial_fit(X[:100], y[:100])
    assert _privet.command_line(["privet", "--nonsense"]) == 2
    child = os.fork()
    if child == 0:
        doors()
        assert len(stream.predict(X)) == len(X)
        command = lambda: _privet.command_line(["privet", "methods"])
        for asked in (lambda: stream.partial_fit(X[:5], y[:5]), lambda: stream._stream.released(), command):
            try:
                asked()
            except ValueError as refused:
                assert "process" in str(refused)
            else:
                os._exit(2)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stream.partial_fit(X[:100], y[:100])
    print("done")
    """
    assert run(DOORS, code) == ["done"]
