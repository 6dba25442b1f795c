"""A session on the cluster that scripts/spark.sh started, and frames whose rows have an order."""

import os
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq


def session(master, python=None, name="privet", memory="1g"):
    from pyspark.sql import SparkSession

    settings = {
        "spark.executor.memory": memory,
        "spark.executor.cores": "1",
        "spark.pyspark.python": python or sys.executable,
        "spark.pyspark.driver.python": sys.executable,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.log.level": "FATAL",
        # A machine that has other things to do is slow, not lost.
        "spark.network.timeout": "600s",
        "spark.python.authenticate.socketTimeout": "300s",
    }
    os.environ["PYSPARK_PYTHON"] = settings["spark.pyspark.python"]
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def executors(session):
    """How many executors there are now, the driver left out."""
    return session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1


def wait_for(session, count, seconds=300):
    end = time.monotonic() + seconds
    while executors(session) != count and time.monotonic() < end:
        time.sleep(0.1)
    assert executors(session) == count, f"{executors(session)} executors, {count} expected"


def in_partitions(session, path, parts):
    """The rows of a Parquet file in their order, in so many partitions."""
    table = pq.read_schema(path)
    rows = pq.read_metadata(path).num_rows
    kinds = {pa.float64(): "double", pa.string(): "string", pa.large_string(): "string", pa.int64(): "long"}
    schema = ", ".join(f"`{field.name}` {kinds[field.type]}" for field in table)

    def take(batches):
        import pyarrow as pa
        import pyarrow.parquet as pq

        whole = pq.read_table(path)
        for batch in batches:
            if batch.num_rows:
                yield from whole.slice(batch.column(0)[0].as_py(), batch.num_rows).combine_chunks().to_batches()
            else:
                yield pa.RecordBatch.from_pylist([], schema=whole.schema)

    return session.range(0, rows, 1, parts).mapInArrow(take, schema)
