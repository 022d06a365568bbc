"""What does the queue look like?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.domain.ids import BaseId, ItemId
from holdfast.stores.main import Snapshot
from holdfast.stores.queue import ProviderRow
from holdfast.workflow.list_items import living_base
from holdfast.workflow.workbench import Workbench

MOST_IDS = 1_000


@dataclass(frozen=True, slots=True)
class Queue:
    """Unfinished work in numbers, of one base or of all."""

    queue_size: int
    processing_count: int
    active_item_ids: tuple[ItemId, ...] = ()
    active_count: int = 0
    orphan_item_ids: tuple[ItemId, ...] = ()
    orphan_count: int = 0
    deleting_count: int = 0
    percent: int = 100
    per_base: Mapping[BaseId, int] = field(default_factory=dict[BaseId, int])
    providers: tuple[ProviderRow, ...] = ()


def queue(kb: Workbench, base: BaseId | None = None) -> Queue:
    with kb.main.read() as snapshot:
        return _of_all(snapshot) if base is None else _of_base(snapshot, base)


def _of_base(snapshot: Snapshot, base_id: BaseId) -> Queue:
    base = living_base(snapshot, base_id)
    numbers = snapshot.queue_of_base(base.id)
    orphans = snapshot.orphans(base.id, 1_000_000)
    return Queue(
        queue_size=numbers.waiting,
        processing_count=numbers.running,
        active_item_ids=tuple(snapshot.active_items(base.id, MOST_IDS)),
        active_count=snapshot.active_count(base.id),
        orphan_item_ids=tuple(orphans[:MOST_IDS]),
        orphan_count=len(orphans),
        deleting_count=numbers.deleting,
        percent=snapshot.percent(base.id),
    )


def _of_all(snapshot: Snapshot) -> Queue:
    by_base = snapshot.queue_by_base()
    return Queue(
        queue_size=sum(waiting for waiting, _ in by_base.values()),
        processing_count=sum(running for _, running in by_base.values()),
        per_base={base: waiting for base, (waiting, _) in by_base.items()},
        providers=tuple(snapshot.providers()),
    )
