"""What executors of Spark do: each function takes batches of a frame's partition and gives batches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from privet import PrivacyError, _units, _workers

_ROWS = 1 << 16
"""Rows that are encoded together."""

Recorded = list[tuple[int, int, int, int, int]]
"""Part, number, rows, checksum and first row of each block."""

Batches = Iterable[pa.RecordBatch]


def refusing(task: Any, batches: Batches, token: str, given: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """The task; what this package itself refuses is marked with the driver's token, which no record can know: all else
    that is raised on a worker may hold cells, and stays in its log."""
    try:
        yield from task(batches, **given)
    except ValueError as error:
        refused = type(error) in (ValueError, PrivacyError) and _raised_here(error)
        words = json.dumps([type(error) is PrivacyError, str(error)]) if refused else None
        if words is None:
            raise
    raise RuntimeError(f"{token}{words}{token}")


def _raised_here(error: BaseException) -> bool:
    """Whether it was raised by this package, not in the batches that it was handed."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and str(place.tb_frame.f_globals.get("__name__")).partition(".")[0] == "privet"


def _part() -> int:
    from pyspark import TaskContext

    return TaskContext.get().partitionId()


def _batch(**columns: Any) -> pa.RecordBatch:
    kinds = {"part": pa.int32(), "number": pa.int32(), "kept": pa.string(), "checksum": pa.string()}
    kinds |= {"block": pa.binary(), "sum": pa.binary()}
    arrays = [pa.array(values, type=kinds.get(name, pa.int64())) for name, values in columns.items()]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _tables(batches: Batches, whole: bool) -> Iterator[pa.Table]:
    """The rows of a partition, many at a time, or all at once; one table at least."""
    held: list[pa.RecordBatch] = []
    rows, schema, given = 0, None, False
    for batch in batches:
        schema = batch.schema
        held.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS and not whole:
            given = True
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if held or (schema is not None and not given):
        yield pa.Table.from_batches(held, schema=schema)


def encoded(batches: Batches, told: str, whole: bool) -> Iterator[pa.RecordBatch]:
    """The rows as blocks, in their order."""
    part, number = _part(), 0
    where = f"people of group {part}" if whole else f"partition {part}"
    for block in _workers.encode(told, _or_empty(_tables(batches, whole), told), where):
        rows, checksum = block.print
        row = {"part": [part], "number": [number], "rows": [rows], "checksum": [str(checksum)]}
        yield _batch(**row, kept=[block.kept], block=[block.bytes])
        number += 1


def _or_empty(tables: Iterable[Any], told: str) -> Iterator[Any]:
    """The tables; one without rows where there is none, since an empty partition has no batches."""
    given = False
    for table in tables:
        given = True
        table = table.drop_columns([name for name in ("privet key", "privet place") if name in table.column_names])
        yield _in_utc(table)
    if not given:
        schema = _workers.schema_of(told)
        names = [*schema.features, schema.target, *([schema.unit] if schema.unit else [])]
        yield pa.table({name: pa.array([], type=pa.string()) for name in dict.fromkeys(names)})


def _in_utc(table: pa.Table) -> pa.Table:
    """Times that are moments are written in UTC, whatever the zone of the session: as Parquet keeps them."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz is not None:
            utc = pa.timestamp(field.type.unit, "UTC")
            table = table.set_column(place, field.name, table.column(place).cast(utc))
    return table


def keyed(batches: Batches, told: str) -> Iterator[pa.RecordBatch]:
    """The rows, each with a number for whose it is and with its place."""
    schema, place = _workers.schema_of(told), _part() << 40
    for batch in batches:
        unit = _units.frame_unit(schema.unit, pa.Table.from_batches([batch]), total=schema.is_total)
        numbers = _workers.unit_numbers([] if unit is None else [unit], schema)
        places = range(place, place + batch.num_rows)
        place += batch.num_rows
        more = [pa.array(numbers, type=pa.int64()), pa.array(places, type=pa.int64())]
        names = [*batch.schema.names, "privet key", "privet place"]
        yield pa.RecordBatch.from_arrays([*batch.columns, *more], names=names)


def _blocks(batches: Batches, recorded: Recorded) -> Iterator[tuple[bytes, int, int]]:
    """Each block that is the one that was recorded, with its rows and where they begin."""
    known = {(part, number): each for part, number, *each in recorded}
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in ("part", "number")]
        for row, (part, number) in enumerate(zip(*columns, strict=True)):
            block = batch.column("block")[row].as_buffer().to_pybytes()
            if (part, number) not in known:
                raise _workers.changed(f"partition {part}")
            rows, checksum, first = known[part, number]
            _workers.check_same(block, (rows, checksum), f"partition {part}")
            yield block, rows, first


def exact(batches: Batches, question: str, columns: int, recorded: Recorded) -> Iterator[pa.RecordBatch]:
    """One exact sum over the blocks of a partition."""
    total = _workers.answer_each(question, columns, (block for block, _, _ in _blocks(batches, recorded)))
    if total is not None:
        yield _batch(sum=[total])


def merged(batches: Batches, question: str, columns: int, recorded: Recorded) -> Iterator[pa.RecordBatch]:
    """Several exact sums as one."""
    parts = [part for batch in batches for part in batch.column("sum").to_pylist()]
    if parts:
        yield _batch(sum=[_workers.merge(question, columns, parts)])


def rows(batches: Batches, question: str, columns: int, recorded: Recorded) -> Iterator[pa.RecordBatch]:
    """The rows that are asked for."""
    for block, count, first in _blocks(batches, recorded):
        found = _workers.rows(question, first, [block], [_workers.Print(count, 0)])
        yield _batch(first=[first], block=found)


def cut(batches: Batches, recorded: Recorded, edges: list[int], keys: list[int]) -> Iterator[pa.RecordBatch]:
    """Blocks cut where pieces begin, each with a number for the partition that it goes to."""
    for block, count, first in _blocks(batches, recorded):
        if edges[-1] == 0:  # no rows at all: one piece, without any
            yield _batch(key=[keys[0]], piece=[0], first=[0], block=[block])
        for piece, start, part in _workers.cut(block, first, count, edges):
            yield _batch(key=[keys[piece]], piece=[piece], first=[start], block=[part])


def pieces(batches: Batches, question: str) -> Iterator[pa.RecordBatch]:
    """The answer for each piece; its blocks follow each other."""
    piece, blocks = None, []
    for batch in batches:
        for row, own in enumerate(batch.column("piece").to_pylist()):
            if piece is not None and own != piece:
                yield _batch(piece=[piece], sum=[_workers.answer(question, piece, blocks)])
                blocks = []
            piece = own
            blocks.append(batch.column("block")[row].as_buffer().to_pybytes())
    if piece is not None:
        yield _batch(piece=[piece], sum=[_workers.answer(question, piece, blocks)])
