"""Private descriptions: released, saved, loaded, verified; from frames, mappings and files."""

import pickle

import numpy as np
import pandas as pd
import pytest

import privet
from privet import Description, NotPrivateWarning, Schema, binary, category, describe, number, plan_describe

COLUMNS = {
    "work": category(["farm", "shop"], unknown="other", missing="category"),
    "age": number(0, 100, missing="category"),
    "hours": number(0, 80),
    "smokes": binary("n", "y"),
}
SCHEMA = Schema(COLUMNS, target="ill", classes=["no", "yes"], missing_values=["?"])
ROWS = 4000
TABLE = {
    "work": ["farm", "mine", None, "shop"] * (ROWS // 4),
    "age": [float(row % 100) if row % 10 else None for row in range(ROWS)],
    "hours": [float(row % 81) for row in range(ROWS)],
    "smokes": ["y", "n"] * (ROWS // 2),
    "ill": ["no", "yes"] * (ROWS // 2),
}


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_a_table_is_described(kind):
    found = describe(kind(TABLE), schema=SCHEMA, epsilon=2)
    assert found.columns == ("work", "age", "hours", "smokes", "ill")
    assert found.rows["value"] == ROWS and found.certificate.private and privet.verify(found).valid
    frame = found.to_frame()
    # Ten standard deviations of the noise.
    assert abs(frame.loc[("work", "(missing)"), "count"] - 1000) < 10 * found.noise
    assert abs(frame.loc[("age", ""), "missing"] - 400) < 10 * found.noise
    hours = frame.loc[("hours", "")]
    assert hours["mean_low"] <= hours["mean"] <= hours["mean_high"] and abs(hours["mean"] - 40) < 8
    assert abs(found.histogram("hours")["count"].sum() - ROWS) < 60 * found.noise
    assert list(found.correlations().columns) == ["first", "second", "value", "low", "high"]
    with pytest.raises(ValueError, match="category"):
        found.histogram("work")


def test_files_travel(tmp_path):
    found = describe(TABLE, schema=SCHEMA, epsilon=1, columns=["age", "ill"], bins=8)
    path = tmp_path / "described.json"
    found.save(path)
    again = privet.load(path)
    assert isinstance(again, Description) and again == found and privet.verify(path).valid
    assert pickle.loads(pickle.dumps(found._release)).summary() == found._release.summary()


def test_plans_need_no_data_and_less_costs_less():
    whole = plan_describe(schema=SCHEMA, n_rows=ROWS, epsilon=1)
    part = plan_describe(schema=SCHEMA, n_rows=ROWS, epsilon=1, columns=["age"])
    assert part.noise < whole.noise and whole.correlations and not part.correlations


def test_a_seed_is_not_private():
    with pytest.warns(NotPrivateWarning):
        found = describe(TABLE, schema=SCHEMA, epsilon=1, random_state=1)
    assert not found.certificate.private


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"columns": ["wealth"]}, "wealth"),
        ({"columns": "age"}, "list of names"),
        ({"bins": 1}, "bins"),
        ({"epsilon": None}, "epsilon"),
        ({"neighbours": "add-remove"}, "n_rows"),
    ],
)
def test_bad_input_is_refused_in_words(more, word):
    with pytest.raises((ValueError, TypeError), match=word):
        describe(TABLE, **{"schema": SCHEMA, "epsilon": 1} | more)


def test_units_are_protected_whole():
    schema = Schema(
        {"age": number(0, 100)}, target="ill", classes=["no", "yes"], unit="who", max_records=2
    )
    table = {"age": np.arange(100.0), "ill": ["no", "yes"] * 50, "who": [f"p{row // 2}" for row in range(100)]}
    found = describe(table, schema=schema, epsilon=5, n_rows=100)
    assert found.certificate.max_records == 2 and privet.verify(found).valid
