"""Fits on tables that the workers of a cluster keep, whatever the engine: Dask, Ray, processes, threads.

Rows are encoded once, where they are, and stay there. Each question of a learner goes to the workers and comes back
as sums; noise is drawn by the process that calls :func:`fit`, and nowhere else. A model has the same bits as one
fitted in memory on the same rows in the same order, however they are cut into partitions. For Apache Spark see
:mod:`privet.spark`.

An engine is two functions: ``run(function, *arguments)`` has a worker call a function and returns a handle to what it
returned, which may be an argument of another ``run``; ``gather(handles)`` fetches what they stand for::

    from dask.distributed import Client
    client = Client(...)
    model = fit(partitions, run=client.submit, gather=client.gather, schema=schema, epsilon=1)

    import ray
    model = fit(partitions, run=lambda function, *given: ray.remote(function).remote(*given), gather=ray.get,
                schema=schema, epsilon=1)

Workers need nothing but this package.

>>> import numpy as np
>>> from privet import Schema, number
>>> from privet.cluster import fit
>>> rng = np.random.default_rng(0)
>>> def partition(rows):
...     x = rng.uniform(0, 1, rows)
...     return {"x": x, "ill": np.where(x > 0.5, "yes", "no")}
>>> schema = Schema({"x": number(0, 1)}, target="ill", classes=["no", "yes"])
>>> model = fit([partition(700), partition(300), partition(0)], schema=schema, epsilon=2)
>>> model.certificate_.epsilon
2.0
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from privet import _elsewhere, _joins, _tables, _workers
from privet.counts import Counts
from privet.schema import Schema

__all__ = ["count", "fit"]

_TOGETHER = 16
"""How many exact sums are merged at a time, on a worker, where there are more."""


def fit(
    partitions: Sequence[Any],
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
    run: Callable[..., Any] | None = None,
    gather: Callable[[list[Any]], Sequence[Any]] | None = None,
) -> Any:
    """Fit one private model on a table in partitions; without an engine, here.

    Parameters
    ----------
    partitions : sequence
        Frames, PyArrow tables or mappings from names to columns, or handles to such that ``run`` understands; the
        table is all their rows, in this order.
    schema : Schema, path or mapping
        Public facts about the table.
    epsilon, delta : float
        The budget; delta is 1/n² unless given.
    method : str
        A learner that asks for sums: ``"auto"``, ``"gd"``, ``"centred-gd"``, ``"placed-gd"``, ``"sgd"``, ``"amp"``, ``"ssp"``,
        ``"objective"``, ``"output"``, ``"linear"``. One that needs more of a table refuses.
    loss : str, optional
        ``"logistic"`` for classes and ``"squared"`` for a number unless given.
    neighbours : {"replace-one", "add-remove"}
        Under ``"add-remove"`` the number of rows is private.
    n_rows : int, optional
        How many rows there are; counted unless given, and needed where their number is private.
    random_state : optional
        Repeatable noise, for tests: NOT PRIVATE.
    ledger : privet.Ledger, optional
        Who pays, once, however often an engine repeats its work. The table is known by the data set's name alone.
    run, gather : optional
        The engine.

    Returns
    -------
    A fitted estimator, as :func:`privet.load` gives it.
    """
    return _elsewhere.fit(
        _Workers(partitions, run, gather),
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
    partitions: Sequence[Any],
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
    run: Callable[..., Any] | None = None,
    gather: Callable[[list[Any]], Sequence[Any]] | None = None,
) -> Counts:
    """Count records by a column of declared categories, as :func:`privet.count` does, in partitions."""
    return _elsewhere.count(
        _Workers(partitions, run, gather),
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


class _Workers:
    """Rows in partitions, kept behind handles."""

    def __init__(self, partitions: Sequence[Any], run: Any, gather: Any) -> None:
        if (run is None) != (gather is None):
            raise ValueError("run and gather belong together: give both, or neither")
        self.run = run or (lambda function, *given: function(*given))
        self.gather = gather or list
        self.partitions = list(partitions)
        if not self.partitions:
            raise ValueError("there are no partitions; at least one is needed, which may be empty")
        self.kept: list[Any] = []
        self.prints: list[list[_workers.Print]] = []
        self.columns = 0
        self.lacking = False
        self.arranged: dict[int, list[tuple[int, Any]]] = {}

    def check(self, schema: Schema) -> None:
        wanted = (*schema.features, schema.target, *([schema.unit] if schema.unit else []))
        everywhere: set[str] = set()
        lacking: dict[str, int] = {}
        for place, partition in enumerate(self.partitions):
            if _tables.is_frame(partition):
                names = _tables.names_of(partition)
            elif isinstance(partition, Mapping):
                names = list(partition)
            else:
                continue  # a handle: whoever has it will tell
            found = _tables.meant(names, wanted, total=schema.is_total)
            everywhere |= set(found)
            lacking |= {name: place for name in wanted if name not in found and name not in lacking}
        for name, place in lacking.items():
            if not schema.is_total or name not in everywhere:
                raise ValueError(f"partition {place} has no column {name!r}, which the schema names")
        # Of a frame that is made of records, none of which has a value there.
        self.lacking = bool(lacking)

    def count(self) -> int:
        return sum(self.gather([self.run(_workers.rows_in, partition) for partition in self.partitions]))

    def encode(self, told: str) -> list[str]:
        if _workers.schema_of(told).unit is None:
            parts = enumerate(self.partitions)
            self.kept = [self.run(_encode, told, place, self.lacking, partition) for place, partition in parts]
        else:
            groups = len(self.partitions)
            split = [self.run(_by_unit, told, groups, self.lacking, partition) for partition in self.partitions]
            self.kept = [self.run(_encode_group, told, group, *split) for group in range(groups)]
        known = self.gather([self.run(_known, kept) for kept in self.kept])
        self.prints = [prints for prints, _ in known]
        facts = [fact for _, facts in known for fact in facts]
        self.columns = json.loads(facts[0])["columns"]
        return facts

    def _starts(self) -> list[int]:
        """Where the rows of each worker begin."""
        starts = [0]
        for prints in self.prints:
            starts.append(starts[-1] + sum(each.rows for each in prints))
        return starts

    def ask(self, question: str) -> list[bytes]:
        asked, workers = _workers.asked(question), range(len(self.kept))
        if asked["ask"] == "rows":
            starts = self._starts()
            found = [self.run(_rows, question, starts[w], self.prints[w], self.kept[w]) for w in workers]
            return [part for parts in self.gather(found) for part in parts]
        if asked["ask"] == "inner":
            arranged = self._arranged(asked["rows"], asked["pieces"])
            found = self.gather([self.run(_pieces, question, first, each) for first, each in arranged])
            return [part for parts in found for part in parts]
        sums = [self.run(_exact, question, self.columns, self.prints[w], self.kept[w]) for w in workers]
        while len(sums) > _TOGETHER:
            several = [sums[k : k + _TOGETHER] for k in range(0, len(sums), _TOGETHER)]
            sums = [self.run(_merged, question, self.columns, *some) for some in several]
        return list(self.gather(sums))

    def _arranged(self, rows: int, pieces: int) -> list[tuple[int, Any]]:
        """The rows of whole pieces behind each handle, in order, with the first of them; made once for each number of
        pieces."""
        if pieces not in self.arranged:
            edges, starts, groups = _workers.edges_of(rows, pieces), self._starts(), min(pieces, len(self.kept))
            made = []
            for group in range(groups):
                own = range(group * pieces // groups, (group + 1) * pieces // groups)
                first, last = edges[own.start], edges[own.stop]
                held = [w for w in range(len(self.kept)) if starts[w] < last and starts[w + 1] > first] or [0]
                where = [(starts[w], self.prints[w]) for w in held]
                made.append((own.start, self.run(_arrange, edges, own, where, *[self.kept[w] for w in held])))
            self.arranged[pieces] = made
        return self.arranged[pieces]

    def close(self) -> None:
        self.kept, self.arranged = [], {}


# What workers call; each is found by its name.


def _encode(told: str, place: int, lacking: bool, partition: Any) -> list[_workers.Block]:
    return list(_workers.encode(told, [partition], f"partition {place}", lacking=lacking))


def _by_unit(told: str, groups: int, lacking: bool, partition: Any) -> list[list[Any]]:
    """The columns of each group of people."""
    schema = _workers.schema_of(told)
    columns = _workers.columns(partition, schema, lacking=lacking)
    whose = _workers.unit_numbers(columns, schema)
    numbers = np.asarray(whose, dtype=np.int64).view(np.uint64) % np.uint64(groups)
    return [[_some(column, numbers == group) for column in columns] for group in range(groups)]


def _some(column: Any, chosen: Any) -> Any:
    name, kind, values, more = column
    masked = kind != "text" and more is not None
    return name, kind, values[chosen], more[chosen] if masked else more


def _encode_group(told: str, group: int, *split: list[list[Any]]) -> list[_workers.Block]:
    schema = _workers.schema_of(told)
    columns = _joins.joined([groups[group] for groups in split], schema.unit, total=schema.is_total)
    with _workers.at(f"people of group {group}"):
        return _workers.encode_columns(told, columns)


def _known(blocks: list[_workers.Block]) -> tuple[list[_workers.Print], list[str]]:
    return [block.print for block in blocks], [block.kept for block in blocks]


def _checked(prints: list[_workers.Print], blocks: list[_workers.Block]) -> list[bytes]:
    if len(prints) != len(blocks):
        raise _workers.changed("a partition")
    for recorded, block in zip(prints, blocks, strict=True):
        _workers.check_same(block.bytes, recorded, "a partition")
    return [block.bytes for block in blocks]


def _exact(question: str, columns: int, prints: list[_workers.Print], blocks: list[_workers.Block]) -> bytes:
    found = _workers.answer_each(question, columns, _checked(prints, blocks))
    assert found is not None  # a partition has a block at least
    return found


def _merged(question: str, columns: int, *parts: bytes) -> bytes:
    return _workers.merge(question, columns, list(parts))


def _rows(question: str, first: int, prints: list[_workers.Print], blocks: list[_workers.Block]) -> list[bytes]:
    return _workers.rows(question, first, _checked(prints, blocks), prints)


def _arrange(edges: list[int], own: range, where: Any, *held: list[_workers.Block]) -> list[list[bytes]]:
    pieces: dict[int, list[bytes]] = {piece: [] for piece in own}
    for (first, prints), blocks in zip(where, held, strict=True):
        for recorded, block in zip(prints, _checked(prints, blocks), strict=True):
            for piece, _, part in _workers.cut(block, first, recorded.rows, edges):
                if piece in pieces:
                    pieces[piece].append(part)
            first += recorded.rows
    empty = held[0][0].bytes if edges[-1] == 0 else None
    return [parts or [empty] if empty is not None else parts for parts in pieces.values()]


def _pieces(question: str, first: int, pieces: list[list[bytes]]) -> list[bytes]:
    return [_workers.answer(question, piece, blocks) for piece, blocks in enumerate(pieces, first)]
