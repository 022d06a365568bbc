"""What happens when the index of a base is lost?

    base failed (missing_vector_store), on disk -> an empty index -> every leaf starts again, slice
    by slice -> base completed

While the base is failed its jobs wait and searches are refused: it is never silently empty. A crash
anywhere is found again by the sweep, because the base says it is failed until the last slice is
done. What cannot be read any more fails by itself and says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.errors import HoldfastError
from holdfast.domain.events import EventKind, NewEvent
from holdfast.domain.ids import BaseId
from holdfast.domain.item_states import PROCESSING, Move
from holdfast.domain.items import Item
from holdfast.stores.catalog import Moved
from holdfast.stores.index import IndexMissing
from holdfast.stores.main import Transaction
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.workbench import Workbench

LOST = "missing_vector_store"
SLICE = 1_000


def rebuild_lost(kb: Workbench) -> None:
    """Every base whose index is gone or was set aside gets a new one."""
    with kb.main.read() as snapshot:
        bases = snapshot.bases()
    standing = set(kb.index.bases())
    for base in bases:
        if base.error_code == LOST or base.id not in standing or not _opens(kb, base.id):
            rebuild_base(kb, base)


def rebuild_base(kb: Workbench, base: Base) -> None:
    with kb.main.write() as tx:
        tx.set_base_state(base.id, BaseStatus.FAILED, LOST)
    kb.main.durable()  # before an empty index could be taken for the real one
    kb.index.create(base.id)
    while _restart_slice(kb, base.id):
        pass
    with kb.main.write() as tx:
        tx.set_base_state(base.id, BaseStatus.COMPLETED, None)
        tx.wake()


def _restart_slice(kb: Workbench, base_id: BaseId) -> bool:
    """Some leaves forget the build that is gone and start again; False when none is left."""
    with kb.main.write() as tx:
        base, lost = tx.base(base_id), tx.items(tx.lost_leaves(base_id, SLICE))
        if base is None or base.error_code != LOST or not lost:
            return False
        refusal = restart_leaves(tx, kb, base, lost, "the index was lost")
    if refusal is not None:
        raise refusal
    return True


def restart_leaves(
    tx: Transaction, kb: Workbench, base: Base, items: Sequence[Item], because: str
) -> HoldfastError | None:
    """These forget the build they answer with; those without a job already start again."""
    tx.forget_builds([item.id for item in items])
    idle = [item for item in items if not tx.jobs_of_item(item.id)]
    moved = [Moved(item.id, PROCESSING, item.generation, new_generation=True) for item in idle]
    restarted = tx.items(sorted(tx.move(Move.RESTART, moved)))
    why = {"why": because}
    tx.record(
        [NewEvent(EventKind.REPAIRED, base.id, one.id, one.generation, why) for one in restarted]
    )
    return schedule_items(tx, kb, base, restarted, asked={"stored": True})


def _opens(kb: Workbench, base_id: BaseId) -> bool:
    """An index that turns out damaged is set aside by the store and missing from then on."""
    try:
        kb.index.seals(base_id, [])
    except IndexMissing:
        return False
    return True
