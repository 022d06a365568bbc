"""How is work waited for: with live progress, until it is done or somebody wants to leave?

Two phases: first the items asked for, then whatever else an earlier command left unfinished in this
folder. Nothing is printed but on a terminal; what is asked of the store is asked the more rarely
the longer an answer takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from holdfast.domain.ids import ItemId
from holdfast.domain.pace import Pace
from holdfast.domain.progress import Tally
from holdfast.interfaces.cli.screen import counted, duration_text
from holdfast.interfaces.library import Holdfast
from holdfast.jobs.waiting import Reason
from holdfast.machine.clock import SystemClock
from holdfast.machine.interrupts import Interrupts

SHORTEST_PAUSE, LONGEST_PAUSE = 0.01, 0.1
LOOK_EVERY = 0.2
COST_SHARE = 20  # a look that takes a second is taken every twenty
SHORTEST_BAR, LONGEST_BAR = 5, 30
LONGEST_LABEL = 20
GAP = 2
STANDING_STILL = 3.0
LOOKED_AT = 5
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Ending(Enum):
    """Why the waiting ended."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    HELD = "held"  # what is left waits for a person: a paused base, parked work


@dataclass(slots=True)
class Watch:
    """Somebody waiting for items."""

    hf: Holdfast
    stop: Interrupts
    console: Console
    clock: SystemClock = field(default_factory=SystemClock)
    _pause: float = SHORTEST_PAUSE
    _next_look: float = 0.0
    _turn: int = 0

    def until_settled(self, items: Sequence[ItemId], label: str) -> Ending:
        """Until each of these has settled."""
        pace, looked = Pace(), self.clock.mono()
        self._pause = SHORTEST_PAUSE
        with _live(self.console) as live:
            while left := self.hf.unsettled(items):
                if self.stop.asked:
                    return Ending.INTERRUPTED
                if self._is_held(left):
                    return Ending.HELD
                looked = self._rest(looked)
                if live is not None and self._is_time():
                    tally = self._timed_tally(items)
                    pace.look(self.clock.mono(), tally.workload_done)
                    shown: list[RenderableType] = [
                        self._line(label, tally, pace),
                        *self._why(left, pace),
                    ]
                    live.update(Group(*shown), refresh=True)
        return Ending.DONE

    def until_quiet(self) -> Ending:
        """Until nothing runs in this folder and nothing could start now."""
        looked = self.clock.mono()
        self._pause = SHORTEST_PAUSE
        with _live(self.console) as live:
            while self.hf.is_going_on():
                if self.stop.asked:
                    return Ending.INTERRUPTED
                looked = self._rest(looked)
                if live is not None and self._is_time():
                    queue = self.hf.queue()
                    rest = counted(queue.queue_size + queue.processing_count, "job")
                    text = f"{self._spin()} finishing what was left from before: {rest}"
                    live.update(Text(text, style="cyan"), refresh=True)
        return Ending.DONE

    def _is_held(self, left: Sequence[ItemId]) -> bool:
        """Nothing goes on and nothing will by itself; what has just passed is not held."""
        return not self.hf.is_going_on(delayed=True) and bool(self.hf.unsettled(left))

    def _rest(self, looked: float) -> float:
        """A pause that grows with the work and with what the last look cost."""
        cost = self.clock.mono() - looked
        self.stop.pause(max(self._pause, min(1.0, cost * COST_SHARE / 10)))
        self._pause = min(LONGEST_PAUSE, self._pause * 1.5)
        return self.clock.mono()

    def _is_time(self) -> bool:
        return self.clock.mono() >= self._next_look

    def _timed_tally(self, items: Sequence[ItemId]) -> Tally:
        before = self.clock.mono()
        tally = self.hf.tally(items)
        cost = self.clock.mono() - before
        self._next_look = self.clock.mono() + max(LOOK_EVERY, cost * COST_SHARE)
        return tally

    def _line(self, label: str, tally: Tally, pace: Pace) -> Table:
        shown = label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
        return progress_line(f"{self._spin()} {shown}", tally, pace, self.console.width)

    def _why(self, left: Sequence[ItemId], pace: Pace) -> list[Text]:
        """When nothing has moved for a while: what the first item waits for."""
        if pace.rate != 0.0 or pace.seconds_seen < STANDING_STILL:
            return []
        base = self.hf.item(left[0]).base_id
        waiting = [self.hf.explain(one) for one in self.hf.queue(base).active_item_ids[:LOOKED_AT]]
        reasons = [one for one in waiting if one.reason is not Reason.CHILDREN]
        return [Text(f"  {one.item.name}: {one.sentence}", style="yellow") for one in reasons[:1]]

    def _spin(self) -> str:
        self._turn += 1
        return SPINNER[self._turn % len(SPINNER)]


def progress_line(label: str, tally: Tally, pace: Pace, width: int) -> Table:
    """One line: how far, how many, how fast, how long; the bar takes what room is left."""
    share = tally.workload_done / tally.workload if tally.workload else 0.0
    line = Table.grid(padding=(0, GAP, 0, 0))
    cells: list[Text | ProgressBar] = [
        Text(label, style="bold"),
        ProgressBar(total=1.0, completed=share),
        Text(f"{min(99, int(share * 100)):3} %"),
        Text(f"{tally.settled:,} of {counted(tally.leaves, 'document')}"),
        Text(_speed(tally, pace), style="cyan"),
        Text(_rest_of(tally, pace), style="cyan"),
    ]
    if tally.failed:
        cells.append(Text(f"{tally.failed:,} failed", style="red"))
    words = sum(len(cell) + GAP for cell in cells if isinstance(cell, Text)) + GAP
    cells[1] = ProgressBar(total=1.0, completed=share, width=clamped(width - words))
    for _ in cells:
        line.add_column(no_wrap=True)
    line.add_row(*cells)
    return line


def clamped(room: int) -> int:
    return max(SHORTEST_BAR, min(LONGEST_BAR, room))


def _speed(tally: Tally, pace: Pace) -> str:
    """Files a second, from the bytes a second and the size of a file."""
    if not pace.rate or not tally.workload:
        return "-/s"
    return f"{pace.rate * tally.leaves / tally.workload:,.1f}/s"


def _rest_of(tally: Tally, pace: Pace) -> str:
    if tally.listing:
        return "still listing"
    left = pace.seconds_left(tally.workload - tally.workload_done)
    return "" if left is None else f"{duration_text(left)} left"


@contextmanager
def _live(console: Console) -> Iterator[Live | None]:
    """A live line, only where it can be drawn; it is gone when it ends."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield None
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield live
