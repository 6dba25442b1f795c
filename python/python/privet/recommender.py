"""Recommendations from ratings, each user protected whole.

>>> from privet import PrivateRecommender
>>> ratings = [(user, item, 5 if (item < 5) == (user % 2 == 0) else 2)
...            for user in range(400) for item in range(10) if (user + item) % 3]
>>> model = PrivateRecommender(epsilon=4, items=range(10), bounds=(1, 5), n_users=400).fit(ratings)
>>> model.certificate_.epsilon, len(model.recommend({0: 5, 1: 5, 7: 1}, k=3))
(4.0, 3)
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from privet import _privet, _records, _tables, _units
from privet._cells import VOID, anyone, identifier, number, number_or_nan, plain
from privet._certificate import Certificate
from privet._interrupts import Finishing
from privet._numbers import SMALL, WHY_EPSILON, listed, optional_number, whole
from privet._parameters import parameter, parameters
from privet._seeds import seed_of
from privet.ledger import paid_by


BLANKS = " \t\n\r\f"
"""What is left out around an identifier."""


@parameters
class PrivateRecommender(BaseEstimator):
    """Learns from ratings what items have in common; a user's own ratings then say what she would like.

    The unit is the user: all her ratings, and which items she rated. What is learnt may be seen by everyone.
    What :meth:`recommend` and :meth:`predict` return is made from one user's own ratings and is for that user alone.

    Parameters
    ----------
    epsilon, delta : float
        The budget. Without a delta, one over the square of ``n_users``.
    items : iterable
        The public list of items, by whatever names them in the ratings. Never taken from the ratings: which items
        occur is private. Ratings of other items are left out.
    bounds : pair of numbers
        The least and the largest rating; one outside counts as the nearest.
    n_users : int
        About how many users there are, from public knowledge: their number is private.
    max_ratings : int, optional
        Ratings kept of each user; one of each item unless given.
    neighbours : {"replace-one", "add-remove"}
    invalid : {"refuse", "drop"}
        What becomes of a rating that is no (user, item, number): it ends the fit, which tells of it, or it is left out,
        and no other is touched.
    method : {"moments", "frank-wolfe", "oja", "pgd", "svd", "als", "cleansed-svd"}
    settings : mapping, optional
        Settings of the method; ``privet complete --help`` and docs/learners.md name them.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.

    Attributes
    ----------
    certificate_ : Certificate
        What the fitted model can reveal.
    """

    epsilon: float | None = parameter(default=None, kw_only=False)
    delta: float | None = None
    items: Iterable[Any] | None = None
    bounds: tuple[float, float] = (1, 5)
    n_users: int | None = None
    max_ratings: int | None = None
    neighbours: str = "replace-one"
    invalid: str = "refuse"
    method: str = "moments"
    settings: Mapping[str, Any] | None = None
    random_state: Any = None

    def fit(self, ratings: Any, y: Any = None, *, ledger: Any = None) -> PrivateRecommender:
        """Learn from (user, item, rating) triples: a frame or array of three columns, or an iterable.

        A frame is read by the places of its columns: of one that is made of dictionaries name them
        (``frame[["user", "item", "rating"]]``), since their order may be that of the first one's keys.
        Of an item that a user rates twice the last rating counts. With a ``ledger`` the fit is paid for; a user is
        whoever a frame's first column says, under its name, and of arrays and iterables whoever
        ``Ledger(..., unit=...)`` names. Blanks around an identifier do not count.
        """
        epsilon = optional_number("epsilon", self.epsilon)
        if epsilon is None:
            raise ValueError(WHY_EPSILON)
        if self.items is None:
            raise ValueError("items are missing: their list is public and is not taken from the ratings")
        if self.n_users is None:
            raise ValueError(
                "n_users is missing: the number of users is private; about how many there are, from public "
                "knowledge, is accepted"
            )
        names = [_name(item) for item in listed("items", self.items)]
        if self.invalid not in ("refuse", "drop"):
            raise ValueError(f"invalid is {self.invalid!r}; 'refuse' and 'drop' are accepted")
        users = whole("n_users", self.n_users)
        delta = optional_number("delta", self.delta)
        low, high = (optional_number("bounds", bound) for bound in self.bounds)
        with Finishing():
            release = _privet.learn_ratings(
                _by_user(ratings, total=self.invalid == "drop"),
                names,
                (low, high),
                whole("max_ratings", self.max_ratings or max(len(names), 1), below=SMALL),
                users,
                unit=_user_name(_tables.collected(ratings)),
                epsilon=epsilon,
                delta=users**-2.0 if delta is None else delta,
                neighbours=self.neighbours,
                invalid=self.invalid,
                method=self.method,
                settings=[(str(name), str(value)) for name, value in (self.settings or {}).items()],
                seed=seed_of(self.random_state),
                paid=paid_by(ledger, None),
            )
            self._set(release)
        return self

    def _set(self, release: _privet.Released) -> PrivateRecommender:
        self.factors_ = release
        self.certificate_: Certificate = Certificate._of(release)
        return self

    @classmethod
    def _loaded(cls, release: _privet.Released) -> PrivateRecommender:
        return cls(items=release.items)._set(release)

    def predict(self, user_ratings: Any) -> dict[str, float]:
        """What one user would say of every item, from her own ratings: a mapping or pairs. For her alone."""
        check_is_fitted(self)
        return dict(zip(self.factors_.items, self.factors_.predict(_own(user_ratings)), strict=True))

    def recommend(self, user_ratings: Any, k: int = 10) -> list[tuple[str, float]]:
        """The ``k`` items that she has not rated with the largest predictions, best first. For her alone."""
        own = _own(user_ratings)
        rated = {item for item, _ in own}
        found = [(item, rating) for item, rating in self.predict(own).items() if item not in rated]
        return sorted(found, key=lambda pair: -pair[1])[: whole("k", k)]

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write what was learnt and its certificate into one file, which ``privet verify`` and :func:`privet.load` read."""
        check_is_fitted(self)
        self.factors_.save(os.fspath(path), bool(overwrite))


