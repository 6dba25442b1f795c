"""A warning where a transformer before a private estimator was fitted on the records it is to protect."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from privet._warnings import FittedTransformerWarning

WHY = (
    "the pipeline fits {names} on the records before privet sees them: what it learns from them (means, "
    "categories, directions) reaches the model around the noise, and the certificate does not cover it. Use "
    "privet.Bounded or privet.SchemaEncoder, which learn nothing, or fit it beforehand on public data"
)
DEEP = 40
"""How many callers are looked at."""


def warn_of_fitted_transformers(estimator: Any) -> None:
    """Look for pipelines among the callers whose last step is this estimator, or a pipeline that ends with it, and at
    their other steps."""
    names = [type(step).__name__ for step in _steps_before(estimator) if _learns(step)]
    if names:
        warnings.warn(WHY.format(names=" and ".join(names)), FittedTransformerWarning, stacklevel=4)


def _steps_before(estimator: Any) -> list[Any]:
    if "sklearn.pipeline" not in sys.modules:
        return []
    from sklearn.pipeline import Pipeline

    found: list[Any] = []
    inner = estimator
    frame: Any = sys._getframe(2)
    for _ in range(DEEP):
        if frame is None:
            break
        caller = frame.f_locals.get("self")
        if isinstance(caller, Pipeline) and caller is not inner and caller.steps and caller.steps[-1][1] is inner:
            found = [step for _, step in caller.steps[:-1]] + found
            inner = caller
        frame = frame.f_back
    return found


def _learns(step: Any) -> bool:
    """Whether a step may take something from the rows it is fitted on. Those that say they do not are believed."""
    if step is None or step == "passthrough":
        return False
    if getattr(step, "_learns_nothing", False):
        return False
    try:
        from sklearn.utils import get_tags

        return bool(get_tags(step).requires_fit)
    except Exception:  # of whatever kind: a step that tells nothing may learn
        return True
