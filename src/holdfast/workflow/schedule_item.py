"""What is the next job of an item? All branching is here; handlers do one stage and come back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from holdfast.domain.bases import Base
from holdfast.domain.errors import CODES, HoldfastError
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import BaseId, Generation, ItemId
from holdfast.domain.item_states import DELETING, FAILED, Move
from holdfast.domain.items import Item, ItemType, NewItem
from holdfast.domain.jobs import Job, JobKind, NewJob, check_key, index_key, prepare_key
from holdfast.domain.processing import Processed
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.main import Transaction
from holdfast.workflow.workbench import Workbench

GENERATION_OF_BIRTH = Generation(1)
EMPTY = sha256(b"").hexdigest()  # no processor is asked about what has nothing in it


@dataclass(frozen=True, slots=True)
class Plan:
    """What items of one base are made readable by: the base's processor, and what it has made."""

    processor: str | None = None
    made: Mapping[ItemId, Processed] = field(default_factory=dict[ItemId, Processed])
    waiting: Collection[ItemId] = ()


def next_job(
    kb: Workbench,
    base: Base,
    item: Item | NewItem,
    *,
    plan: Plan | None = None,
    ordinal: int | None = None,
    asked: Mapping[str, Any] | None = None,
) -> NewJob:
    """The job that brings this item on, for the generation it has now."""
    plan = plan or Plan()
    kind = _kind(plan, item)
    generation, made = _generation(item), plan.made.get(item.id)
    input_: dict[str, Any] = dict(asked or {})
    if kind is JobKind.CHECK_FILE_PROCESSING_RESULT:
        input_ |= {"processor": plan.processor, "round": 0}
    if made is not None:
        input_ |= {"processed": asdict(made)}
    size = made.size if made is not None else item.size
    return NewJob(
        kind=kind,
        base_id=base.id,
        key=KEYS[kind](base.id, item.id, generation),
        item_id=item.id,
        generation=generation,
        workload=made.size if made is not None else _workload(item),
        large=kind is JobKind.INDEX_DOCUMENTS and size >= kb.settings.large_item_bytes,
        input=input_,
        ordinal=ordinal,
    )


def next_check(job: Job, run_at: int) -> NewJob:
    """The next round of a check, in the place in the queue that this one had."""
    if job.item_id is None or job.generation is None:
        raise ValueError(f"job {job.id} checks no item")
    number = int(job.input["round"]) + 1
    return NewJob(
        kind=job.kind,
        base_id=job.base_id,
        key=check_key(job.base_id, job.item_id, job.generation, number),
        item_id=job.item_id,
        generation=job.generation,
        workload=job.workload,
        input={**job.input, "round": number},
        run_at=run_at,
        ordinal=job.ordinal,
    )


def _kind(plan: Plan, item: Item | NewItem) -> JobKind:
    if item.type in (ItemType.DIRECTORY, ItemType.SITEMAP):
        return JobKind.PREPARE_ROOT
    if item.id in plan.waiting:
        return JobKind.CHECK_FILE_PROCESSING_RESULT
    return JobKind.INDEX_DOCUMENTS


def _workload(item: Item | NewItem) -> int:
    return 0 if item.type is ItemType.URL else item.workload  # asking may take long: alone


def _generation(item: Item | NewItem) -> Generation:
    return item.generation if isinstance(item, Item) else GENERATION_OF_BIRTH


KEYS: dict[JobKind, Callable[[BaseId, ItemId, Generation], str]] = {
    JobKind.PREPARE_ROOT: prepare_key,
    JobKind.INDEX_DOCUMENTS: index_key,
    JobKind.CHECK_FILE_PROCESSING_RESULT: check_key,
}


def plan_of(
    tx: Transaction,
    kb: Workbench,
    base: Base,
    items: Sequence[Item | NewItem],
    hashes: Mapping[ItemId, str],
) -> Plan:
    """Files of a type the base's processor declares go to it, unless it has made them already.

    What a user's file holds is known when somebody has read it: until then it goes there too, and
    round 0 finds what was made of it before.
    """
    name = base.settings.file_processor_id
    if name is None:
        return Plan()
    declared = [item for item in items if _is_declared(kb, name, item)]
    known = {item.id: hashes.get(item.id) or item.data.get("sha256") for item in declared}
    asked = {digest for digest in known.values() if digest}
    found = tx.processed(asked, name, manner_of(kb, name)) if asked else {}
    made = {item: found[digest] for item, digest in known.items() if digest in found}
    waiting = {item for item, digest in known.items() if item not in made and digest != EMPTY}
    return Plan(name, made, waiting)


def _is_declared(kb: Workbench, processor: str, item: Item | NewItem) -> bool:
    return item.type is ItemType.FILE and kb.settings.declares(processor, item.name)


def manner_of(kb: Workbench, processor: str) -> str:
    settings = kb.settings.processors.get(processor)
    return "" if settings is None else settings.manner


def schedule_items(
    tx: Transaction,
    kb: Workbench,
    base: Base,
    items: Sequence[Item | NewItem],
    *,
    ordinals: Mapping[ItemId, int] | None = None,
    asked: Mapping[str, Any] | None = None,
    hashes: Mapping[ItemId, str] | None = None,
) -> HoldfastError | None:
    """Enqueue the next jobs.

    When one is refused it and all later items are failed, the earlier ones stay, and the refusal is
    returned for the caller to raise after its commit. `hashes`: what somebody has just read.
    """
    places = ordinals or {}
    living = [item for item in items if item.status is not DELETING]
    plan = plan_of(tx, kb, base, living, hashes or {})
    jobs = [
        next_job(kb, base, item, plan=plan, ordinal=places.get(item.id), asked=asked)
        for item in living
    ]
    _hold_processed(tx, plan)
    return schedule_jobs(tx, living, jobs)


def schedule_jobs(
    tx: Transaction, living: Sequence[Item | NewItem], jobs: Sequence[NewJob]
) -> HoldfastError | None:
    """As `schedule_items`, for jobs that are known already: one of each item, in its order."""
    if _accepted(tx, jobs) is None:
        return None
    for number, job in enumerate(jobs):
        refusal = _accepted(tx, [job])
        if refusal is not None:
            _fail(tx, living[number:], refusal)
            return refusal
    return None


def _hold_processed(tx: Transaction, plan: Plan) -> None:
    """What was made for another item serves this one too, and must not go with the other."""
    for item, made in plan.made.items():
        tx.keep_entry(FileEntry(made.entry, made.sha256, made.size), item, Role.PROCESSED)
        tx.keep_only(item, Role.PROCESSED, made.entry)


def _accepted(tx: Transaction, jobs: Sequence[NewJob]) -> HoldfastError | None:
    """Enqueue them together or not at all; what was wrong, if they could not be."""
    try:
        with tx.savepoint():
            tx.enqueue(jobs)
    except HoldfastError as refusal:
        return refusal
    return None


def _fail(tx: Transaction, items: Sequence[Item | NewItem], refusal: HoldfastError) -> None:
    """An active item without a job would wait for ever: it fails at once and says why."""
    moved = [Moved(item.id, FAILED, trouble=not_scheduled(refusal)) for item in items]
    tx.move(Move.FAIL, moved)


def not_scheduled(refusal: HoldfastError) -> Trouble:
    return "schedule_failed", f"its work could not be queued: {refusal}", CODES["schedule_failed"]
