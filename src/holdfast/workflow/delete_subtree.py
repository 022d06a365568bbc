"""How does what was deleted disappear for good?

    marks on disk -> processors told -> chunks and vectors -> file refs and rows, leaf first
    -> on disk -> bytes

Everything here may be done twice. Chunks go first: while rows stand, the sweep and a retry know
whose they were. A run that writes after us leaves a build nobody publishes; the sweep finds it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from holdfast.domain.files import FileEntry
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.domain.item_states import ACTIVE, DELETING
from holdfast.jobs.outcomes import LaterPlease
from holdfast.jobs.run import Run
from holdfast.stores.catalog import Trouble
from holdfast.workflow.forget_processing import forget_items
from holdfast.workflow.workbench import Workbench

ROWS_PER_SLICE = 5_000
ITEMS_PER_SLICE = 500
SECOND = 1_000_000
FIRST_PAUSE, LONGEST_PAUSE, LONGEST_WAIT = 1.0, 30.0, 3_600.0


def delete_subtree(kb: Workbench, run: Run) -> None:
    _wait_for_movers(kb, run)
    kb.main.durable()  # the marks, before anything they announce is done
    roots = _roots_deleting(kb, run.job.input["roots"])
    inside = _inside(kb, roots)
    forget_items(kb, inside)
    remove_chunks(kb, run.base, inside)
    freed = _remove_rows(kb, run, roots)
    kb.main.durable()  # the rows, before the bytes they named
    unlink(kb, freed)


def give_up_delete(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """Never reached by the runner (endless); a job condemned by hand leaves the marks standing."""
    with kb.main.write() as tx:
        tx.finish([run.fence], trouble=trouble)


def _wait_for_movers(kb: Workbench, run: Run) -> None:
    """What a rescan missed may stand elsewhere now, and wants the vectors; but not for ever."""
    after = run.job.input.get("after")
    if after is None:
        return
    with kb.main.read() as snapshot:
        box, waited = snapshot.item(after), (snapshot.now - run.job.created_at) / SECOND
    if box is not None and box.status in ACTIVE and waited < LONGEST_WAIT:
        raise LaterPlease(min(LONGEST_PAUSE, max(FIRST_PAUSE, waited / 4)), "movers")


def remove_chunks(kb: Workbench, base: BaseId, items: Sequence[ItemId]) -> None:
    """In slices, so that no other write waits long."""
    for start in range(0, len(items), ITEMS_PER_SLICE):
        group = items[start : start + ITEMS_PER_SLICE]
        while not kb.index.remove_items(base, group, _live(kb)):
            pass


def unlink(kb: Workbench, entries: Collection[FileEntry]) -> None:
    for entry in entries:
        kb.files.unlink(entry.path)


def _roots_deleting(kb: Workbench, roots: Sequence[ItemId]) -> list[ItemId]:
    with kb.main.read() as snapshot:
        return [item.id for item in snapshot.items(roots) if item.deleting]


def _inside(kb: Workbench, roots: Sequence[ItemId]) -> list[ItemId]:
    with kb.main.read() as snapshot:
        return [one.id for one in snapshot.subtree(roots) if one.status is DELETING]


def _remove_rows(kb: Workbench, run: Run, roots: Sequence[ItemId]) -> list[FileEntry]:
    """The subtree as it is in each transaction; the last one ends the job."""
    while True:
        with kb.main.write() as tx:
            if tx.delete_rows(roots, ROWS_PER_SLICE) >= ROWS_PER_SLICE:
                continue
            freed = tx.drop_free_entries()
            tx.finish([run.fence])
            return freed


def _live(kb: Workbench) -> set[ClaimNo]:
    with kb.main.read() as snapshot:
        return snapshot.live_claims()
