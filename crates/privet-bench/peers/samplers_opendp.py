"""OpenDP's discrete Gaussian and discrete Laplace, draws per second on one core.

Prints one JSON object a line, as `cargo bench -p privet-dp --bench samplers` does, so that the two
can be read side by side:

    python3 -m venv venv && venv/bin/pip install opendp && venv/bin/python samplers_opendp.py

Vector measurement on integers, 4,096 draws a call, best of three rounds of at least 0.2 s.
"""

import json
import time
from importlib.metadata import version

import opendp.prelude as dp

DRAWS = 4096
ROUNDS = 3
ROUND_SECONDS = 0.2


def rate(measurement, zeros):
    """Best draws per second over the rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        calls, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < ROUND_SECONDS:
            measurement(zeros)
            calls += 1
        best = max(best, calls * len(zeros) / elapsed)
    return best


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
