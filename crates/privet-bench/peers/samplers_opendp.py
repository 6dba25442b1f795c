"""OpenDP's discrete Gaussian and discrete Laplace, draws per second on one core.

Prints one JSON object a line, as `cargo bench -p privet-dp --bench samplers` does, so that the two
can be read side by side:

    python3 -m venv venv && venv/bin/pip install opendp && venv/bin/python samplers_opendp.py

Vector measurement on integers, 256 draws a call, the fastest call within 1.5 s. Calls are short (some
milliseconds) and the fastest counts, so that a busy machine slows neither side's number much: the
bench of privet takes the best of rounds of about the same length.
"""

import json
import time
from importlib.metadata import version

import opendp.prelude as dp

DRAWS = 256
SECONDS = 1.5


def rate(measurement, zeros):
    """Draws per second of the fastest call."""
    fastest, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        measurement(zeros)
        fastest = min(fastest, time.perf_counter() - start)
    return len(zeros) / fastest


def main():
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    zeros = [0] * DRAWS
    laws = [
        ("discrete-gaussian", dp.m.make_gaussian, dp.l2_distance(T=float)),
        ("discrete-laplace", dp.m.make_laplace, dp.l1_distance(T="i64")),
    ]
    for sampler, make, metric in laws:
        for power in (0, 4, 10, 20, 40):
            scale = 2.0**power
            draws_per_second = rate(make(domain, metric, scale=scale), zeros)
            line = {
                "sampler": sampler,
                "scale": scale,
                "draws_per_second": round(draws_per_second),
                "peer": f"opendp {version('opendp')}",
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
