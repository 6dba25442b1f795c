"""diffprivlib's logistic regression on rows that privet exported.

    python diffprivlib_fit.py TRAIN TEST COLUMNS RADIUS

TRAIN and TEST are LIBSVM text, RADIUS the bound on the rows' norm, given as `data_norm`. A question names ε
and, unless its defaults are wanted, C and whether to fit an intercept; the answer has `seconds` and
`accuracy` on TEST.
"""

import sys
from importlib.metadata import version

from diffprivlib.models import LogisticRegression
from sklearn.datasets import load_svmlight_file

from serving import serve, timed


def main():
    training, test, columns, radius = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    rows, labels = load_svmlight_file(training, n_features=columns)
    test_rows, test_labels = load_svmlight_file(test, n_features=columns)
    # It takes dense rows only, though it says otherwise.
    rows, test_rows = rows.toarray(), test_rows.toarray()

    def answer(question):
        own = {name: question[name] for name in ("C", "fit_intercept") if name in question}
        model = LogisticRegression(epsilon=question["epsilon"], data_norm=radius, **own)
        seconds, fitted = timed(lambda: model.fit(rows, labels))
        return {"seconds": seconds, "accuracy": float(fitted.score(test_rows, test_labels)), "ridge": 1 / model.C}

    serve({"diffprivlib": version("diffprivlib")}, answer)


if __name__ == "__main__":
    main()
