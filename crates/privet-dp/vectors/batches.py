"""Writes batches.json: Gaussian releases of batches without replacement, replace-one neighbours.

dp-accounting has no distribution for this sampler, so it is built here from the dominating curve of
Balle, Barthe & Gaboardi (2018): H(e) = q*delta_G(log(1 + (exp(e) - 1)/q); nu) for e >= 0 and, as the
data sets may be exchanged, H(-e) = 1 - exp(-e) + exp(-e)*H(e). Above 0 its loss is that of
P = (1-q)N(0) + qN(nu) against Q = N(0), seen under P; below 0 it is the mirror image, seen under Q; the
rest sits at 0. *Optimistic*: that law, every loss rounded down to a multiple of 1e-5. *Pessimistic*:
dp-accounting's connect-the-dots on H. Composition and delta are dp-accounting's.

    pip install dp-accounting && python batches.py
"""

import numpy as np
from dp_accounting.pld import pld_pmf
from dp_accounting.pld import privacy_loss_distribution as pld
from loss_distributions import STEP, case, gaussian, laplace, use, write
from scipy.stats import norm


def where(loss, rate, nu):
    """The x at which log(1-q+q*exp(nu*x-nu^2/2)) is this loss, above 0."""
    return np.log1p(np.expm1(loss) / rate) / nu + nu / 2


def optimist(rate, nu, last):
    x = where(STEP * np.arange(last + 1), rate, nu)
    x = np.append(x, np.inf)  # what lies beyond the last dot is rounded down to it
    under_p = -np.diff((1 - rate) * norm.sf(x) + rate * norm.sf(x - nu))
    under_q = -np.diff(norm.sf(x))
    masses = {k: mass for k, mass in enumerate(under_p)}
    for k, mass in enumerate(under_q[:-1]):
        masses[-k - 1] = mass
    # Unbounded below: no rounding down is possible there, so let it vanish.
    masses[0] += 1 - under_p.sum() - under_q.sum()
    return pld_pmf.create_pmf(masses, STEP, 0.0, False)


def pessimist(rate, nu, last):
    e = STEP * np.arange(last + 1)
    x = where(e, rate, nu)
    ahead = (1 - rate) * norm.sf(x) + rate * norm.sf(x - nu) - np.exp(e) * norm.sf(x)
    ahead = np.maximum(ahead, 0.0)
    back = -np.expm1(-e) + np.exp(-e) * ahead
    deltas = np.append(back[:0:-1], ahead)
    return pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(STEP, -last, last, deltas)


def batches(population, batch, nu):
    cost = {"kind": "without-replacement-gaussian", "population": population, "batch": batch}
    cost |= {"sensitivity": nu, "noise_scale": 1.0, "grid": None}
    rate = batch / population
    # Q(x > 11) is about 1e-28, P of as much above nu.
    last = int(np.log1p(rate * np.expm1(nu * (nu + 8.5) - nu * nu / 2)) / STEP) + 1
    make = lambda up: pld.PrivacyLossDistribution((pessimist if up else optimist)(rate, nu, last))
    return use(cost), make


def cases():
    deltas = [1e-2, 1e-4, 1e-6, 1e-8]
    for population, batch, nu, count in [
        (1_000, 10, 1.0, 1),
        (1_000, 10, 1.0, 100),
        (1_000, 10, 1.0, 1_000),
        (100, 50, 0.5, 50),
        (100, 90, 0.25, 20),
        (10, 1, 1.0, 30),
        (10, 1, 2.0, 5),
        (60_000, 600, 0.8, 2_000),
        (1_000, 4, 1.6, 500),
        (50, 1, 0.3, 4_000),
        (7, 3, 0.1, 1_000),
    ]:
        yield from case([(batches(population, batch, nu), count)], deltas=deltas)
    yield from case([(batches(1_000, 10, 1.0), 200), (gaussian(0.3), 2)], deltas=deltas)
    yield from case([(batches(1_000, 10, 1.0), 200), (batches(20, 1, 0.4), 100)], deltas=deltas)
    yield from case([(batches(500, 20, 0.7), 100), (laplace(0.3), 2)], deltas=deltas)


if __name__ == "__main__":
    write(__file__, cases())
