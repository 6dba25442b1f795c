"""scikit-learn on rows that privet exported: lbfgs in memory, or SGDClassifier.partial_fit out of core.

A question is `kind` (lbfgs or sgd), `rows`, `columns`, `ridge`, `epochs`, `held` (how many rows are held out) and `stem`,
the stem of the files: STEM.values and STEM.labels, 32-bit numbers, and STEM.held.values and STEM.held.labels. The answer
has `seconds`, reading included for sgd, whose rows stay in their file; `epochs`; `accuracy` on held-out rows in per cent, and
`peak_gigabytes` of this process.
"""

import resource
import time
from importlib.metadata import version

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier

from serving import serve, timed

CHUNK = 100_000


def pieces(stem, rows, columns):
    """Rows and labels, so many at a time, read from their files."""
    with open(stem + ".values", "rb") as values, open(stem + ".labels", "rb") as labels:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            x = np.fromfile(values, dtype="<f4", count=count * columns).reshape(count, columns)
            yield x, np.fromfile(labels, dtype="<f4", count=count)


def answer(question):
    stem, rows, columns = question["stem"], question["rows"], question["columns"]
    if question["kind"] == "lbfgs":
        x = np.fromfile(stem + ".values", dtype="<f4").reshape(rows, columns)
        y = np.fromfile(stem + ".labels", dtype="<f4")
        model = LogisticRegression(C=1 / question["ridge"], fit_intercept=False)
        seconds, _ = timed(lambda: model.fit(x, y))
        epochs = int(model.n_iter_[0])
    else:
        model = SGDClassifier(loss="log_loss", alpha=question["ridge"] / rows, fit_intercept=False)
        start = time.perf_counter()
        for _ in range(question["epochs"]):
            for x, y in pieces(stem, rows, columns):
                model.partial_fit(x, y, classes=[-1.0, 1.0])
        seconds, epochs = time.perf_counter() - start, question["epochs"]
    held = list(pieces(stem + ".held", question["held"], columns))
    right = sum(int((model.predict(x) == y).sum()) for x, y in held)
    return {
        "seconds": seconds, "epochs": epochs, "accuracy": 100 * right / question["held"],
        "rows": rows, "columns": columns,
        "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


if __name__ == "__main__":
    serve({"scikit-learn": version("scikit-learn")}, answer)
