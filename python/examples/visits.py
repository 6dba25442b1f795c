"""From a table to a model with its certificate, to SQL and to ONNX. Needs pandas."""

import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import privet


def invented(rows: int) -> pd.DataFrame:
    """Visits of nobody: older people, and those after surgery, come back."""
    random = np.random.default_rng(1)
    age, ward = random.integers(18, 96, rows), random.choice(["surgery", "medicine", "ear"], rows)
    risk = (age - 60) / 12 + 2 * (ward == "surgery") - 1 + random.normal(size=rows)
    seen = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 1500, rows), unit="D")
    return pd.DataFrame({"age": age, "ward": ward, "seen": seen, "readmitted": np.where(risk > 0, "yes", "no")})


def main() -> None:
    """Train, check, take away."""
    visits = invented(5000)
    schema = privet.Schema(
        {
            "age": privet.number(18, 100),
            "ward": privet.category(["surgery", "medicine", "ear"], unknown="other"),
            "seen": privet.date("2020-01-01", "2024-12-31", parts=["month"]),
        },
        target="readmitted",
        classes=["no", "yes"],
        other_columns="ignore",
    )
    model = privet.PrivateLogisticRegression(epsilon=1, schema=schema)
    model.fit(visits.drop(columns="readmitted"), visits["readmitted"])
    assert privet.verify(model)

    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        model.to_onnx(Path(folder) / "model.onnx")

    # The parts of a date are columns of their own in a database.
    visits["seen.month"] = visits["seen"].dt.month
    database = sqlite3.connect(":memory:")
    visits.drop(columns="seen").to_sql("visits", database)
    found = pd.read_sql(model.to_sql("visits", id="index"), database)
    agree = (found["prediction"].to_numpy() == model.predict(visits)).mean()
    print(f"SQL and privet agree on {agree:.1%} of {len(visits)} visits")


if __name__ == "__main__":
    main()
