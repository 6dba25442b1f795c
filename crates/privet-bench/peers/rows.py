"""Rows that privet handed over, and what it wants to know of a model fitted on them."""

import json
import math
import os
import sys
from pathlib import Path

# Seconds are those of one core, as ours are. It must be said before NumPy is loaded.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from serving import timed  # noqa: E402


class Rows:
    """`train`, `test`, their `classes` and `facts`, from the folder that the first argument names."""

    def __init__(self):
        folder = Path(sys.argv[1])
        self.facts = json.loads((folder / "facts.json").read_text())
        self.train, self.test = np.load(folder / "train.npy"), np.load(folder / "test.npy")
        self.classes = np.load(folder / "train-classes.npy").astype(np.int64)

    def judged(self, model):
        """Fits, and answers with seconds, the class of each test row and, of two classes, its score."""
        seconds, fitted = timed(lambda: model.fit(self.train, self.classes))
        scores = None
        if self.facts["classes"] == 2:
            scores = np.asarray(fitted.decision_function(self.test), dtype=np.float64).ravel()
            scores = [score if math.isfinite(score) else None for score in scores.tolist()]
        found = np.asarray(fitted.predict(self.test), dtype=np.int64).tolist()
        return {"seconds": seconds, "classes": found, "scores": scores}
