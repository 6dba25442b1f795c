"""Every kind of table gives the same model."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import privet
import privet._labels
from privet import PrivateLogisticRegression, PrivateRidge, Schema, SchemaEncoder, binary, category, number

pytestmark = pytest.mark.filterwarnings("ignore::privet.NotPrivateWarning")


def logistic(**more):
    settings = {"epsilon": 2.0, "bounds": (-1, 1), "classes": [0, 1], "random_state": 1}
    return PrivateLogisticRegression(**(settings | more))


def test_memory_order_and_width_do_not_matter(table):
    X, y = table
    X = X.astype(np.float32).astype(np.float64)
    expected = logistic().fit(X, y)
    wide = np.zeros((len(X), 6))
    wide[:, ::2] = X
    for same in (
        np.asfortranarray(X),
        X.astype(np.float32),
        np.asfortranarray(X.astype(np.float32)),
        wide[:, ::2],
        X[::-1][::-1],
        X.tolist(),
    ):
        model = logistic().fit(same, y)
        assert np.array_equal(model.coef_, expected.coef_)
        assert np.array_equal(model.decision_function(same), expected.decision_function(X))


def test_arrays_are_not_changed(table):
    X, y = table
    before = X.copy()
    X.setflags(write=False)
    logistic().fit(X, y).predict(X)
    X.setflags(write=True)
    assert np.array_equal(X, before)


def test_sparse_rows(table):
    X, y = table
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = logistic(bounds=None, data_norm=2.0)
    dense = model.fit(X, y).decision_function(X)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        rows = kind(X)
        fitted = logistic(bounds=None, data_norm=2.0, epsilon=20.0).fit(rows, y)
        assert fitted.score(rows, y) > 0.8
        # Dense and sparse rows are the same rows to a model.
        assert np.allclose(fitted.decision_function(rows), fitted.decision_function(X))
        narrow = sparse.csr_array(rows.astype(np.float32))
        assert np.allclose(fitted.decision_function(narrow), fitted.decision_function(X), atol=1e-5)
    assert np.array_equal(model.decision_function(sparse.csr_array(X)), dense)
    people = np.arange(len(X)) // 2
    grouped = logistic(bounds=None, data_norm=2.0, max_records=2, n_rows=2000)
    assert grouped.fit(sparse.csr_array(X), y, groups=people).certificate_.max_records == 2


def frame(rows=400):
    rng = np.random.default_rng(3)
    return {
        "age": rng.integers(0, 100, rows),
        "work": rng.choice(["private", "public", "none"], rows),
        "hours": rng.uniform(0, 60, rows),
        "smokes": rng.choice([True, False], rows),
    }


SCHEMA = Schema(
    {
        "age": number(0, 100),
        "work": category(["private", "public"], unknown="other", missing="category"),
        "hours": number(0, 60, missing=40),
        "smokes": binary("false", "true"),
    },
    target="income",
    classes=["low", "high"],
)


def test_frames_of_every_kind_agree(tmp_path):
    cells = frame()
    income = np.where(cells["age"] > 50, "high", "low")
    hours = cells["hours"].copy()
    hours[::7] = np.nan
    work = cells["work"].astype(object)
    work[::5] = None
    lists = dict(cells, hours=[None if np.isnan(h) else h for h in hours], work=list(work))
    frames = {
        "pandas": pd.DataFrame(dict(cells, hours=hours, work=work)),
        "pandas categories": pd.DataFrame(dict(cells, hours=hours, work=pd.Categorical(work))),
        "polars": pl.DataFrame({name: list(values) for name, values in lists.items()}, strict=False),
        "pyarrow": pa.table({name: list(values) for name, values in lists.items()}),
    }
    fits = {}
    for name, table in frames.items():
        model = PrivateLogisticRegression(epsilon=4.0, schema=SCHEMA, random_state=2)
        fits[name] = model.fit(table, income)
        assert list(model.classes_) == ["high", "low"], name
        assert model.score(table, income) > 0.7, name
    for name, model in fits.items():
        assert np.array_equal(model.coef_, fits["pandas"].coef_), name
        for other, table in frames.items():
            expected = fits["pandas"].decision_function(frames["pandas"])
            assert np.array_equal(model.decision_function(table), expected), (name, other)
    # Columns are found by name; one too many is told.
    shuffled = frames["pandas"][["smokes", "hours", "work", "age"]]
    assert np.array_equal(
        fits["polars"].decision_function(shuffled), fits["polars"].decision_function(frames["polars"])
    )
    more = frames["pandas"].assign(extra=1)
    with pytest.raises(ValueError, match="column \"extra\" is not in the schema"):
        PrivateLogisticRegression(epsilon=4.0, schema=SCHEMA).fit(more, income)
    with pytest.raises(ValueError, match="column \"work\" of the schema is missing"):
        fits["pandas"].predict(frames["pandas"].drop(columns="work"))


def test_a_schema_from_a_file_or_a_mapping(tmp_path):
    cells = pd.DataFrame(frame())
    income = np.where(cells["age"] > 50, "high", "low")
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA.to_toml())
    fits = [
        PrivateLogisticRegression(epsilon=4.0, schema=given, random_state=2).fit(cells, income)
        for given in (SCHEMA, path, str(path), SCHEMA.to_dict())
    ]
    assert all(np.array_equal(fit.coef_, fits[0].coef_) for fit in fits)
    with pytest.raises(ValueError, match="a category that the schema does not list|not a number"):
        strict = Schema({"age": number(0, 100), "work": category(["private"])}, target="t", classes=["low", "high"])
        PrivateLogisticRegression(epsilon=4.0, schema=strict).fit(cells[["age", "work"]], income)
    with pytest.raises(ValueError, match="schema's target has classes"):
        PrivateRidge(epsilon=1, schema=SCHEMA).fit(cells, cells["age"])


def test_rows_without_names_go_by_position():
    cells = pd.DataFrame(frame())
    income = np.where(cells["age"] > 50, "high", "low")
    named = PrivateLogisticRegression(epsilon=4.0, schema=SCHEMA, random_state=2).fit(cells, income)
    cells["smokes"] = np.where(cells["smokes"], "true", "false")
    by_place = PrivateLogisticRegression(epsilon=4.0, schema=SCHEMA, random_state=2)
    by_place.fit(cells.to_numpy(dtype=object), income)
    assert np.array_equal(named.coef_, by_place.coef_)
    with pytest.raises(ValueError, match="2 columns; the schema has 4 features"):
        by_place.predict(cells.to_numpy(dtype=object)[:, :2])


def test_frames_of_numbers_need_no_schema(table):
    X, y = table
    expected = logistic().fit(X, y)
    names = ["a", "b", "c"]
    for same in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = logistic().fit(same, y)
        assert np.array_equal(model.coef_, expected.coef_)
        assert list(model.feature_names_in_) == names
        with pytest.raises(ValueError, match="feature names"):
            model.predict(same[["b", "a", "c"]])


def test_the_unit_can_be_a_column_of_the_frame():
    cells = pd.DataFrame(frame())
    cells["person"] = [f"person {n // 2}" for n in range(len(cells))]
    income = np.where(cells["age"] > 50, "high", "low")
    draft = SCHEMA.to_dict() | {"unit": {"column": "person", "max_records": 2}}
    schema = Schema.from_dict(draft)
    model = PrivateLogisticRegression(epsilon=4.0, schema=schema, n_rows=400).fit(cells, income)
    assert model.certificate_.max_records == 2 and privet.verify(model)
    without = cells.drop(columns="person")
    again = PrivateLogisticRegression(epsilon=4.0, schema=schema, n_rows=400)
    assert again.fit(without, income, groups=cells["person"]).plan_ == model.plan_
    with pytest.raises(ValueError, match="groups are missing: the schema's unit is 'person'"):
        PrivateLogisticRegression(epsilon=4.0, schema=schema, n_rows=400).fit(without, income)


def test_the_encoder_uses_public_facts_only():
    cells = pd.DataFrame(frame())
    schema = Schema.from_dict(SCHEMA.to_dict() | {"clip": {"norm": "l2", "radius": 2.5}})
    encoded = SchemaEncoder(schema).fit_transform(cells)
    assert encoded.dtype == np.float32 and encoded.shape == (400, 8)
    assert np.linalg.norm(encoded.astype(float), axis=1).max() <= 2.5
    one = SchemaEncoder(schema).fit(cells[:1])
    assert np.array_equal(one.transform(cells), encoded)
    named = SchemaEncoder(schema).set_output(transform="pandas").fit_transform(cells)
    assert list(named.columns) == list(schema.encoded_columns)


def test_arrays_that_are_ready_are_read_as_scikit_learn_would(table):
    X, y = table
    y = y.astype(np.int64)
    ready, looked_at = logistic().fit(X, y), logistic().fit(X.tolist(), y.tolist())
    assert np.array_equal(ready.coef_, looked_at.coef_)
    assert ready.n_features_in_ == looked_at.n_features_in_ == X.shape[1]
    # Names of a frame are forgotten when an array follows, and the shape is checked as ever.
    named = logistic().fit(pd.DataFrame(X, columns=[f"c{place}" for place in range(X.shape[1])]), y)
    assert not hasattr(named.fit(X, y), "feature_names_in_")
    for wrong, labels in ((X[:, :0], y), (X[:0], y[:0]), (X, y[:-1]), (X[:, 0], y), (X, y[:, None, None])):
        with pytest.raises(ValueError):
            logistic().fit(wrong, labels)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.float32, np.float64, str, object])
def test_labels_of_every_type_have_the_same_places(kind):
    codes = np.asarray([3, 1, 2, 3, 1], dtype=np.int64)
    schema = {"columns": {"a": number(0, 1)}, "target": "y", "classes": [2, 3, 1]}
    model = PrivateLogisticRegression(epsilon=1.0, schema=Schema(**schema))
    places = model._encoded_labels(codes.astype(kind), model.schema)
    assert places.dtype == np.uint32 and places.tolist() == [1, 2, 0, 1, 2]
    with pytest.raises(ValueError, match="none of the classes"):
        model._encoded_labels(np.append(codes, 4).astype(kind), model.schema)
    assert model._encoded_labels(codes[:0].astype(kind), model.schema).tolist() == []


@pytest.mark.parametrize("bounds", [(-0.5, 0.5), (0, 0.1), (-0.2, 0.1), (-3, 3)])
def test_coefficients_of_sparse_rows_are_those_of_the_caller(bounds):
    rng = np.random.default_rng(3)
    X = rng.uniform(*bounds, size=(300, 4)) * (rng.uniform(size=(300, 4)) < 0.3)
    y = np.arange(300) % 2
    model = logistic(bounds=bounds, fit_intercept=False, epsilon=20.0).fit(sparse.csr_array(X), y)
    # One entry of at most its bound is never clipped.
    single = np.diag(np.full(4, 0.9 * bounds[1]))
    expected = single @ model.coef_.T + model.intercept_
    assert np.allclose(model.decision_function(sparse.csr_array(single)), expected[:, 0], rtol=1e-5)


def test_classes_that_are_one_number_in_the_type_of_y_stay_classes():
    codes = privet._labels.codes_of(np.asarray([2.0**53]), ["0", str(2**53), str(2**53 + 1), "5"])
    assert codes.tolist()[0] in (1, 2)