def _user_name(ratings: Any) -> str | None:
    """What a frame calls the users."""
    if not _tables.is_frame(ratings):
        return None
    return _units.as_name(nw.from_native(ratings, eager_only=True).columns[0])


def _by_user(ratings: Any, *, total: bool) -> list[list[tuple[str, float]]]:
    """Each user's own (item, rating), in the order of appearance."""
    users: dict[str, list[tuple[str, float]]] = {}
    for place, triple in enumerate(_triples(ratings, total)):
        found = _triple(triple, total)
        if found is not None:
            users.setdefault(found[0], []).append(found[1:])
        elif not total:
            raise ValueError(f"rating {place} is not a user, an item (each a text or a whole number) and a number")
    return list(users.values())


def _triples(ratings: Any, total: bool) -> Iterator[Any]:
    """One rating after the other, whatever holds them. Of a frame each column has its own type."""
    ratings = _tables.collected(ratings)
    if _tables.is_frame(ratings):
        frame = nw.from_native(ratings, eager_only=True)
        names = frame.columns
        if len(names) < 3 or (len(names) > 3 and not total):
            raise ValueError(f"ratings have {len(names)} columns; users, items and ratings are accepted")
        users, *rest = (frame.get_column(name) for name in names[:3])
        people = _units.exact_cells("users", users.to_native(), total=total)
        # One record of four parts gives a frame of triples another column, where all others have nothing. One that has a
        # name is of records with names, of which none but the first three are read.
        beyond = [frame.get_column(name) for name in names[3:] if not isinstance(name, str)]
        longer = [any(plain(cell) is not None for cell in cells) for cells in zip(*map(_records.cells_of, beyond), strict=True)]
        triples = zip(people, *map(_records.cells_of, rest), strict=True)
        return (None if more else triple for triple, more in zip(triples, longer, strict=True)) if beyond else triples
    if isinstance(ratings, np.ndarray) and ratings.ndim == 2 and ratings.dtype.kind not in "OT":
        users, *rest = ratings.T
        cells = (_records.cells_in(column, total=total) for column in rest)
        return zip(_units.exact_cells("users", users, total=total), *cells, strict=True)
    return iter(ratings.tolist() if isinstance(ratings, np.ndarray) else ratings)


def _triple(given: Any, total: bool) -> tuple[str, str, float] | None:
    cells = _records.row_cells(given, 3)
    if cells is None:
        return None
    name, read = (anyone, number_or_nan) if total else (identifier, number)
    user, item, rating = name(cells[0]), name(cells[1]), read(cells[2])
    # As the readers of files do, whose identifiers are the same people.
    user = user.strip(BLANKS) if type(user) is str else user
    known = type(user) is str and user != "" and type(item) is str and rating is not VOID and math.isfinite(rating)
    return (user, item, rating) if known else None


def _own(user_ratings: Any) -> list[tuple[str, float]]:
    pairs = user_ratings.items() if isinstance(user_ratings, Mapping) else user_ratings
    found = [_pair(pair) for pair in pairs]
    if None in found:
        raise ValueError("a user's ratings are a mapping from items to numbers, or pairs of them")
    return found


def _pair(given: Any) -> tuple[str, float] | None:
    cells = _records.row_cells(given, 2)
    if cells is None:
        return None
    item, rating = identifier(cells[0]), number(cells[1])
    return (item, rating) if type(item) is str and rating is not VOID else None


def _name(item: Any) -> str:
    """How a public item is written: a text, or a whole number by its digits."""
    name = identifier(item)
    if type(name) is not str:
        raise ValueError("an item of the list is missing, or neither a text nor a whole number")
    return name
