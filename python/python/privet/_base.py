"""What all estimators share: settings, plans, reading, fitting, saving."""

from __future__ import annotations

import copy
import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from privet import _html, _privet, _tables, _units
from privet._array_schema import FEATURES, array_schema, check_exclusive
from privet._certificate import Certificate, Plan
from privet._coefficients import coefficients
from privet._interrupts import Finishing
from privet._intervals import Intervals
from privet._masks import check_unmasked
from privet._numbers import SMALL, WHY_EPSILON, optional_number, whole
from privet._parameters import parameter, parameters
from privet._refusals import declared, flat_labels, numbers, target_of, validate_data
from privet._refusals import labels as read_labels
from privet._rows import rows_missing
from privet._seeds import seed_of
from privet._pipelines import fitted_before, hand_over, prior_fits
from privet._shapes import Shapes
from privet._spending import Spending
from privet.exporting import Exporting
from privet.ledger import paid_by
from privet.schema import Schema, as_schema

WHY_NO_WEIGHTS = (
    "sample_weight is refused: a guarantee rests on a bound on what one record can change, and weights "
    "that come with the records would change that bound from record to record. Public weights of the "
    "classes can be declared in a schema (weights=...)"
)


@parameters
class PrivateEstimator(Intervals, Shapes, Exporting, BaseEstimator):
    """The base of the estimators; not for use itself.

    Parameters
    ----------
    epsilon : float
        The privacy budget. Smaller is more private; privet picks none for you.
    delta : float, optional
        What probabilities may differ by beyond the factor exp(epsilon); 0 asks for pure epsilon. 1/n_rows² unless given.
    bounds : (low, high), optional
        Public bounds of the features: two numbers, or two arrays. Values outside are moved to the nearest bound. One of
        ``bounds``, ``data_norm`` and ``schema`` is needed.
    schema : Schema, path or mapping, optional
        Public facts about a table with named columns; see :class:`privet.Schema`.
    neighbours : {"replace-one", "add-remove"}
        Which tables must look alike: one record exchanged for another (the number of rows is public), or
        one added or removed (the number of rows is private, and ``n_rows`` declared).
    n_rows : int, optional
        The declared number of rows, where it is private; about right is enough.
    max_records : int, optional
        With ``fit(X, y, groups=...)``: how many rows of each group are used.
    random_state : int, optional
        For tests only: repeatable noise. Warns, and the certificate says NOT PRIVATE.
    """

    epsilon: Any = parameter(default=None, kw_only=False)
    delta: Any = None
    bounds: Any = None
    schema: Any = None
    neighbours: Any = "replace-one"
    n_rows: Any = None
    max_records: Any = None
    random_state: Any = None

    _loss_width = 0.1
    _loss_quantile = 0.5
    # Whether rows with bounds are filled, so that predictions are a line in X.
    _filled = False

    # What the two kinds of estimator say of their target.

    def _target_facts(self, labels: Any) -> tuple[dict[str, Any], list[str]]:
        """The schema's ``target``, and notes for the certificate; ``labels`` is ``None`` before data."""
        raise NotImplementedError

    def _encoded_labels(self, y: Any, schema: Schema) -> np.ndarray:
        raise NotImplementedError

    def _class_labels(self, schema: Schema, labels: np.ndarray | None) -> np.ndarray | None:
        """The classes in the schema's order, as the caller writes them; ``labels`` is ``None`` for a file."""
        return None

    def _set_target(self, schema: Schema, classes: np.ndarray | None) -> None:
        """Attributes of the target; ``classes`` in the schema's order."""
        raise NotImplementedError

    def _check_schema_target(self, schema: Schema) -> None:
        raise NotImplementedError

    # Plans.

    def _settings(self) -> dict[str, Any]:
        return dict(getattr(self, "settings", None) or {})

    def _learner(self) -> str:
        return self.method

    def _loss_name(self) -> str:
        raise NotImplementedError

    def _make_plan(self, schema: Schema, rows: int, notes: list[str]) -> _privet.Plan:
        if rows == 1 and self.delta is None and self.method != "non-private":
            raise ValueError(
                "n_samples=1: delta, which is 1/n_samples² unless given, would be 1 and promise nothing; give "
                "delta, or more rows"
            )
        return _privet.plan_linear(
            schema._checked,
            rows,
            epsilon=optional_number("epsilon", self.epsilon),
            delta=optional_number("delta", self.delta),
            neighbours=self.neighbours,
            loss=self._loss_name(),
            width=float(getattr(self, "huber_width", self._loss_width)),
            quantile=float(getattr(self, "quantile", self._loss_quantile)),
            rate_at_zero=optional_number("rate_at_zero", getattr(self, "rate_at_zero", None)),
            method=self._learner(),
            settings=[(str(name), str(value)) for name, value in self._settings().items()],
            calibration=self.calibration,
            notes=notes,
            public=self._public_rows(),
            prior_fits=prior_fits(self),
        )

    def _public_rows(self) -> Any:
        """Public inputs as the extension reads them, where an estimator takes any."""
        return None

    def _schema_for(
        self,
        *,
        n_features: int,
        names: Any,
        is_sparse: bool,
        labels: Any,
        max_records: int | None,
        unit: str | None = None,
    ) -> tuple[Schema, list[str]]:
        check_exclusive(self.bounds, self.data_norm, self.schema)
        if self.schema is not None:
            schema = self._declared_schema()
            self._check_schema_target(schema)
            return schema, []
        target, notes = self._target_facts(labels)
        schema = array_schema(
            n_features=n_features,
            names=names,
            bounds=self.bounds,
            data_norm=optional_number("data_norm", self.data_norm),
            fit_intercept=bool(self.fit_intercept),
            sparse=is_sparse,
            target=target,
            max_records=None if max_records is None else whole("max_records", max_records, below=SMALL),
            unit=unit,
            filled=self._filled,
        )
        return schema, notes

    def _declared_schema(self) -> Schema:
        """The schema that was given."""
        return as_schema(self.schema)

    def plan(
        self, n_rows: int | None = None, n_features: int | None = None, *, base_rate: float | None = None
    ) -> Plan:
        """Everything that decides the guarantee, without data.

        Parameters
        ----------
        n_rows : int, optional
            How many rows there will be; the parameter ``n_rows`` unless given.
        n_features : int, optional
            How many columns ``X`` will have; needed unless there is a schema.
        base_rate : float, optional
            The share of the commonest class, from public knowledge: what is predicted is then for it, not for classes of
            equal size.
        """
        rows = n_rows if n_rows is not None else self.n_rows
        if rows is None:
            raise ValueError("n_rows is missing: how many rows there will be")
        if n_features is None and self.schema is None:
            raise ValueError("n_features is missing: how many columns X will have")
        schema, notes = self._schema_for(
            n_features=0 if n_features is None else whole("n_features", n_features, below=FEATURES + 1),
            names=None,
            is_sparse=False,
            labels=None,
            max_records=self.max_records,
        )
        planned = self._make_plan(schema, whole("n_rows", rows), notes)
        if base_rate is None:
            return Plan._from_json(planned.to_json())
        if planned.task != "erm":
            raise ValueError(f"base_rate: nothing is predicted for {type(self).__name__}; leave it out")
        return Plan._from_json(planned.to_json(optional_number("base_rate", base_rate)))

    # Fitting.

    def _count_is_private(self, grouped: bool) -> bool:
        return self.neighbours == "add-remove" or grouped

    def _declared_rows(self, found: int, grouped: bool) -> int:
        if self.n_rows is not None:
            return whole("n_rows", self.n_rows)
        if self._count_is_private(grouped):
            raise rows_missing(self.neighbours)
        return found

    def fit(self, X: Any, y: Any, *, groups: Any = None, ledger: Any = None, **refused: Any) -> Any:
        """Fit one private model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            NumPy arrays (``float32`` and ``float64`` are read in place, in any order), SciPy sparse
            matrices, and pandas, polars or PyArrow tables.
        y : array of shape (n_samples,)
            The labels.
        groups : array of shape (n_samples,), optional
            Whose each row is: the guarantee is then about all rows of one of them, of which at most
            ``max_records`` are used.
        ledger : privet.Ledger, optional
            Who pays: what the fit spends is written down before a record is read, and a fit that would exceed the
            limit is refused.

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C stops a fit. One that was finished meanwhile, and is paid for, keeps its attributes: the
        ``KeyboardInterrupt`` follows when they are set.
        """
        spending = self._spent()
        before = dict(self.__dict__)
        with Finishing():
            try:
                with fitted_before(self):
                    self._fit(X, y, groups, paid_by(ledger, groups), spending, refused)
            except BaseException:
                # What was fitted before stays as it was.
                self.__dict__.clear()
                self.__dict__.update(before)
                raise
        return self

    def _fit(
        self, X: Any, y: Any, groups: Any, paid: Any, spending: Spending, refused: dict[str, Any]
    ) -> None:
        if refused.pop("sample_weight", None) is not None:
            raise ValueError(WHY_NO_WEIGHTS)
        if refused:
            raise TypeError(f"fit() got an unexpected keyword argument {next(iter(refused))!r}")
        if self.epsilon is None and self.method != "non-private":
            raise ValueError(WHY_EPSILON)
        X, y, groups = _tables.collected(X), _tables.collected(y), _tables.collected(groups)
        schema_given = as_schema(self.schema) if self.schema is not None else None
        total = schema_given is not None and schema_given.is_total
        for name, given in (("X", X), ("y", y), ("groups", groups)):
            check_unmasked(name, given, total=total)
        unit_column = schema_given.unit if schema_given is not None else None
        grouped = groups is not None or unit_column is not None
        self._check_groups(groups, schema_given)
        check_exclusive(self.bounds, self.data_norm, self.schema)
        private_count = self._count_is_private(grouped)
        if private_count:
            self._declared_rows(0, grouped)  # refused before a record is read
        features, labels, rows = self._read(X, y, schema_given, private_count)
        schema, notes = self._schema_for(
            n_features=self.n_features_in_,
            names=getattr(self, "feature_names_in_", None),
            is_sparse=isinstance(features, tuple),
            labels=labels,
            max_records=self.max_records if groups is not None else None,
            unit=_units.name_of(groups),
        )
        codes = self._encoded_labels(labels, schema)
        units = self._units(X, groups, schema, rows)
        planned = self._make_plan(schema, self._declared_rows(rows, grouped), notes)
        # All that can be refused is refused before the model is drawn.
        classes = self._class_labels(schema, labels)
        seed, plan = seed_of(self.random_state, stacklevel=4), Plan._from_json(planned.to_json())
        model = planned.run(features, codes, units, seed, paid)
        # Spent, whatever becomes of the rest.
        spending.add(Certificate._of(model))
        self._set_model(model, plan, schema, classes)

    def _check_groups(self, groups: Any, schema: Schema | None) -> None:
        if schema is not None:
            _units.check_wanted(groups, schema)
            return
        if groups is not None and self.max_records is None:
            raise ValueError(
                "max_records is missing: with groups, the noise hides all rows of one group, so how many rows "
                "of a group are used must be fixed in advance; give max_records=a whole number from 1"
            )
        if groups is None and self.max_records is not None:
            raise ValueError(
                "groups are missing: max_records says how many rows of a group are used; name the group of "
                "each row with fit(X, y, groups=...), or leave max_records out"
            )

    def _read(
        self, X: Any, y: Any, schema: Schema | None, private_count: bool
    ) -> tuple[Any, np.ndarray, int]:
        """Features as the extension reads them, labels, and how many rows there are."""
        least = 0 if private_count else 1
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        if schema is not None and not _plain_numbers(schema, X):
            declared(self, schema, X)
            columns = self._named_columns(X, schema)
            rows = len(columns[0][2]) if columns else 0
            if rows == 0 and least:
                raise ValueError("X has 0 rows; at least one is needed")
            return columns, _one_label_a_row(y, rows, schema), rows
        options: dict[str, Any] = {
            "reset": True,
            "accept_sparse": "csr",
            "dtype": (np.float64, np.float32),
            "ensure_all_finite": False,
            "ensure_min_samples": least,
        }
        if schema is not None and schema.is_total:
            # scikit-learn refuses all labels for one that is missing.
            X = validate_data(self, _tables.real_sparse(X), **options)
            labels = _one_label_a_row(y, X.shape[0], schema)
        else:
            labels = numbers(y) if self._numeric_target() else read_labels(y)
            X, labels = validate_data(self, X, labels, **options)
        expected = None if schema is None else schema._checked.number_features
        if expected is not None and X.shape[1] != expected:
            raise ValueError(f"X has {X.shape[1]} features; the schema has {expected}")
        rows = X.shape[0]
        return (_tables.csr_parts(X) if sparse.issparse(X) else _tables.readable(X)), labels, rows

    def _numeric_target(self) -> bool:
        return False

    def _named_columns(self, X: Any, schema: Schema) -> list[Any]:
        if _tables.is_frame(X):
            return _tables.frame_columns(
                X, schema.features, total=schema.is_total, others=True, without=schema.unit
            )
        return _tables.array_columns(X, schema.features, total=schema.is_total)

    def _units(self, X: Any, groups: Any, schema: Schema, rows: int) -> Any:
        _units.check_wanted(groups, schema)
        if schema.unit is None:
            return None
        if self.schema is not None:
            _units.check_one(schema.unit, X, groups)
        if groups is not None:
            column = _units.groups_column(schema.unit, groups, total=schema.is_total)
        else:
            column = _units.frame_unit(schema.unit, X, total=schema.is_total)
            if column is None:
                raise ValueError(
                    f"groups are missing: the schema's unit is {schema.unit!r}; give fit(X, y, groups=...) or "
                    "a frame with that column"
                )
        if len(column[2]) != rows:
            raise ValueError(f"groups have {len(column[2])} entries, X has {rows} rows; as many are accepted")
        return column

    def _set_model(
        self, model: _privet.Released, plan: Plan, schema: Schema, classes: np.ndarray | None
    ) -> None:
        self.model_ = model
        self.plan_ = plan
        self.certificate_ = Certificate._of(model)
        # A plan may have settled how numbers are unfolded.
        self.coef_, self.intercept_ = self._coefficients(model, Schema._of(model.schema()))
        self._set_target(schema, classes)

    def _coefficients(self, model: _privet.Released, schema: Schema) -> tuple[np.ndarray, Any]:
        # By the schema as the plan settled it.
        settled = Schema._of(model.schema())
        return coefficients(model.weights(), settled, self._numeric_target(), model.centre())

    # Using.

    def _features(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._encodable(X)

    def _encodable(self, X: Any) -> Any:
        """Rows of the columns that were fitted on, or are about to be, as the extension reads them."""
        X = _tables.collected(X)
        schema = as_schema(self.schema) if self.schema is not None else None
        total = schema is not None and schema.is_total
        check_unmasked("X", X, total=total)
        if schema is not None and not _plain_numbers(schema, X):
            if _tables.is_frame(X):
                return _tables.frame_columns(X, schema.features, total=total)
            # Without names, columns are in the schema's order, whatever frame was fitted on: its columns may be a record's.
            return _tables.array_columns(X, schema.features, total=total)
        X = validate_data(
            self,
            _tables.real_sparse(X) if total else X,
            reset=not hasattr(self, "n_features_in_"),
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
        )
        return _tables.csr_parts(X) if sparse.issparse(X) else _tables.readable(X)

    def _labelled(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Rows and labels to compare with, as the extension reads them."""
        features, schema = self._features(X), Schema._of(self.model_.schema())
        return features, self._encoded_labels(flat_labels(target_of(y, schema), total=schema.is_total), schema)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write model and certificate into one file, which ``privet verify`` and :func:`privet.load` read.

        The file is written whole or not at all, readable by its owner alone. It holds no records.

        A file that is there already is kept unless ``overwrite``: a model was paid for and cannot be made
        again. Nor is this one lost: if it cannot be put at ``path``, it is put beside that under a new name,
        in the current folder or in that for temporary files, and the ``OSError`` (``FileExistsError`` where
        a file was kept) says where. A file that holds this very model is as good as written.
        """
        check_is_fitted(self)
        self.model_.save(os.fspath(path), bool(overwrite))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        certificate = self.__dict__.get("certificate_")
        if certificate is not None and "text/html" in bundle:
            bundle["text/html"] += _html.certificate(certificate)
        return bundle

    # Counting fits.

    def _spent(self) -> Spending:
        spending = self.__dict__.get("_spending")
        if spending is None:
            spending = self._spending = Spending()
        return spending

    def __sklearn_clone__(self) -> Any:
        spending = self._spent()
        twin = super().__sklearn_clone__()
        twin._spending = spending
        hand_over(self, twin.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        hand_over(self, state)
        return state

    def __copy__(self) -> Any:
        self._spent()
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        self._spent()
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@parameters
class Normed:
    """With a bound on the norm of a row.

    Parameters
    ----------
    data_norm : float, optional
        A public bound on the Euclidean norm of a row; longer rows are scaled down to it.
    """

    data_norm: Any = parameter(default=None, before="schema")


@parameters
class Linear(Normed):
    """Linear models by a learner of choice.

    Parameters
    ----------
    method : str
        The learner; ``"auto"`` chooses by a fixed rule from public facts. ``python -m privet methods``
        lists them.
    calibration : {"sound", "printed"}
        Whose constants: proved ones, or a paper's own (the certificate claims what is proved either way).
    settings : mapping, optional
        Settings of the method by name, such as ``{"ridge": 2.0}``.
    fit_intercept : bool
        Whether there is a constant column. It is part of the bounded row.
    """

    method: Any = parameter(default="auto", after="delta")
    calibration: Any = parameter(default="sound", after="max_records")
    settings: Any = None
    fit_intercept: Any = True


def _one_label_a_row(y: Any, rows: int, schema: Schema) -> np.ndarray:
    """The labels, as many as there are rows."""
    labels = flat_labels(target_of(y, schema), total=schema.is_total)
    if len(labels) != rows:
        raise ValueError(f"X has {rows} rows and y has {len(labels)} labels; as many are accepted")
    return labels


def _plain_numbers(schema: Schema, X: Any) -> bool:
    """Whether rows can be read by position as numbers. What is no array of numbers is read cell by cell
    where a bad cell is not refused: as one array, it would make all others bad."""
    if schema._checked.number_features is None or _tables.is_frame(X):
        return False
    numeric = sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "iufb")
    return numeric or not schema.is_total
