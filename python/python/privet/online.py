"""Learning from a stream: every model from the first to the last is within one budget.

>>> import numpy as np
>>> from privet import PrivateOnlineClassifier
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, size=(20_000, 2))
>>> y = (X[:, 0] > 0).astype(int)
>>> model = PrivateOnlineClassifier(epsilon=2, horizon=20_000, bounds=(-1, 1), classes=[0, 1], features=2, batch=10)
>>> for rows in np.array_split(np.arange(20_000), 20):
...     model = model.partial_fit(X[rows], y[rows])
>>> bool((model.predict(X) == y).mean() > 0.8), model.certificate_.epsilon, model.steps_left_
(True, 2.0, 0)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from privet import _privet, _records, _tables
from privet._array_schema import FEATURES, array_schema, check_exclusive
from privet._cells import plain
from privet._certificate import Certificate
from privet._labels import codes_of, texts_of
from privet._masks import check_unmasked
from privet._numbers import SMALL, listed, optional_number, whole
from privet._parameters import parameter, parameters
from privet._pipelines import fitted_before, prior_fits
from privet._refusals import flat_labels
from privet._seeds import seed_of


class StreamFile:
    """The newest release of a stream, with its certificate: what :func:`privet.load` reads."""

    certificate: Certificate
    """What all releases of the stream can reveal, together."""

    def __init__(self, release: Any) -> None:
        self._release = release
        self.certificate = Certificate._of(release)

    @property
    def after(self) -> list[int]:
        """After which steps something was kept."""
        return self._release.after

    @property
    def values(self) -> np.ndarray:
        """What was released then: weights of each encoded column, or a count for each category."""
        return np.asarray(self._release.values)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write it with its certificate into one file."""
        self._release.save(os.fspath(path), bool(overwrite))

    def __repr__(self) -> str:
        claim = self.certificate
        return f"StreamFile(after step {self.after[-1] if self.after else 0}, epsilon = {claim.epsilon:g})"


WHY_FEATURES = (
    "features are missing: {what} would be taken from a record; accepted is {accepted}. The columns are public, and no record "
    "may decide them for all others"
)


def _is_row(X: Any) -> bool:
    """Whether it is one row, by its own dimensions and never by a cell: its label is then one, whatever it looks like.
    A list is of rows."""
    if _is_of_kind(X, COLUMNS):
        return True
    return not _tables.is_frame(X) and (isinstance(X, np.ndarray) or _records.is_typed(X)) and np.ndim(X) == 1


def _is_lone(X: Any) -> bool:
    """Whether a table has one row."""
    if isinstance(X, (list, tuple)):
        return len(X) == 1
    return (_tables.is_frame(X) or isinstance(X, np.ndarray)) and X.shape[:1] == (1,)


COLUMNS = (
    *[("pandas", name) for name in ("Series", "Index", "api.extensions.ExtensionArray")],
    *[("polars", "Series"), ("pyarrow", "Array"), ("pyarrow", "ChunkedArray"), ("narwhals", "Series")],
)
"""What has one dimension, besides arrays."""

