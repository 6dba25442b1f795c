"""Writes composition.json: compositions by dp-accounting's privacy-loss distributions.

Each case holds an event in privet's own serialised form, an epsilon, and dp-accounting's optimistic
and pessimistic delta at discretisation 1e-5.

    pip install dp-accounting && python composition.py
"""

import json
import math
import pathlib

from dp_accounting.pld import privacy_loss_distribution as pld

STEP = 1e-5


def use(cost):
    return {"use": {"neighbours": "replace-one", "unit": {"kind": "record"}, "cost": cost}}


def gaussian(mu):
    cost = {"kind": "gaussian", "sensitivity": mu, "noise_scale": 1.0, "grid": None}
    return use(cost), lambda up: pld.from_gaussian_mechanism(
        1.0 / mu, value_discretization_interval=STEP, pessimistic_estimate=up
    )


def laplace(epsilon):
    cost = {"kind": "laplace", "sensitivity": epsilon, "noise_scale": 1.0}
    return use(cost), lambda up: pld.from_laplace_mechanism(
        1.0 / epsilon, value_discretization_interval=STEP, pessimistic_estimate=up
    )


def pure(epsilon):
    return use({"kind": "pure", "epsilon": epsilon}), lambda up: pld.from_randomized_response(
        2.0 / (1.0 + math.exp(epsilon)), 2, value_discretization_interval=STEP, pessimistic_estimate=up
    )


def case(parts, epsilons):
    event = {"all": [{"repeat": {"count": n, "event": part[0]}} for part, n in parts]}
    totals = []
    for up in (False, True):
        total = None
        for (_, make), n in parts:
            one = make(up)
            one = one.self_compose(n) if n > 1 else one
            total = one if total is None else total.compose(one)
        totals.append(total)
    for epsilon in epsilons:
        low, high = (total.get_delta_for_epsilon(epsilon) for total in totals)
        print(epsilon, low, high, flush=True)
        # dp-accounting cuts tails at about 1e-15; what is nearer to that says nothing.
        if high > 1e-12:
            yield {"event": event, "epsilon": epsilon, "low": float(low), "high": float(high)}


def cases():
    yield from case([(gaussian(0.1), 25)], [0.5, 1.0, 2.0])
    yield from case([(gaussian(0.3), 4), (gaussian(0.05), 100)], [1.0, 3.0])
    yield from case([(laplace(0.1), 10)], [0.1, 0.5, 0.8])
    yield from case([(laplace(0.1), 100)], [1.0, 2.0, 4.0])
    yield from case([(laplace(1.0), 5)], [1.0, 2.5, 4.0])
    yield from case([(laplace(0.02), 1000)], [1.0, 3.0])
    yield from case([(laplace(0.5), 1), (gaussian(0.3), 1)], [0.5, 1.0, 1.6])
    yield from case([(laplace(0.1), 20), (gaussian(0.1), 20)], [0.5, 1.5, 3.0])
    yield from case([(laplace(0.3), 3), (laplace(0.05), 40)], [0.7, 1.5])
    yield from case([(pure(0.1), 100)], [1.0, 3.0, 5.0])
    yield from case([(pure(0.5), 7)], [0.7, 2.2])
    yield from case([(pure(0.1), 30), (pure(0.05), 50)], [0.5, 2.0])
    yield from case([(pure(0.2), 10), (gaussian(0.2), 5)], [0.5, 1.5, 2.5])
    yield from case([(pure(0.1), 5), (laplace(0.2), 5), (gaussian(0.2), 5)], [0.4, 1.2, 2.4])


if __name__ == "__main__":
    out = pathlib.Path(__file__).with_name("composition.json")
    out.write_text(json.dumps(list(cases()), indent=1) + "\n")
