"""dp-accounting, asked what privet's accountant is asked.

A question is an event (as privet writes it), δ, and either ε (then the noise scale is looked for) or
nothing, and `step`, the discretisation of the privacy-loss distributions (1e-4 is the peer's
default). The answer has `seconds` and `answer`. Both sides' bounds are pessimistic.
"""

from importlib.metadata import version

import dp_accounting
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

from serving import serve, timed

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


def found(question):
    theirs, relation = translated(question["event"])

    def fresh():
        return PLDAccountant(relation, value_discretization_interval=question["step"])

    if question["epsilon"] is None:
        return fresh().compose(theirs).get_epsilon(question["delta"])
    return dp_accounting.calibrate_dp_mechanism(
        fresh,
        lambda scale: translated(question["event"], scale)[0],
        question["epsilon"],
        question["delta"],
        # Close around the answers, in its favour: it takes much longer where there is little noise.
        dp_accounting.ExplicitBracketInterval(0.5, 4.0),
        tol=1e-6,
    )


def answer(question):
    seconds, value = timed(lambda: found(question))
    return {"seconds": seconds, "answer": value}


if __name__ == "__main__":
    serve({"dp-accounting": version("dp-accounting")}, answer)
