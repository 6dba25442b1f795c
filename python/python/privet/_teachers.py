"""Teachers trained apart: a process for each, so that none learns from another and none can hold up the rest.

A *bench* is a process that imports what an estimator needs once and does nothing else; for every chunk it makes a child that
fits, predicts and ends. A child that raises, or takes too long and is killed, has no vote of its own. What is seen
of a teacher outside is its list of classes.

Run as a program, ``python -m privet._teachers``, this is a bench: jobs come in on standard input, lists go out.
"""

from __future__ import annotations

import os
import pickle
import queue
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from typing import Any, BinaryIO

import numpy as np

_LENGTH = struct.Struct("<Q")


def _write(stream: BinaryIO, message: Any) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def _read(stream: BinaryIO) -> Any:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pickle.loads(stream.read(_LENGTH.unpack(head)[0]))


def _votes(estimator: Any, rows: np.ndarray, labels: np.ndarray, queries: np.ndarray, number: int) -> bytes:
    """The classes that one teacher gives, as 64-bit numbers."""
    np.random.seed(number)
    if len(np.unique(labels)) == 1:
        told = np.full(len(queries), labels[0])
    else:
        told = np.asarray(estimator.fit(rows, labels).predict(queries))
    votes = np.full(len(queries), -1, dtype=np.int64)
    if told.shape == votes.shape and np.issubdtype(told.dtype, np.number):
        votes = told.astype(np.int64)
    return votes.tobytes()


def _quiet() -> None:
    """Nothing that a teacher prints is seen: it may be a value of a record."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _apart(job: tuple[Any, ...], limit: float, size: int) -> bytes | None:
    """The votes of a child that is made for this chunk alone; none if it fails."""
    if not hasattr(os, "fork"):
        try:
            return _votes(*job)
        except Exception:
            return None
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(end)
            _quiet()
            with os.fdopen(start, "wb") as out:
                out.write(_votes(*job))
        finally:
            os._exit(0)
    os.close(start)
    found, until = b"", time.monotonic() + limit
    while len(found) <= size:
        left = until - time.monotonic()
        if left <= 0 or not select.select([end], [], [], left)[0]:
            break
        part = os.read(end, 1 << 20)
        if not part:
            break
        found += part
    os.close(end)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return found if len(found) == size else None


def _bench() -> None:
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    _redirect = os.open(os.devnull, os.O_WRONLY)
    os.dup2(_redirect, 1)
    os.dup2(_redirect, 2)
    estimator, queries, limit = _read(jobs)
    while True:
        try:
            rows, labels, number = _read(jobs)
        except EOFError:
            return
        found = _apart((estimator, rows, labels, queries, number), limit, 8 * len(queries))
        _write(answers, found)


def _start(estimator: Any, queries: np.ndarray, limit: float) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(path for path in sys.path if path)
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    bench = subprocess.Popen(
        [sys.executable, "-m", "privet._teachers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": paths, **threads},
    )
    assert bench.stdin is not None
    _write(bench.stdin, (estimator, queries, limit))
    return bench


def ballots(
    estimator: Any,
    rows: np.ndarray,
    labels: np.ndarray,
    chunks: list[np.ndarray],
    queries: np.ndarray,
    *,
    n_jobs: int,
    limit: float,
) -> np.ndarray:
    """A class number for each chunk's teacher and each question, -1 throughout for a teacher without a vote."""
    votes = np.full((len(chunks), len(queries)), -1, dtype=np.int64)
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number, chunk in enumerate(chunks):
        if len(chunk):
            waiting.put(number)

    def work() -> None:
        bench: subprocess.Popen[bytes] | None = None
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                break
            chunk = chunks[number]
            try:
                bench = bench or _start(estimator, queries, limit)
                _write(bench.stdin, (rows[chunk], labels[chunk].astype(np.int64), number))  # type: ignore[arg-type]
                found = _read(bench.stdout)  # type: ignore[arg-type]
            except (OSError, EOFError, pickle.PickleError):
                # The bench is gone: this teacher has no vote, and the next one gets another.
                found = None
                if bench is not None:
                    bench.kill()
                    bench.wait()
                bench = None
            if found is not None:
                votes[number] = np.frombuffer(found, dtype=np.int64)
        if bench is not None:
            bench.stdin.close()  # type: ignore[union-attr]
            bench.wait()

    threads = [threading.Thread(target=work) for _ in range(max(1, min(n_jobs, len(chunks))))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return votes


if __name__ == "__main__":
    _bench()
