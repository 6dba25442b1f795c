"""Checks privet.spark on a cluster that scripts/spark.sh started; prints a line for each thing that holds."""

import argparse
import atexit
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from privet import Ledger, NotPrivateWarning, PrivateLinearRegression, PrivateLogisticRegression
from privet import Schema, category, number, verify
from privet import count as count_here
from privet import spark as private
from privet.schema import date
from spark_session import executors, in_partitions, session, wait_for

COLUMNS = {
    "age": number(18, 100),
    "ward": category(["medicine", "surgery"], unknown="other"),
    "dose": number(0, 5, missing="category"),
    "pulse": number(30, 200),
}
CLASSES = Schema(COLUMNS, target="ill", classes=["no", "yes"])
NUMBER = Schema(COLUMNS, target="cost", target_bounds=(-8, 8))


def table(rows, seed=3):
    rng = np.random.default_rng(seed)
    age, pulse = rng.uniform(18, 100, rows), rng.uniform(30, 200, rows)
    ward = rng.choice(["surgery", "medicine", "ear"], rows)
    dose = np.where(rng.uniform(size=rows) < 0.1, np.nan, rng.uniform(0, 5, rows))
    risk = (age - 60) / 12 + 2 * (ward == "surgery") - 1 + rng.normal(size=rows)
    facts = {"age": age, "ward": ward, "dose": dose, "pulse": pulse, "cost": risk}
    return pd.DataFrame(facts | {"ill": np.where(risk > 0, "yes", "no")}).assign(person=[f"p{k % (rows // 5)}" for k in range(rows)])


def in_memory(schema, method, data, **more):
    kind = PrivateLogisticRegression if schema.classes else PrivateLinearRegression
    model = kind(epsilon=1, method=method, schema=schema, random_state=5, **more)
    return model.fit(data[list(COLUMNS)], data[schema.target])


def said(words, begun=None):
    took = "" if begun is None else f" ({time.monotonic() - begun:.1f} s)"
    print(f"ok: {words}{took}", flush=True)


def refused(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error}"
        return str(error)
    raise AssertionError(f"nothing was refused: {words}")


def same_bits(spark, path, data):
    steps = {"gd": 8, "centred-gd": 8, "sgd": 5, "auto": None, "amp": None, "ssp": None}
    steps |= {"objective": None, "output": None, "linear": None}
    cuts = {"auto": (2,), "gd": (1, 2, 7, 40), "objective": (2,), "output": (2,), "linear": (2,)}
    for method, count in steps.items():
        settings = count and {"steps": count}
        schema = NUMBER if method in ("ssp", "linear") else CLASSES
        expected = in_memory(schema, method, data, settings=settings).model_.weights()
        for parts in cuts.get(method, (1, 2, 7)):
            begun = time.monotonic()
            frame = in_partitions(spark, path, parts)
            given = {"schema": schema, "epsilon": 1, "method": method, "settings": settings, "random_state": 5}
            found = private.fit(frame, **given).model_.weights()
            assert (found == expected).all(), f"{method}, {parts} partitions: other bits than in memory"
            said(f"{method}: the bits of memory from {parts} partitions", begun)


