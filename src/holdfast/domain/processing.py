"""How far is a document that a processor converts, and when have we waited enough?

            submit            status              result
   nothing ------> pending -> running -----> done ------> kept as a `processed` file
                      |          |--> failed  (the item fails with the processor's words)
                      |          |--> lost    (submitted again, twice)
                      +----------+--> no progress for too long, or far too long in all: cancelled

Time is counted from look to look, each look at least as long as the pause between them and at most
as long as one slow answer: neither a clock that jumps nor a night without the engine uses it up,
and no clock that was set back makes it endless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from holdfast.domain.ids import BaseId, EntryId, Generation, ItemId

MAX_SUBMISSIONS = 3  # one, and twice more for what was lost
LONGEST_LOOK = 65.0  # the pause and an answer that takes all its time
IN_ALL = 12  # times the longest wait without progress


class Word(StrEnum):
    """What a processor says of a document; every service's own words become these."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Report:
    """A processor's answer to the question how far it is."""

    word: Word
    said: str | None = None
    ahead: int | None = None  # documents before this one in its queue
    share: float | None = None  # of the document that is done, 0 to 1

    def differs(self, other: Report | None) -> bool:
        """Has something moved? Words alone are no progress."""
        mine = (self.word, self.ahead, self.share)
        return other is None or mine != (other.word, other.ahead, other.share)

    def __str__(self) -> str:
        known = [str(self.word)]
        if self.ahead is not None:
            known.append(f"{self.ahead} queued ahead")
        if self.share is not None:
            known.append(f"{round(100 * self.share)} %")
        if self.said:
            known.append(self.said)
        return ", ".join(known)


@dataclass(frozen=True, slots=True)
class Converted:
    """What a processor made of a document: Markdown, and what it could not do."""

    content: bytes
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """Of which bytes, by whom and how a file was processed."""

    source_sha256: str
    source_size: int
    processor: str
    manner: str
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Processed:
    """A file that a processor made, as it is kept."""

    entry: EntryId
    sha256: str
    size: int
    made: Made


def processed_of_document(document: Mapping[str, Any]) -> Processed:
    """As it stands in the input of a job."""
    return Processed(**{**document, "made": Made(**document["made"])})


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """A conversion under way; without `remote_id` it is about to be submitted."""

    item: ItemId
    base: BaseId
    generation: Generation
    processor: str
    made: Made | None = None
    remote_id: str | None = None
    submissions: int = 0
    report: Report | None = None
    looked_at: int = 0  # stored time of the last look
    quiet: float = 0.0  # seconds since something moved
    waited: float = 0.0  # seconds in all

    def looked(self, now: int, pause: float, report: Report | None) -> RemoteJob:
        """After one more look; without a report (nobody answered) nothing has moved."""
        since = (now - self.looked_at) / 1_000_000
        step = min(max(since, pause), pause + LONGEST_LOOK)
        moved = report is not None and report.differs(self.report)
        return replace(
            self,
            report=report or self.report,
            looked_at=now,
            quiet=0.0 if moved else self.quiet + step,
            waited=self.waited + step,
        )

    def told(self, said: str) -> RemoteJob:
        """With what stands in the way, for `explain`."""
        report = self.report or Report(Word.PENDING)
        return replace(self, report=replace(report, said=said))

    def overdue(self, longest: int) -> str | None:
        """Why it is given up, naming the setting; None while there is hope."""
        if self.quiet > longest:
            return f"no progress for {round(self.quiet)} s; file_processing_max_wait is {longest} s"
        if self.waited > IN_ALL * longest:
            said = f"{round(self.waited)} s in all is over {IN_ALL} times file_processing_max_wait"
            return f"{said} ({longest} s)"
        return None
