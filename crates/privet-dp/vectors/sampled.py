"""Writes sampled.json: Poisson-sampled Gaussian releases by dp-accounting's privacy-loss distributions.

Each case holds an event in privet's own serialised form, an epsilon, and dp-accounting's optimistic
and pessimistic delta at discretisation 1e-5. Its sensitivity is the largest norm of one record, as in
privet: under replace-one the pair is (1-q)N(0) + qN(+s) and (1-q)N(0) + qN(-s).

    pip install dp-accounting && python sampled.py
"""

import json
import pathlib

import dp_accounting
from dp_accounting.pld import privacy_loss_distribution as pld

STEP = 1e-5
RELATIONS = {
    "add-remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": dp_accounting.NeighboringRelation.REPLACE_ONE,
}


def poisson(relation, rate, scale):
    cost = {"kind": "poisson-gaussian", "rate": rate, "sensitivity": 1.0, "noise_scale": scale}
    event = {"use": {"neighbours": relation, "unit": {"kind": "record"}, "cost": cost | {"grid": None}}}
    return event, lambda up: pld.from_gaussian_mechanism(
        scale,
        value_discretization_interval=STEP,
        pessimistic_estimate=up,
        sampling_prob=rate,
        neighboring_relation=RELATIONS[relation],
    )


def case(parts, deltas):
    event = {"all": [{"repeat": {"count": n, "event": part[0]}} for part, n in parts]}
    totals = []
    for up in (False, True):
        total = None
        for (_, make), n in parts:
            one = make(up)
            one = one.self_compose(n) if n > 1 else one
            total = one if total is None else total.compose(one)
        totals.append(total)
    for delta in deltas:
        epsilon = round(totals[1].get_epsilon_for_delta(delta), 3)
        low, high = (total.get_delta_for_epsilon(epsilon) for total in totals)
        print(parts[0][0], epsilon, low, high, flush=True)
        # dp-accounting cuts tails at about 1e-15; what is nearer to that says nothing.
        if high > 1e-12 and epsilon > 0.0:
            yield {"event": event, "epsilon": epsilon, "low": float(low), "high": float(high)}


def cases():
    deltas = [1e-2, 1e-5, 1e-8]
    for relation in RELATIONS:
        for rate, scale, count in [
            (0.01, 1.0, 1),
            (0.1, 0.5, 1),
            (0.01, 1.0, 100),
            (0.01, 1.0, 10_000),
            (0.1, 1.0, 10),
            (0.1, 1.0, 1_000),
            (0.5, 2.0, 50),
            (0.9, 4.0, 20),
            (0.004, 0.6, 2_500),
            (0.05, 3.0, 4_000),
            (0.2, 10.0, 5_000),
            (0.001, 0.8, 30_000),
            (1.0, 5.0, 20),
            (0.02, 0.4, 5),
            (0.001, 1.0, 1_000_000),
            (0.02, 20.0, 100_000),
        ]:
            yield from case([(poisson(relation, rate, scale), count)], deltas)
        for parts in [
            [((0.01, 1.0), 500), ((0.1, 3.0), 100)],
            [((0.02, 0.8), 50), ((1.0, 6.0), 1)],
            [((0.3, 2.0), 10), ((0.01, 0.7), 10), ((0.003, 0.5), 300)],
        ]:
            yield from case([(poisson(relation, *part), n) for part, n in parts], deltas)


if __name__ == "__main__":
    out = pathlib.Path(__file__).with_name("sampled.json")
    out.write_text(json.dumps(list(cases()), indent=1) + "\n")