def others(spark, path, data):
    frame = in_partitions(spark, path, 3)
    expected = count_here(data, "ward", schema=CLASSES, epsilon=1, random_state=5).counts
    assert private.count(frame, "ward", schema=CLASSES, epsilon=1, random_state=5).counts == expected
    said("counts")
    schema = Schema(COLUMNS, target="ill", classes=["no", "yes"], unit="person", max_records=2)
    given = {"epsilon": 1, "method": "gd", "settings": {"steps": 4}, "n_rows": len(data), "random_state": 5}
    memory = PrivateLogisticRegression(schema=schema, **given).fit(data[[*COLUMNS, "person"]], data["ill"])
    assert (private.fit(frame, schema=schema, **given).model_.weights() == memory.model_.weights()).all()
    said("people with several rows, brought together from all partitions")
    empty = spark.createDataFrame([], frame.schema).union(frame)
    given = {"schema": CLASSES, "epsilon": 1, "method": "gd", "settings": {"steps": 4}, "random_state": 5}
    weights = in_memory(CLASSES, "gd", data, settings={"steps": 4}).model_.weights()
    assert (private.fit(empty, **given).model_.weights() == weights).all()
    said("an empty partition")
    hidden = given | {"neighbours": "add-remove", "n_rows": len(data)}
    private.fit(spark.createDataFrame([], frame.schema), **hidden)
    private.fit(frame.where("1 = 0"), **hidden)
    said("an empty table, where that is private")
    refused(ValueError, "no column 'ward'", lambda: private.fit(frame.drop("ward"), **given))
    dated = frame.withColumn("ward", frame.age.cast("timestamp"))
    refused(ValueError, "'ward' is of type timestamp", lambda: private.fit(dated, **given))
    from pyspark.sql import functions as F

    # Days and moments as a Parquet file has them, whatever the zone of the session.
    day = F.date_add(F.lit("2015-01-01").cast("date"), frame.age.cast("int"))
    moment = F.timestamp_seconds(frame.age.cast("int") * 5_000_003 + 1_300_000_000)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    for kind, column in (("day", day), ("moment", moment)):
        whole = data.age.astype(int)
        days = pd.Timestamp("2015-01-01") + pd.to_timedelta(whole, unit="D")
        held = days if kind == "day" else pd.to_datetime(whole * 5_000_003 + 1_300_000_000, unit="s")
        parts = ["year", "weekday", "month"] if kind == "day" else ["year", "weekday", "hour"]
        dates = Schema({"when": date("2010-01-01", "2035-12-31", parts=parts)}, target="ill", classes=["no", "yes"])
        memory = PrivateLogisticRegression(schema=dates, epsilon=1, method="gd", random_state=5, settings={"steps": 4})
        expected = memory.fit(pd.DataFrame({"when": held}), data["ill"]).model_.weights()
        found = private.fit(frame.select(column.alias("when"), "ill"), **(given | {"schema": dates}))
        assert (found.model_.weights() == expected).all(), kind
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    said("days and moments, in another zone")
    nulls = frame.withColumn("age", F.when(frame.age > 30, frame.age))
    refused(ValueError, '"age"', lambda: private.fit(nulls, **given))
    ordered = given | {"method": "psgd", "settings": None}
    refused(ValueError, "only a table in memory offers", lambda: private.fit(frame, **ordered))
    refused(TypeError, "accepted is a DataFrame", lambda: private.fit(data, **given))
    spoil = F.udf(lambda age: 1 / 0 if age > 90 else age, "double")
    told = refused(RuntimeError, "failed", lambda: private.fit(frame.withColumn("age", spoil(frame.age)), **given))
    assert "division" not in told
    said("bad input is refused by name")


class Interrupting:
    """Does something once, while a given question is being answered."""

    def __init__(self, at, do, wait=0.05):
        self.at, self.do, self.wait, self.asked, self.plain = at, do, wait, 0, private._Spark.ask

    def __enter__(self):
        def ask(back, asking):
            self.asked += 1
            if self.asked == self.at:
                if self.wait is None:
                    self.do(back)
                else:
                    threading.Timer(self.wait, self.do, [back]).start()
            return self.plain(back, asking)

        private._Spark.ask = ask
        return self

    def __exit__(self, *_):
        private._Spark.ask = self.plain


def children(process):
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout.split()
    return [int(each) for each in found]


def kill(worker):
    """The executors of a worker, then the worker itself, without a warning."""
    for process in [*children(worker), worker]:
        os.kill(process, signal.SIGKILL)


def new_worker(master):
    command = [f"{os.environ['SPARK_HOME']}/bin/spark-class", "org.apache.spark.deploy.worker.Worker"]
    command += ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "2g"]
    command += ["--work-dir", str(Path("target/spark/work").absolute()), master]
    with open("target/spark/logs/worker-3.log", "w") as log:
        started = subprocess.Popen(command, stdout=log, stderr=log)
    atexit.register(stop, started)
    return started


