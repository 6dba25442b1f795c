"""OpenDP's discrete Gaussian and discrete Laplace, draws per second on one core.

A question names the law and its scale; the answer is the rate of the fastest call within half a
second. Vector measurement on integers, 256 draws a call: calls are short (some milliseconds) and the
fastest counts, so that a busy machine slows neither side's number much.
"""

import time
from functools import cache
from importlib.metadata import version

import opendp.prelude as dp

from serving import serve, timed

ZEROS = [0] * 256
SECONDS = 0.5

dp.enable_features("contrib")
LAWS = {
    "discrete-gaussian": (dp.m.make_gaussian, dp.l2_distance(T=float)),
    "discrete-laplace": (dp.m.make_laplace, dp.l1_distance(T="i64")),
}


@cache
def measurement(law, scale):
    make, metric = LAWS[law]
    return make(dp.vector_domain(dp.atom_domain(T="i64")), metric, scale=scale)


def answer(question):
    draw = measurement(question["sampler"], question["scale"])
    fastest, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        fastest = min(fastest, timed(lambda: draw(ZEROS))[0])
    return {"draws_per_second": len(ZEROS) / fastest}


if __name__ == "__main__":
    serve({"opendp": version("opendp")}, answer)
