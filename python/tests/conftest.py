"""Tables that several tests share."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def table():
    """2,000 rows of three features in [-1, 1], two classes."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, size=(2000, 3))
    y = (X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=2000) > 0).astype(int)
    return X, y


@pytest.fixture(scope="session")
def numbers(table):
    """The same features with a number to predict, in [-5, 5]."""
    X, _ = table
    return X, X @ [1.0, -2.0, 0.5] + 0.5
