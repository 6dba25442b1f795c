"""Writes curves.json: the Gaussian, Laplace, pure and zCDP curves by mpmath at 40 digits.

    pip install mpmath && python curves.py

Each case: kind, parameters, epsilon and delta. Inputs are the exact values of the doubles written.
delta is rounded *down* to a double when it is not representable, epsilon likewise, so that an upper
bound may be compared with >=. "exact" tells which of the two was computed from the other.
"""

import json
import pathlib

import math

from mpmath import erfc, exp, expm1, log, log1p, mp, mpf, sqrt

mp.dps = 60


def down(x):
    """The largest double not above x."""
    y = float(x)
    return math.nextafter(y, -math.inf) if mpf(y) > x else y


def phi(x):
    return erfc(-x / sqrt(2)) / 2


def gaussian(e, mu):
    e, mu = mpf(e), mpf(mu)
    return phi(-e / mu + mu / 2) - exp(e) * phi(-e / mu - mu / 2)


def zcdp(e, rho):
    """min over alpha of the Canonne-Kamath-Steinke bound."""
    e, rho = mpf(e), mpf(rho)
    slope = lambda t: (2 * t + 1) * rho - e + log(t / (1 + t))
    low, high = mpf(10) ** -30, mpf(1)
    while slope(high) < 0:
        high *= 2
    for _ in range(400):
        middle = (low + high) / 2
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    t = high
    return exp(t * (1 + t) * rho - t * e + t * log(t / (1 + t)) - log1p(t))


def bisect(f, low, high):
    """Smallest x with f(x) <= 0, f decreasing, from below."""
    low, high = mpf(low), mpf(high)
    for _ in range(220):
        middle = (low + high) / 2
        if f(middle) > 0:
            low = middle
        else:
            high = middle
    return low


def cases():
    epsilons = [1e-4, 1e-2, 0.1, 0.5, 1.0, 3.0, 8.0, 20.0, 50.0]
    deltas = [0.5, 0.1, 1e-3, 1e-5, 1e-10, 1e-30, 1e-100, 1e-200, 1e-300]
    for e in epsilons:
        for d in deltas:
            # A mu for which (e, d) is about attained, as a double; then delta from it, exactly.
            target = mpf(d)
            if d == 0.5 and e < 1e-3:
                mu = 1.349
            else:
                lo, hi = mpf(10) ** -9, mpf(60)
                for _ in range(120):
                    m = (lo + hi) / 2
                    if gaussian(e, m) > target:
                        hi = m
                    else:
                        lo = m
                mu = float(hi)
            yield {"kind": "gaussian", "parameter": mu, "epsilon": e, "delta": down(gaussian(e, mu)), "of": "delta"}
            eps = bisect(lambda x: gaussian(x, mu) - target, 0, 2000)
            if eps > mpf(10) ** -6:
                yield {"kind": "gaussian", "parameter": mu, "epsilon": down(eps), "delta": d, "of": "epsilon"}
            lo, hi = mpf(10) ** -12, mpf(200)
            for _ in range(120):
                m = (lo + hi) / 2
                if zcdp(e, m) > target:
                    hi = m
                else:
                    lo = m
            rho = float(lo)
            if rho > 1e-9:
                yield {"kind": "zcdp", "parameter": rho, "epsilon": e, "delta": down(zcdp(e, rho)), "of": "delta"}
                eps = bisect(lambda x: zcdp(x, rho) - target, 0, 2000)
                if eps > mpf(10) ** -6:
                    yield {"kind": "zcdp", "parameter": rho, "epsilon": down(eps), "delta": d, "of": "epsilon"}
    for total in [1e-4, 0.1, 1.0, 8.0, 50.0]:
        for part in [0.0, 0.3, 0.9, 0.999999]:
            e, p = float(part * total), float(total)
            me, mt = mpf(e), mpf(p)
            yield {"kind": "laplace", "parameter": p, "epsilon": e, "delta": down(-expm1((me - mt) / 2)), "of": "delta"}
            yield {"kind": "pure", "parameter": p, "epsilon": e, "delta": down(-expm1(me - mt) / (1 + exp(-mt))), "of": "delta"}
        for d in [0.5, 1e-3, 1e-10, 1e-100, 1e-300]:
            mt, md = mpf(p), mpf(d)
            eps = mt + 2 * log1p(-md)
            if eps > 0:
                yield {"kind": "laplace", "parameter": p, "epsilon": down(eps), "delta": d, "of": "epsilon"}
            eps = mt + log1p(-md * (1 + exp(-mt))) if md * (1 + exp(-mt)) < 1 else mpf(-1)
            if eps > 0:
                yield {"kind": "pure", "parameter": p, "epsilon": down(eps), "delta": d, "of": "epsilon"}


if __name__ == "__main__":
    out = pathlib.Path(__file__).with_name("curves.json")
    rows = list(cases())
    out.write_text("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]\n")
    print(len(rows))
