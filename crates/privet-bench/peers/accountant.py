"""The peer's side of the accountant race: dp-accounting on the questions of `privet-bench accountant`.

    python accountant.py LINES

LINES is the output of `privet-bench accountant`, from which events and budgets are taken. Prints one
JSON object a line: the same question put to dp-accounting's own accountant of privacy-loss
distributions (pessimistic) and to its calibration, at its default discretisation 1e-4 and at 1e-5.
"""

import json
import sys
import time
from importlib.metadata import version

import dp_accounting
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

STEPS = (1e-4, 1e-5)
ROUNDS = 3
SECONDS = 20.0
RELATIONS = {
    "add-remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": dp_accounting.NeighboringRelation.REPLACE_ONE,
}


def translated(event, scale=None):
    """(event of theirs, relation); with every noise scale replaced by `scale`, if given."""
    if "all" in event:
        parts = [translated(part, scale) for part in event["all"]]
        return dp_event.ComposedDpEvent([part for part, _ in parts]), parts[0][1]
    if "repeat" in event:
        one, relation = translated(event["repeat"]["event"], scale)
        return dp_event.SelfComposedDpEvent(one, event["repeat"]["count"]), relation
    cost = event["use"]["cost"]
    noise = (scale or cost["noise_scale"]) / cost["sensitivity"]
    made = {
        "gaussian": lambda: dp_event.GaussianDpEvent(noise),
        "laplace": lambda: dp_event.LaplaceDpEvent(noise),
        "poisson-gaussian": lambda: dp_event.PoissonSampledDpEvent(
            cost["rate"], dp_event.GaussianDpEvent(noise)
        ),
    }[cost["kind"]]()
    return made, RELATIONS[event["use"]["neighbours"]]


def answer(own, step):
    theirs, relation = translated(own["event"])

    def fresh():
        return PLDAccountant(relation, value_discretization_interval=step)

    if own["epsilon"] is None:
        return fresh().compose(theirs).get_epsilon(own["delta"])
    return dp_accounting.calibrate_dp_mechanism(
        fresh,
        lambda scale: translated(own["event"], scale)[0],
        own["epsilon"],
        own["delta"],
        # Close around the answers, in its favour: it takes much longer where there is little noise.
        dp_accounting.ExplicitBracketInterval(0.5, 4.0),
        tol=1e-6,
    )


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        ours = [json.loads(line) for line in file if line.startswith("{")]
    for own in ours:
        for step in STEPS:
            seconds = []
            while len(seconds) < ROUNDS and sum(seconds) < SECONDS:
                start = time.perf_counter()
                found = answer(own, step)
                seconds.append(time.perf_counter() - start)
            seconds.sort()
            print(json.dumps({
                "race": "accountant", "who": f"dp-accounting {version('dp-accounting')}, step {step:g}",
                "question": own["question"], "answer": found,
                "seconds": seconds[0], "median_seconds": seconds[len(seconds) // 2],
            }), flush=True)


if __name__ == "__main__":
    main()
