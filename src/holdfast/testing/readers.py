"""What does a simulated run read? With the production reader, from the landscape's own disk."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from holdfast.domain.chunks import ChunkPage, Cutting
from holdfast.domain.errors import Permanent
from holdfast.ports import Event, Source
from holdfast.stages.reading.cutting import OwnReader
from holdfast.testing.files import Landscape


class SimReader:
    """A place is a name in the landscape."""

    def __init__(self, landscape: Landscape) -> None:
        self._disk, self._reader = landscape, OwnReader()

    def read(
        self, source: Source, cutting: Cutting, cancelled: Event
    ) -> Generator[ChunkPage, None, None]:
        if source.place is not None:
            if source.place not in self._disk.ours:
                raise Permanent(f"{source.place} is gone", code="unreadable")
            source = replace(source, content=self._disk.ours[source.place][0])
        yield from self._reader.read(source, cutting, cancelled)
