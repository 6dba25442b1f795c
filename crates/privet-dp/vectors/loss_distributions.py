"""What composition.py, sampled.py and batches.py share; writes nothing itself.

A mechanism is a pair: an event in privet's own serialised form, and a function that builds
dp-accounting's privacy-loss distribution of it, optimistic or pessimistic, at discretisation 1e-5.
Pessimistic ones connect the dots, which is dp-accounting's tighter way, where it has that.
"""

import json
import math
import pathlib

import dp_accounting
from dp_accounting.pld import privacy_loss_distribution as pld

STEP = 1e-5
RELATIONS = {
    "add-remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": dp_accounting.NeighboringRelation.REPLACE_ONE,
}


def use(cost, relation="replace-one"):
    return {"use": {"neighbours": relation, "unit": {"kind": "record"}, "cost": cost}}


def grid(up):
    return {"value_discretization_interval": STEP, "pessimistic_estimate": up}


def dots(up):
    return grid(up) | {"use_connect_dots": up}


def gaussian(mu, relation="replace-one"):
    cost = {"kind": "gaussian", "sensitivity": mu, "noise_scale": 1.0, "grid": None}
    return use(cost, relation), lambda up: pld.from_gaussian_mechanism(1.0 / mu, **dots(up))


def laplace(epsilon, relation="replace-one"):
    cost = {"kind": "laplace", "sensitivity": epsilon, "noise_scale": 1.0}
    return use(cost, relation), lambda up: pld.from_laplace_mechanism(1.0 / epsilon, **dots(up))


def discrete_laplace(shift, unit):
    cost = {"kind": "laplace", "sensitivity": float(shift), "noise_scale": 1.0 / unit, "step": 1.0}
    return use(cost), lambda up: pld.from_discrete_laplace_mechanism(unit, shift, **dots(up))


def pure(epsilon, relation="replace-one"):
    cost = {"kind": "pure", "epsilon": epsilon}
    noise = 2.0 / (1.0 + math.exp(epsilon))
    return use(cost, relation), lambda up: pld.from_randomized_response(noise, 2, **grid(up))


def poisson(relation, rate, scale):
    """The sensitivity is the largest norm of one record, as in privet: under replace-one the pair is
    (1-q)N(0) + qN(+s) and (1-q)N(0) + qN(-s)."""
    cost = {"kind": "poisson-gaussian", "rate": rate, "sensitivity": 1.0, "noise_scale": scale}
    return use(cost | {"grid": None}, relation), lambda up: pld.from_gaussian_mechanism(
        scale, sampling_prob=rate, neighboring_relation=RELATIONS[relation], **dots(up)
    )


def case(parts, epsilons=None, deltas=None):
    """Rows for these mechanisms and counts, at these epsilons or about these deltas."""
    event = {"all": [{"repeat": {"count": n, "event": part[0]}} for part, n in parts]}
    totals = []
    for up in (False, True):
        total = None
        for (_, make), n in parts:
            one = make(up)
            one = one.self_compose(n) if n > 1 else one
            total = one if total is None else total.compose(one)
        totals.append(total)
    if epsilons is None:
        epsilons = [round(totals[1].get_epsilon_for_delta(delta), 3) for delta in deltas]
    for epsilon in epsilons:
        low, high = (float(total.get_delta_for_epsilon(epsilon)) for total in totals)
        print([part[0]["use"]["cost"] for part, _ in parts], epsilon, low, high, flush=True)
        # dp-accounting cuts tails at about 1e-15; what is nearer to that says nothing.
        if high > 1e-12 and math.isfinite(epsilon) and (epsilon > 0.0 or deltas is None):
            yield {"event": event, "epsilon": epsilon, "low": low, "high": high}


def write(script, rows):
    """One row a line, beside the script."""
    lines = ",\n".join(" " + json.dumps(row) for row in rows)
    pathlib.Path(script).with_suffix(".json").write_text(f"[\n{lines}\n]\n")
