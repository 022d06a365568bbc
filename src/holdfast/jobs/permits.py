"""May this stage run now? Counted places for reading and writes; governor.py counts model calls.

A job waits for one permit without holding another, so permits cannot deadlock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.ports import Runtime


class Places:
    """At most `limit` holders at once, in the order they came.

    Without numbers a busy run would take its own place again before those who wait for it wake up;
    one who stops waiting leaves the line and takes nobody's place.
    """

    def __init__(self, runtime: Runtime, limit: int) -> None:
        self.limit, self.used = limit, 0
        self._came = 0
        self._line: deque[int] = deque()
        self._condition = runtime.condition()

    @contextmanager
    def hold(self) -> Iterator[None]:
        with self._condition:
            self._wait_in_line()
            self.used += 1
        try:
            yield
        finally:
            with self._condition:
                self.used -= 1
                self._condition.notify_all()

    def _wait_in_line(self) -> None:
        number, self._came = self._came, self._came + 1
        self._line.append(number)
        try:
            while self.used >= self.limit or self._line[0] != number:
                self._condition.wait()
        finally:
            self._line.remove(number)
            self._condition.notify_all()


@dataclass(frozen=True, slots=True)
class Permits:
    """The stages that are counted."""

    reading: Places
    writing: Places


def permits(runtime: Runtime, reading: int, writing: int) -> Permits:
    return Permits(Places(runtime, reading), Places(runtime, writing))
