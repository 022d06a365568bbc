"""What does a processor do with documents, how long does it take, and what goes wrong with it?

A plant outlives the processes that give it documents. It finishes a document after a few looks,
gives its result once, and knows no document twice: who submits again is served again, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from holdfast.domain.errors import Permanent, Transient
from holdfast.domain.processing import Converted, Report, Word
from holdfast.ports import Source
from holdfast.testing.faults import Fault, Kind
from holdfast.testing.files import Landscape
from holdfast.testing.gate import Gate

PROCESSOR = "sim"
SCAN = b"%scan "  # what is not text until a processor has seen it
KNOT = b"%scan %knot "  # what the processor never comes to the end of, until it is mended
MOST_LOOKS = 4


@dataclass(slots=True)
class Document:
    """One document at the plant."""

    content: bytes
    looks: int  # until it is done
    fate: Kind | None = None
    looked: int = 0


class Plant:
    """What the processor has; outlives the processes."""

    def __init__(self, landscape: Landscape) -> None:
        self._disk = landscape
        self.documents: dict[str, Document] = {}
        self.submitted = 0
        self.distinct: set[bytes] = set()
        self.has_knots = self.mended = False

    def bytes_of(self, source: Source) -> bytes:
        """A place is a name in the landscape."""
        if source.place is None:
            return source.content or b""
        if source.place not in self._disk.ours:
            raise Permanent(f"{source.place} is gone", code="unreadable")
        return self._disk.ours[source.place][0]

    def take(self, content: bytes, fate: Kind | None) -> str:
        self.submitted += 1
        self.distinct.add(content)
        if content.startswith(KNOT) and not self.mended:
            self.has_knots, fate = True, Kind.ENDLESS
        remote_id = f"task-{self.submitted}"
        self.documents[remote_id] = Document(content, crc32(content) % MOST_LOOKS, fate)
        return remote_id

    def report(self, remote_id: str) -> Report:
        document = self.documents.get(remote_id)
        if document is None:
            return Report(Word.LOST, "no such task")
        document.looked += 1
        if document.fate is Kind.ENDLESS or document.looked <= document.looks:
            early = document.looked == 1
            return Report(Word.PENDING if early else Word.RUNNING, ahead=1 if early else None)
        if document.fate is Kind.FAILING:
            return Report(Word.FAILED, "the document is upside down")
        return Report(Word.DONE)

    def give(self, remote_id: str) -> Converted | None:
        """Once."""
        document = self.documents.pop(remote_id, None)
        return None if document is None else Converted(text_of(document.content))


def text_of(content: bytes) -> bytes:
    """What is read in a scan."""
    return content.removeprefix(KNOT).removeprefix(SCAN)


class SimProcessor:
    """The plant, as one process sees it."""

    def __init__(self, plant: Plant, gate: Gate) -> None:
        self._plant, self._gate = plant, gate

    def submit(self, source: Source) -> str:
        content = self._plant.bytes_of(source)
        fault = self._gate.drawn("submit", "processor.submit")
        if fault is None:
            return self._plant.take(content, None)
        self._gate.before(fault)
        _refuse(fault)
        remote_id = self._plant.take(content, fault.kind)
        if fault.kind is Kind.LOST:
            del self._plant.documents[remote_id]
        self._gate.after(fault)
        return remote_id

    def status(self, remote_id: str) -> Report:
        fault = self._before("processor.status", remote_id)
        report = self._plant.report(remote_id)
        if fault is not None:
            self._gate.after(fault)
        return report

    def result(self, remote_id: str) -> Converted | None:
        fault = self._before("processor.result", remote_id)
        given = self._plant.give(remote_id)
        if fault is not None:
            self._gate.after(fault)
        return given

    def cancel(self, remote_id: str) -> None:
        def forget() -> None:
            self._plant.documents.pop(remote_id, None)

        self._gate.call("cancel", "processor.cancel", forget)

    def _before(self, call: str, remote_id: str) -> Fault | None:
        fault = self._gate.drawn("processing", call)
        if fault is not None:
            self._gate.before(fault)
            _refuse(fault)
            if fault.kind is Kind.LOST:
                self._plant.documents.pop(remote_id, None)
        return fault


class SimProcessors:
    """One there is."""

    def __init__(self, plant: Plant, gate: Gate) -> None:
        self._plant, self._gate = plant, gate

    def resolve(self, name: str) -> SimProcessor:
        if name != PROCESSOR:
            raise Permanent(f"there is no processor {name}", code="processing_failed")
        return SimProcessor(self._plant, self._gate)


def _refuse(fault: Fault) -> None:
    what = f"{PROCESSOR} answered {fault.kind}"
    if fault.kind in (Kind.TOO_MANY, Kind.SERVER_ERROR):
        raise Transient(what, code="processing_failed")