def stop(worker):
    for process in [*children(worker.pid), worker.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)


def killed(spark, path, data, master, workers, folder):
    for method in ("gd", "amp"):
        expected = in_memory(CLASSES, method, data, settings={"steps": 8} if method == "gd" else None).model_.weights()
        given = {"schema": CLASSES, "epsilon": 1, "method": method, "random_state": 5}
        given["settings"] = {"steps": 8} if method == "gd" else None
        begun, before = time.monotonic(), executors(spark)
        with Interrupting(3, lambda _, worker=workers.pop(): kill(worker)) as asked:
            found = private.fit(in_partitions(spark, path, 4), **given).model_.weights()
        assert asked.asked > 3 and executors(spark) == before - 1
        assert (found == expected).all(), f"{method}: other bits after a worker was lost"
        said(f"{method}: the same bits, though a worker was killed in a pass", begun)
        started = new_worker(master)
        workers.append(started.pid)
        wait_for(spark, 2)
    begun = time.monotonic()
    with Ledger(Path(folder) / "budget.ledger", dataset="visits", create=True) as ledger:
        ledger.open(epsilon=3, delta=1e-6)
        given = {"schema": CLASSES, "epsilon": 1, "delta": 1e-9, "method": "gd", "settings": {"steps": 8}}
        with Interrupting(3, lambda _: kill(workers.pop())):
            model = private.fit(in_partitions(spark, path, 4), ledger=ledger, **given)
        assert verify(model).valid
        charged = ledger.history()
        assert [(each["state"], each["epsilon"]) for each in charged] == [("settled", 1.0)], charged
    said("the ledger was charged once, though a worker was killed in a pass", begun)


def differing(spark, path):
    """Rows that are made up anew whenever they are computed."""

    def shaken(batches):
        import numpy as np
        import pyarrow as pa

        for batch in batches:
            noise = pa.array(np.random.default_rng().uniform(30, 200, batch.num_rows))
            place = batch.schema.get_field_index("pulse")
            yield batch.set_column(place, "pulse", noise)

    frame = in_partitions(spark, path, 3)
    frame = frame.mapInArrow(shaken, frame.schema)
    for method in ("gd", "amp"):
        with Interrupting(2, lambda back: back.encoded.unpersist(True), wait=None):
            call = lambda method=method: private.fit(frame, schema=CLASSES, epsilon=1, method=method)  # noqa: E731
            refused(ValueError, "came out differently", call)
    said("a partition that is computed again and differs is refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", required=True)
    parser.add_argument("--workers", required=True)
    parser.add_argument("--bare", required=True)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--only", choices=["bits", "others", "differing", "killed", "wheel"])
    parser.add_argument("--without-wheel", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", NotPrivateWarning)
    with tempfile.TemporaryDirectory() as folder:
        data, path = table(given.rows), f"{folder}/table.parquet"
        data.to_parquet(path, index=False)
        if given.without_wheel:
            spark = session(given.master, python=given.bare, name="without the wheel")
            frame = in_partitions(spark, path, 2)
            call = lambda: private.fit(frame, schema=CLASSES, epsilon=1)  # noqa: E731
            words = refused(RuntimeError, "not installed on an executor", call)
            assert "pip install" in words and "spark.archives" in words
            said(f"executors without the wheel: {words}")
            return spark.stop()
        checks = {
            "bits": lambda: same_bits(spark, path, data),
            "others": lambda: others(spark, path, data),
            "differing": lambda: differing(spark, path),
            "killed": lambda: killed(spark, path, data, given.master, [int(k) for k in given.workers.split()], folder),
        }
        chosen = [check for name, check in checks.items() if given.only in (None, name)]
        if chosen:
            spark = session(given.master)
            wait_for(spark, 2)
            for check in chosen:
                check()
            spark.stop()
    if given.only in (None, "wheel"):
        subprocess.run([sys.executable, *sys.argv, "--without-wheel"], check=True)
    said("all" if given.only is None else given.only)


if __name__ == "__main__":
    main()
