"""What a worker of a cluster does with its rows: encodes them, keeps them as blocks, sums over them.

A block is the bytes of bounded, encoded rows; all arithmetic is that of the extension. Nothing here draws noise.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from privet import _privet, _tables
from privet.counts import columns_of
from privet.schema import Schema

BLOCK_BYTES = 1 << 22
"""About how large a block is at most."""


class Print(NamedTuple):
    """By what a block is known again: how many rows it has, and their checksum."""

    rows: int
    checksum: int


class Block(NamedTuple):
    """Encoded rows."""

    bytes: bytes
    print: Print
    kept: str
    """What may be known of them, for the extension."""


def schema_of(told: str) -> Schema:
    """The schema that a plan has rows encoded by."""
    return Schema._of(_privet.Schema(json.dumps(json.loads(told)["request"]["schema"])))


def rows_in(table: Any) -> int:
    """How many rows a frame or a mapping has."""
    if _tables.is_frame(table):
        return len(table)
    return max((len(column) for column in table.values()), default=0)


@contextmanager
def at(where: str) -> Iterator[None]:
    """What is refused within says where its rows are counted from."""
    try:
        yield
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise ValueError(f"{where}: {error}") from None


def encode(told: str, tables: Iterable[Any], where: str, *, lacking: bool = False) -> Iterator[Block]:
    """The rows of several tables, one after the other, in blocks. Where people have several rows each, all rows
    of a person must be in one of the tables. ``lacking``: as of :func:`columns`."""
    schema, first = schema_of(told), 0
    for table in tables:
        with at(f"{where}, rows counted from its row {first} as 0" if first else where):
            blocks = encode_columns(told, columns(table, schema, lacking=lacking))
        yield from blocks
        first += rows_in(table)


def columns(table: Any, schema: Schema, *, lacking: bool = False) -> list[Any]:
    """A table's columns as the extension reads them. ``lacking``: one that it lacks is without values, where another
    partition has it: a frame that is made of records has the columns that any of them has."""
    found = columns_of(table, schema)
    if not lacking:
        return found
    wanted = [*schema.features, schema.target, *([schema.unit] if schema.unit else [])]
    known, rows = {name.strip() for name, *_ in found}, rows_in(table)
    nothing = np.full(rows, _tables.MISSING, dtype=np.int64)
    return [*found, *((name, "text", nothing, []) for name in wanted if name.strip() not in known)]


def encode_columns(told: str, columns: list[Any]) -> list[Block]:
    """The same of columns as the extension reads them."""
    return _in_blocks(*_privet.cluster_encode(columns, told))


def _in_blocks(encoded: bytes, rows: int, checksum: int, kept: str) -> list[Block]:
    # What is known of the rows together holds of each part; sums are counted once.
    pieces = -(-len(encoded) // BLOCK_BYTES)
    if pieces < 2 or rows < 2:
        return [Block(encoded, Print(rows, checksum), kept)]
    edges = [k * rows // pieces for k in range(pieces + 1)]
    known, blocks = json.loads(kept), []
    for part in _privet.cluster_cut(encoded, list(zip(edges, edges[1:], strict=False))):
        print_ = Print(*_privet.cluster_print(part))
        share = {"rows": print_.rows, **({"entries": 0, "print": 0} if blocks else {})}
        blocks.append(Block(part, print_, json.dumps(known | share)))
    return blocks


def changed(where: str) -> ValueError:
    """The refusal of rows that are not those that were read first."""
    return ValueError(
        f"{where} was read a second time and came out differently, so that nothing is summed over it. Accepted is a "
        "table that gives the same rows whenever it is read: keep it in a file, or cache it, before fitting"
    )


def check_same(block: bytes, recorded: Iterable[int], where: str) -> None:
    """Refuses a block that is not the one that was recorded."""
    if _privet.cluster_print(block) != tuple(recorded):
        raise changed(where)


def edges_of(rows: int, pieces: int) -> list[int]:
    """Where each piece of the contract begins (``privet_optim::sum::pieces``), and where the last one ends."""
    return [piece * rows // pieces for piece in range(pieces + 1)]


def cut(block: bytes, first: int, rows: int, edges: list[int]) -> Iterator[tuple[int, int, bytes]]:
    """The parts of a block whose first row is at ``first``: each with its piece and where it begins."""
    last, piece = first + rows, _piece_of(first, edges)
    ranges, places = [], []
    while rows and edges[piece] < last:
        start, end = max(first, edges[piece]), min(last, edges[piece + 1])
        if start < end:
            ranges.append((start - first, end - first))
            places.append((piece, start))
        piece += 1
        if piece + 1 == len(edges):
            break
    if ranges == [(0, rows)]:
        yield (*places[0], block)
    else:
        for (piece, start), part in zip(places, _privet.cluster_cut(block, ranges), strict=True):
            yield piece, start, part


def _piece_of(place: int, edges: list[int]) -> int:
    return min(bisect_right(edges, place), len(edges) - 1) - 1


def asked(question: str) -> dict[str, Any]:
    """What a question asks. Its text says besides whose it is and which, and every answer is sealed for it."""
    return json.loads(question)["asking"]


def answer(question: str, piece: int, blocks: list[bytes]) -> bytes:
    """The answer for rows that are one piece."""
    return _privet.cluster_answer(question, piece, blocks)


def answer_each(question: str, columns: int, blocks: Iterable[bytes]) -> bytes | None:
    """The answer, of exact sums, for rows in several blocks; ``None`` for no block."""
    total: bytes | None = None
    for block in blocks:
        part = _privet.cluster_answer(question, 0, [block])
        total = part if total is None else _privet.cluster_merge(question, columns, [total, part])
    return total


def merge(question: str, columns: int, parts: list[bytes]) -> bytes:
    """Several answers, of exact sums, as one."""
    return _privet.cluster_merge(question, columns, parts)


def rows(question: str, first: int, blocks: list[bytes], prints: Iterable[Print]) -> list[bytes]:
    """The rows that a question names, of these blocks, of which the first row is at ``first``."""
    found = []
    for block, each in zip(blocks, prints, strict=True):
        found.append(_privet.cluster_rows(question, first, block))
        first += each.rows
    return found


def unit_numbers(read: list[Any], schema: Schema) -> list[int]:
    """A number for whose each row is, equal for all rows of one person. ``read`` are columns as the extension reads them."""
    column = next((column for column in read if column[0] == schema.unit), None)
    if column is None:
        raise ValueError(f"column {schema.unit!r} is missing: the schema says that it tells whose a row is")
    return _privet.cluster_units(column, schema._checked)
