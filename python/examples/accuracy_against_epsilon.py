"""What privacy costs: accuracy against epsilon on the handwritten digits that ship with scikit-learn.

    python accuracy_against_epsilon.py [--runs 5] [--plot digits.png]

Prints a table, and draws it where matplotlib is installed. Everything that decides a guarantee is public:
pixels go from 0 to 16, there are ten digits, and the number of rows is known. The test rows here are public
too; on private ones the accuracies printed would themselves be releases without noise.
"""

# %% Data, and what may be known of them without looking
import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from privet import PrivateLogisticRegression

PUBLIC = {"bounds": (0, 16), "classes": range(10)}
EPSILONS = (0.5, 1, 2, 4, 8, 16)

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--runs", type=int, default=5, help="fits at each epsilon, each with fresh noise")
arguments.add_argument("--plot", default="accuracy_against_epsilon.png", help="where to draw")
arguments = arguments.parse_args()

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)

# %% Before any data: what would a budget buy?
for epsilon in EPSILONS:
    plan = PrivateLogisticRegression(epsilon=epsilon, **PUBLIC).plan(*X_train.shape)
    cost = "unknown" if plan.predicted_cost is None else f"{plan.predicted_cost:.0%} of what can be learnt"
    print(f"epsilon {epsilon:>4}: method {plan.method}, predicted cost of privacy {cost}")

# %% Fit. A new estimator each time, so that nothing is counted as a repeated fit: these records are public.
without = LogisticRegression(max_iter=5000).fit(X_train / 16, y_train).score(X_test / 16, y_test)
found = {
    epsilon: [
        PrivateLogisticRegression(epsilon=epsilon, **PUBLIC).fit(X_train, y_train).score(X_test, y_test)
        for _ in range(arguments.runs)
    ]
    for epsilon in EPSILONS
}
print("\nepsilon  accuracy (mean, least, most)")
for epsilon, scores in found.items():
    print(f"{epsilon:>7}  {np.mean(scores):.3f}  {min(scores):.3f}  {max(scores):.3f}")
print(f"   none  {without:.3f}")

# %% Draw
try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
except ImportError:
    print("\nno plot: matplotlib is not installed")
else:
    means = [np.mean(scores) for scores in found.values()]
    spread = [[mean - min(s), max(s) - mean] for mean, s in zip(means, found.values(), strict=True)]
    plt.errorbar(EPSILONS, means, yerr=np.transpose(spread), marker="o", capsize=3, label="private")
    plt.axhline(without, linestyle="--", color="grey", label="without privacy")
    plt.xscale("log")
    plt.xlabel("epsilon (smaller is more private)")
    plt.ylabel("accuracy on held-out digits")
    plt.ylim(0, 1)
    plt.legend()
    plt.savefig(arguments.plot, dpi=120)
    print(f"\ndrawn: {arguments.plot}")
