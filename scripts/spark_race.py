"""Races privet.spark against Spark's own logistic regression: one cluster, one table, one run, by turns."""

import argparse
import json
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from privet import Schema, number
from privet import spark as private
from spark_session import in_partitions, session, wait_for


def written(path, rows, columns):
    rng = np.random.default_rng(11)
    theta = rng.normal(size=columns)
    writer, names = None, [f"x{k}" for k in range(columns)]
    for start in range(0, rows, 1 << 18):
        x = rng.uniform(-1, 1, (min(1 << 18, rows - start), columns))
        y = np.where(rng.uniform(size=len(x)) < 1 / (1 + np.exp(-x @ theta)), 1.0, 0.0)
        batch = pa.table([*x.T, y], names=[*names, "y"])
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    writer.close()
    return Schema({name: number(-1, 1) for name in names}, target="y", classes=["0", "1"]), names


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--methods", default="amp")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--folder", default="target/spark")
    for ignored in ("--master", "--workers", "--bare"):
        parser.add_argument(ignored)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    path = f"{given.folder}/race.parquet"
    schema, names = written(path, given.rows, given.columns)
    spark = session(given.master, memory="1500m")
    wait_for(spark, 2)
    frame = in_partitions(spark, path, given.parts).persist()
    frame.count()

    def mllib():
        from pyspark.ml.classification import LogisticRegression
        from pyspark.ml.feature import VectorAssembler

        assembled = VectorAssembler(inputCols=names, outputCol="features").transform(frame)
        model = LogisticRegression(labelCol="y").fit(assembled)
        return model.summary.accuracy, model.summary.totalIterations

    def learner(method):
        def fit():
            passes = 0
            plain = private._Spark.ask

            def ask(back, asking):
                nonlocal passes
                passes += 1
                return plain(back, asking)

            private._Spark.ask = ask
            try:
                model = private.fit(frame, schema=schema, epsilon=given.epsilon, method=method, n_rows=given.rows)
            finally:
                private._Spark.ask = plain
            return model, passes

        return fit

    def said(turn, who, took, passes, accuracy, **more):
        line = {"turn": turn, "who": who, "seconds": round(took, 2), "passes": passes, "accuracy": round(accuracy, 4)}
        print(json.dumps(line | more), flush=True)

    held = pq.read_table(path).slice(0, 200_000).to_pandas()
    for turn in range(given.turns):
        begun = time.monotonic()
        accuracy, passes = mllib()
        said(turn, "Spark MLlib", time.monotonic() - begun, passes, accuracy)
        for method in given.methods.split(","):
            begun = time.monotonic()
            model, passes = learner(method)()
            took = time.monotonic() - begun
            accuracy = model.score(held[names], held["y"].astype(int).astype(str))
            said(turn, f"privet {method}", took, passes, accuracy, method=model.plan_.method)
    spark.stop()


if __name__ == "__main__":
    main()
