"""What does a simulated run read? With the production reader, from the landscape's own disk."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from holdfast.domain.chunks import ChunkPage, Cutting
from holdfast.domain.errors import Permanent
from holdfast.machine.child_host import failed
from holdfast.ports import Event, Source
from holdfast.stages.reading.cutting import OwnReader
from holdfast.testing.faults import Kind
from holdfast.testing.files import Landscape
from holdfast.testing.gate import Gate


class SimReader:
    """A place is a name in the landscape; somebody else may run before every page, and die."""

    def __init__(self, landscape: Landscape, gate: Gate) -> None:
        self._disk, self._gate, self._reader = landscape, gate, OwnReader()

    def read(
        self, source: Source, cutting: Cutting, cancelled: Event
    ) -> Generator[ChunkPage, None, None]:
        if source.place is not None:
            if source.place not in self._disk.ours:
                raise Permanent(f"{source.place} is gone", code="unreadable")
            source = replace(source, content=self._disk.ours[source.place][0])
        pages = self._reader.read(source, cutting, cancelled)
        while True:
            self._may_fail(source)
            page = next(pages, None)
            if page is None:
                return
            yield page

    def _may_fail(self, source: Source) -> None:
        fault = self._gate.drawn("reader", "reader.read")
        if fault is None:
            return
        self._gate.before(fault)
        if fault.kind is Kind.PARSER_DIED:
            raise failed(source.name, f"injected {fault.kind}")
        self._gate.after(fault)
