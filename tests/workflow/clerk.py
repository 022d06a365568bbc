"""A processor that does what a test tells it, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from holdfast import assembly
from holdfast.domain.bases import Base
from holdfast.domain.items import File, Item
from holdfast.domain.jobs import Lane
from holdfast.domain.processing import Converted, Report, Word
from holdfast.ports import Source
from tests.workflow.worlds import World

RUNNING, DONE, LOST = Report(Word.RUNNING), Report(Word.DONE), Report(Word.LOST)
SETTINGS: dict[str, Any] = {"clerk": {"kind": "docling", "types": ["pdf"]}}


def nothing(_call: str) -> None:
    """What happens at a call: nothing, unless a test says so."""


def backwards(content: bytes) -> bytes:
    return content[::-1]


@dataclass
class Clerk:
    """Reads what it is given backwards; its reports are told to it, the last one stays."""

    reports: list[Report] = field(default_factory=lambda: [DONE])
    given: dict[str, bytes] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    results: int = 1  # how often a result may be had
    warning: str | None = None
    on_call: Callable[[str], None] = nothing
    reads: Callable[[bytes], bytes] = backwards

    def resolve(self, _name: str) -> Clerk:
        return self

    def submit(self, source: Source) -> str:
        self._heard("submit")
        return self.take(source.content or Path(str(source.place)).read_bytes())

    def take(self, content: bytes) -> str:
        remote_id = f"task-{len(self.given) + 1}"
        self.given[remote_id] = content
        return remote_id

    def status(self, remote_id: str) -> Report:
        self._heard(f"status {remote_id}")
        return self.reports[0] if len(self.reports) == 1 else self.reports.pop(0)

    def result(self, remote_id: str) -> Converted | None:
        self._heard(f"result {remote_id}")
        self.results -= 1
        return (
            Converted(self.reads(self.given[remote_id]), self.warning)
            if self.results >= 0
            else None
        )

    def cancel(self, remote_id: str) -> None:
        self._heard(f"cancel {remote_id}")

    def _heard(self, call: str) -> None:
        self.calls.append(call)
        self.on_call(call)

    def asked(self, verb: str) -> list[str]:
        return [call for call in self.calls if call.startswith(verb)]


class Office(World):
    """A world whose base has the clerk as its processor."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.clerk = Clerk()
        super().__init__(folder, processors=SETTINGS, **settings)
        self.base: Base = self.hf.create_base(
            "scans", embedding_model="hash/32", file_processor_id="clerk"
        )

    def _opened(self) -> Any:
        with mock.patch.object(assembly, "Processors", return_value=self.clerk):
            return super()._opened()

    def scan(self, text: str = "The lamp hums at night.", name: str = "scan.pdf") -> Item:
        """A document that only the clerk can read, accepted and not yet done."""
        given = File(content=text.encode()[::-1], name=name)
        return self.hf.add(self.base, [given]).created[0]

    def look(self) -> None:
        """One round: the time of the next look comes."""
        self.clock.advance(self.engine.kb.settings.file_processing_check_delay)
        self.step(Lane.POLL)
