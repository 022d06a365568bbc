"""How does a processor's work on a document become text that can be indexed?

    round 0: a place at the processor -> submit -> remote id stored -> round 1, 2, ... every 5 s
    done   : result fetched once -> kept as a file -> schedule_item, which now finds it
    failed, or given up after a time: the item fails; lost: submitted again, twice

Each round is a job of its own, written in the transaction that ends the one before it. The
processor is asked outside of every transaction and lock. Crash windows, in this order:
- after `submit`, before its id is stored: the document is converted a second time, by the next run
  of round 0. Submitting is not idempotent anywhere, so this is the price.
- after the id is stored, which is durable: the next run of the round goes on asking for that id.
- after `result`, before its file is stored: some services give a result once. Then it is lost like
  any other, and submitted again. The bytes are on disk before the rows; a crash between the two
  leaves a file that the sweep finds.
- an item that was deleted or has newer work meanwhile: what the processor does is cancelled as well
  as it can be, here, by the delete or by the sweep; nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast.config import ProcessorSettings
from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.errors import HoldfastError, Permanent, Superseded, Transient
from holdfast.domain.files import Role
from holdfast.domain.item_states import FAILED, Move
from holdfast.domain.items import Item
from holdfast.domain.jobs import JobState
from holdfast.domain.processing import (
    MAX_SUBMISSIONS,
    Converted,
    Made,
    RemoteJob,
    Report,
    Word,
)
from holdfast.jobs.outcomes import LaterPlease
from holdfast.jobs.run import Run
from holdfast.ports import Processor, Source
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.main import Transaction
from holdfast.workflow.forget_processing import forget
from holdfast.workflow.inputs import entry_of
from holdfast.workflow.reindex_subtree import still_running
from holdfast.workflow.schedule_item import EMPTY, next_check, schedule_items, schedule_jobs
from holdfast.workflow.snapshot import let_go, source_of
from holdfast.workflow.take import base_of
from holdfast.workflow.workbench import Workbench

Answer = TypeVar("Answer")

BUSY_PAUSE = 300.0  # whoever ends a conversion wakes the next: this is for when nobody does
LONGEST_RETRY_AFTER = 300.0
WAITED = "place"  # where a job notes how far it came; here only that it was there before
KEPT_FROM_INPUT = ("asked", "force")


@dataclass(frozen=True, slots=True)
class Check:
    """What one round works with: settings read once, the processor's side as it was stored."""

    run: Run
    base: Base
    item: Item
    name: str
    settings: ProcessorSettings
    processor: Processor
    remote: RemoteJob

    @property
    def asked(self) -> dict[str, object]:
        given = self.run.job.input
        return {name: given[name] for name in KEPT_FROM_INPUT if given.get(name)}


def check_file_processing_result(kb: Workbench, run: Run) -> None:
    check = _take(kb, run)
    if check.remote.remote_id is None:
        _hand_over(kb, check)
    else:
        _ask(kb, check, check.remote.remote_id)


