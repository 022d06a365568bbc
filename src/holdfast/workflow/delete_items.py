"""How does a delete win over everything?

One transaction marks whole subtrees `deleting` with a new generation, ends their other work and
enqueues the clean-up. From then on no answer shows them. When the clean-up cannot be enqueued the
marks stay and the sweep enqueues it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.errors import HoldfastError
from holdfast.domain.guards import ROOTS_PER_JOB, Operation, may_find, may_select, may_use
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import DELETING, Move
from holdfast.domain.items import Item
from holdfast.domain.jobs import JobKind, NewJob, roots_key
from holdfast.domain.subtrees import outermost_roots, roots_digest, slices
from holdfast.stores.catalog import Moved
from holdfast.stores.main import Transaction
from holdfast.workflow.room import with_reserve
from holdfast.workflow.workbench import Workbench


def delete_items(kb: Workbench, base_id: BaseId, ids: Sequence[ItemId]) -> list[ItemId]:
    """The roots of what is being deleted; hidden and durable when this returns."""
    may_select(ids)
    return with_reserve(kb, lambda: _delete(kb, base_id, ids))


def _delete(kb: Workbench, base_id: BaseId, ids: Sequence[ItemId]) -> list[ItemId]:
    refusal: HoldfastError | None = None
    with kb.main.write() as tx:
        may_use(tx.base(base_id), Operation.DELETE, base_id)
        roots = selected_roots(tx, base_id, ids)
        mark_deleting(tx, roots)
        refusal = enqueue_deletes(tx, base_id, _without_job(tx, roots))
    kb.main.durable()
    if refusal is not None:
        raise refusal
    return [root.id for root in roots]


def selected_roots(tx: Transaction, base_id: BaseId, ids: Sequence[ItemId]) -> list[Item]:
    """The outermost of the selected items, resolved inside the transaction that writes."""
    found = {item.id: item for item in tx.items(ids) if item.base_id == base_id}
    may_find(ids, found, base_id)
    return [found[root] for root in outermost_roots(ids, tx.ancestors(list(found)))]


def mark_deleting(tx: Transaction, roots: Sequence[Item]) -> None:
    """Whole subtrees deleting; their waiting work ended, their running work told to stop."""
    inside = tx.subtree([root.id for root in roots])
    fresh = [one.id for one in inside if one.status is not DELETING]
    tx.move(Move.DELETE, [Moved(one, DELETING, new_generation=True) for one in fresh])
    tx.cancel_items(fresh, "deleted")


def _without_job(tx: Transaction, roots: Sequence[Item]) -> list[ItemId]:
    """Roots not yet on their way: new ones, and those whose earlier job was refused or lost."""
    again = [root for root in roots if root.deleting]
    live = tx.live_roots([root.id for root in again], JobKind.DELETE_SUBTREE)
    above = {
        item.id
        for item in tx.items([root.parent_id for root in again if root.parent_id])
        if item.deleting
    }
    covered = {root.id for root in again if root.id in live or root.parent_id in above}
    return [root.id for root in roots if root.id not in covered]


def enqueue_deletes(
    tx: Transaction,
    base_id: BaseId,
    roots: Sequence[ItemId],
    per_job: int = ROOTS_PER_JOB,
    *,
    after: ItemId | None = None,
) -> HoldfastError | None:
    """The clean-up jobs; a refusal is returned, because the marks must stay whatever happens.

    Those of a rescan come `after` its container has settled: a file that was moved is hidden at its
    old place at once, but its vectors stay until the new place has taken them over.
    """
    for group in slices(roots, per_job):
        try:
            with tx.savepoint():
                tx.enqueue([delete_job(base_id, group, after)])
        except HoldfastError as refusal:
            return refusal
    return None


def delete_job(base_id: BaseId, roots: Sequence[ItemId], after: ItemId | None = None) -> NewJob:
    wait = {"after": after} if after else {}
    return NewJob(
        kind=JobKind.DELETE_SUBTREE,
        base_id=base_id,
        key=roots_key(base_id, roots_digest(roots), "delete"),
        input={"roots": sorted(roots), **wait},
    )
