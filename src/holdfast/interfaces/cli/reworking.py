"""What do `reindex` and `recover` answer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from holdfast.domain.ids import ItemId
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.outcome import Outcome, say_how_it_ended, show_troubles
from holdfast.interfaces.cli.screen import counted
from holdfast.interfaces.cli.watching import Ending
from holdfast.interfaces.words import Document, failed_document


@dataclass(frozen=True, slots=True)
class Rework:
    """What was asked for, in words and as the document that says so."""

    verb: str
    document: Document
    ids: Sequence[ItemId]


def told(door: Door, rework: Rework, outcome: Outcome) -> int:
    failed = [failed_document(item, None) for item in outcome.failures]
    interrupted = outcome.ending is Ending.INTERRUPTED
    document = {**rework.document, "failed": failed, "interrupted": interrupted}
    door.answer(document, lambda console: _show(console, rework, outcome))
    say_how_it_ended(door, outcome)
    return outcome.code()


def _show(console: Console, rework: Rework, outcome: Outcome) -> None:
    asked = counted(len(rework.ids), "item")
    if outcome.ending is None:
        console.print(f"{asked} will be {rework.verb} by the next command that runs work.")
        return
    tally = outcome.tally
    numbers = f"{counted(tally.completed, 'document')} ready, {counted(tally.chunks, 'passage')}"
    failed = f", {tally.failed:,} failed" if tally.failed else ""
    console.print(f"{asked} {rework.verb}: {numbers}{failed}.")
    show_troubles(console, outcome.troubles())
