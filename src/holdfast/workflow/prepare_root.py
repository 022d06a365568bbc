"""What stands inside a container, and what of it is new?

    take -> list, page by page: known children are seen again, new ones are created and scheduled
         -> children the finished listing did not meet are deleted -> own outcome, roll-up

One level per run; folders inside get their own run. A page is one transaction that reads the
container again first: nothing is created under what is being deleted. With the page the job keeps
its place (the last name, what was counted), so a run that yields, waits for room in the queue, dies
or is tried again goes on there, and children met before keep the generation they were given.

Only a listing that came to its end says what is missing. A container that was accepted is never
refused half-way: with a full queue the page waits. It waits for documents only, and only while its
own base has some in the queue: expansions that waited for each other would wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice

from holdfast.domain.bases import Base
from holdfast.domain.errors import HoldfastError, Permanent, Superseded
from holdfast.domain.events import EventKind, NewEvent
from holdfast.domain.files import Role
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import COMPLETED, FAILED, Move, first_status
from holdfast.domain.items import Item, ItemType
from holdfast.domain.jobs import JobState
from holdfast.jobs.outcomes import LaterPlease
from holdfast.jobs.run import Run
from holdfast.stages.walking.vanishing import Evidence, may_delete_missing
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.main import Transaction
from holdfast.workflow.delete_items import enqueue_deletes, mark_deleting
from holdfast.workflow.meet_children import Met, meet
from holdfast.workflow.meet_pages import meet_pages
from holdfast.workflow.reindex_subtree import still_running
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.take import base_of
from holdfast.workflow.walk import Walk, begin, sort
from holdfast.workflow.walk_sitemap import begin_sitemap
from holdfast.workflow.workbench import Workbench

PAGE = 500
FULL_QUEUE_PAUSE = 5.0
SLOT_TIME = 10.0  # then others of the lane have their turn
MISSING_AT_ONCE = 1_000


def prepare_root(kb: Workbench, run: Run) -> None:
    box = _take(kb, run)
    until = kb.clock.mono() + SLOT_TIME
    try:
        walk = _begin(kb, run, box)
        for last in _pages(kb, walk):
            run.token.check()
            _write_page(kb, run, walk, last)
            if kb.clock.mono() >= until:
                raise LaterPlease(0.0, "yielded")
        is_bare = not walk.names and _is_bare(kb, walk)
    except Permanent as error:
        give_up_prepare(kb, run, (error.code, str(error), error.advice))
        return
    _finish(kb, run, walk, is_bare=is_bare)


def give_up_prepare(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """The container's own outcome is failed; active children without work of their own fail too."""
    with kb.main.write() as tx:
        box = _ours(tx, run)
        _fail_jobless(tx, box, trouble)
        tx.set_own_outcome(box.id, box.generation, FAILED, trouble, box.skipped)
        tx.finish([run.fence], JobState.FAILED, trouble=trouble)


def _fail_jobless(tx: Transaction, box: Item, trouble: Trouble) -> None:
    why: Trouble = ("parent_failed", f"its container failed: {trouble[1]}", trouble[2])
    lost = tx.items(tx.jobless_below(box.id))
    leaves = [item for item in lost if not item.is_container]
    tx.move(Move.FAIL, [Moved(leaf.id, FAILED, trouble=why) for leaf in leaves])
    for folder in lost:
        if folder.is_container:  # its status follows: something inside may still be at work
            tx.set_own_outcome(folder.id, folder.generation, FAILED, why, folder.skipped)


def _take(kb: Workbench, run: Run) -> Item:
    base_of(kb, run)
    with kb.main.read() as snapshot:
        item = snapshot.item(run.item)
    if item is None or item.deleting or item.generation != run.fence.generation:
        raise Superseded(f"container {run.item} has moved on")
    return item


def _ours(tx: Transaction, run: Run) -> Item:
    """The container, while this run owns it: read again in every transaction."""
    item = tx.item(run.item)
    if item is None or item.deleting or item.generation != run.fence.generation:
        raise Superseded(f"container {run.item} has moved on")
    if not still_running(tx, run):
        raise Superseded(f"another run has container {run.item}")
    return item


def _begin(kb: Workbench, run: Run, box: Item) -> Walk:
    return begin_sitemap(kb, run, box) if box.type is ItemType.SITEMAP else begin(kb, run, box)


def _pages(kb: Workbench, walk: Walk) -> Iterator[str]:
    """Each page of the listing, sorted into the walk; the last name in it."""
    size = min(PAGE, kb.settings.max_queue_size)
    if walk.listing is not None:
        urls = walk.listing.after(walk.place.after)
        while found := list(islice(urls, size)):
            walk.names += len(found)
            walk.pages = found
            yield found[-1].name
        return
    entries = kb.files.entries(walk.path, walk.place.after)
    while page := list(islice(entries, size)):
        walk.names += len(page)
        sort(kb, walk, page)
        yield page[-1].name


def _is_bare(kb: Workbench, walk: Walk) -> bool:
    """Does it hold nothing at all, not even what is passed over?"""
    if walk.listing is not None:
        return not walk.listing.pages
    return next(kb.files.entries(walk.path), None) is None


