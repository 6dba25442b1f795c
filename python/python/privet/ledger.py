"""What may be spent on a data set in all, and what was.

A ledger is a file that every fit pays from. What a fit spends is written down before a record is read, and a fit
that would exceed the limit raises :class:`privet.PrivacyError`, with the price in its words and nothing spent.

>>> import numpy as np, os, tempfile
>>> from privet import Ledger, PrivateLogisticRegression, PrivacyError
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, (2000, 3))
>>> y = (X[:, 0] > 0).astype(int)
>>> path = os.path.join(tempfile.mkdtemp(), "budget.ledger")
>>> with Ledger(path, dataset="riders", create=True) as ledger:
...     ledger.open(epsilon=1, delta=1e-6)
...     clf = PrivateLogisticRegression(epsilon=0.4, delta=1e-7, bounds=(-1, 1), classes=[0, 1])
...     clf = clf.fit(X, y, ledger=ledger)
...     round(ledger.left(), 1) < 1
True

Cross-validation and searches fit again and again on the same records; pass the ledger on
(``GridSearchCV(clf, grid).fit(X, y, ledger=ledger)``,
``cross_val_score(clf, X, y, params={"ledger": ledger}, error_score="raise")``) and each fit pays. Ask
:meth:`Ledger.affords` first: fits that were made before one is refused are paid for all the same.
"""

from __future__ import annotations

import getpass
import json
import os
from typing import Any

from privet import _privet
from privet._certificate import Plan
from privet._units import check_paid

__all__ = ["Ledger"]


class Ledger:
    """A ledger that fits pay from.

    Parameters
    ----------
    path : path
        The ledger's file.
    dataset : str, optional
        What the ledger calls the records; needed where it has more than one data set. Whoever names it says that
        the rows of each fit are of it; rows that the ledger knows as another data set are refused.
    purpose : str, optional
        Why, for the ledger.
    unit : str, optional
        What the groups of each fit are that have no name of their own (an array, where the schema names no unit): the
        column that says whose a row is, as ``"patient"``. A limit on groups pays for no others. Whoever names it says that
        it is so, as of the data set. Groups that have another name are refused.
    whole : bool
        Whether a fit may take the whole limit, as the only release ever.
    create : bool
        Whether to make the file if there is none.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        dataset: str | None = None,
        unit: str | None = None,
        purpose: str = "",
        whole: bool = False,
        create: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self.dataset = dataset
        if unit is not None:
            _privet.Ledger.check_unit(unit)
        self.unit = unit
        self.purpose = purpose
        self.whole = whole
        self._create = create
        self._held: tuple[int, _privet.Ledger] | None = None
        self._ledger()

    def _ledger(self) -> _privet.Ledger:
        # A file that a parent process opened is not used by its children.
        if self._held is None or self._held[0] != os.getpid():
            self._held = (os.getpid(), _privet.Ledger(self.path, self._create, _who()))
        return self._held[1]

    def __enter__(self) -> Ledger:
        self._ledger()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what is asked of the ledger later opens it again."""
        self._held = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None, "_create": False}

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    def __repr__(self) -> str:
        name = "" if self.dataset is None else f", dataset={self.dataset!r}"
        return f"Ledger({self.path!r}{name})"

    def open(
        self,
        *,
        epsilon: float,
        delta: float,
        neighbours: str = "replace-one",
        max_records: int | None = None,
        filter: str | None = None,
        order: float | None = None,
    ) -> None:
        """Fix what may be spent on the data set in all. None of it can be changed afterwards.

        ``max_records`` says that the limit is about all rows of a group, of the ledger's ``unit``: what is spent on other
        groups is refused. Where the ledger names none, the first fit says it. ``filter`` is one of ``"renyi"`` (the
        default; admits every kind of release), ``"zcdp"``, ``"gaussian"`` and ``"sum"`` (the default at
        ``delta=0``).
        """
        if self.dataset is None:
            raise ValueError("dataset is missing: what the ledger calls the records, as Ledger(path, dataset=...)")
        self._ledger().add(
            self.dataset,
            epsilon=float(epsilon),
            delta=float(delta),
            neighbours=neighbours,
            max_records=max_records,
            unit=self.unit,
            filter=filter,
            order=order,
            who=_who(),
            purpose=self.purpose,
        )

    def show(self) -> list[dict[str, Any]]:
        """What was spent on each data set."""
        return json.loads(self._ledger().show())

    def history(self) -> list[dict[str, Any]]:
        """Every release: when, who, why, and how far it is."""
        return json.loads(self._ledger().history())

    def left(self) -> float:
        """The share of the data set's limit that is left, from 0 to 1."""
        name = self._name()
        (found,) = [one for one in self.show() if one["dataset"] == name]
        return max(0.0, 1.0 - found["share_spent"])

    def price(self, plan: Plan, fits: int = 1) -> float:
        """The share of the limit that so many fits of a plan cost: ``clf.plan(n_rows, n_features)`` makes one.

        A plan about other groups than the limit's is refused."""
        return self._quote(plan, fits)[0]

    def affords(self, plan: Plan, fits: int = 1) -> bool:
        """Whether what is left pays for so many fits of a plan: five for a cross-validation in five parts."""
        return self._quote(plan, fits)[1]

    def _quote(self, plan: Plan, fits: int) -> tuple[float, bool]:
        said = json.dumps(plan.whose or {"kind": "not-said"})
        return self._ledger().quote(self._name(), json.dumps(plan.events), int(fits), said, self.unit)

    def _name(self) -> str:
        if self.dataset is not None:
            return self.dataset
        names = [one["dataset"] for one in self.show()]
        if len(names) == 1:
            return names[0]
        known = ", ".join(names) or "none"
        raise ValueError(f"dataset is missing: the ledger has {known}; name one with Ledger(path, dataset=...)")


def paid_by(ledger: Ledger | None, groups: Any) -> tuple[_privet.Ledger, str, str, str, bool, str | None] | None:
    """What the extension is told of who pays. ``groups`` are those that were given beside the rows, if any: what they are
    called must be the ledger's unit."""
    if ledger is None:
        return None
    if not isinstance(ledger, Ledger):
        raise TypeError(f"ledger is a {type(ledger).__name__}; accepted is a privet.Ledger")
    check_paid(groups, ledger.unit)
    return ledger._ledger(), ledger._name(), _who(), ledger.purpose, bool(ledger.whole), ledger.unit


def _who() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
