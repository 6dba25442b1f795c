"""Teachers trained apart: a process for each, so that none learns from another and none can hold up the rest.

A *bench* is a process that imports what an estimator needs once and does nothing else; for every chunk it makes
a child that reads the chunk, fits, predicts and ends. The bench itself never holds a row of a chunk, so that every
child begins alike. What is seen of a teacher outside is its list of classes; one that raises, or meets a limit,
has no vote of its own.

**Limits are a teacher's own.** Each child has so many seconds of processor time, so much address space and so large
files (`resource.setrlimit`), whatever others do at the same time. A limit that others could make it meet would let
one record move many votes. So the clock on the wall is a far backstop (`_BACKSTOP` times as long), and what is
assumed is that nobody meets it for want of a processor, and that the machine has room for all teachers that run at
a time. A second of processor time does a little less on a busy machine: give far more than a teacher needs.

Run as a program, ``python -m privet._teachers``, this is a bench: jobs come in on standard input, lists go out.
"""

from __future__ import annotations

import math
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

if sys.platform != "win32":
    import resource

_LENGTH = struct.Struct("<Q")
# How many times longer than its processor time a teacher may take by the clock on the wall.
_BACKSTOP = 20.0
# Bytes of address space of a teacher, and of each file that it writes.
_MEMORY = 8 << 30
_FILE = 1 << 30
# What a child says before its votes: that it has read its chunk.
_READ = b"\x01"


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


def _limited(seconds: float) -> None:
    """Puts this process under limits of its own. Lower ones that it has already stay."""
    limits = (
        (resource.RLIMIT_CPU, max(1, math.ceil(seconds))),
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _FILE),
        # A picture of its memory would hold records.
        (resource.RLIMIT_CORE, 0),
    )
    for kind, most in limits:
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):
            # A system without this limit: it is without it for every teacher.
            continue


def _ended(child: int) -> None:
    """Ends a child and whatever it started in its session, and waits for it."""
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except OSError:
            # It has no group yet, or is gone.
            continue
    os.waitpid(child, 0)


def _apart(estimator: Any, queries: np.ndarray, limit: float, length: int) -> tuple[bool, bytes | None]:
    """The votes of a child that is made for this chunk alone, none if it fails; and whether it took its chunk, of so
    many bytes, off standard input."""
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(end)
            _limited(limit)
            with os.fdopen(os.dup(0), "rb", buffering=0) as jobs:
                data = bytearray()
                while len(data) < length:
                    part = jobs.read(min(length - len(data), 1 << 20))
                    if not part:
                        raise EOFError
                    data += part
            _quiet()
            with os.fdopen(start, "wb", buffering=0) as out:
                out.write(_READ)
                rows, labels, number = pickle.loads(data)
                del data
                votes = memoryview(_votes(estimator, rows, labels, queries, number))
                while votes:
                    votes = votes[out.write(votes) :]
        finally:
            os._exit(0)
    os.close(start)
    _child[:] = [child]
    size = len(_READ) + 8 * len(queries)
    found, until = b"", time.monotonic() + _BACKSTOP * limit
    while len(found) <= size:
        left = until - time.monotonic()
        if left <= 0 or not select.select([end], [], [], left)[0]:
            break
        part = os.read(end, 1 << 20)
        if not part:
            break
        found += part
    os.close(end)
    _ended(child)
    _child.clear()
    return found[:1] == _READ, found[1:] if len(found) == size else None


# The child that a bench waits for.
_child: list[int] = []


def _stop(*_: Any) -> None:
    """A bench that is told to end takes its child with it."""
    for child in _child:
        _ended(child)
    os._exit(0)


def _bench() -> None:
    signal.signal(signal.SIGTERM, _stop)
    # A key that interrupts is for whoever began this, who then says so.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    _redirect = os.open(os.devnull, os.O_WRONLY)
    os.dup2(_redirect, 1)
    os.dup2(_redirect, 2)
    # Without a buffer: what is left on it is for a child.
    with os.fdopen(os.dup(0), "rb", buffering=0) as jobs:

        def exactly(length: int) -> bytes:
            data = b""
            while len(data) < length:
                part = jobs.read(length - len(data))
                if not part:
                    raise EOFError
                data += part
            return data

        try:
            estimator, queries, limit = pickle.loads(exactly(_LENGTH.unpack(exactly(_LENGTH.size))[0]))
            while True:
                taken, found = _apart(estimator, queries, limit, _LENGTH.unpack(exactly(_LENGTH.size))[0])
                _write(answers, (taken, found))
                if not taken:
                    # Some of a chunk is left on the input, and nobody can tell where the next begins.
                    return
        except EOFError:
            return


def _start(estimator: Any, queries: np.ndarray, limit: float) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(path for path in sys.path if path)
    names = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "RAYON")
    threads = {f"{name}_NUM_THREADS": "1" for name in names}
    threads |= {"VECLIB_MAXIMUM_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}
    bench = subprocess.Popen(
        [sys.executable, "-m", "privet._teachers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": paths, **threads},
    )
    assert bench.stdin is not None
    try:
        _write(bench.stdin, (estimator, queries, limit))
    except BaseException:
        _gone(bench)
        raise
    return bench


def _gone(bench: subprocess.Popen[bytes]) -> None:
    """Ends a bench, and through it its child."""
    bench.terminate()
    try:
        bench.wait(10)
    except subprocess.TimeoutExpired:
        bench.kill()
        bench.wait()
    for stream in (bench.stdin, bench.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:
            # What was left to be written to it has no reader.
            continue


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
    """A class number for each chunk's teacher and each question, -1 throughout for a teacher without a vote. `limit`
    is in seconds of a teacher's own processor time."""
    if not hasattr(os, "fork"):
        raise RuntimeError(
            "estimators cannot teach on this system: each needs a process of its own, made by fork, or it would learn "
            "from another's rows. Give the name of a teacher that is built in, such as estimator='forest'"
        )
    votes = np.full((len(chunks), len(queries)), -1, dtype=np.int64)
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number, chunk in enumerate(chunks):
        if len(chunk):
            waiting.put(number)
    stopping = threading.Event()

    def work() -> None:
        bench: subprocess.Popen[bytes] | None = None
        while not stopping.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                chunk = chunks[number]
                if bench is None:
                    bench = _start(estimator, queries, limit)
                    benches.append(bench)
                _write(bench.stdin, (rows[chunk], labels[chunk].astype(np.int64), number))  # type: ignore[arg-type]
                taken, found = _read(bench.stdout)  # type: ignore[arg-type]
                if found is not None:
                    votes[number] = np.frombuffer(found, dtype=np.int64)
                if not taken:
                    # The bench ends: the next teacher has another, and a vote of its own.
                    benches.remove(bench)
                    _gone(bench)
                    bench = None
            except Exception:
                # The bench is gone, whatever the reason: this teacher has no vote, and the next one gets another.
                if bench is not None:
                    benches.remove(bench)
                    _gone(bench)
                bench = None
        if bench is not None:
            benches.remove(bench)
            _gone(bench)

    benches: list[subprocess.Popen[bytes]] = []
    threads = [threading.Thread(target=work) for _ in range(max(1, min(n_jobs, len(chunks))))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        # Interrupted: no teacher goes on by itself.
        stopping.set()
        for bench in list(benches):
            bench.terminate()
        for thread in threads:
            thread.join()
        raise
    return votes


if __name__ == "__main__":
    _bench()
