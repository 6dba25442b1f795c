"""Networks trained under differential privacy, for scikit-learn."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from privet import _privet
from privet._array_schema import array_schema
from privet._base import Normed
from privet._certificate import Certificate, Plan
from privet._numbers import SMALL, optional_number, whole
from privet._parameters import parameter, parameters
from privet._pipelines import prior_fits
from privet.classification import _Classifier
from privet.schema import Schema, as_said, as_schema


@parameters
class PrivateNetworkClassifier(Normed, _Classifier):
    """A small network that tells classes apart, every gradient clipped and noised (``dp-sgd`` and its kin).

    Parameters
    ----------
    layers : sequence of mappings
        The layers before the last, each with its ``kind``: ``linear`` (``out``), ``conv`` (``out``, ``kernel``,
        ``stride``, ``padding``), ``relu``, ``tanh``, ``max-pool`` and ``average-pool`` (``size``, ``stride``),
        ``group-norm`` (``groups``), ``flatten``. A linear layer with an output for each class is added. None of them
        make a linear model.
    input_shape : (height, width) or (height, width, channels), optional
        What a row is an image of, for ``conv``; otherwise it is a row of numbers.
    method : str
        ``dp-sgd``, ``dp-adam``, ``dp-lssgd``, ``dp-lsadam``, ``dp-srm``, ``dp-gd``, ``dp-agd``, ``dp-ftrl``,
        ``rrpsgd``; without privacy ``non-private``. ``python -m privet methods --network`` lists them and their
        settings.
    bounds : (low, high), optional
        Public bounds of the features, which become −1 and 1. No row is scaled down.
    settings : mapping, optional
        Settings of the method by name, such as ``{"batch": 256}``.
    initial_weights : fitted PrivateNetworkClassifier or path, optional
        A network of the same layers, trained on **public** records alone, to begin from: nothing of it is protected.
        The certificate quotes the ε and δ that it claims itself, or says that it carries no guarantee.
    weights_seed : int
        Seed of the weights at the start where none are given. Public, and no secret of the noise.

    Attributes
    ----------
    tensors_ : dict
        The noised weights by name.
    classes_, n_features_in_, certificate_, plan_, model_
        As of :class:`PrivateLogisticRegression`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from privet import PrivateNetworkClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PrivateNetworkClassifier(
    ...     epsilon=8, delta=1e-5, layers=[{"kind": "linear", "out": 32}, {"kind": "tanh"}], bounds=(0, 16),
    ...     classes=range(10), settings={"batch": 256, "steps": 300, "rate": 2},
    ... ).fit(X, y)
    >>> model.certificate_.epsilon, bool(model.score(X, y) > 0.6)
    (8.0, True)
    """

    layers: Any = parameter(default=(), after="delta")
    input_shape: Any = None
    method: Any = "dp-sgd"
    settings: Any = parameter(default=None, after="max_records")
    initial_weights: Any = None
    weights_seed: Any = 0

    # A network has no constant column: its layers have their own.
    fit_intercept = False

    def _loss_name(self) -> str:
        return "cross-entropy"

    def _description(self, schema: Schema) -> str:
        classes = len(schema.classes or ())
        if self.input_shape is not None:
            sides = [whole("input_shape", side) for side in self.input_shape]
            if len(sides) not in (2, 3):
                raise ValueError(
                    f"input_shape has {len(sides)} sides; accepted is (height, width) or (height, width, channels)"
                )
            height, width, channels = (*sides, 1)[:3]
            given = {"channels": channels, "height": height, "width": width}
        else:
            given = {"features": schema._checked.network_inputs}
        layers = [*self.layers, {"kind": "linear", "out": classes}]
        return json.dumps({"input": given, "layers": layers})

    def _public(self) -> Any:
        public = self.initial_weights
        if public is None or isinstance(public, _privet.Released):
            return public
        if isinstance(public, PrivateNetworkClassifier):
            return public.model_
        loaded = _privet.load(os.fspath(public), sealed=True)
        if loaded.task != "network":
            raise ValueError("initial_weights: the file holds no network; accepted is one that does")
        return loaded

    def _make_plan(self, schema: Schema, rows: int, notes: list[str]) -> Any:
        return _privet.plan_network(
            schema._checked,
            self._description(schema),
            rows,
            epsilon=optional_number("epsilon", self.epsilon),
            delta=optional_number("delta", self.delta),
            neighbours=self.neighbours,
            method=self.method,
            settings=[(str(name), str(value)) for name, value in self._settings().items()],
            seed=0 if self.weights_seed == 0 else whole("weights_seed", self.weights_seed),
            weights=self._public(),
            scale=None,
            shift=None,
            notes=notes,
            prior_fits=prior_fits(self),
        )

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
        if self.schema is not None or self.bounds is None:
            return super()._schema_for(
                n_features=n_features,
                names=names,
                is_sparse=is_sparse,
                labels=labels,
                max_records=max_records,
                unit=unit,
            )
        target, notes = self._target_facts(labels)
        schema = array_schema(
            n_features=n_features,
            names=names,
            bounds=self.bounds,
            data_norm=None,
            fit_intercept=False,
            sparse=is_sparse,
            target=target,
            max_records=None if max_records is None else whole("max_records", max_records, below=SMALL),
            unit=unit,
            # As long as a row of such entries can be: nothing is clipped.
            radius=float(np.sqrt(n_features) * (1 + 1e-6)),
        )
        return schema, notes

    def _set_model(self, model: Any, plan: Plan, schema: Schema, classes: np.ndarray | None) -> None:
        self.model_ = model
        self.plan_ = plan
        self.certificate_ = Certificate._of(model)
        self.tensors_ = {name: values.reshape(shape) for name, shape, values in model.tensors()}
        self._set_target(schema, classes)

    def _set_target(self, schema: Schema, classes: np.ndarray | None) -> None:
        self._order = np.argsort(classes)
        self.classes_ = classes[self._order]

    def _shapes(self) -> Any:
        raise AttributeError("a network has no shape functions; linear and additive models have")

    def decision_function(self, X: Any) -> np.ndarray:
        """The logarithm of the probabilities; of two classes how much likelier the second is."""
        scores = np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """A probability for each row and class."""
        return np.asarray(self.model_.probabilities(self._features(X)))[:, self._order]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of each row and class."""
        return np.log(self.predict_proba(X))


def _of_file(model: Any) -> PrivateNetworkClassifier:
    """A fitted estimator of a network that was read."""
    request = json.loads(model.request())
    schema = as_said(Schema._of(model.schema()), json.loads(model.claim())["whose"])
    if schema.classes is None:
        raise ValueError("the network predicts a number; `privet predict` uses it")
    method = dict(request["method"])
    budget = request["budget"] or {"epsilon": None, "delta": None}
    given = request["net"]["input"]
    shape = None if "features" in given else (given["height"], given["width"], given["channels"])
    estimator = PrivateNetworkClassifier(
        epsilon=budget["epsilon"],
        delta=budget["delta"],
        layers=request["net"]["layers"][:-1],
        input_shape=shape,
        method=method.pop("name"),
        schema=schema,
        neighbours=request["neighbours"],
        n_rows=request["rows"],
        settings=method or None,
    )
    features = schema.features
    estimator.n_features_in_ = len(features) or schema._checked.number_features
    if features and features != tuple(f"x{place}" for place in range(len(features))):
        estimator.feature_names_in_ = np.asarray(features, dtype=object)
    classes = estimator._class_labels(as_schema(schema), None)
    estimator._set_model(model, Plan._from_json(model.plan()), schema, classes)
    return estimator
