"""Writes tiny.json: one sampled Gaussian release at shifts from 1e-18 to 30, by mpmath with 150 digits.

Each row is [sampler, rate, shift, epsilon, delta]: the largest of P(T) - e^epsilon Q(T) over half-lines T,
for the pairs of Theorems 1 (both directions) and 2 of src/account/sampled.rs, formed without any rearrangement.

    pip install mpmath && python tiny.py
"""

import json
import random
from pathlib import Path

from mpmath import asinh, erfc, exp, log, mp, mpf, sinh, sqrt

mp.dps = 150


def above(x):
    """P(N(0, 1) > x)."""
    return erfc(x / sqrt(mpf(2))) / 2


def present(q, mu, e):
    """P = (1-q)N(0)+qN(mu) against Q = N(0): the best half-line begins where the ratio is e^e."""
    x = log((exp(e) - 1 + q) / q) / mu + mu / 2
    return (1 - q) * above(x) + q * above(x - mu) - exp(e) * above(x)


def absent(q, mu, e):
    """The other way around; the half-line ends where (1-q)+q e^(mu x - mu^2/2) = e^-e."""
    w = (exp(-e) - 1 + q) / q
    if w <= 0:
        return mpf(0)
    x = log(w) / mu + mu / 2
    return above(-x) - exp(e) * ((1 - q) * above(-x) + q * above(mu - x))


def opposite(q, mu, e):
    """(1-q)N(0)+qN(mu) against (1-q)N(0)+qN(-mu)."""
    t = asinh((1 - q) / q * sinh(e / 2) * exp(mu * mu / 2))
    x = (e / 2 + t) / mu
    return (1 - q) * (1 - exp(e)) * above(x) + q * above(x - mu) - exp(e) * q * above(x + mu)


def rows():
    random.seed(12)
    curves = {"present": present, "absent": absent, "opposite": opposite}
    yield ["opposite", 0.5, 1e-16, 1.05e-16, float(opposite(mpf(0.5), mpf(1e-16), mpf(1.05e-16)))]
    for name, curve in curves.items():
        for _ in range(150):
            rate = random.choice([10 ** random.uniform(-12, 0), random.uniform(0.01, 0.999)])
            shift = 10 ** random.uniform(-18, 1.5)
            # From where the curve is largest to far out in its tail.
            scale = min(rate * shift, 1.0) if shift < 1 else 1.0
            epsilon = scale * random.choice([0, 10 ** random.uniform(-3, 0), random.uniform(0.5, 12)])
            delta = curve(mpf(rate), mpf(shift), mpf(epsilon))
            if delta > mpf(10) ** -290:
                yield [name, rate, shift, epsilon, float(delta)]


lines = ",\n".join(json.dumps(row) for row in rows())
Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n")
