"""Ctrl-C while a release is made: what is finished is paid for, and is kept.

A fit that a signal reaches in time is stopped, and nothing of it is released. One that is finished all the same
keeps its attributes, and the exception of the signal follows when they are set. A function that returns its
release hands it over with the exception, as ``error.released``.
"""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

from privet import _privet

_privet.find_numpy()

Release = TypeVar("Release")


class Finishing:
    """Holds the exception of a signal back until a release that was made is where it belongs."""

    def __enter__(self) -> Finishing:
        self._within_another = _privet.hold_signals()
        self._released: object = None
        return self

    def of(self, release: Release) -> Release:
        """What a function is about to return."""
        self._released = release
        return release

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._within_another:
            return
        waiting = _privet.let_signals_go()
        if waiting is not None:
            if self._released is not None:
                waiting.released = self._released  # type: ignore[attr-defined]
            raise waiting from error
