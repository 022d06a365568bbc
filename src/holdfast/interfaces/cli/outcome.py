"""What became of the items that were worked on, and how is it told?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from rich.console import Console

from holdfast.domain.errors import NotFound
from holdfast.domain.ids import ItemId
from holdfast.domain.items import Item
from holdfast.domain.progress import Tally
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE, FAILED, INTERRUPTED
from holdfast.interfaces.cli.screen import counted, place, table
from holdfast.interfaces.cli.watching import Ending, Watch
from holdfast.interfaces.library import Holdfast
from holdfast.machine.interrupts import Interrupts

MOST_FAILURES = 1_000
SHOWN_FAILURES = 50


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that failed."""

    what: str
    why: str
    advice: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the waiting ended, and what is true now."""

    ending: Ending | None  # None: nobody waited
    items: tuple[Item, ...]
    tally: Tally
    failures: tuple[Item, ...]

    def code(self, *, refused: bool = False) -> int:
        if self.ending is Ending.INTERRUPTED:
            return INTERRUPTED
        return FAILED if refused or self.failures else DONE

    def troubles(self) -> list[Trouble]:
        return [
            Trouble(place(item.source), item.error or "", item.error_advice or "")
            for item in self.failures
        ]


def waited(
    hf: Holdfast, stop: Interrupts, door: Door, items: Sequence[ItemId], label: str
) -> Ending:
    """The items, then what an earlier command left unfinished in this folder."""
    watch = Watch(hf, stop, door.screen.err)
    ending = watch.until_settled(items, label) if items else Ending.DONE
    return watch.until_quiet() if ending is Ending.DONE else ending


def outcome_of(hf: Holdfast, items: Sequence[ItemId], ending: Ending | None) -> Outcome:
    """What is true of the items now; what was deleted meanwhile is nobody's trouble any more."""
    found = [item for one in items if (item := _still_there(hf, one)) is not None]
    ids = [item.id for item in found]
    failures = hf.failures(ids, limit=MOST_FAILURES) if ending is not None and ids else []
    return Outcome(ending, tuple(found), hf.tally(ids), tuple(failures))


def _still_there(hf: Holdfast, item: ItemId) -> Item | None:
    try:
        return hf.item(item)
    except NotFound:
        return None


def show_troubles(console: Console, troubles: Sequence[Trouble]) -> None:
    """A table of what failed, why, and what to do."""
    if not troubles:
        return
    shown = table("What failed", "Why", "What to do")
    for one in troubles[:SHOWN_FAILURES]:
        shown.add_row(one.what, one.why, one.advice)
    console.print()
    console.print(shown)
    if len(troubles) > SHOWN_FAILURES:
        rest = counted(len(troubles) - SHOWN_FAILURES, "more")
        console.print(f"… and {rest}: holdfast ls --status failed")


def say_how_it_ended(door: Door, outcome: Outcome) -> None:
    """What a person has to know when not everything is done."""
    tally = outcome.tally
    left = tally.leaves - tally.settled
    match outcome.ending:
        case Ending.INTERRUPTED:
            more = ", and folders not listed to the end" if tally.listing else ""
            rest = f"{left:,} of {counted(tally.leaves, 'document')} unfinished{more}. "
            door.say(
                f"Stopped. {rest if left or more else ''}Nothing is lost: what is unfinished goes "
                "on with the next command that runs work, `holdfast recover` or `holdfast add`."
            )
        case Ending.HELD:
            rest = counted(left or len(outcome.items), "document")
            door.say(
                f"{rest} cannot go on now: the base is paused or asks first. "
                "`holdfast explain ITEM` says why, `holdfast recover` puts unfinished work back."
            )
        case Ending.DONE | None:
            return
        case _:
            assert_never(outcome.ending)


def summary(outcome: Outcome, base: str) -> str:
    """One line of what can be found now."""
    tally = outcome.tally
    ready = f"{counted(tally.completed, 'document')} ready in {base}"
    failed = f", {tally.failed:,} failed" if tally.failed else ""
    return f"{ready}, {counted(tally.chunks, 'passage')}{failed}."