SEVERAL = (
    *COLUMNS,
    *[("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("narwhals", "DataFrame")],
    *[("array", "array"), ("torch", "Tensor")],
)
"""What holds labels, besides lists and NumPy's arrays."""


def _is_of_kind(value: Any, kinds: Sequence[tuple[str, str]]) -> bool:
    """Whether it is of one of a library's classes. It is not asked, nor is its class: it may be a label."""
    ancestors = type.__dict__["__mro__"].__get__(type(value))
    for module, path in kinds:
        kind = sys.modules.get(module)
        for name in path.split("."):
            kind = getattr(kind, name, None)
        if kind is not None and any(one is kind for one in ancestors):
            return True
    return False


def _is_bare(y: Any) -> bool:
    """Whether it is no list, array or column of labels, and so is one."""
    kind = type(y)
    if issubclass(kind, np.ndarray):
        return y.ndim == 0
    return not issubclass(kind, (list, tuple)) and kind is not range and not _is_of_kind(y, SEVERAL)


def _length(y: Any) -> int | None:
    """How many labels there are, where they can be counted. No code of a label's own class runs."""
    kind = type(y)
    if issubclass(kind, (list, tuple)):
        return _records.row_length(y)
    try:
        return len(y)
    except Exception:  # of a range that is longer than any list
        return None


def _is_one_label(y: Any) -> bool:
    """Whether it is a list, array or column of one label. What else stands beside a single row is that row's label itself,
    whatever it looks like."""
    if _is_bare(y):
        return False
    shape = y.shape if isinstance(y, np.ndarray) or _tables.is_frame(y) else (_length(y),)
    return tuple(shape) in ((1,), (1, 1))


def _are_rows(cells: list[Any]) -> bool:
    """Whether half of the entries or more are rows: one entry makes no row of objects a table of rows, nor a table a row."""
    return 2 * sum(_records.row_length(cell) is not None or issubclass(type(cell), dict) for cell in cells) >= len(cells)


def _is_series_of_one(y: Any) -> bool:
    """Whether it is the column of that row's label. Nothing is asked of what is of no library's own class."""
    kinds = (getattr(sys.modules.get(name), "Series", None) for name in ("pandas", "polars"))
    return any(type(y) is kind for kind in kinds) and len(y) == 1


@parameters
class PrivateOnlineClassifier(BaseEstimator):
    """A linear classifier that learns from a stream under differential privacy.

    Rows take slots in the order in which they come, ``batch`` of them a step. Streams that differ in one slot,
    which holds another record or none, look alike; all models together are within the budget, however
    often they are looked at. A row with a value that is no finite number, with a label that is none of the classes, or
    of another length takes its slot and adds nothing; nor does it change what becomes of any other. After ``horizon``
    rows nothing more is learnt.

    Parameters
    ----------
    epsilon : float
        The privacy budget of the whole stream; privet picks none for you.
    horizon : int
        How many rows come at most. The noise is planned for it.
    classes : sequence of labels
        Public; of two the first is the negative one. More than two need method ``ftrl``.
    bounds, data_norm : optional
        How large a row can be, as in :class:`privet.PrivateLogisticRegression`; one of them is needed.
    delta : float, optional
        1/horizon² unless given.
    features : sequence of names, or int, optional
        The columns, each a text or an integer: public, and never taken from a record. Their names are needed by
        ``learn_one``, whose rows are dictionaries with exactly these names, and by frames, since one that is made of
        records has the columns of all of them: a column that a frame lacks is one without values. Their number is needed
        unless ``bounds`` has a number for each column: lists and arrays are as wide as their records.
    batch : int, default 1
        Rows a step. ``partial_fit`` keeps a remainder until the batch is whole.
    method : {"ftrl", "implicit", "giga", "leader", "experts"}, default "ftrl"
        The learner; ``python -m privet online train --help`` says more.
    settings : mapping, optional
        Settings of the method by name.
    random_state : int, optional
        For tests alone: repeatable noise, and a certificate that says NOT PRIVATE.

    Attributes
    ----------
    coef_, intercept_ : the newest model, in the scaled columns that the schema makes of rows.
    certificate_ : Certificate
        What all models of the stream can reveal, together.
    steps_left_ : int
        How many steps are left.
    """

    epsilon: float | None = parameter(default=None, kw_only=False)
    horizon: int | None = None
    classes: Sequence[Any] | None = None
    bounds: Any = None
    data_norm: float | None = None
    features: Sequence[Any] | int | None = None
    delta: float | None = None
    batch: int = 1
    method: str = "ftrl"
    settings: Mapping[str, Any] | None = None
    random_state: int | None = None

    def partial_fit(self, X: Any, y: Any, classes: Sequence[Any] | None = None) -> PrivateOnlineClassifier:
        """Learn from more rows. Those beyond the horizon are left alone, with a ``ValueError``. An array of one dimension, or
        a series, is one row, whatever is in it, and so is its label; of objects, and with a label for each entry, it is as
        many rows. What is given as the labels of a single row is its label unless there is one in it."""
        if classes is not None and self.classes is None:
            self.classes = classes
        X = self._rows_apart(_tables.collected(X), y)
        if (_is_row(X) and not _is_series_of_one(y)) or (_is_lone(X) and not _is_one_label(y)):
            y = [y]
        X, codes = self._numbers(X), self._codes(y)
        if len(codes) != len(X):
            raise ValueError(f"X has {len(X)} rows and y {len(codes)} labels; one for each is accepted")
        unknown = codes == len(self.classes)
        X[unknown], codes[unknown] = np.nan, 0
        if not hasattr(self, "_stream"):
            with fitted_before(self):
                self._begin(X.shape[1])
        if self._waiting is not None:
            X, codes = np.vstack([self._waiting[0], X]), np.concatenate([self._waiting[1], codes])
        whole_batches = len(X) - len(X) % self._stream.batch
        self._waiting = (X[whole_batches:], codes[whole_batches:]) if whole_batches < len(X) else None
        return self._take(X[:whole_batches], codes[:whole_batches])

    def _rows_apart(self, X: Any, y: Any) -> Any:
        """An array of objects with a label for each of several entries holds rows: NumPy makes it of rows of several
        lengths. Of as many entries as a row has, half must be rows."""
        if not (type(X) is np.ndarray and X.dtype.kind == "O" and X.ndim == 1) or _is_bare(y) or type(y) is range:
            return X
        cells = X.tolist()
        apart = len(cells) == _length(y) > 1 and (len(cells) != self._width() or _are_rows(cells))
        return cells if apart else X

    def _rows_asked(self, X: Any) -> Any:
        """The same of rows that have no labels."""
        if not (type(X) is np.ndarray and X.dtype.kind == "O" and X.ndim == 1):
            return X
        cells = X.tolist()
        return cells if len(cells) != self._width() or _are_rows(cells) else X

    def flush(self) -> PrivateOnlineClassifier:
        """Learn from rows that wait for their batch to be whole: a short step."""
        waiting, self._waiting = self._waiting, None
        return self if waiting is None else self._take(*waiting)

    def learn_one(self, x: Mapping[Any, float], y: Any) -> PrivateOnlineClassifier:
        """Learn from one row, as river does: a dictionary with a value for each of ``features``. One that has other
        names, or is none, takes its slot and adds nothing."""
        return self.partial_fit([self._row(x)], [y])

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """The class of one row; the first class before anything was learnt."""
        if not hasattr(self, "_stream"):
            return None if self.classes is None else self.classes[0]
        return self.predict([self._row(x)])[0]

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of rows by the newest model; of two classes above 0 is the second, of more a column for each."""
        if not hasattr(self, "_stream"):
            raise ValueError("nothing was learnt yet: call partial_fit or learn_one first")
        scores = self._stream.scores(self._numbers(self._rows_asked(_tables.collected(X))))
        return scores if len(self.classes) == 2 else scores.reshape(len(self.classes), -1).T

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row by the newest model. Handed on, it tells of that row's own features."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes)[places]

    def score(self, X: Any, y: Any) -> float:
        """The share of rows whose class is right."""
        texts = texts_of(self.classes)
        return float(np.mean(codes_of(self.predict(self._rows_apart(_tables.collected(X), y)), texts) == self._codes(y)))

    @property
    def weights_(self) -> np.ndarray:
        """The newest weights, the constant column last; of more than two classes a row for each."""
        weights = np.asarray(self._stream.weights)
        return weights if len(self.classes) == 2 else weights.reshape(len(self.classes), -1)

    def released(self) -> StreamFile:
        """The newest model with the certificate of the whole stream, to be saved."""
        found = self._stream.released()
        if found is not None:
            self._released = StreamFile(found)
        return self._released

    def __getstate__(self) -> dict[str, Any]:
        if "_stream" in self.__dict__:
            raise TypeError(
                "a stream under way is of one process, and a copy would spend its budget again: it is neither copied nor "
                "pickled; accepted are one that has not begun, and what it released, by released().save(path)"
            )
        return super().__getstate__()

    @property
    def _names(self) -> list[Any] | None:
        """The declared names of the columns, if they have any, as records name them."""
        if self.features is None or isinstance(self.features, (int, np.integer)):
            return None
        if isinstance(self.features, str):
            raise TypeError(f"features is the text {self.features!r}; accepted is a list of names, or their number")
        names = list(map(plain, self.features))
        if not all(map(_records.is_name, names)) or len(set(names)) < len(names):
            raise ValueError("features has a name twice, or one that is no text or integer; accepted are those, once")
        return names

    def _row(self, x: Any) -> list[Any]:
        names = self._names
        if names is None:
            raise ValueError(WHY_FEATURES.format(what="the names of the columns", accepted='a list such as features=["age", "dose"]'))
        return _records.named_cells(x, names, alone=True) or []

    def _width(self) -> int | None:
        """How many columns there are, where that is known from public facts or began the stream."""
        if hasattr(self, "_stream"):
            return self.n_features_in_
        names = self._names
        if names is not None:
            return len(names)
        if self.features is not None:
            return whole("features", self.features, below=FEATURES + 1)
        low, high = self.bounds if self.bounds is not None and len(self.bounds) == 2 else (0.0, 0.0)
        return next((len(side) for side in (low, high) if np.ndim(side) == 1), None)

    def _numbers(self, X: Any) -> np.ndarray:
        """A copy of the rows as numbers, NaN where there is none: each cell and each row for itself."""
        check_unmasked("X", X, total=True)
        names, width = self._names, self._width()
        if _tables.is_frame(X):
            if names is None:
                raise ValueError(WHY_FEATURES.format(what="the columns of a frame", accepted='a list such as features=["age", "dose"]'))
            return np.array(_tables.numbers_of(X, read=names, total=True, lacking=True), dtype=np.float64)
        if _is_row(X):
            X = (np.asarray(X) if _records.series_of(X) is None else _records.entries("X", X))[None, :]
        if width is None:
            raise ValueError(
                WHY_FEATURES.format(
                    what="how many columns there are", accepted="features=their names or number, or bounds with a number for each column"
                )
            )
        # What is no table by its own type and shape holds rows, of which each is of its own length.
        shaped = _records.is_typed(X) and np.ndim(X) == 2
        found = _records.matrix("X", X, width=None if shaped else width, names=names or (), total=True)
        if found.shape[1] != width:
            if found.shape[0] != 1:
                raise ValueError(f"X has {found.shape[1]} features; {width} are accepted")
            # A single row says so of itself alone.
            found = np.full((1, width), np.nan)
        with np.errstate(all="ignore"):  # of long doubles
            return np.array(found, dtype=np.float64)

    def _codes(self, y: Any) -> np.ndarray:
        """The place of each label; one beyond for what is none of the classes, whose row is an empty slot."""
        if self.classes is None or len(listed("classes", self.classes)) < 2:
            raise ValueError("classes are missing: two labels or more, public, are accepted")
        alone = isinstance(y, str) or not hasattr(y, "__len__") or np.ndarray is type(y) and y.ndim == 0
        return codes_of(flat_labels([y] if alone else y, total=True), texts_of(self.classes), total=True)

    def _begin(self, n_features: int) -> None:
        if self.horizon is None:
            raise ValueError("horizon is missing: the noise is planned for a number of rows")
        check_exclusive(self.bounds, self.data_norm, None)
        schema = array_schema(
            n_features=n_features,
            names=None,
            bounds=self.bounds,
            data_norm=self.data_norm,
            fit_intercept=True,
            sparse=False,
            target={"classes": texts_of(self.classes)},
            max_records=None,
            invalid="drop",
        )
        settings = dict(self.settings or {})
        self._stream = _privet.OnlineStream(
            schema._checked,
            whole("horizon", self.horizon),
            epsilon=optional_number("epsilon", self.epsilon),
            delta=optional_number("delta", self.delta),
            neighbours="replace-one",
            method=self.method,
            settings=[(str(name), str(value)) for name, value in settings.items()],
            batch=whole("batch", self.batch, below=SMALL),
            seed=seed_of(self.random_state),
            prior_fits=prior_fits(self),
        )
        self.n_features_in_ = n_features
        names = self._names
        if names is not None:
            self.feature_names_in_ = np.empty(len(names), dtype=object)
            self.feature_names_in_[:] = names
        self.classes_ = np.asarray(self.classes)
        self._waiting = None
        self.steps_left_ = -(-int(self.horizon) // int(self.batch))
        self.certificate_ = self.released().certificate

    def _take(self, X: np.ndarray, codes: np.ndarray) -> PrivateOnlineClassifier:
        if len(X) == 0:
            return self
        taken, self.steps_left_ = self._stream.take(np.ascontiguousarray(X), codes)
        if taken < len(X):
            raise ValueError(
                f"the horizon of {self.horizon} rows is reached: {len(X) - taken} rows were left alone; more of "
                "them need another budget"
            )
        return self

    @property
    def coef_(self) -> np.ndarray:
        """The newest weights of the columns, as scikit-learn shapes them."""
        return np.atleast_2d(self.weights_)[:, :-1]

    @property
    def intercept_(self) -> np.ndarray:
        """The newest weight of the constant column."""
        return np.atleast_2d(self.weights_)[:, -1]
