"""Which work is unfinished, base by base?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console

from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.items import Item
from holdfast.interfaces.cli.numbers import show_paused
from holdfast.interfaces.cli.screen import counted, table
from holdfast.interfaces.library import Holdfast
from holdfast.workflow.queue import Queue

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Line:
    """One base's queue, and why its first items wait."""

    base: str
    queue: Queue
    waiting: tuple[tuple[str, str, str], ...]


def queues(hf: Holdfast, base: str | None) -> list[Line]:
    bases = hf.bases() if base is None else [hf.base(base)]
    return [_line(hf, one.id, one.name) for one in bases]


def _line(hf: Holdfast, base: BaseId, name: str) -> Line:
    queue = hf.queue(base)
    first = [hf.explain(item) for item in queue.active_item_ids[:SHOWN]]
    waiting = tuple((one.item.name, one.item.status.value, one.sentence) for one in first)
    return Line(name, queue, waiting)


def show_queues(console: Console, lines: Sequence[Line], whole: Queue) -> None:
    if not whole.queue_size + whole.processing_count:
        console.print("Nothing is unfinished.")
        return
    numbers = table("Base", "Waiting", "Running", "Left behind", "Deleting", "Done", right=NUMBERS)
    for line in lines:
        queue = line.queue
        numbers.add_row(
            line.base,
            f"{queue.queue_size:,}",
            f"{queue.processing_count:,}",
            f"{queue.orphan_count:,}",
            f"{queue.deleting_count:,}",
            f"{queue.percent} %",
        )
    console.print(numbers)
    reasons = table("Item", "Status", "Why it waits")
    for line in lines:
        for row in line.waiting:
            reasons.add_row(*row)
    if reasons.row_count:
        console.print()
        console.print(reasons)
    hidden = sum(max(0, line.queue.active_count - SHOWN) for line in lines)
    if hidden:
        console.print(f"… and {counted(hidden, 'more item', 'more items')}")
    show_paused(console, whole.providers)


NUMBERS = ("Waiting", "Running", "Left behind", "Deleting", "Done")


def put_back(hf: Holdfast, base: str | None, items: Sequence[str] | None) -> list[ItemId]:
    return _each_base(hf, base, items, hf.recover)


def give_up(hf: Holdfast, base: str | None, items: Sequence[str] | None) -> list[ItemId]:
    return _each_base(hf, base, items, hf.dismiss)


def active_roots(hf: Holdfast, base: str | None) -> list[ItemId]:
    """What is unfinished, as the items that a user added: what is inside goes with them."""
    bases = hf.bases() if base is None else [hf.base(base)]
    found: list[ItemId] = []
    for one in bases:
        cursor: str | None = None
        while True:
            page = hf.items(one, cursor=cursor, limit=1_000)
            found += hf.unsettled([item.id for item in page.items])
            cursor = page.next_cursor
            if cursor is None:
                break
    return found


def _each_base(
    hf: Holdfast,
    base: str | None,
    items: Sequence[str] | None,
    verb: Callable[[str, list[Item] | None], list[ItemId]],
) -> list[ItemId]:
    """The verb on the named items base by base, or on everything in the bases asked for."""
    if items:
        named = [hf.find(one, base=base) for one in items]
        of_bases = {
            item.base_id: [one for one in named if one.base_id == item.base_id] for item in named
        }
        return [done for one, some in of_bases.items() for done in verb(one, some)]
    bases = hf.bases() if base is None else [hf.base(base)]
    return [done for one in bases for done in verb(one.id, None)]
