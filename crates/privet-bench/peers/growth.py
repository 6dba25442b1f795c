"""One fit of scikit-learn's lbfgs, its time and its peak memory, on rows that privet exported.

A question is `rows`, `columns`, `ridge`, `seconds` (how long to go on repeating the fit) and `export`, the
stem of the files: STEM.values (32-bit numbers), STEM.labels (32-bit numbers, -1 and 1), and of sparse
rows STEM.indices (32-bit integers) and STEM.starts (64-bit integers). The answer has `seconds` of the
fastest fit, `fits`, `iterations`, `peak_memory` of this process while it fitted, data included, and `base_memory` before
there were any; a `notice` where it stopped before the first step. Its tolerance is the default, on 32-bit
numbers: far from what ours proves.
"""

import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from serving import serve, timed


def loaded(question):
    stem, shape = question["export"], (question["rows"], question["columns"])
    values = np.fromfile(stem + ".values", dtype="<f4")
    if not Path(stem + ".indices").exists():
        return values.reshape(shape)
    indices = np.fromfile(stem + ".indices", dtype="<i4")
    starts = np.fromfile(stem + ".starts", dtype="<i8").astype(np.int32)
    return csr_matrix((values, indices, starts), shape=shape)


def memory(field):
    """Bytes of VmRSS, or of VmHWM, the peak since the last reset; None where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith(field))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return None


def answer(question):
    base = memory("VmRSS")
    rows = loaded(question)
    labels = np.fromfile(question["export"] + ".labels", dtype="<f4")
    try:
        # 5: reset the peak (man 5 proc, clear_refs).
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        pass
    seconds, end = [], time.perf_counter() + question["seconds"]
    while not seconds or (len(seconds) < 5 and time.perf_counter() < end):
        model = LogisticRegression(C=1 / question["ridge"], fit_intercept=False)
        seconds.append(timed(lambda: model.fit(rows, labels))[0])
    measured = {
        "seconds": min(seconds), "fits": len(seconds), "iterations": int(model.n_iter_[0]),
        "peak_memory": memory("VmHWM"), "base_memory": base,
    }
    if measured["iterations"] == 0:
        # Many columns make each entry of the gradient small.
        measured["notice"] = "fitted nothing: at its default tolerance the starting point is good enough"
    return measured


if __name__ == "__main__":
    serve({"scikit-learn": version("scikit-learn")}, answer)
