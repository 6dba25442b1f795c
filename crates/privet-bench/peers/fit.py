"""The peers' side of the fit race, on the rows that `privet-bench fit` exported.

    python fit.py EXPORT LINES

EXPORT is LIBSVM text (with EXPORT.test beside it), LINES the output of `privet-bench fit`, from which
λ and ε are taken. Prints one JSON object a line. scikit-learn's liblinear on CSR, its lbfgs and
newton-cholesky on a dense matrix, all with C = 1/λ and no separate intercept (the bias, if any, is a
column), at their default tolerances; and Approximate Minima Perturbation as published: SciPy's BFGS on
the mean objective with the paper's constants until the gradient's norm is at most 1/n².
"""

import json
import sys
import time
from importlib.metadata import version

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

REPEATS = 9


def timed(fit, repeats=REPEATS):
    """(fastest, median, last result)."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = fit()
        seconds.append(time.perf_counter() - start)
    seconds.sort()
    return seconds[0], seconds[len(seconds) // 2], result


def printed_amp(rows, labels, epsilon):
    """Algorithm 1 of Iyengar et al. (2019), hyper-parameter-free, low-dimensional; the paper's own
    constants, unsound in places (see docs/errata.md)."""
    n, p = rows.shape
    delta, gamma = 1 / n**2, 1 / n**2
    epsilon_1, epsilon_2, delta_1, delta_2 = 0.99 * epsilon, 0.01 * epsilon, 0.99 * delta, 0.01 * delta
    epsilon_3 = max(min(0.887 + 0.019 / epsilon_1**0.373, 0.99), 1 - 0.99 / epsilon_1) * epsilon_1
    ridge = 2 / (epsilon_1 - epsilon_3)
    noise = np.random.default_rng()
    b = noise.normal(size=p) * 2 / n * (1 + np.sqrt(2 * np.log(1 / delta_1))) / epsilon_3

    def objective(theta):
        margins = labels * (rows @ theta)
        weights = -labels * np.exp(-np.logaddexp(0, margins))
        value = np.logaddexp(0, -margins).mean() + ridge / (2 * n) * theta @ theta + b @ theta
        return value, rows.T @ weights / n + ridge / n * theta + b

    found = minimize(objective, np.zeros(p), jac=True, method="BFGS", options={"gtol": gamma, "norm": 2})
    scale = n * gamma / ridge * (1 + np.sqrt(2 * np.log(1 / delta_2))) / epsilon_2
    return found.x + noise.normal(size=p) * scale, ridge


def main():
    export, lines = sys.argv[1:3]
    with open(lines, encoding="utf-8") as file:
        ours = [json.loads(line) for line in file if line.startswith("{")]
    columns = ours[0]["columns"]
    csr, labels = load_svmlight_file(export, n_features=columns)
    test_csr, test_labels = load_svmlight_file(export.rsplit(".", 1)[0] + ".test", n_features=columns)
    # liblinear takes 32-bit indices only.
    csr.indices, csr.indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)
    dense = np.ascontiguousarray(csr.toarray())
    test = test_csr.toarray()

    def accuracy(theta):
        return float(((test @ theta > 0) == (test_labels > 0)).mean())

    for own in ours:
        rows = csr if own["storage"] == "csr" else dense
        solvers = ["liblinear"] if own["storage"] == "csr" else ["lbfgs", "newton-cholesky"]
        for solver in solvers:
            model = LogisticRegression(solver=solver, C=1 / own["ridge"], fit_intercept=False)
            fastest, median, fitted = timed(lambda: model.fit(rows, labels))
            report(own, f"scikit-learn {version('scikit-learn')} {solver}", own["ridge"], fastest,
                   median, accuracy(fitted.coef_[0]))
        if own["storage"] == "dense":
            fastest, median, (theta, ridge) = timed(lambda: printed_amp(dense, labels, own["epsilon"]), 1)
            report(own, f"AMP as published (SciPy {version('scipy')} BFGS)", ridge, fastest, median,
                   accuracy(theta))


def report(own, who, ridge, fastest, median, found):
    print(json.dumps({
        "race": "fit", "who": who, "storage": own["storage"], "epsilon": own["epsilon"],
        "ridge": ridge, "seconds": fastest, "median_seconds": median, "accuracy": found,
    }), flush=True)


if __name__ == "__main__":
    main()
