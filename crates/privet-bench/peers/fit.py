"""Fits of scikit-learn, and of the papers' AMP through SciPy, on rows that privet exported.

    python fit.py TRAIN TEST COLUMNS

TRAIN and TEST are LIBSVM text. A question names the solver, the storage, λ (`ridge`) and ε; the
answer has `seconds`, `accuracy` on TEST and the λ that was used. scikit-learn fits with C = 1/λ and no
separate intercept (the bias, if any, is a column), at its default tolerance. `published-amp` is
Approximate Minima Perturbation as printed: SciPy's BFGS on the mean objective with the paper's
constants until the gradient's norm is at most 1/n².
"""

import sys
from importlib.metadata import version

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

from serving import serve, timed


def published_amp(rows, labels, epsilon):
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
    training, test, columns = sys.argv[1], sys.argv[2], int(sys.argv[3])
    csr, labels = load_svmlight_file(training, n_features=columns)
    test_rows, test_labels = load_svmlight_file(test, n_features=columns)
    # liblinear takes 32-bit indices only.
    csr.indices, csr.indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)
    stored = {"csr": csr, "dense": np.ascontiguousarray(csr.toarray())}

    def answer(question):
        rows, ridge = stored[question["storage"]], question["ridge"]
        if question["solver"] == "published-amp":
            seconds, (theta, ridge) = timed(lambda: published_amp(rows, labels, question["epsilon"]))
        else:
            model = LogisticRegression(solver=question["solver"], C=1 / ridge, fit_intercept=False)
            seconds, fitted = timed(lambda: model.fit(rows, labels))
            theta = fitted.coef_[0]
        right = (test_rows @ theta > 0) == (test_labels > 0)
        return {"seconds": seconds, "accuracy": float(right.mean()), "ridge": ridge}

    serve({"scikit-learn": version("scikit-learn"), "scipy": version("scipy")}, answer)


if __name__ == "__main__":
    main()