def give_up_check(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """Item and job fail together; what the processor is at is cancelled as well as it can be."""
    with kb.main.write() as tx:
        remote = tx.remote_jobs([run.item]).get(run.item)
        _fail_in(tx, run, remote, trouble)
    if remote is not None:
        forget(kb, [remote])


# -- round 0, and again when the processor has lost the document


def _hand_over(kb: Workbench, check: Check) -> None:
    check.run.token.check()
    if WAITED in check.run.job.input and not _has_place(kb, check):
        raise LaterPlease(BUSY_PAUSE, "processor_busy")  # without reading it again for nothing
    with kb.permits.reading.hold():
        source = source_of(kb, check.run, check.base, check.item)
    try:
        if not _is_made_already(kb, check, source):
            _submit(kb, _in_its_place(kb, check), source)
    finally:
        let_go(kb, check.run, source)


def _submit(kb: Workbench, check: Check, source: Source) -> None:
    check.run.token.check()
    remote_id = _asked(kb, check, lambda: check.processor.submit(source))
    if remote_id is None:
        return
    made = Made(source.content_hash, source.size, check.name, check.settings.manner)
    submitted = replace(
        check.remote,
        made=made,
        remote_id=remote_id,
        submissions=check.remote.submissions + 1,
        report=None,
        quiet=0.0,
    )
    try:
        _next_round(kb, check, submitted)
    except Superseded:
        forget(kb, [submitted])
        raise
    kb.main.durable()  # the id, before anybody waits for what it names


def _has_place(kb: Workbench, check: Check) -> bool:
    with kb.main.read() as snapshot:
        return snapshot.conversions_beside(check.item.id, check.name) < check.settings.places


def _in_its_place(kb: Workbench, check: Check) -> Check:
    """One of the few places at the processor is ours, or this round waits for one."""
    with kb.main.write() as tx:
        _ours(tx, check.run)
        free = tx.conversions_beside(check.item.id, check.name) < check.settings.places
        remote = replace(check.remote, looked_at=tx.now)
        if free:
            tx.keep_remote(remote)
        else:
            tx.keep_place(check.run.fence, {"waits": check.name})
    if not free:
        raise LaterPlease(BUSY_PAUSE, "processor_busy")
    return replace(check, remote=remote)


def _is_made_already(kb: Workbench, check: Check, source: Source) -> bool:
    """Nothing in it, or converted before, for this item or for an equal one: no second time."""
    is_blank = source.content is not None and not source.content.strip()
    digest = EMPTY if is_blank else source.content_hash
    with kb.main.write() as tx:
        item = _ours(tx, check.run)
        known = tx.processed([digest], check.name, check.settings.manner).get(digest)
        if known is None and digest != EMPTY:
            return False
        _finish(tx, kb, check, item, digest)
    return True


# -- later rounds


def _ask(kb: Workbench, check: Check, remote_id: str) -> None:
    report = _asked(kb, check, lambda: check.processor.status(remote_id))
    if report is None:
        return
    match report.word:
        case Word.FAILED:
            said = report.said or "without a word"
            _fail(kb, check, Permanent(f"{check.name} failed: {said}", code="processing_failed"))
        case Word.LOST:
            _again(kb, check)
        case Word.DONE:
            _fetch(kb, check, remote_id)
        case Word.PENDING | Word.RUNNING:
            _wait(kb, check, report)


def _fetch(kb: Workbench, check: Check, remote_id: str) -> None:
    """The result, which may be had once: it is kept before anything else is done."""
    check.run.token.check()
    converted = _asked(kb, check, lambda: check.processor.result(remote_id) or _NOTHING)
    if converted is None:
        return
    if converted is _NOTHING:
        _again(kb, check)
    elif not converted.content.strip() and check.base.settings.empty_content == "fail":
        said = f"{check.name} found no text in it"
        _fail(kb, check, Permanent(said, code="no_text"))
    else:
        _keep(kb, check, converted)


_NOTHING = Converted(b"")  # the processor does not have it any more


def _keep(kb: Workbench, check: Check, converted: Converted) -> None:
    made = check.remote.made
    if made is None:
        raise Permanent(f"nobody knows what {check.name} was given", code="processing_failed")
    entry = entry_of(kb, converted.content)
    kb.files.keep(entry.path, converted.content)
    with kb.main.write() as tx:
        item = _ours(tx, check.run)
        tx.keep_entry(entry, item.id, Role.PROCESSED)
        tx.insert_processed(entry.id, replace(made, warning=converted.warning))
        _finish(tx, kb, check, item, made.source_sha256)
    kb.main.durable()  # it was paid for, and may not be had again


def _finish(tx: Transaction, kb: Workbench, check: Check, item: Item, digest: str) -> None:
    """The item goes on with what was made of it; the next in line has its place."""
    tx.forget_remote(check.remote)
    tx.finish([check.run.fence])
    schedule_items(
        tx,
        kb,
        check.base,
        [item],
        ordinals={item.id: check.run.job.ordinal},
        asked=check.asked,
        hashes={item.id: digest},
    )
    tx.wake_first_busy(check.name)


def _wait(kb: Workbench, check: Check, report: Report | None, said: str | None = None) -> None:
    """Another round, unless it has taken too long; nobody's answer is no progress."""
    pause = kb.settings.file_processing_check_delay
    remote = check.remote.looked(_now(kb), pause, report)
    remote = remote.told(said) if said else remote
    overdue = remote.overdue(check.base.settings.file_processing_max_wait)
    if overdue is not None:
        said = f"{check.name}: {overdue}; last known: {remote.report}"
        _fail(kb, check, Permanent(said, code="processing_timeout"))
        return
    _next_round(kb, check, remote)


def _again(kb: Workbench, check: Check) -> None:
    """The processor has forgotten it, or its result is gone: a few times it gets it once more."""
    if check.remote.submissions >= MAX_SUBMISSIONS:
        said = f"{check.name} has lost the document {MAX_SUBMISSIONS} times"
        _fail(kb, check, Permanent(said, code="processing_failed"))
        return
    _next_round(kb, check, replace(check.remote, remote_id=None, report=None))


# -- what all rounds share


def _take(kb: Workbench, run: Run) -> Check:
    """The item, ours; what an older attempt of it left at a processor is cancelled."""
    base = base_of(kb, run)
    with kb.main.read() as snapshot:
        item, remote = snapshot.item(run.item), snapshot.remote_jobs([run.item]).get(run.item)
    if item is None or item.deleting or item.generation != run.fence.generation:
        if remote is not None and remote.generation == run.fence.generation:
            forget(kb, [remote])
        raise Superseded(f"item {run.item} has moved on")
    if remote is not None and remote.generation != item.generation:
        forget(kb, [remote])
        remote = None
    name = remote.processor if remote is not None else str(run.job.input["processor"])
    settings = kb.settings.processors.get(name)
    if settings is None:
        raise Permanent(
            f"there is no processor {name!r} here",
            code="processing_failed",
            advice=f"declare [processors.{name}] in the settings, or change file_processor_id",
        )
    fresh = RemoteJob(item.id, base.id, item.generation, name)
    return Check(
        run, base, item, name, settings, kb.processors.resolve(name), remote=remote or fresh
    )


def _ours(tx: Transaction, run: Run) -> Item:
    """The item, while this run owns it: read again in every transaction."""
    base, item = tx.base(run.base), tx.item(run.item)
    if base is None or base.status is BaseStatus.DELETING:
        raise Superseded(f"base {run.base} is gone")  # nobody would ever claim its next job
    if item is None or item.deleting or item.generation != run.fence.generation:
        raise Superseded(f"item {run.item} has moved on")
    if not still_running(tx, run):
        raise Superseded(f"another run has item {run.item}")
    return item


def _asked(kb: Workbench, check: Check, ask: Callable[[], Answer]) -> Answer | None:
    """The processor's answer; None when it gave none, and the round was put off."""
    try:
        return ask()
    except Transient as error:
        _wait(kb, check, None, str(error))
        return None


def _next_round(kb: Workbench, check: Check, remote: RemoteJob) -> None:
    with kb.main.write() as tx:
        item = _ours(tx, check.run)
        tx.keep_remote(remote)
        tx.finish([check.run.fence])
        at = tx.now + round(1_000_000 * kb.settings.file_processing_check_delay)
        schedule_jobs(tx, [item], [next_check(check.run.job, at)])


def _fail(kb: Workbench, check: Check, error: HoldfastError) -> None:
    with kb.main.write() as tx:
        _ours(tx, check.run)
        _fail_in(tx, check.run, check.remote, (error.code, str(error), error.advice))
    forget(kb, [check.remote])


def _fail_in(tx: Transaction, run: Run, remote: RemoteJob | None, trouble: Trouble) -> None:
    moved = Moved(run.item, FAILED, run.fence.generation, run.fence, trouble=trouble)
    tx.move(Move.FAIL, [moved])
    tx.finish([run.fence], JobState.FAILED, trouble=trouble)
    if remote is not None:
        tx.wake_first_busy(remote.processor)


def _now(kb: Workbench) -> int:
    return round(1_000_000 * kb.clock.wall())
