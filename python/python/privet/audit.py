"""The auditor: attacks that try to refute a guarantee.

A claim that survives was not refuted by these attacks; proofs are another matter.

>>> from privet import audit
>>> found = audit.learner("output", epsilon=1.0, runs=500)
>>> found.refuted, found.epsilon_lower <= 1.0
(False, True)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from privet import _privet
from privet._numbers import SMALL, whole


@dataclass(frozen=True)
class Finding:
    """What an attack on a learner, or on counts, found."""

    method: str
    """The learner; ``"count"`` for counts."""
    epsilon_claimed: float
    delta: float
    epsilon_lower: float
    """The true epsilon is at least this, at the stated confidence."""
    refuted: bool
    """Whether the certificate's claim cannot be true."""
    confidence: float
    details: dict[str, Any] = field(repr=False)
    """Everything, as ``privet audit --json`` prints it."""

    @classmethod
    def _from_json(cls, text: str, **more: Any) -> Finding:
        found = json.loads(text) | more
        names = ("method", "epsilon_claimed", "delta", "epsilon_lower", "refuted", "confidence")
        return cls(**{name: found[name] for name in names}, details=found)


@dataclass(frozen=True)
class Membership:
    """What membership inference found. Computed from the rows without noise: itself not private."""

    auc: float
    """How well members are told from others; 0.5 is blind guessing."""
    tpr_at_fpr_0_001: float
    """Share of members found at 0.1 % false positives."""
    members: int
    non_members: int
    non_members_from: str


def _pairs(settings: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in (settings or {}).items()]


def learner(
    method: str,
    *,
    epsilon: float,
    delta: float = 1e-5,
    neighbours: str = "replace-one",
    settings: Mapping[str, Any] | None = None,
    rows: int | None = None,
    runs: int = 10_000,
    confidence: float = 0.999,
    seed: int = 1,
) -> Finding:
    """Run a learner many times on built-in neighbouring tables and try to tell them apart.

    >>> learner("gd", epsilon=0.5, runs=200).refuted
    False
    """
    rows = None if rows is None else whole("rows", rows)
    runs = whole("runs", runs)
    return Finding._from_json(
        _privet.audit_learner(
            method, _pairs(settings), float(epsilon), float(delta), neighbours, rows, runs, confidence, seed
        )
    )


def counts(
    law: str = "laplace",
    *,
    epsilon: float,
    delta: float = 0.0,
    neighbours: str = "replace-one",
    max_records: int | None = None,
    runs: int = 10_000,
    confidence: float = 0.999,
    seed: int = 1,
) -> Finding:
    """Count (:func:`privet.count`) many times on built-in neighbouring tables and try to tell them apart.

    ``max_records``: how many rows a person may have; a row is protected unless given.

    >>> counts(epsilon=2.0, runs=500).refuted
    False
    """
    most = None if max_records is None else whole("max_records", max_records, below=SMALL)
    runs = whole("runs", runs)
    found = _privet.audit_counts(law, float(epsilon), float(delta), neighbours, most, runs, confidence, seed)
    return Finding._from_json(found, method="count", law=law, neighbours=neighbours)


def one_run(
    method: str,
    *,
    epsilon: float,
    delta: float = 1e-5,
    neighbours: str = "replace-one",
    settings: Mapping[str, Any] | None = None,
    canaries: int = 400,
    confidence: float = 0.999,
    seed: int = 1,
) -> Finding:
    """Train once with many canary rows and guess which were in.

    >>> one_run("output", epsilon=1.0, canaries=100).refuted
    False
    """
    canaries = whole("canaries", canaries)
    return Finding._from_json(
        _privet.audit_one_run(
            method, _pairs(settings), float(epsilon), float(delta), neighbours, canaries, confidence, seed
        )
    )


def membership(
    estimator: Any, X: Any, y: Any, *, holdout: tuple[Any, Any] | None = None, seed: int = 1
) -> Membership:
    """Try to tell from a fitted model which rows it was trained on.

    ``holdout``: rows and labels that it was not trained on; without, stand-ins are made by shuffling
    columns within each class, which is rough and for classifiers only: a regressor needs ``holdout``.

    >>> import numpy as np
    >>> from privet import PrivateLogisticRegression
    >>> X = np.random.default_rng(0).uniform(size=(400, 2))
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> model = PrivateLogisticRegression(epsilon=1, bounds=(0, 1), classes=[0, 1]).fit(X[:200], y[:200])
    >>> 0.3 < membership(model, X[:200], y[:200], holdout=(X[200:], y[200:])).auc < 0.7
    True
    """
    features, labels = estimator._labelled(X, y)
    others = None if holdout is None else estimator._labelled(*holdout)
    found = json.loads(_privet.audit_membership(estimator.model_, features, labels, others, seed))
    return Membership(**{name: found[name] for name in Membership.__dataclass_fields__})
