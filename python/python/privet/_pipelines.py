"""What is fitted on the records before privet sees them, by the pipelines within which an estimator is fitted.

Pipelines are found among the callers, so that whatever lies between (a search, one model a class, a bag, calibration)
changes nothing. Where that hands its work to other threads or processes, what it hands over is a clone, or a pickled
copy: that is marked with what was found where it was made, for as long as the pipeline's fit lasts.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from privet._warnings import FittedTransformerWarning

WHY = (
    "the pipeline fits {names} on the records before privet sees them: what it learns from them (means, "
    "categories, directions) reaches the model around the noise, and the certificate, which names it, does "
    "not cover it. Use privet.Bounded or privet.SchemaEncoder, which learn nothing, or fit it beforehand on "
    "public data and put it into sklearn.frozen.FrozenEstimator"
)

STATELESS = {
    "FrozenEstimator": lambda step: True,
    "AdditiveChi2Sampler": lambda step: True,
    "CountVectorizer": lambda step: step.vocabulary is not None,
    "GaussianRandomProjection": lambda step: step.n_components != "auto",
    "OneHotEncoder": lambda step: _listed(step.categories) and step.min_frequency is step.max_categories is None,
    "OrdinalEncoder": lambda step: _listed(step.categories) and step.min_frequency is step.max_categories is None,
    "PolynomialCountSketch": lambda step: True,
    "PolynomialFeatures": lambda step: True,
    "RBFSampler": lambda step: not isinstance(step.gamma, str),
    "SimpleImputer": lambda step: step.strategy == "constant" and step.keep_empty_features and not step.add_indicator,
    "SkewedChi2Sampler": lambda step: True,
    "SparseRandomProjection": lambda step: step.n_components != "auto" and step.density != "auto",
    "SplineTransformer": lambda step: not isinstance(step.knots, str),
    "TfidfTransformer": lambda step: not step.use_idf,
}
"""Those of scikit-learn that are to be fitted, by the settings with which they take the number of columns alone."""

MOST, LONGEST = 64, 120
"""How many a certificate names, and in how many letters each."""

_PROCESS = secrets.token_hex(8)


@contextmanager
def fitted_before(estimator: Any) -> Iterator[None]:
    """Within, plans of the estimator name what was fitted before, of which it is warned."""
    names = _named(mark[-1] for mark in _marks(estimator))
    if names:
        # Of the frames between this and whoever called the estimator's method.
        warnings.warn(WHY.format(names=" and ".join(names)), FittedTransformerWarning, stacklevel=4)
    estimator.__dict__["_after"] = names
    try:
        yield
    finally:
        estimator.__dict__.pop("_after", None)


def prior_fits(estimator: Any) -> list[str]:
    """What the request names."""
    return [re.sub(r"[^\w.-]", "_", name)[:LONGEST] for name in estimator.__dict__.get("_after", ())][:MOST]


def hand_over(estimator: Any, state: dict[str, Any]) -> None:
    """Marks the state of a clone or a copy of the estimator."""
    state.pop("_marks", None)
    state.pop("_after", None)
    marks = _marks(estimator)
    if marks:
        state["_marks"] = marks


Mark = tuple[str, int, int, int, list[str]]
"""The process, the frame and the pipeline by which a pipeline's fit is known while it lasts, and what it fitted."""


def _marks(estimator: Any) -> list[Mark]:
    """Every pipeline's fit that the estimator is part of."""
    fits = list(_running())
    own = sys._getframe()
    callers = set()
    while own is not None:
        callers.add(id(own))
        own = own.f_back
    found = [mark for mark, inner in fits if mark[2] in callers or _contains(inner, estimator)]
    known, lasting = {mark[:-1] for mark in found}, {mark[:-1] for mark, _ in fits}
    elsewhere = (
        mark
        for mark in estimator.__dict__.get("_marks", ())
        if mark[:2] != (_PROCESS, os.getpid()) or mark[:-1] in lasting
    )
    return [*(mark for mark in elsewhere if mark[:-1] not in known), *found]