def _write_page(kb: Workbench, run: Run, walk: Walk, last: str) -> None:
    before = walk.skipped.count
    with kb.main.write() as tx:
        box, base = _ours(tx, run), _base(tx, run)
        met = _meet(kb, tx, walk, box, base)
        _wait_for_room(kb, tx, base, met)
        refusal = _write(tx, kb, walk, met, box=box, base=base)
        walk.place = walk.place.beyond(last, met.all, met.known)
        tx.keep_place(run.fence, asdict(walk.place))
        if walk.skipped.count != before or walk.skipped.document() != box.skipped:
            tx.set_skipped(box.id, box.generation, walk.skipped.document())
        tx.beat([run.fence], tx.now + kb.lease)
    if refusal is not None:
        raise refusal  # after the commit: children that have their job keep it


def _meet(kb: Workbench, tx: Transaction, walk: Walk, box: Item, base: Base) -> Met:
    known = tx.children(box.id, walk.keys)
    if walk.listing is not None:
        return meet_pages(kb, base, box, walk.pages, known=known, asked=walk.asked)
    return meet(kb, base, box, walk.accepted, known=known, skipped=walk.skipped, asked=walk.asked)


def _base(tx: Transaction, run: Run) -> Base:
    base = tx.base(run.base)
    if base is None:
        raise Superseded(f"base {run.base} is gone")
    return base


def _wait_for_room(kb: Workbench, tx: Transaction, base: Base, met: Met) -> None:
    limit = kb.settings.max_queue_size
    if not met.leaves or tx.unfinished() + met.leaves <= limit:
        return
    queued, own = tx.leaves_queued(base.id)
    if own and queued + met.leaves > limit:
        raise LaterPlease(FULL_QUEUE_PAUSE, "queue_full")


def _write(
    tx: Transaction, kb: Workbench, walk: Walk, met: Met, *, box: Item, base: Base
) -> HoldfastError | None:
    """The page's rows and jobs; what was wrong, if some jobs were refused."""
    mark_deleting(tx, met.replaced)
    enqueue_deletes(tx, base.id, [item.id for item in met.replaced], after=walk.top.id)
    tx.insert_items(met.new)
    places = _restart(tx, met.again)
    tx.mark_seen([item.id for item in [*met.stay, *met.again]], box.generation)
    due = [item for item in met.new if item.error is None]
    again = tx.items([item.id for item in met.again])
    return schedule_items(tx, kb, base, [*due, *again], ordinals=places, asked=walk.flags)


def _restart(tx: Transaction, again: Sequence[Item]) -> dict[ItemId, int]:
    """A new attempt for each; the places in the queue that their older work held."""
    for item in again:
        tx.set_source(item)
    places = tx.cancel_items([item.id for item in again], "superseded")
    restarted = [
        Moved(item.id, first_status(item.is_container), new_generation=True) for item in again
    ]
    tx.move(Move.RESTART, restarted)
    return places


def _finish(kb: Workbench, run: Run, walk: Walk, *, is_bare: bool) -> None:
    """The listing ended without error: now it is known what is missing."""
    with kb.main.read() as snapshot:
        missing = snapshot.unseen_count(run.item, walk.generation)
    found = Evidence(
        walk.place.met, walk.place.known, missing, is_bare, is_added=walk.top.id == run.item
    )
    pruned = bool(walk.flags.get("prune"))
    whole = walk.listing is None or walk.listing.complete
    delete = not missing or (whole and may_delete_missing(found, asked=walk.asked, pruned=pruned))
    while delete and missing and _delete_some(kb, run, walk):
        run.token.check()
    with kb.main.write() as tx:
        box = _ours(tx, run)
        warning = _incomplete(walk) if not whole else None if delete else _many_vanished(missing)
        tx.set_own_outcome(box.id, box.generation, COMPLETED, warning, walk.skipped.document())
        numbers = {**asdict(found), "deleted": missing if delete else 0}
        tx.record([NewEvent(EventKind.EXPANDED, box.base_id, box.id, box.generation, numbers)])
        tx.keep_only(box.id, Role.SNAPSHOT, None)  # the listing has served
        tx.finish([run.fence])
    kb.main.durable()


def _delete_some(kb: Workbench, run: Run, walk: Walk) -> bool:
    """A slice of what was not met; False when nothing is left. No write waits long behind it."""
    with kb.main.write() as tx:
        box = _ours(tx, run)
        gone = tx.items(tx.unseen(box.id, box.generation, MISSING_AT_ONCE))
        mark_deleting(tx, gone)
        enqueue_deletes(tx, box.base_id, [item.id for item in gone], after=walk.top.id)
        return bool(gone)


def _incomplete(walk: Walk) -> Trouble:
    skipped = walk.skipped.entries[0]["reason"] if walk.skipped.entries else ""
    sentence = f"not all of the sitemap could be read, so no page of it was removed: {skipped}"
    error = Permanent(sentence, code="source_unreadable")
    return error.code, str(error), error.advice


def _many_vanished(missing: int) -> Trouble:
    error = Permanent(f"{missing} known entries were not found", code="many_vanished")
    return error.code, str(error), error.advice
