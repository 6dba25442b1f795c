"""Fits on Apache Spark: :func:`fit` takes a Spark ``DataFrame`` and gives a model with its certificate.

Each partition is encoded once, on an executor, and kept there (``persist``) as blocks of bounded rows. Each question
of a learner goes to the executors by ``mapInArrow``, where the kernels of this package sum over the blocks; exact sums
are reduced in a tree, and noise is drawn by the driver, and nowhere else. A task that Spark repeats gives the same
bits, and what a fit spends is charged once whatever Spark repeats. A partition that is computed a second time, as after
the loss of an executor, and comes out differently is refused.

::

    from pyspark.sql import SparkSession
    from privet import Schema, number, spark as private
    session = SparkSession.builder.master("spark://...").getOrCreate()
    model = private.fit(session.read.parquet("visits"), schema="schema.toml", epsilon=1)
    model.save("model.json")

Executors need this package and PyArrow, no more: install the wheel into the Python that they run
(``spark.pyspark.python``), or ship an environment (``spark.archives``).

A table's rows are numbered in the order of its partitions. Sums that are released are exact, whatever the order;
learners that solve (``amp``, ``objective``, ``output``, ``linear``) have the bits of a fit in memory on rows in the
same order.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from privet import PrivacyError, __version__, _elsewhere, _workers
from privet.cluster import _Workers
from privet.counts import Counts
from privet.schema import Schema

__all__ = ["count", "fit"]

_TOGETHER = 32
"""How many exact sums the driver merges; more are merged on executors first."""
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
"""How many rows of a frame, which are blocks here, go to a worker at a time."""
_BLOCKS = 8
_ENCODED = "part int, number int, rows long, checksum string, kept string, block binary"
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_FITTING = (*_NUMBERS, "boolean", "string", "varchar", "char")
_DATES = ("date", "timestamp", "timestamp_ntz")
"""Of columns that the schema reads as dates: days, and times in UTC, as a Parquet file has them."""
_MISSING = "privet is not installed on an executor"
_OTHER_VERSION = "privet on an executor is of another version"


def fit(
    df: Any,
    *,
    schema: Any,
    epsilon: float | None,
    delta: float | None = None,
    method: str = "auto",
    loss: str | None = None,
    neighbours: str = "replace-one",
    n_rows: int | None = None,
    settings: dict[str, Any] | None = None,
    calibration: str = "sound",
    huber_width: float = 0.1,
    quantile: float = 0.5,
    random_state: Any = None,
    ledger: Any = None,
) -> Any:
    """Fit one private model on a Spark frame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The records: the schema's columns, its target and, if it has one, its unit. Others are not read. It should
        give the same rows whenever it is computed.
    schema : Schema, path or mapping
        Public facts about the table. Where it has a unit, rows are first brought together by unit.
    others
        As of :func:`privet.cluster.fit`.

    Returns
    -------
    A fitted estimator, as :func:`privet.load` gives it.
    """
    return _elsewhere.fit(
        _Spark(df),
        schema=schema,
        epsilon=epsilon,
        delta=delta,
        method=method,
        loss=loss,
        neighbours=neighbours,
        n_rows=n_rows,
        settings=settings,
        calibration=calibration,
        huber_width=huber_width,
        quantile=quantile,
        random_state=random_state,
        ledger=ledger,
    )


def count(
    df: Any,
    by: str,
    *,
    schema: Any,
    epsilon: float,
    delta: float = 0.0,
    neighbours: str = "replace-one",
    n_rows: int | None = None,
    law: str | None = None,
    random_state: Any = None,
    ledger: Any = None,
) -> Counts:
    """Count records by a column of declared categories, as :func:`privet.count` does, on a Spark frame."""
    return _elsewhere.count(
        _Spark(df),
        by,
        schema=schema,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        n_rows=n_rows,
        law=law,
        random_state=random_state,
        ledger=ledger,
    )


def _said_plainly(method: Any) -> Any:
    """A method of whoever keeps the rows; what an executor raises in it is told without Spark's stack, and without words
    that may hold what it read."""

    @wraps(method)
    def told(self: Any, *given: Any) -> Any:
        from pyspark.errors import AnalysisException, PySparkException

        try:
            return method(self, *given)
        except AnalysisException:  # of names and types, before a record is read
            raise
        except PySparkException as error:
            condition = error.getCondition() if hasattr(error, "getCondition") else None
            plain = _plainly(str(error), self.token, condition)
        raise plain

    return told


def _plainly(text: str, token: str, condition: str | None) -> Exception:
    _, marked, rest = text.partition(token)
    words, closed, _ = rest.partition(token)
    if marked and closed:
        private, refusal = json.loads(words)
        return (PrivacyError if private else ValueError)(refusal)
    if _MISSING in text:
        return RuntimeError(
            f"{_MISSING}: install the wheel of privet {__version__} into the Python that executors run "
            "(`pip install privet`, on every machine, for the interpreter that spark.pyspark.python names), or ship "
            "an environment that has it: `venv-pack -o environment.tar.gz`, then "
            "spark.archives=environment.tar.gz#environment and spark.pyspark.python=./environment/bin/python"
        )
    if _OTHER_VERSION in text:
        return RuntimeError(f"{_OTHER_VERSION} than the driver's, {__version__}: install the same wheel on every machine")
    if "Traceback (most recent call last)" in text:
        return RuntimeError("a Python worker of an executor failed; what it said is in the executor's log")
    return RuntimeError(f"Spark failed ({condition or 'no condition given'}); what it said is in its log")


class _Spark:
    """The rows of a frame, kept by its executors."""

    def __init__(self, df: Any) -> None:
        if not all(hasattr(df, name) for name in ("mapInArrow", "sparkSession", "dtypes")):
            raise TypeError(f"df is a {type(df).__name__}; accepted is a DataFrame of PySpark 4")
        self.df = df
        self.session = df.sparkSession
        self.encoded: Any = None
        self.arranged: dict[int, Any] = {}
        # (part, number) of each block in order, its rows and checksum, and where its rows begin.
        self.prints: dict[tuple[int, int], tuple[int, int, int]] = {}
        self.parts = self.columns = 0
        # By what a worker's refusal is known for this package's own; records cannot know it.
        self.token = secrets.token_hex(16)
        # Who answers where Spark has nothing to run: a table without a partition is as secret as any other.
        self.nothing: _Workers | None = None

    def check(self, schema: Schema) -> None:
        found: dict[str, str] = {}
        for name, kind in self.df.dtypes:
            if name in found:
                raise ValueError(f"column {name!r} occurs more than once; each name once is accepted")
            found[name] = kind
        self.names = [*schema.features, schema.target, *([schema.unit] if schema.unit else [])]
        dates = {column["date"]["column"] for column in schema.to_dict().get("columns", []) if "date" in column}
        for name in dict.fromkeys(self.names):
            if name not in found:
                raise ValueError(f"the frame has no column {name!r}, which the schema names; it has {sorted(found)}")
            if found[name].split("(")[0] not in (*_FITTING, *(_DATES if name in dates else ())):
                raise ValueError(
                    f"column {name!r} is of type {found[name]}; accepted are numbers, texts and booleans, and dates and "
                    "times where the schema says date: cast it, or take the numbers out of it"
                )
        quoted = ["`" + name.replace("`", "``") + "`" for name in dict.fromkeys(self.names)]
        self.df = self.df.select(*quoted)
        self.unit = schema.unit

    @_said_plainly
    def count(self) -> int:
        return self.df.count()

    def _task(self, name: str, given: dict[str, Any]) -> Any:
        return _on_executors(name, given, self.token)

    @_said_plainly
    def encode(self, told: str) -> list[str]:
        frame = self.df if self.unit is None else self._by_unit(told)
        whole = self.unit is not None
        task = self._task("encoded", {"told": told, "whole": whole})
        self.encoded = frame.mapInArrow(task, _ENCODED).persist()
        rows = self.encoded.select("part", "number", "rows", "checksum", "kept").collect()
        rows.sort(key=lambda row: (row.part, row.number))
        first = 0
        for row in rows:
            self.prints[row.part, row.number] = (row.rows, int(row.checksum), first)
            first += row.rows
        self.parts = len({row.part for row in rows})
        if not rows:
            self.nothing = _Workers([{name: [] for name in dict.fromkeys(self.names)}], None, None)
            return self.nothing.encode(told)
        self.columns = json.loads(rows[0].kept)["columns"]
        return [row.kept for row in rows]

    def _by_unit(self, told: str) -> Any:
        """All rows of a person in one partition, in the order in which they were."""
        from pyspark.sql.types import LongType, StructField, StructType

        more = [StructField("privet key", LongType()), StructField("privet place", LongType())]
        wider = StructType([*self.df.schema.fields, *more])
        keyed = self.df.mapInArrow(self._task("keyed", {"told": told}), wider)
        parts = int(self.session.conf.get("spark.sql.shuffle.partitions", "200"))
        return keyed.repartition(parts, "`privet key`").sortWithinPartitions("`privet place`")

    @_said_plainly
    def ask(self, question: str) -> list[bytes]:
        if self.nothing is not None:
            return self.nothing.ask(question)
        asked = _workers.asked(question)
        with self._few_at_a_time():
            if asked["ask"] == "inner":
                return self._inner(question, asked["rows"], asked["pieces"])
            recorded = [(*place, *each) for place, each in self.prints.items()]
            given = {"question": question, "columns": self.columns, "recorded": recorded}
            if asked["ask"] == "rows":
                found = self.encoded.mapInArrow(self._task("rows", given), "first long, block binary").collect()
                return [bytes(row.block) for row in sorted(found, key=lambda row: row.first)]
            sums = self.encoded.mapInArrow(self._task("exact", given), "sum binary")
            merge, left = self._task("merged", given), self.parts
            while left > _TOGETHER:
                left = math.ceil(left / _TOGETHER)
                sums = sums.repartition(left).mapInArrow(merge, "sum binary")
            return [bytes(row.sum) for row in sums.collect()]

    def _inner(self, question: str, rows: int, pieces: int) -> list[bytes]:
        if pieces not in self.arranged:
            self.arranged[pieces] = self._arrange(rows, pieces)
        task = self._task("pieces", {"question": question})
        found = self.arranged[pieces].mapInArrow(task, "piece long, sum binary").collect()
        found.sort(key=lambda row: row.piece)
        if [row.piece for row in found] != list(range(pieces)):
            raise RuntimeError("Spark gave other pieces of a sum than those asked for, so that nothing is made of them")
        return [bytes(row.sum) for row in found]

    def _arrange(self, rows: int, pieces: int) -> Any:
        """The rows of whole pieces in each partition, in order; each block is looked at again on its way."""
        parts = min(pieces, max(self.parts, 1))
        keys = self._keys(parts)
        given = {
            "recorded": [(*place, *each) for place, each in self.prints.items()],
            "edges": _workers.edges_of(rows, pieces),
            "keys": [keys[piece * parts // pieces] for piece in range(pieces)],
        }
        cut = self.encoded.mapInArrow(self._task("cut", given), "key long, piece long, first long, block binary")
        return cut.repartition(parts, "key").sortWithinPartitions("piece", "first").persist()

    def _keys(self, parts: int) -> list[int]:
        """A number for each partition that Spark's hash puts there."""
        from pyspark.sql import functions as F

        found: dict[int, int] = {}
        tried = 64 * parts
        while len(found) < parts:
            where = F.pmod(F.hash("id"), F.lit(parts)).alias("part")
            for row in self.session.range(tried).select("id", where).collect():
                found.setdefault(row.part, row.id)
            tried *= 4
        return [found[part] for part in range(parts)]

    @contextmanager
    def _few_at_a_time(self) -> Iterator[None]:
        """Blocks are large: a few of them fill a batch."""
        before = self.session.conf.get(_BATCH, None)
        self.session.conf.set(_BATCH, str(_BLOCKS))
        try:
            yield
        finally:
            if before is None:
                self.session.conf.unset(_BATCH)
            else:
                self.session.conf.set(_BATCH, before)

    def close(self) -> None:
        for kept in [self.encoded, *self.arranged.values()]:
            if kept is not None:
                kept.unpersist()
        self.encoded, self.arranged = None, {}


def _on_executors(name: str, given: dict[str, Any], token: str) -> Any:
    """A function of :mod:`privet._spark_tasks`, found by name where it runs. It is sent whole, and so arrives where
    the package is missing, too, and says so."""
    version, missing, other = __version__, _MISSING, _OTHER_VERSION

    def task(batches: Any) -> Any:
        try:
            import privet
            from privet import _spark_tasks
        except ImportError as error:
            raise RuntimeError(f"{missing}: {error}") from None
        if privet.__version__ != version:
            raise RuntimeError(f"{other}: {privet.__version__}")
        return _spark_tasks.refusing(getattr(_spark_tasks, name), batches, token, given)

    return task
