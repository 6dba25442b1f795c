"""Writes curves.json: the Gaussian, Laplace, pure and zCDP curves by mpmath at 40 digits.

    pip install mpmath && python curves.py

Each case: kind, parameters, epsilon and delta. Inputs are the exact values of the doubles written.
delta is rounded *down* to a double when it is not representable, epsilon likewise, so that an upper
bound may be compared with >=. "of" tells which of the two was computed from the other.
"""

import json
import math
import pathlib

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


def ln_zcdp(e, rho):
    """ln of the minimum over alpha of the Canonne-Kamath-Steinke bound."""
    slope = lambda t: (2 * t + 1) * rho - e + log(t / (1 + t))
    low, high = mpf(10) ** -12, mpf(1)
    while slope(high) < 0:
        low, high = high, 2 * high
    for _ in range(30):
        middle = sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    t = low
    for _ in range(7):  # Newton on an increasing concave function, from below
        t -= slope(t) / (2 * rho + 1 / (t * (1 + t)))
    assert abs(slope(t)) < mpf(10) ** -35
    return t * (1 + t) * rho - t * e + t * log(t / (1 + t)) - log1p(t)


def ln_gaussian(e, mu):
    return log(gaussian(e, mu))


def about(f, target, low, high):
    """A double x where the increasing f crosses ln(target), to a few digits."""
    low, high = mpf(low), mpf(high)
    for _ in range(48):
        middle = sqrt(low * high)
        low, high = (middle, high) if f(middle) < log(target) else (low, middle)
    return float(low)


def inverse(f, target, guess):
    """x with f(x) = ln(target), from a good guess, a little below."""
    x0, x1 = mpf(guess), mpf(guess) * (1 + mpf(10) ** -9)
    f0, f1 = f(x0) - log(target), f(x1) - log(target)
    for _ in range(60):
        if x1 == x0 or f1 == f0:
            break
        x0, f0, x1 = x1, f1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f1 = f(x1) - log(target)
    assert abs(f1) < mpf(10) ** -35, (guess, target, f1)
    return x1 * (1 - mpf(10) ** -33)


def cases():
    epsilons = [1e-4, 1e-2, 0.1, 0.5, 1.0, 3.0, 8.0, 20.0, 50.0]
    deltas = [0.5, 0.1, 1e-3, 1e-5, 1e-10, 1e-30, 1e-100, 1e-200, 1e-300]
    for e in epsilons:
        for d in deltas:
            for kind, f in [("gaussian", ln_gaussian), ("zcdp", ln_zcdp)]:
                # A parameter at which (e, d) is about attained, as a double; then one from the other.
                x = about(lambda p: f(mpf(e), p), mpf(d), 1e-11, 200)
                if x < 1e-9 or (kind == "zcdp" and ln_zcdp(mpf(e), mpf(x)) > -0.1):
                    continue
                delta = exp(f(mpf(e), mpf(x)))
                yield {"kind": kind, "parameter": x, "epsilon": e, "delta": down(delta), "of": "delta"}
                epsilon = inverse(lambda y: f(y, mpf(x)), mpf(d), e)
                yield {"kind": kind, "parameter": x, "epsilon": down(epsilon), "delta": d, "of": "epsilon"}
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
