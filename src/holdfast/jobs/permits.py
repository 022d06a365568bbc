"""May this stage run now? Counted places for reading, model calls and writes.

A job waits for one permit without holding another, so permits cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.ports import Runtime


class Places:
    """At most `limit` holders at once, in the order they came.

    Every comer takes a number; number n is let in when n - limit + 1 others have left. Without
    numbers a busy run would take its own place again before those who wait for it wake up.
    """

    def __init__(self, runtime: Runtime, limit: int) -> None:
        self.limit = limit
        self._came = self._left = 0
        self._condition = runtime.condition()

    @property
    def used(self) -> int:
        """How many hold a place now; those who wait for one do not count."""
        return min(self.limit, self._came - self._left)

    @contextmanager
    def hold(self) -> Iterator[None]:
        with self._condition:
            number = self._came
            self._came += 1
        try:
            with self._condition:
                while number >= self._left + self.limit:
                    self._condition.wait()
            yield
        finally:
            with self._condition:
                self._left += 1
                self._condition.notify_all()


@dataclass(frozen=True, slots=True)
class Permits:
    """The stages that are counted."""

    reading: Places
    embedding: Places
    writing: Places


def permits(runtime: Runtime, reading: int, embedding: int, writing: int) -> Permits:
    return Permits(Places(runtime, reading), Places(runtime, embedding), Places(runtime, writing))
