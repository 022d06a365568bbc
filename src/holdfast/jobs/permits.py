"""May this stage run now? Counted places for reading, model calls and writes.

A job waits for one permit without holding another, so permits cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.ports import Runtime


class Places:
    """At most `limit` holders at once, first come first served by the condition's queue."""

    def __init__(self, runtime: Runtime, limit: int) -> None:
        self.limit, self.used = limit, 0
        self._condition = runtime.condition()

    @contextmanager
    def hold(self) -> Iterator[None]:
        with self._condition:
            while self.used >= self.limit:
                self._condition.wait()
            self.used += 1
        try:
            yield
        finally:
            with self._condition:
                self.used -= 1
                self._condition.notify()


@dataclass(frozen=True, slots=True)
class Permits:
    """The stages that are counted."""

    reading: Places
    embedding: Places
    writing: Places


def permits(runtime: Runtime, reading: int, embedding: int, writing: int) -> Permits:
    return Permits(Places(runtime, reading), Places(runtime, embedding), Places(runtime, writing))
