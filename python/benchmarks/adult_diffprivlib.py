"""The peer's side of ``adult.py``: diffprivlib on the same rows, in its own environment.

    python adult_diffprivlib.py FOLDER RUNS

FOLDER holds the rows as ``adult.py`` saved them. Prints one JSON object: seconds of each fit and test
accuracies at the defaults, and mean accuracy for each C.
"""

import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from diffprivlib.models import LogisticRegression

GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def main():
    folder, runs = Path(sys.argv[1]), int(sys.argv[2])
    rows = {name: np.load(folder / f"{name}.npy") for name in ("X_train", "y_train", "X_test", "y_test")}
    warnings.simplefilter("ignore")

    def fit(C):
        model = LogisticRegression(epsilon=1.0, data_norm=1.0, C=C)
        start = time.perf_counter()
        model.fit(rows["X_train"], rows["y_train"])
        return time.perf_counter() - start, model.score(rows["X_test"], rows["y_test"])

    by_c = {C: [fit(C) for _ in range(runs)] for C in GRID}
    print(
        json.dumps(
            {
                "who": f"diffprivlib {version('diffprivlib')} (scikit-learn {version('scikit-learn')})",
                "seconds": [seconds for seconds, _ in by_c[1.0]],
                "accuracy": [accuracy for _, accuracy in by_c[1.0]],
                "accuracy_by_c": {str(C): float(np.mean([a for _, a in found])) for C, found in by_c.items()},
            }
        )
    )


if __name__ == "__main__":
    main()
