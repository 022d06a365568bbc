"""How does a user have items read again?

Only settled subtrees are admitted; nothing is written but the job. The job resets the roots when it
runs, so a refused enqueue leaves nothing behind, and until then the items show `pending`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.domain.guards import (
    ROOTS_PER_JOB,
    Operation,
    Standing,
    has_settled,
    may_reindex,
    may_select,
    may_use,
)
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import Status
from holdfast.domain.items import Item
from holdfast.domain.jobs import JobKind, NewJob, roots_key
from holdfast.domain.subtrees import roots_digest, slices
from holdfast.stores.catalog import Stale
from holdfast.stores.main import Transaction
from holdfast.workflow.add_items import may_enqueue
from holdfast.workflow.delete_items import selected_roots
from holdfast.workflow.workbench import Workbench

SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Reindexed:
    """The roots accepted, and those passed over with their reasons (skip_active)."""

    items: tuple[Item, ...]
    skipped: tuple[tuple[ItemId, Status, str], ...]


def reindex_items(
    kb: Workbench,
    base_id: BaseId,
    ids: Sequence[ItemId],
    *,
    skip_active: bool = False,
    force: bool = False,
) -> Reindexed:
    """The job is durable when this returns; nothing is written when it raises."""
    may_select(ids)
    with kb.main.write() as tx:
        may_use(tx.base(base_id), Operation.REINDEX, base_id)
        roots = selected_roots(tx, base_id, ids)
        eligible, skipped = _admitted(tx, kb, roots, skip_active)
        groups = slices([root.id for root in eligible], ROOTS_PER_JOB)
        may_enqueue(tx, kb, len(groups))
        tx.enqueue([_job(base_id, group, force) for group in groups])
        accepted = tx.items([root.id for root in eligible])
    kb.main.durable()
    return Reindexed(tuple(accepted), tuple(skipped))


def stale(tx: Transaction, kb: Workbench) -> Stale:
    """Section 7's bounds: beyond them an attempt may be taken over."""
    return Stale(
        queued_before=tx.now - kb.settings.stale_queued * SECOND,
        indexing_before=tx.now - kb.settings.stale_indexing * SECOND,
    )


def _admitted(
    tx: Transaction, kb: Workbench, roots: Sequence[Item], skip_active: bool
) -> tuple[list[Item], list[tuple[ItemId, Status, str]]]:
    bounds = stale(tx, kb)
    if not skip_active:
        may_reindex(tx.subtree([root.id for root in roots], bounds))
        return list(roots), []
    eligible: list[Item] = []
    skipped: list[tuple[ItemId, Status, str]] = []
    for root in roots:
        standing = _first_unsettled(tx.subtree([root.id], bounds))
        if standing is None:
            eligible.append(root)
        else:
            skipped.append((root.id, root.status, f"{standing.id} is {standing.status}"))
    return eligible, skipped


def _first_unsettled(inside: Sequence[Standing]) -> Standing | None:
    return next((one for one in inside if not has_settled(one)), None)


def _job(base_id: BaseId, roots: Sequence[ItemId], force: bool) -> NewJob:
    return NewJob(
        kind=JobKind.REINDEX_SUBTREE,
        base_id=base_id,
        key=roots_key(base_id, roots_digest(roots), "reindex"),
        input={"roots": sorted(roots), "force": force},
    )
