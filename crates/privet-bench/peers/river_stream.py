"""river's logistic regression on a stream that privet handed over: progressive accuracy and rows a second."""

import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from river import linear_model, preprocessing

from serving import serve

FOLDER = Path(sys.argv[1])


def answer(asked):
    """Each row is predicted, then learnt from."""
    rows = np.load(FOLDER / f"{asked['name']}.npy", mmap_mode="r")
    labels = np.load(FOLDER / f"{asked['name']}-classes.npy")
    count = min(len(rows), asked["rows"])
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    names = list(range(rows.shape[1]))
    right, seconds = 0, 0.0
    for place in range(count):
        x, y = dict(zip(names, rows[place].tolist())), bool(labels[place])
        start = time.perf_counter()
        right += model.predict_one(x) == y
        model.learn_one(x, y)
        seconds += time.perf_counter() - start
    return {"accuracy": right / count, "rows_per_second": count / seconds, "rows": count}


serve({"river": version("river")}, answer)
