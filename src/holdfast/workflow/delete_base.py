"""How does a whole base go? Marked first, rows last; every step may be done again."""

from __future__ import annotations

from holdfast.domain.bases import BaseStatus
from holdfast.domain.ids import BaseId
from holdfast.domain.jobs import JobKind, NewJob
from holdfast.jobs.outcomes import LaterPlease
from holdfast.jobs.run import Run
from holdfast.stores.catalog import Trouble
from holdfast.stores.main import Transaction
from holdfast.workflow.bases import known
from holdfast.workflow.delete_subtree import unlink
from holdfast.workflow.forget_processing import forget_base
from holdfast.workflow.room import with_reserve
from holdfast.workflow.workbench import Workbench

ROWS_PER_SLICE = 1_000  # below a tenth of a second: other bases write between two slices
PAUSE = 0.2


def delete_base(kb: Workbench, base_id: BaseId) -> None:
    """The base is hidden and its end is durable when this returns."""
    with_reserve(kb, lambda: _mark(kb, base_id))


def _mark(kb: Workbench, base_id: BaseId) -> None:
    with kb.main.write() as tx:
        known(tx, base_id)
        tx.set_base_state(base_id, BaseStatus.DELETING, None)
        tx.cancel_base(base_id)
        enqueue_delete_base(tx, base_id)
    kb.main.durable()


def enqueue_delete_base(tx: Transaction, base_id: BaseId) -> None:
    tx.enqueue([NewJob(JobKind.DELETE_BASE, base_id, f"{base_id}:delete-base")])


def run_delete_base(kb: Workbench, run: Run) -> None:
    """Index and files first, rows last: while they stand a retry knows what to do."""
    kb.main.durable()  # the mark, before anything it announces is done
    _wait_for_runs(kb, run.base)
    forget_base(kb, run.base)
    kb.index.drop(run.base)
    while not _remove_slice(kb, run):
        pass
    with kb.main.write() as tx:
        freed = tx.drop_free_entries()
        tx.finish([run.fence])
    kb.main.durable()
    unlink(kb, freed)


def give_up_delete_base(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """Never reached by the runner (endless)."""
    with kb.main.write() as tx:
        tx.finish([run.fence], trouble=trouble)


def _wait_for_runs(kb: Workbench, base: BaseId) -> None:
    """Runs of this base were told to stop; the index must not be made anew under them."""
    with kb.main.read() as snapshot:
        if snapshot.running_of_base(base):
            raise LaterPlease(PAUSE, "runs of the base are ending")


def _remove_slice(kb: Workbench, run: Run) -> bool:
    with kb.main.write() as tx:
        tx.cancel_base(run.base)  # again: a run that was ending may have scheduled something
        return tx.base(run.base) is None or tx.delete_base_rows(run.base, ROWS_PER_SLICE)
