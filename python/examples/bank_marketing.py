"""The first day with a table in pandas: Bank Marketing to a private model with intervals, a private evaluation, a page to
sign and an ONNX file, at a total epsilon that is named at the start. Needs pandas and the data; says SKIPPED without.

    python python/examples/bank_marketing.py [bank-full.csv or bank-full.csv.zst] [folder to leave it in]
"""

import io
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import privet

TOTAL = 2.0
USUAL = Path(__file__).parents[3] / "shared" / "data" / "bank-marketing" / "bank-full.csv.zst"
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
JOBS = [
    "admin.", "unknown", "unemployed", "management", "housemaid", "entrepreneur", "student", "blue-collar",
    "self-employed", "retired", "technician", "services",
]  # fmt: skip


def table(path: Path) -> pd.DataFrame:
    """The file as it was published."""
    if path.suffix != ".zst":
        return pd.read_csv(path, sep=";")
    text = subprocess.run(["zstd", "-dc", str(path)], capture_output=True, check=True).stdout
    return pd.read_csv(io.BytesIO(text), sep=";")


def schema() -> privet.Schema:
    """By the code book (bank-names.txt) and common sense, not by the records."""
    yes_or_no = privet.binary("no", "yes")
    return privet.Schema(
        {
            "age": privet.number(18, 100),
            "job": privet.category(JOBS),
            "marital": privet.category(["married", "divorced", "single"]),
            "education": privet.category(["unknown", "secondary", "primary", "tertiary"]),
            "default": yes_or_no,
            "balance": privet.number(-2000, 20000),
            "housing": yes_or_no,
            "loan": yes_or_no,
            "contact": privet.category(["unknown", "telephone", "cellular"]),
            "day": privet.number(1, 31),
            "month": privet.category(MONTHS),
            "campaign": privet.number(1, 20),
            "pdays": privet.number(-1, 400),
            "previous": privet.number(0, 20),
            "poutcome": privet.category(["unknown", "other", "failure", "success"]),
            # How long the call was is known only when it is over.
            "duration": privet.ignore(),
        },
        target="y",
        classes=["no", "yes"],
    )


def main() -> None:
    """Train, measure, take away; what was spent is checked at the end."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else USUAL
    if not path.exists() or (path.suffix == ".zst" and shutil.which("zstd") is None):
        print(f"SKIPPED: {path.name} is absent, or there is no zstd to read it")
        return
    started = time.monotonic()
    clients = table(path)
    # A fixed part by place: every client has one row.
    test = np.arange(len(clients)) % 5 == 0
    X, y = clients.drop(columns="y"), clients["y"]
    model = privet.PrivateLogisticRegression(epsilon=1.5, schema=schema()).fit(X[~test], y[~test])
    assert privet.verify(model).valid
    frame = model.coef_frame()
    print(pd.DataFrame(frame).head(8).to_string(index=False))
    worth = privet.evaluate(model, X[test], y[test], epsilon=0.5)
    print(worth, "AUC between", round(worth.auc.low, 3), "and", round(worth.auc.high, 3))
    spent = privet.account.total([model, worth.certificate], delta=2e-9)
    assert spent <= TOTAL + 1e-6, spent
    print(f"in all: epsilon = {spent:.3f}, of {TOTAL:g} that were named; {time.monotonic() - started:.0f} s")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        model.save(folder / "model.json", overwrite=True)
        worth.save(folder / "worth.json", overwrite=True)
        model.to_onnx(folder / "model.onnx")
        page = ["report", str(folder / "model.json"), "--html", str(folder / "model.html"), "--force"]
        subprocess.run([sys.executable, "-m", "privet", *page], check=True)
        print("left:", ", ".join(sorted(file.name for file in folder.iterdir())))


if __name__ == "__main__":
    main()
