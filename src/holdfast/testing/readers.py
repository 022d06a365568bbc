"""What does a simulated run read? With the production reader, from the landscape's own disk.

What is larger than the engine reads by itself goes through a child, which may die, hang, or be
ended because nobody wants the document any more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

from holdfast.domain.chunks import ChunkPage, Cutting
from holdfast.domain.errors import Permanent
from holdfast.ports import Event, Limits, Runtime, Source
from holdfast.stages.reading.cutting import cut
from holdfast.testing.files import Landscape

TASK = f"{__name__}:cut_apart"


class Cancelled(Exception):
    """Nobody wants this document any more."""


@dataclass(frozen=True, slots=True)
class SimReader:
    """A place is a name in the landscape."""

    disk: Landscape
    runtime: Runtime
    in_process: int

    def read(
        self, source: Source, cutting: Cutting, cancelled: Event
    ) -> Generator[ChunkPage, None, None]:
        if source.place is not None:
            if source.place not in self.disk.ours:
                raise Permanent(f"{source.place} is gone", code="unreadable")
            source = replace(source, content=self.disk.ours[source.place][0])
        if source.size <= self.in_process:
            yield from cut(source, cutting)
            return

        def check() -> None:
            if cancelled.is_set():
                raise Cancelled

        given, limits = (source, cutting), Limits()
        try:
            with self.runtime.child(
                TASK, given, about=source.name, limits=limits, check=check
            ) as answers:
                yield from answers
        except Cancelled:
            return


def cut_apart(given: tuple[Source, Cutting]) -> Iterator[Any]:
    """What runs in the child."""
    return cut(*given)
