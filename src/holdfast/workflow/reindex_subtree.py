"""What does an accepted re-index do to its roots?

Each root alone, under the lock: a delete that came first wins, an attempt that started meanwhile is
kept, else the root is reset and scheduled in one transaction. Children are a container's own work.
"""

from __future__ import annotations

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.events import EventKind, NewEvent
from holdfast.domain.guards import has_settled
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import DELETING, Move, first_status
from holdfast.domain.items import Item
from holdfast.jobs.run import Run
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.main import Transaction
from holdfast.workflow.reindex_items import stale
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.workbench import Workbench


def reindex_subtree(kb: Workbench, run: Run) -> None:
    for root in run.job.input["roots"]:
        run.token.check()
        with kb.main.write() as tx:
            _restart_root(tx, kb, run, root)
    with kb.main.write() as tx:
        tx.finish([run.fence])


def give_up_reindex(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """Roots that were not reset keep the state and the build they had."""
    with kb.main.write() as tx:
        for item in tx.items(run.job.input["roots"]):
            tx.record([NewEvent(EventKind.SKIPPED, run.base, item.id, None, {"error": trouble[1]})])
        tx.finish([run.fence], trouble=trouble)


def _restart_root(tx: Transaction, kb: Workbench, run: Run, root: ItemId) -> None:
    base, item = tx.base(run.base), tx.item(root)
    if base is None or base.status is BaseStatus.DELETING or item is None:
        return
    if not still_running(tx, run):
        return
    inside = tx.subtree([root], stale(tx, kb))
    if any(one.status is DELETING for one in inside):
        why = {"why": "being deleted"}
        tx.record([NewEvent(EventKind.SKIPPED, base.id, root, item.generation, why)])
    elif all(has_settled(one) for one in inside):
        _reset(tx, kb, base, item, force=bool(run.job.input.get("force")))


def _reset(tx: Transaction, kb: Workbench, base: Base, item: Item, *, force: bool) -> None:
    target = first_status(item.is_container)
    tx.cancel_items([item.id], "superseded")
    tx.move_or_end(Move.RESTART, Moved(item.id, target, new_generation=True))
    schedule_items(tx, kb, base, tx.items([item.id]), asked={"asked": True, "force": force})


def still_running(tx: Transaction, run: Run) -> bool:
    """Is the job row still ours? Without this a run of a lost lease would restart roots again."""
    job = tx.job(run.fence.job)
    return job is not None and job.claim == run.fence.claim and job.state == "running"
