"""How does a base stand, and how do some items?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.domain.bases import Base
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import DELETING, Status
from holdfast.domain.items import Item
from holdfast.domain.jobs import Lane
from holdfast.domain.progress import Tally
from holdfast.workflow.list_items import living_base
from holdfast.workflow.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Overview:
    """A base in numbers."""

    base: Base
    counts: Mapping[Status, int]
    item_count: int
    document_count: int  # items that are no containers, and those of them that failed
    failed_count: int
    chunk_count: int
    size_bytes: int
    percent: int


def overview(kb: Workbench, base_id: BaseId) -> Overview:
    with kb.main.read() as snapshot:
        base = living_base(snapshot, base_id)
        counts = snapshot.counts(base_id)
        totals = snapshot.totals(base_id)
        share = snapshot.percent(base_id)
    items = sum(number for status, number in counts.items() if status is not DELETING)
    return Overview(
        base=base,
        counts=counts,
        item_count=items,
        document_count=totals.leaves,
        failed_count=totals.failed,
        chunk_count=totals.chunks,
        size_bytes=totals.size,
        percent=share,
    )


def tally(kb: Workbench, items: Sequence[ItemId]) -> Tally:
    """How the leaves below these items stand."""
    with kb.main.read() as snapshot:
        return snapshot.tally_below(items)


def failures(kb: Workbench, items: Sequence[ItemId], limit: int) -> list[Item]:
    """What failed in or below these items, containers that only contain failures left out."""
    with kb.main.read() as snapshot:
        return snapshot.failed_below(items, limit)


def is_going_on(kb: Workbench, *, delayed: bool = False) -> bool:
    """Is anything running, or could it start now? With `delayed`: or later, by itself.

    Work of paused and failed bases, and parked work, waits for a person and does not count.
    """
    with kb.main.read() as snapshot:
        return (delayed and snapshot.work_coming()) or any(
            snapshot.running(lane)
            or snapshot.waiting_bases(lane, 1)
            or (snapshot.next_due(lane) or snapshot.now + 1) <= snapshot.now
            for lane in Lane
        )
