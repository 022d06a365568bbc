"""What is the next job of an item? All branching is here; handlers do one stage and come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.bases import Base
from holdfast.domain.errors import CODES, HoldfastError
from holdfast.domain.ids import Generation, ItemId
from holdfast.domain.item_states import DELETING, FAILED, Move
from holdfast.domain.items import Item, ItemType, NewItem
from holdfast.domain.jobs import JobKind, NewJob, index_key, prepare_key
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.main import Transaction
from holdfast.workflow.workbench import Workbench

GENERATION_OF_BIRTH = Generation(1)


def next_job(
    kb: Workbench,
    base: Base,
    item: Item | NewItem,
    *,
    ordinal: int | None = None,
    asked: Mapping[str, Any] | None = None,
) -> NewJob:
    """The job that brings this item on, for the generation it has now."""
    generation = item.generation if isinstance(item, Item) else GENERATION_OF_BIRTH
    container = item.type in (ItemType.DIRECTORY, ItemType.SITEMAP)
    key = prepare_key if container else index_key
    return NewJob(
        kind=JobKind.PREPARE_ROOT if container else JobKind.INDEX_DOCUMENTS,
        base_id=base.id,
        key=key(base.id, item.id, generation),
        item_id=item.id,
        generation=generation,
        workload=0 if item.type is ItemType.URL else item.workload,  # asking may take long: alone
        large=not container and item.size >= kb.settings.large_item_bytes,
        input=dict(asked or {}),
        ordinal=ordinal,
    )


def schedule_items(
    tx: Transaction,
    kb: Workbench,
    base: Base,
    items: Sequence[Item | NewItem],
    *,
    ordinals: Mapping[ItemId, int] | None = None,
    asked: Mapping[str, Any] | None = None,
) -> HoldfastError | None:
    """Enqueue the next jobs.

    When one is refused it and all later items are failed, the earlier ones stay, and the refusal is
    returned for the caller to raise after its commit.
    """
    places = ordinals or {}
    living = [item for item in items if item.status is not DELETING]
    jobs = [next_job(kb, base, item, ordinal=places.get(item.id), asked=asked) for item in living]
    if _accepted(tx, jobs) is None:
        return None
    for number, job in enumerate(jobs):
        refusal = _accepted(tx, [job])
        if refusal is not None:
            _fail(tx, living[number:], refusal)
            return refusal
    return None


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
