"""What happens at a start after any stop, and what may the user decide about unfinished work?

At a start the new owner raises the claim epoch, frees the rows of owners that are gone, and either
lets the work go on (recovery: resume) or parks it until the user says so (recovery: ask).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from holdfast.domain.errors import CODES
from holdfast.domain.events import EventKind, NewEvent
from holdfast.domain.guards import may_find
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import ACTIVE, FAILED, IDLE, Move, first_status
from holdfast.domain.items import Item
from holdfast.stores.catalog import Moved
from holdfast.stores.main import Transaction
from holdfast.workflow.bases import known
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.workbench import Workbench

ALL = 1_000_000


def recover_at_start(kb: Workbench) -> None:
    """Before the first claim: numbers above every earlier one, on disk; nobody else's rows."""
    with kb.main.write() as tx:
        tx.raise_epoch(kb.owner)
        freed = tx.rescue_foreign(kb.owner)
        parked = tx.park()
        tx.record(
            [
                NewEvent(EventKind.RECOVERED, one.base, one.item, None, {"parked": bool(parked)})
                for one in freed
                if one.item is not None
            ]
        )
        tx.wake()
    kb.main.durable()


def recover(kb: Workbench, base_id: BaseId, items: Sequence[ItemId] | None = None) -> list[ItemId]:
    """Unfinished tasks go on: parked jobs are put back, items without a job get one."""
    with kb.main.write() as tx:
        base = known(tx, base_id)
        _of_base(tx, base_id, items)
        back = tx.unpark(base_id, items)
        alone = [item for item in _jobless(tx, base_id, items) if item.id not in back]
        restarted = _restart(tx, alone)
        schedule_items(tx, kb, base, tx.items(restarted))
        tx.wake()
    kb.main.durable()
    return sorted(back | set(restarted))


def dismiss(kb: Workbench, base_id: BaseId, items: Sequence[ItemId] | None = None) -> list[ItemId]:
    """Unfinished tasks are given up: their items fail with `interrupted`."""
    with kb.main.write() as tx:
        known(tx, base_id)
        _of_base(tx, base_id, items)
        ended = tx.end_parked(base_id, items)
        alone = [item.id for item in _jobless(tx, base_id, items) if item.status is not IDLE]
        why = ("interrupted", "its unfinished work was dismissed", CODES["interrupted"])
        asked = sorted(ended | set(alone))
        failed = tx.move(Move.FAIL, [Moved(one, FAILED, trouble=why) for one in asked])
    kb.main.durable()
    return sorted(failed)


def _of_base(tx: Transaction, base_id: BaseId, items: Collection[ItemId] | None) -> None:
    if items is not None:
        found = [item.id for item in tx.items(items) if item.base_id == base_id]
        may_find(items, found, base_id)


def _jobless(tx: Transaction, base_id: BaseId, items: Collection[ItemId] | None) -> list[Item]:
    """Orphans without any unfinished job, and idle rows."""
    orphans = tx.items(tx.orphans(base_id, ALL))
    idle = tx.items(tx.idle_items(base_id, ALL))
    chosen = [one for one in orphans + idle if items is None or one.id in items]
    return [one for one in chosen if not tx.jobs_of_item(one.id)]


def _restart(tx: Transaction, items: Sequence[Item]) -> list[ItemId]:
    moved = [
        Moved(one.id, first_status(one.is_container), one.generation, new_generation=True)
        for one in items
        if one.status in ACTIVE or one.status is IDLE
    ]
    return sorted(tx.move(Move.RESTART, moved))