def _running() -> Iterator[tuple[Mark, Any]]:
    """The pipelines that are being fitted in any thread, outermost first, each with the step that is at work."""
    for frame in sys._current_frames().values():
        seen: dict[int, Any] = {}
        here: Any = frame
        while here is not None:
            caller = here.f_locals.get("self") if here.f_code.co_varnames[:1] == ("self",) else None
            # Of several frames of one pipeline the innermost tells where it is.
            if caller is not None and id(caller) not in seen:
                found = _parts(caller, here)
                if found is not None:
                    seen[id(caller)] = (id(here), *found)
            here = here.f_back
        for pipeline, (place, before, inner) in reversed(seen.items()):
            names = _named([name for step in before for name in _learners(step)])
            if names:
                yield (_PROCESS, os.getpid(), place, pipeline, names), inner


def _parts(caller: Any, frame: Any) -> tuple[list[Any], Any] | None:
    """What a meta-estimator fits first, and what it fits then on what came of it."""
    kind = type(caller)
    if _is(kind, "sklearn.pipeline", "Pipeline") and caller.steps:
        steps = [step for _, step in caller.steps]
        at = frame.f_locals.get("step_idx") if frame.f_code.co_name == "_fit" else None
        at = at if isinstance(at, int) else len(steps) - 1
        return steps[:at], steps[at]
    if _is(kind, "sklearn.compose", "TransformedTargetRegressor") and hasattr(caller, "transformer_"):
        return [caller.transformer_], getattr(caller, "regressor_", caller.regressor)
    # What the others say of the records is there as soon as the last one is about to learn from it.
    if _is(kind, "sklearn.ensemble._stacking", "_BaseStacking") and "X_meta" in frame.f_locals:
        return list(caller.estimators_), caller.final_estimator_
    return None


def _is(kind: type, module: str, name: str) -> bool:
    """Whether a class is that one, which nothing is of where its module was not loaded."""
    loaded = sys.modules.get(module)
    return loaded is not None and issubclass(kind, getattr(loaded, name, ()))


def _contains(step: Any, estimator: Any) -> bool:
    if step is estimator:
        return True
    try:
        return any(part is estimator for part in step.get_params(deep=True).values())
    except Exception:  # of whatever kind: what tells nothing of its parts has none that could be found
        return False


def _learners(step: Any) -> list[str]:
    """The names of what takes something from the rows that a step is fitted on. Those that say they take nothing are
    believed, and what was fitted privately has a certificate of its own."""
    if step is None or isinstance(step, str) or getattr(step, "_learns_nothing", False):
        return []
    if getattr(getattr(step, "certificate_", None), "private", False):
        return []
    parts = _transformers(step)
    if parts is not None:
        return [name for part in parts for name in _learners(part)]
    kind = type(step)
    if kind.__module__.startswith("sklearn.") and kind.__name__ in STATELESS and STATELESS[kind.__name__](step):
        return []
    try:
        from sklearn.utils import get_tags

        learns = bool(get_tags(step).requires_fit)
    except Exception:  # of whatever kind: a step that tells nothing may learn
        learns = True
    return [kind.__name__] if learns else []


def _transformers(step: Any) -> list[Any] | None:
    """The parts of a step that does nothing of its own."""
    kind = type(step)
    if _is(kind, "sklearn.pipeline", "Pipeline"):
        return [part for _, part in step.steps]
    if _is(kind, "sklearn.pipeline", "FeatureUnion"):
        return [part for _, part in step.transformer_list]
    if _is(kind, "sklearn.compose", "ColumnTransformer"):
        return [*(part for _, part, *_ in step.transformers), step.remainder]
    return None


def _listed(categories: Any) -> bool:
    return not isinstance(categories, str)


def _named(names: Iterable[Any]) -> list[str]:
    """Each name once; of lists of names, those in them."""
    flat = (name for given in names for name in ([given] if isinstance(given, str) else given))
    return list(dict.fromkeys(flat))
