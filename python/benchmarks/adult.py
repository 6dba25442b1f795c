"""Adult at epsilon = 1: privet from Python beside diffprivlib, and what the Python layer costs.

    python adult.py --data FOLDER --peer PYTHON [--runs 10] [--page docs/python.md]

FOLDER holds what ``privet data prepare adult`` leaves (the standalone command, not the package's), PYTHON is
an interpreter with diffprivlib 0.6.6 and scikit-learn 1.7.2. Both sides get the same 36,177 × 104 rows of norm at most 1. The
numbers are printed, and written into the page between its two benchmark marks. Give the machine nothing else
to do meanwhile.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pandas as pd

import privet
from privet import PrivateLogisticRegression, Schema, SchemaEncoder

BEGIN, END = "<!-- benchmark: written by python/benchmarks/adult.py -->", "<!-- benchmark: end -->"
EPSILON = 1.0


def prepared(data, folder):
    """Encoded rows and labels, saved for the peer."""
    schema = Schema.load(data / "schema.toml")
    rows = {}
    for part in ("train", "test"):
        frame = pd.read_csv(data / f"{part}.csv", keep_default_na=False)
        labels = (frame.pop(schema.target) == schema.classes[1]).to_numpy(dtype=np.int64)
        rows[f"X_{part}"] = SchemaEncoder(schema).fit_transform(frame).astype(np.float64)
        rows[f"y_{part}"] = labels
    for name, values in rows.items():
        np.save(folder / f"{name}.npy", values)
    return rows


def fits(rows, method, runs):
    """Seconds and test accuracies of fits from Python."""
    seconds, accuracies = [], []
    for _ in range(runs):
        model = PrivateLogisticRegression(epsilon=EPSILON, method=method, data_norm=1.0, classes=[0, 1])
        start = time.perf_counter()
        model.fit(rows["X_train"], rows["y_train"])
        seconds.append(time.perf_counter() - start)
        accuracies.append(model.score(rows["X_test"], rows["y_test"]))
    return seconds, accuracies


class TimedPlan:
    """A plan that notes how long its run took."""

    def __init__(self, plan, seconds):
        self.plan, self.seconds = plan, seconds

    def to_json(self):
        return self.plan.to_json()

    def run(self, *arguments):
        start = time.perf_counter()
        model = self.plan.run(*arguments)
        self.seconds.append(time.perf_counter() - start)
        return model


def overhead(rows, method, runs):
    """Medians of the whole fit, and of the part of it that was not spent in plan and run."""
    whole, inside = [], []
    for _ in range(runs):
        model = PrivateLogisticRegression(epsilon=EPSILON, method=method, data_norm=1.0, classes=[0, 1])
        make_plan, seconds = model._make_plan, []

        def timed_plan(*arguments, make_plan=make_plan, seconds=seconds):
            start = time.perf_counter()
            plan = make_plan(*arguments)
            seconds.append(time.perf_counter() - start)
            return TimedPlan(plan, seconds)

        model._make_plan = timed_plan
        start = time.perf_counter()
        model.fit(rows["X_train"], rows["y_train"])
        whole.append(time.perf_counter() - start)
        inside.append(sum(seconds))
    layer = np.median(np.array(whole) - np.array(inside))
    return float(np.median(whole)), float(layer)


def seconds_of(seconds):
    """The median and the range, in two cells."""
    return f"{np.median(seconds):.3f} | {min(seconds):.3f}–{max(seconds):.3f}"


def page(found):
    """The table, in Markdown."""
    ours, peer = found["ours"], found["peer"]
    best = max(peer["accuracy_by_c"].items(), key=lambda pair: pair[1])
    typical = np.median(peer["seconds"])
    lines = [
        f"Adult, {found['rows']:,} × {found['columns']} rows, ε = 1, replace-one neighbours, δ = 1/n² for privet "
        f"(diffprivlib: δ = 0), accuracy on held-out rows, mean of {found['runs']} fits; seconds: the median, and from "
        f"the fastest to the slowest (how long diffprivlib searches depends on the noise it draws). {found['machine']}.",
        "",
        "| who | seconds | range | times as fast | accuracy, % |",
        "|---|---|---|---|---|",
        f"| {peer['who']}, defaults | {seconds_of(peer['seconds'])} | 1 | {100 * np.mean(peer['accuracy']):.2f} |",
        f"| the same, best C of its grid on the test rows ({best[0]}) | – | – | – | {100 * best[1]:.2f} |",
    ]
    for name, (seconds, accuracies) in ours.items():
        ratio = typical / np.median(seconds)
        lines.append(
            f"| privet {found['version']}, `method=\"{name}\"` | {seconds_of(seconds)} | {ratio:.1f} | "
            f"{100 * np.mean(accuracies):.2f} |"
        )
    lines += [
        "",
        "What the Python layer adds to the calls into Rust that it makes (validation, labels, schema, certificate), "
        "medians:",
        "",
        "| method | fit, ms | of which Python, ms | over the calls into Rust |",
        "|---|---|---|---|",
    ]
    for name, (whole, layer) in found["overhead"].items():
        share = 100 * layer / (whole - layer)
        lines.append(f"| `{name}` | {1e3 * whole:.1f} | {1e3 * layer:.2f} | {share:.1f} % |")
    return "\n".join(lines)


def commit():
    """Of the sources beside this script; ``unknown`` outside a clone."""
    asked = ["git", "-C", Path(__file__).parent, "rev-parse", "--short", "HEAD"]
    found = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return found.stdout.strip() or "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        rows = prepared(arguments.data, folder)
        found = {
            "rows": len(rows["X_train"]),
            "columns": rows["X_train"].shape[1],
            "runs": arguments.runs,
            "version": privet.__version__,
            "ours": {method: fits(rows, method, arguments.runs) for method in ("auto", "amp")},
            "overhead": {method: overhead(rows, method, arguments.runs) for method in ("auto", "amp")},
        }
        script = Path(__file__).with_name("adult_diffprivlib.py")
        peer = subprocess.run(
            [arguments.peer, script, folder, str(arguments.runs)], check=True, stdout=subprocess.PIPE, text=True
        )
        found["peer"] = json.loads(peer.stdout)
    day, cores = datetime.now(timezone.utc).date(), os.cpu_count()
    found["machine"] = (
        f"{day}, commit {commit()}, {cores} cores ({platform.machine()}), Python {platform.python_version()}, load of the "
        f"machine before: {load:.1f}"
    )
    text = page(found)
    print(text)
    if arguments.page:
        before, _, rest = arguments.page.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        arguments.page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
