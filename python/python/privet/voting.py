"""Learning with any model: teachers vote on public rows, and a student learns what they agree on."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from privet import _privet, _records, _tables, _teachers
from privet._base import Normed, _plain_numbers
from privet._cells import VOID
from privet._certificate import Certificate, Plan
from privet._interrupts import Finishing
from privet._numbers import SMALL, optional_number, whole
from privet._parameters import parameter, parameters
from privet._pipelines import prior_fits
from privet._refusals import validate_data
from privet.classification import _Classifier
from privet.schema import Schema, as_schema


class LabelsFile:
    """Labels of public rows, with their certificate: what :func:`privet.load` reads."""

    certificate: Certificate
    """What they can reveal."""

    def __init__(self, release: Any) -> None:
        self._release = release
        self.certificate = Certificate._of(release)

    @property
    def codes(self) -> np.ndarray:
        """The place of each row's class in the schema's list, -1 where it has none."""
        return np.asarray(self._release.codes)

    @property
    def classes(self) -> tuple[str, ...]:
        """The schema's classes."""
        return tuple(Schema._of(self._release.schema()).classes or ())

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write them with their certificate into one file."""
        self._release.save(os.fspath(path), bool(overwrite))

    def __repr__(self) -> str:
        answered = int((self.codes >= 0).sum())
        return f"LabelsFile({answered} of {len(self.codes)} rows, epsilon = {self.certificate.epsilon:g})"


class _Ready:
    """A plan with what it is carried out with."""

    def __init__(self, plan: _privet.Plan, public: Any, teach: Any) -> None:
        self._plan, self._public, self._teach = plan, public, teach

    def to_json(self) -> str:
        return self._plan.to_json()

    def run(self, features: Any, labels: Any, units: Any, seed: int | None, paid: Any = None) -> _privet.Released:
        return self._plan.run(features, labels, units, seed, paid, public=self._public, teach=self._teach)


@parameters
class PrivateVote(Normed, _Classifier):
    """Any classifier, made private by votes: many are trained on parts of the rows, they label public rows, and a
    student learns from the labels.

    The rows of ``X`` are cut into parts by secret coins, and ``estimator`` is fitted on each, in a process of its own. All
    of them vote on the rows of ``public``; where so many agree that no one's rows matter, the label is released. The
    student is fitted on those, which costs nothing more. The public rows themselves are **not** protected. (So much for
    ``"sparse-vector"``; the other aggregators label other rows: see ``aggregator``.)

    Parameters
    ----------
    estimator : classifier or {"logistic", "least-squares", "propagation", "tree", "forest", "nearest"}
        What each teacher is: any estimator of scikit-learn's kind, or one that is built in. It is given the encoded
        columns: numbers scaled by their public bounds, a column for each category.
    n_teachers : int, optional
        How many there are, at most one a row; chosen from public facts unless given.
    student : classifier, optional
        What learns from the labelled public rows, as they are given. Unless given, a clone of ``estimator``, or where that
        is the name of a built-in teacher ``LogisticRegression``.
    aggregator : {"sparse-vector", "estimated-sparse-vector", "gnmax", "confident-gnmax", "agreed-gnmax"}
        What makes labels of votes. ``python -m privet methods --vote`` says more.
    settings : mapping, optional
        Settings of the aggregator by name, such as ``{"cutoff": 5}``.
    teacher_settings : mapping, optional
        Settings of a built-in ``estimator`` by name, such as ``{"depth": 6}``.
    ask : int, optional
        How many of the public rows are asked about, the first ones unless ``choose`` is given; all unless given. Teachers by
        ``"propagation"``, and a student that spreads labels, see the others beside them.
    choose : int, optional
        Rounds in which the rows of ``ask`` are chosen among all public ones, by how sure a provisional student of the labels
        so far is of them; with the aggregators ``"gnmax"`` and ``"sparse-vector"``.
    spread : bool
        Whether labels are spread among public rows that resemble one another before the student learns: from all of them
        then.
    n_jobs : int, optional
        Processes at a time; as many as there are processors unless given.
    time_limit : float
        Seconds of a processor that a teacher has for itself. One that takes longer, or raises, votes for the first
        class.

    Attributes
    ----------
    student_ : classifier
        The fitted student, which :meth:`predict` asks.
    label_codes_ : array of shape (n_public,)
        The place of each public row's class in ``classes_``, -1 where none was released.
    certificate_ : Certificate
        What the labels can reveal, and so the student.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from privet import PrivateVote
    >>> rng = np.random.default_rng(0)
    >>> X, public = rng.uniform(-1, 1, size=(3000, 2)), rng.uniform(-1, 1, size=(200, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> vote = PrivateVote(DecisionTreeClassifier(max_depth=2), epsilon=8, n_teachers=60, bounds=(-1, 1), classes=[0, 1])
    >>> vote = vote.fit(X, y, public=public)
    >>> bool(vote.score(X, y) > 0.8)
    True
    """

    estimator: Any = parameter(default="forest", kw_only=False, before="epsilon")
    epsilon: Any = None
    n_teachers: Any = None
    student: Any = None
    aggregator: Any = parameter(default="sparse-vector", after="delta")
    settings: Any = None
    teacher_settings: Any = None
    ask: Any = None
    choose: Any = None
    spread: Any = False
    n_jobs: Any = parameter(default=None, after="max_records")
    time_limit: Any = 60.0

    method = "vote"
    loss = "logistic"
    calibration = "sound"
    fit_intercept = False

    def fit(self, X: Any, y: Any, *, public: Any = None, groups: Any = None, **refused: Any) -> PrivateVote:
        """Train teachers, let them vote on ``public``, and fit the student.

        Parameters
        ----------
        X, y, groups
            The private rows, as for :class:`PrivateLogisticRegression`.
        public : array or frame of shape (n_public, n_features)
            Rows that nobody needs to protect, with the columns of ``X``. They must not depend on it.
        """
        if public is None:
            raise ValueError(
                "public is missing: rows that teachers vote on, with the columns of X; they are not protected"
            )
        public = _tables.collected(public)
        by_place = self.schema is None or as_schema(self.schema)._checked.number_features is not None
        listed = by_place and not hasattr(public, "shape")
        self._public = _records.matrix("public", public) if listed else public
        # How the student reads rows, which is for nobody's record to decide.
        self._public_is_numbers = _is_numbers(self._public)
        self._public_names = _tables.names_of(public) if _tables.is_frame(public) else None
        with Finishing():
            try:
                super().fit(X, y, groups=groups, **refused)
                # The labels are released and stay, whether or not a student can be made of them.
                self.__dict__.pop("student_", None)
                self.student_ = self._student()
            finally:
                self.__dict__.pop("_public", None)
                self.__dict__.pop("_public_rows", None)
                self.__dict__.pop("_spreading", None)
        return self

    def plan(self, n_rows: int | None = None, n_features: int | None = None, n_public: int = 1000) -> Plan:
        """Everything that decides the guarantee, without data, for so many public rows."""
        self._public_rows = whole("n_public", n_public)
        try:
            return super().plan(n_rows, n_features)
        finally:
            del self._public_rows

    def _built_in(self) -> bool:
        return isinstance(self.estimator, str)

    def _make_plan(self, schema: Schema, rows: int, notes: list[str]) -> Any:
        if rows == 1 and self.delta is None:
            raise ValueError(
                "n_samples=1: delta, which is 1/n_samples² unless given, would be 1 and promise nothing; give "
                "delta, or more rows"
            )
        public = None
        if "_public" in self.__dict__:
            public, self._public_rows = self._read_public(self._public, schema)
        planned = _privet.plan_labels(
            schema._checked,
            self._public_rows,
            rows,
            epsilon=optional_number("epsilon", self.epsilon),
            delta=optional_number("delta", self.delta),
            neighbours=self.neighbours,
            teachers=None if self.n_teachers is None else whole("n_teachers", self.n_teachers, below=SMALL),
            teacher=self.estimator if self._built_in() else None,
            what=f"{type(self.estimator).__name__} of the holder's"[:200],
            teach=self._teacher_settings(),
            aggregator=self.aggregator,
            settings=[(str(name), str(value)) for name, value in self._settings().items()],
            ask=None if self.ask is None else whole("ask", self.ask),
            choose=None if self.choose is None else whole("choose", self.choose, below=SMALL),
            public=public,
            notes=notes,
            prior_fits=prior_fits(self),
        )
        if public is None:
            return planned
        self._spreading = planned, public
        return _Ready(planned, public, None if self._built_in() else self._teach(len(schema.classes or ())))

    def _teacher_settings(self) -> list[tuple[str, str]]:
        if self.teacher_settings is None:
            return []
        if not self._built_in():
            raise ValueError("teacher_settings: they are for built-in teachers; give an estimator its own parameters")
        if not isinstance(self.teacher_settings, Mapping):
            raise TypeError(f"teacher_settings is {self.teacher_settings!r}; accepted is a mapping of names to values")
        return [(str(name), str(value)) for name, value in self.teacher_settings.items()]

    def _read_public(self, public: Any, schema: Schema) -> tuple[Any, int]:
        """Public rows as the extension reads them, and how many there are."""
        if self.schema is not None and not _plain_numbers(schema, public):
            columns = self._named_columns(public, schema)
            return columns, len(columns[0][2]) if columns else 0
        rows = validate_data(
            self, public, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=False
        )
        count = rows.shape[0]
        return (_tables.csr_parts(rows) if hasattr(rows, "tocsr") else _tables.readable(rows)), count

    def _teach(self, classes: int) -> Any:
        """What trains the teachers, rehearsed on made-up rows so that what fails for any rows is an error."""
        estimator = clone(self.estimator)
        jobs = whole("n_jobs", self.n_jobs) if self.n_jobs is not None else os.cpu_count() or 1
        limit = float(self.time_limit)
        if not limit > 0:
            raise ValueError(f"time_limit is {limit}; accepted is a number of seconds above 0")

        def teach(rows: Any, labels: Any, chunks: Any, queries: Any, _classes: int) -> np.ndarray:
            return _teachers.ballots(estimator, rows, labels, chunks, queries, n_jobs=jobs, limit=limit)

        made_up = np.random.default_rng(0).uniform(-1, 1, (20 * classes, self.n_features_in_)).astype(np.float32)
        labels = (np.arange(len(made_up)) % classes).astype(np.uint32)
        told = teach(made_up, labels, [np.arange(len(made_up))], made_up, classes)
        if (told < 0).any() or (told >= classes).any():
            raise ValueError(
                f"{self.estimator!r} does not do what a teacher does, on made-up rows: fit on a table of numbers with "
                f"classes 0 to {classes - 1}, predict one of them for each row, within {limit:g} seconds of a processor, and be "
                "pickled by a process that did not import your script"
            )
        return teach

    def _set_model(self, model: Any, plan: Plan, schema: Schema, classes: Any) -> None:
        self.model_ = model
        self.plan_ = plan
        self.certificate_ = Certificate._of(model)
        self._order = np.argsort(classes)
        self.classes_ = classes[self._order]
        self.label_codes_ = self._placed(model.codes)

    def _placed(self, codes: Any) -> np.ndarray:
        """Places in ``classes_`` of classes as the schema counts them."""
        return np.append(np.argsort(self._order), -1)[np.asarray(codes)]

    def _student(self) -> Any:
        codes = self.label_codes_
        if self.spread:
            planned, rows = self._spreading
            codes = self._placed(planned.spread(rows, np.asarray(self.model_.codes).tolist()))
        answered = codes >= 0
        labels = self.classes_[codes[answered]]
        if self.student is not None:
            student = clone(self.student)
        else:
            student = LogisticRegression(max_iter=1000) if self._built_in() else clone(self.estimator)
        public = self._public
        rows = public[answered] if hasattr(public, "shape") and not hasattr(public, "iloc") else None
        if hasattr(public, "iloc"):
            rows = public.iloc[np.flatnonzero(answered)]
        if rows is None:
            rows = [row for row, has_label in zip(public, answered, strict=True) if has_label]
        if len(np.unique(labels)) >= 2:
            return _quietly(student, "fit", rows, labels)
        # One class, or no label at all: nothing to learn, and no error.
        constant = labels[0] if len(labels) else self.classes_[0]
        everything = np.zeros((len(self.classes_), 1))
        return DummyClassifier(strategy="constant", constant=constant).fit(everything, self.classes_)

    def predict(self, X: Any) -> np.ndarray:
        """The student's class of each row."""
        check_is_fitted(self, "student_")
        X = _tables.collected(X)
        schema = as_schema(self.schema) if self.schema is not None else None
        if schema is not None and schema.is_total:
            return self._predict_readable(X, schema)
        if schema is None or _plain_numbers(schema, X):
            X = validate_data(self, X, reset=False, accept_sparse="csr", ensure_all_finite=False)
        return _quietly(self.student_, "predict", X)

    def _predict_readable(self, X: Any, schema: Schema) -> np.ndarray:
        """The same where no row is refused: what the schema calls a bad record, and what the student cannot read, is of
        the schema's first class, as for every other estimator."""
        # Of a bad record, and of no other, the constant column is 0 as well.
        judged = Schema.from_dict(schema.to_dict() | {"bias": True})
        encoded = judged._checked.encode(self._encodable(X))
        good = np.flatnonzero(np.any(encoded, axis=1))
        found = np.full(len(encoded), self.classes_[np.argsort(self._order)[0]], dtype=self.classes_.dtype)
        numbers = schema._checked.number_features is not None or getattr(self, "_public_is_numbers", False)
        if _tables.is_frame(X):
            X = _plain_objects(self._as_public(X, schema))
        elif sparse.issparse(X):
            X = _tables.real_sparse(X)
        elif not _is_numbers(X):
            if numbers:
                width = len(schema.features) or self.n_features_in_
                X = _records.matrix("X", X, width=width, names=schema.features, total=True)
            else:
                cells = map(_plain_cells, _tables.cells_of_array(X, schema.features, total=True))
                X = [list(row) for row in zip(*cells, strict=True)]
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            X = _stood_in(X, schema)
        unread = self._predict_parts(X, good, found)
        if unread:
            warnings.warn(
                f"{unread} rows are none that the student can read, though the schema takes them: they get the first class; "
                "accepted is a student that reads rows as they are given, such as a pipeline that encodes them",
                UserWarning,
                stacklevel=3,
            )
        return found

    def _as_public(self, X: Any, schema: Schema) -> Any:
        """A frame with the columns that the student knows, and no others that a record may have: those of the public one,
        or where that has no names the schema's."""
        names = getattr(self, "_public_names", None) or list(schema.features)
        if not all(isinstance(name, str) for name in names):
            return X
        found = _tables.meant(_tables.names_of(X), names, total=True)
        return _tables.renamed(X, found) if names and len(found) == len(names) else X

    def _predict_parts(self, X: Any, places: np.ndarray, found: np.ndarray) -> int:
        """Predicts the rows at these places, in halves where the student fails; how many it cannot read alone."""
        if len(places) == 0:
            return 0
        try:
            found[places] = _quietly(self.student_, "predict", _rows_at(X, places))
            return 0
        except ValueError:
            if len(places) == 1:
                return 1
        half = len(places) // 2
        return sum(self._predict_parts(X, part, found) for part in (places[:half], places[half:]))

    def decision_function(self, X: Any) -> np.ndarray:
        """Not offered: students differ."""
        raise AttributeError("PrivateVote has no decision_function; ask student_")

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write labels and certificate into one file, which ``privet verify`` and ``privet inspect`` read. The
        student is not in it: keep ``student_`` as you keep any estimator."""
        check_is_fitted(self, "model_")
        self.model_.save(os.fspath(path), bool(overwrite))


def _rows_at(X: Any, places: np.ndarray) -> Any:
    """Those rows, as they were given."""
    if _tables.is_frame(X):
        return nw.from_native(X, eager_only=True)[places.tolist()].to_native()
    if hasattr(X, "shape"):
        return (X.tocsr() if sparse.issparse(X) else X)[places]
    return [X[place] for place in places]


def _plain_cells(cells: Any) -> list[Any]:
    """Each cell read for itself; ``None`` where it holds nothing that can be read."""
    return [None if cell is VOID else cell for cell in _records.objects(cells, total=True)]


def _is_numbers(X: Any) -> bool:
    """Whether it is an array of real numbers."""
    return not _tables.is_frame(X) and not sparse.issparse(X) and _records.is_typed(X) and np.asarray(X).dtype.kind in "iufb"


def _plain_objects(X: Any) -> Any:
    """The same table, in whose columns of objects every cell was read for itself, and in those that one cell may have made
    complex."""
    if not hasattr(X, "isetitem"):
        return X
    X = X.copy()
    for place, kind in enumerate(X.dtypes):
        if isinstance(kind, np.dtype) and kind.kind in "Oc":
            found = np.empty(len(X), dtype=object)
            found[:] = _plain_cells(X.iloc[:, place].to_numpy().tolist())
            X.isetitem(place, found)
    return X


def _stood_in(X: np.ndarray, schema: Schema) -> np.ndarray:
    """Numbers with the schema's stand-ins for those that are none."""
    X = X.copy()
    for place, column in enumerate(schema.to_dict().get("columns", [])[: X.shape[1]]):
        stand_in = column.get("invalid")
        if isinstance(stand_in, (int, float)):
            X[~np.isfinite(X[:, place]), place] = stand_in
    return X


def _quietly(student: Any, what: str, *rows: Any) -> Any:
    """What a student does, without its words where it fails: these may repeat a cell."""
    try:
        return getattr(student, what)(*rows)
    except Exception as error:
        kind = type(error).__name__
    raise ValueError(
        f"the student, a {type(student).__name__}, cannot {what} on these rows: {kind}; accepted is a student that reads rows "
        "as they are given, such as a pipeline that encodes them (ask it directly to read its own words)"
    )
