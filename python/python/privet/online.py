"""Learning from a stream: every model from the first to the last is within one budget.

>>> import numpy as np
>>> from privet import PrivateOnlineClassifier
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, size=(20_000, 2))
>>> y = (X[:, 0] > 0).astype(int)
>>> model = PrivateOnlineClassifier(epsilon=2, horizon=20_000, bounds=(-1, 1), classes=[0, 1], batch=10)
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

import narwhals as nw
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


def _column_names(X: Any) -> list[Any] | None:
    """The names of a frame's columns; nothing else has any."""
    return list(nw.from_native(X, eager_only=True).columns) if _tables.is_frame(X) else None


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
        The columns, each a text or an integer: public, and never taken from a record. Needed by ``learn_one``, whose
        rows are dictionaries with exactly these names, and by ``partial_fit`` of lists unless ``bounds`` has a number
        for each column; arrays have their own number of columns. Frames need it too, since one that is made of
        records has the columns of all of them; where it is a number they have the names of the first one, and where it is
        names a column that a frame lacks is one without values.
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
        a series, is one row, whatever is in it; of objects, and of another length than a row, it is as many rows as there
        are labels."""
        if classes is not None and self.classes is None:
            self.classes = classes
        X = self._rows_apart(_tables.collected(X), y)
        names = _column_names(X) if self._names is None else None
        if names is not None and self._width() is None:
            raise ValueError(
                "features are missing: a frame that is made of records has the columns that any one of them has, and the "
                'model would have them too; accepted is a list such as features=["age", "dose"]'
            )
        if (_is_row(X) and not _is_series_of_one(y)) or (_is_lone(X) and _is_bare(y)):
            y = [y]
        X, codes = self._numbers(X, learning=True), self._codes(y)
        if len(codes) != len(X):
            raise ValueError(f"X has {len(X)} rows and y {len(codes)} labels; one for each is accepted")
        unknown = codes == len(self.classes)
        X[unknown], codes[unknown] = np.nan, 0
        if not hasattr(self, "_stream"):
            with fitted_before(self):
                self._begin(X.shape[1], names)
        if self._waiting is not None:
            X, codes = np.vstack([self._waiting[0], X]), np.concatenate([self._waiting[1], codes])
        whole_batches = len(X) - len(X) % self._stream.batch
        self._waiting = (X[whole_batches:], codes[whole_batches:]) if whole_batches < len(X) else None
        return self._take(X[:whole_batches], codes[:whole_batches])

    def _rows_apart(self, X: Any, y: Any) -> Any:
        """An array of objects that is no row by its length, with a label for each entry, holds rows: NumPy makes it of
        rows of several lengths."""
        if not (type(X) is np.ndarray and X.dtype.kind == "O" and X.ndim == 1) or _is_bare(y) or type(y) is range:
            return X
        width = self._width()
        return X.tolist() if width is not None and len(X) == len(y) != width else X

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
        scores = self._stream.scores(self._numbers(X))
        return scores if len(self.classes) == 2 else scores.reshape(len(self.classes), -1).T

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row by the newest model. Handed on, it tells of that row's own features."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes)[places]

    def score(self, X: Any, y: Any) -> float:
        """The share of rows whose class is right."""
        texts = texts_of(self.classes)
        return float(np.mean(codes_of(self.predict(X), texts) == self._codes(y)))

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
            raise ValueError(
                "features are missing: the names of the columns are public, and the first record must not decide them for "
                'all others; accepted is a list such as features=["age", "dose"]'
            )
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

    def _numbers(self, X: Any, *, learning: bool = False) -> np.ndarray:
        """A copy of the rows as numbers, NaN where there is none: each cell and each row for itself."""
        X = _tables.collected(X)
        check_unmasked("X", X, total=True)
        width = self._width()
        if _tables.is_frame(X):
            X = _tables.numbers_of(X, read=self._frame_names(X), total=True, lacking=learning)
        elif _is_row(X):
            X = (np.asarray(X) if _records.series_of(X) is None else _records.entries("X", X))[None, :]
        # What is no table by its own shape is a list of rows, of which none may say how long the others are.
        shaped = len(getattr(X, "shape", ())) == 2
        if width is None and not shaped:
            raise ValueError(
                "features are missing: how many columns a list has would be taken from a record; accepted are arrays and "
                "frames, features=their names or number, or bounds with a number for each column"
            )
        found = _records.matrix("X", X, width=None if shaped else width, total=True)
        if width is not None and found.shape[1] != width:
            raise ValueError(f"X has {found.shape[1]} features; {width} are accepted")
        with np.errstate(all="ignore"):  # of long doubles
            return np.array(found, dtype=np.float64)

    def _frame_names(self, X: Any) -> list[Any] | None:
        """The columns that are read of a frame: the declared ones, or those of the first, which every other has."""
        known = self.__dict__.get("feature_names_in_")
        if self._names is not None or known is None:
            return self._names
        if set(_column_names(X) or ()) != set(known):
            raise ValueError("X has other columns than the first frame; accepted are those, or features= with names")
        return list(known)

    def _codes(self, y: Any) -> np.ndarray:
        """The place of each label; one beyond for what is none of the classes, whose row is an empty slot."""
        if self.classes is None or len(listed("classes", self.classes)) < 2:
            raise ValueError("classes are missing: two labels or more, public, are accepted")
        alone = isinstance(y, str) or not hasattr(y, "__len__") or np.ndarray is type(y) and y.ndim == 0
        return codes_of(flat_labels([y] if alone else y, total=True), texts_of(self.classes), total=True)

    def _begin(self, n_features: int, names: list[Any] | None) -> None:
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
        names = self._names if names is None else names
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
