"""What stands inside a container, and what of it is new?

    take -> list, page by page: known children are seen again, new ones are created and scheduled
         -> children the finished listing did not meet are deleted -> own outcome, roll-up

One level per run; folders inside get their own run. Children are matched by their path below the
container, so a retry at any point gives the same children once. A page is one transaction that
reads the container again first: nothing is created under what is being deleted.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from holdfast.domain.errors import HoldfastError, Permanent, Superseded
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import COMPLETED, FAILED, TERMINAL, Move, first_status
from holdfast.domain.items import Item, ItemType, NewItem
from holdfast.domain.jobs import JobState
from holdfast.jobs.outcomes import LaterPlease
from holdfast.jobs.run import Run
from holdfast.ports import Entry
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.main import Transaction
from holdfast.workflow.delete_items import enqueue_deletes, mark_deleting
from holdfast.workflow.inputs import as_text
from holdfast.workflow.reindex_subtree import still_running
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.take import base_of
from holdfast.workflow.workbench import Workbench

PAGE = 500
FULL_QUEUE_PAUSE = 5.0
MOST_SKIPPED = 1_000


@dataclass(slots=True)
class Skipped:
    """What the listing passed over, with reasons; the count goes on when the list is full."""

    count: int = 0
    entries: list[dict[str, str]] = field(default_factory=list)

    def add(self, path: str, reason: str) -> None:
        self.count += 1
        if len(self.entries) < MOST_SKIPPED:
            self.entries.append({"path": path, "reason": reason})

    def document(self) -> dict[str, Any] | None:
        return {"count": self.count, "entries": self.entries} if self.count else None


def prepare_root(kb: Workbench, run: Run) -> None:
    box = _take(kb, run)
    skipped = Skipped()
    try:
        for page in _pages(_accepted(kb, box, skipped)):
            run.token.check()
            _write_page(kb, run, page)
    except Permanent as error:
        give_up_prepare(kb, run, (error.code, str(error), error.advice))
        return
    with kb.main.write() as tx:
        box = _ours(tx, run)
        gone = tx.items(list(tx.unseen(box.id, box.generation)))
        mark_deleting(tx, gone)
        enqueue_deletes(tx, box.base_id, [item.id for item in gone])
        tx.set_own_outcome(box.id, box.generation, COMPLETED, None, skipped.document())
        tx.finish([run.fence])
    kb.main.durable()


def give_up_prepare(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """The container's own outcome is failed; active children without work of their own fail too."""
    with kb.main.write() as tx:
        box = _ours(tx, run)
        jobless = [item for item in _active_below(tx, box.id) if not tx.jobs_of_item(item)]
        why: Trouble = ("parent_failed", f"its container failed: {trouble[1]}", trouble[2])
        tx.move(Move.FAIL, [Moved(item, FAILED, trouble=why) for item in jobless])
        tx.set_own_outcome(box.id, box.generation, FAILED, trouble, None)
        tx.finish([run.fence], JobState.FAILED, trouble=trouble)


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


def _accepted(kb: Workbench, box: Item, skipped: Skipped) -> Iterator[Entry]:
    """The entries that become children; the rest is told in `skipped`."""
    for entry in kb.files.entries(box.data["path"]):
        if entry.name.startswith("."):
            continue
        reason = _why_not(kb, box, entry)
        if reason is None:
            yield entry
        else:
            skipped.add(_key(entry), reason)


def _why_not(kb: Workbench, box: Item, entry: Entry) -> str | None:
    if entry.is_symlink:
        return "symbolic link"
    if entry.look is None:
        return None  # cannot be examined: becomes a failed child that can be retried alone
    if entry.look.kind == "other":
        return "not a regular file"
    if entry.look.kind == "directory":
        return None if box.data.get("recursive", True) else "folder inside (recursive is off)"
    if entry.look.size > kb.settings.max_file_bytes:
        return f"larger than max_file_bytes ({kb.settings.max_file_bytes})"
    return None


def _pages(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while page := list(islice(entries, PAGE)):
        yield page


def _write_page(kb: Workbench, run: Run, page: Sequence[Entry]) -> None:
    with kb.main.write() as tx:
        box = _ours(tx, run)
        if tx.unfinished() + len(page) > kb.settings.max_queue_size and tx.unfinished() > 1:
            raise LaterPlease(FULL_QUEUE_PAUSE, "queue_full")
        keys = {_key(entry): entry for entry in page}
        known = tx.children(box.id, list(keys))
        new = [_child(kb, box, key, entry) for key, entry in keys.items() if key not in known]
        tx.insert_items(new)
        again = _seen_again(tx, run, box, list(known.values()))
        tx.mark_seen(list(again), box.generation)
        due = [item.id for item in new if item.error is None] + again
        refusal = _schedule(tx, kb, run, box, due)
        tx.beat([run.fence], tx.now + kb.lease)
    if refusal is not None:
        raise refusal  # after the commit: children that have their job keep it


def _seen_again(tx: Transaction, run: Run, box: Item, known: Sequence[Item]) -> list[ItemId]:
    """Known children this generation meets first start a new attempt, if none is under way."""
    due = [item for item in known if item.seen is None or item.seen < box.generation]
    restarted = [item for item in due if item.status in TERMINAL or item.status == "idle"]
    tx.move(
        Move.RESTART,
        [Moved(one.id, first_status(one.is_container), new_generation=True) for one in restarted],
    )
    busy = [item.id for item in due if item not in restarted]
    tx.mark_seen(busy, box.generation)
    return [item.id for item in restarted]


def _schedule(
    tx: Transaction, kb: Workbench, run: Run, box: Item, ids: Sequence[ItemId]
) -> HoldfastError | None:
    base = tx.base(box.base_id)
    if base is None:
        raise Superseded(f"base {box.base_id} is gone")
    return schedule_items(tx, kb, base, tx.items(ids), asked=run.job.input)


def _child(kb: Workbench, box: Item, key: str, entry: Entry) -> NewItem:
    look = entry.look
    container = look is not None and look.kind == "directory"
    path = f"{box.data['path']}/{entry.name}"
    unreadable: Trouble = (
        "unreadable",
        f"{as_text(path)} cannot be examined",
        "make it readable, re-index",
    )
    data = {"path": path, "recursive": True} if container else {"path": path}
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=BaseId(box.base_id),
        type=ItemType.DIRECTORY if container else ItemType.FILE,
        name=key,
        source=as_text(path),
        status=first_status(container) if look is not None else FAILED,
        parent_id=box.id,
        source_key=key,
        data=data,
        attributes=box.attributes,
        size=look.size if look else 0,
        workload=look.size if look else 0,
        error=None if look is not None else unreadable,
        seen=box.generation,
    )


def _key(entry: Entry) -> str:
    return unicodedata.normalize("NFC", as_text(entry.name))


def _active_below(tx: Transaction, box: ItemId) -> list[ItemId]:
    return [
        one.id
        for one in tx.subtree([box])
        if one.id != box and one.status not in TERMINAL and one.status != "deleting"
    ]
