"""Which leftovers does the engine repair by itself? At start and every minute, safe at any time.

Each repair is bounded and may be repeated. Builds are listed first and the main store is read
second: a build published in between is then seen as published, and exactly the listed pairs whose
claim is neither running nor published are removed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from holdfast.domain.errors import HoldfastError
from holdfast.domain.events import EventKind, NewEvent
from holdfast.domain.ids import BaseId, EntryId, ItemId, born
from holdfast.domain.item_states import ACTIVE, Move, first_status
from holdfast.stores.catalog import Moved
from holdfast.stores.index import IndexMissing, Pair
from holdfast.stores.main import Snapshot, Transaction
from holdfast.workflow.delete_base import enqueue_delete_base
from holdfast.workflow.delete_items import enqueue_deletes
from holdfast.workflow.delete_subtree import unlink
from holdfast.workflow.forget_processing import forget_leftovers
from holdfast.workflow.rebuild_base import rebuild_lost
from holdfast.workflow.room import mind_the_reserve
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.snapshot import remove_lost_copies
from holdfast.workflow.workbench import Workbench

SECOND, DAY = 1_000_000, 86_400_000_000
AT_ONCE = 500
PUBLISHED_AT_ONCE = 5_000


def sweep(kb: Workbench) -> list[str]:
    """Every repair in turn; one that fails is told and the others go on."""
    failures: list[str] = []
    for step in STEPS:
        try:
            step(kb)
        except HoldfastError as error:
            failures.append(f"{step.__name__}: {error}")
    return failures


def rescue_runs(kb: Workbench) -> None:
    """Leases that ran out, and index work without progress for too long."""
    stuck = kb.wakeups.stuck(kb.settings.stale_indexing)
    with kb.main.write() as tx:
        freed = tx.rescue_expired() if kb.settings.lease_expires else []
        freed += tx.rescue_stuck(stuck)
        _tell(tx, [(one.base, one.item, "its run was lost") for one in freed if one.item])


def schedule_jobless(kb: Workbench) -> None:
    """Active items that by a fault have no job start a new attempt."""
    with kb.main.write() as tx:
        lost = [item for item in tx.items(tx.jobless(AT_ONCE)) if item.status in ACTIVE]
        moved = [
            Moved(one.id, first_status(one.is_container), one.generation, new_generation=True)
            for one in lost
        ]
        restarted = tx.items(sorted(tx.move(Move.RESTART, moved)))
        for base_id in sorted({item.base_id for item in restarted}):
            base = tx.base(base_id)
            if base is not None:
                group = [item for item in restarted if item.base_id == base_id]
                schedule_items(tx, kb, base, group)
        _tell(tx, [(item.base_id, item.id, "it had no job") for item in restarted])


def delete_again(kb: Workbench) -> None:
    """Deletes whose job was refused, lost or ended are enqueued again."""
    with kb.main.write() as tx:
        groups: dict[BaseId, list[ItemId]] = {}
        for base, item in tx.deleting_roots_alone(AT_ONCE):
            groups.setdefault(base, []).append(item)
        for base, roots in groups.items():
            refusal = enqueue_deletes(tx, base, roots, AT_ONCE)
            what = "its delete had no job" if refusal is None else f"refused again: {refusal}"
            _tell(tx, [(base, root, what) for root in roots])
        for base in tx.deleting_bases_alone():
            enqueue_delete_base(tx, base)


def remove_leftover_builds(kb: Workbench) -> None:
    for base in kb.index.bases():
        with suppress(IndexMissing):  # damaged, and set aside just now: the next sweep rebuilds it
            _remove_leftovers(kb, base)


def _remove_leftovers(kb: Workbench, base: BaseId) -> None:
    with kb.main.read() as snapshot:
        known = snapshot.base(base)
    if known is None:
        _drop_unknown(kb, base)
        return
    if leftover := leftover_builds(kb, base):
        kb.main.durable()  # what made them leftovers, before they go
        with kb.main.read() as snapshot:
            live = snapshot.live_claims()
        kb.index.remove(base, sorted(leftover), live)


def leftover_builds(kb: Workbench, base: BaseId) -> set[Pair]:
    """Builds whose claim is neither running nor published; listed first, asked about second."""
    listed = {(build.item_id, build.claim) for build in kb.index.builds(base)}
    with kb.main.read() as snapshot:
        live = snapshot.live_claims()
        published = _published(snapshot, base, {item for item, _ in listed})
    return {pair for pair in listed - published if pair[1] not in live}


def _published(snapshot: Snapshot, base: BaseId, items: set[ItemId]) -> set[Pair]:
    found: set[Pair] = set()
    ordered = sorted(items)
    for start in range(0, len(ordered), PUBLISHED_AT_ONCE):
        found |= snapshot.published(base, ordered[start : start + PUBLISHED_AT_ONCE])
    return found


def _drop_unknown(kb: Workbench, base: BaseId) -> None:
    """An index without a base: create_base died between the two. Old enough, it goes."""
    if _is_old(kb, base):
        kb.index.drop(base)


def unknown_indexes(kb: Workbench) -> list[BaseId]:
    """Indexes without a base, old enough that none will come."""
    standing = kb.index.bases()
    with kb.main.read() as snapshot:
        return [base for base in standing if snapshot.base(base) is None and _is_old(kb, base)]


def _is_old(kb: Workbench, base: BaseId) -> bool:
    return kb.clock.wall() - born(base) > kb.settings.file_grace


def detach_dangling(kb: Workbench) -> None:
    """References to items that are gone, then entries nobody refers to, then their bytes."""
    with kb.main.write() as tx:
        tx.detach_dangling()
        freed = tx.drop_free_entries()
    if freed:
        kb.main.durable()
        unlink(kb, freed)


def unlink_unknown_files(kb: Workbench) -> None:
    """Stored bytes without an entry go."""
    for name in unknown_files(kb):
        kb.files.unlink(name)


def unknown_files(kb: Workbench) -> list[str]:
    """Stored bytes without an entry, past the time in which their rows may still come."""
    old = [name for name, age in kb.files.stored("files") if age > kb.settings.file_grace]
    by_entry = {EntryId(name.rpartition("/")[2].partition("-")[2]): name for name in old}
    with kb.main.read() as snapshot:
        known = snapshot.known_entries(list(by_entry))
    return [name for entry, name in by_entry.items() if entry not in known]


def prune(kb: Workbench) -> None:
    """Finished jobs, old events and remembered answers."""
    with kb.main.write() as tx:
        settings = kb.settings
        tx.prune_jobs(tx.now - settings.keep_jobs_days * DAY, settings.keep_jobs_newest)
        tx.prune_ledger(
            tx.now - settings.keep_events_days * DAY,
            settings.keep_events_per_item,
            settings.keep_events,
            tx.now - settings.keep_answers_hours * 3_600 * SECOND,
        )


STEPS: tuple[Callable[[Workbench], None], ...] = (
    mind_the_reserve,
    rescue_runs,
    schedule_jobless,
    delete_again,
    remove_leftover_builds,
    rebuild_lost,
    detach_dangling,
    unlink_unknown_files,
    remove_lost_copies,
    prune,
    forget_leftovers,
)


def _tell(tx: Transaction, repairs: list[tuple[BaseId, ItemId, str]]) -> None:
    if repairs:
        tx.record(
            [
                NewEvent(EventKind.REPAIRED, base, item, None, {"why": why})
                for base, item, why in repairs
            ]
        )
