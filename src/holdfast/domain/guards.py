"""Which operation is allowed in which state? The table of section 3, one small guard a rule.

docs/operation-guards.md explains each cell; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.errors import Blocking, Conflict, GuardRejected, InvalidInput, NotFound
from holdfast.domain.given import is_text
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import COMPLETED, DELETING, TERMINAL, Status
from holdfast.domain.items import Item

MAX_INPUTS = 1_000
MAX_IDS = 10_000
ROOTS_PER_JOB = 1_000
NAMED = 10


class Operation(StrEnum):
    """What a user may ask for."""

    ADD = "add_items"
    DELETE = "delete_items"
    REINDEX = "reindex_items"
    UPDATE = "update_item"
    LIST_CHUNKS = "list_chunks"


@dataclass(frozen=True, slots=True)
class GuardRow:
    """A row of the table: what the operation does before anything is written."""

    failed_base_allowed: bool
    collapses_roots: bool
    before_enqueue: str
    if_enqueue_refuses: str


GUARDS: dict[Operation, GuardRow] = {
    Operation.ADD: GuardRow(False, False, "preparing / processing", "fail unscheduled, raise"),
    Operation.DELETE: GuardRow(True, True, "deleting, generation + 1", "keep deleting, raise"),
    Operation.REINDEX: GuardRow(False, True, "nothing", "raise"),
    Operation.UPDATE: GuardRow(False, False, "processing, generation + 1", "fail, raise"),
    Operation.LIST_CHUNKS: GuardRow(False, False, "-", "-"),
}


@dataclass(frozen=True, slots=True)
class Standing:
    """An item in the way of an operation, or not: what the guard has to know of it."""

    id: ItemId
    name: str
    status: Status
    past_bounds: bool = False  # queued or at work longer than section 7 allows


def may_use(base: Base | None, operation: Operation, base_id: str) -> Base:
    """The base, when this operation is allowed in its state."""
    if base is None or base.status is BaseStatus.DELETING:
        raise NotFound(f"there is no base {base_id}")
    if base.status is BaseStatus.FAILED and not GUARDS[operation].failed_base_allowed:
        raise GuardRejected(
            f"base {base.name!r} is failed ({base.error_code}); {operation} waits until it works",
            code="base_failed",
        )
    return base


def may_add(count: int) -> None:
    if count > MAX_INPUTS:
        raise InvalidInput(f"{count} inputs given; one call takes at most {MAX_INPUTS}")


def may_select(ids: Sequence[object]) -> None:
    if len(ids) > MAX_IDS:
        raise InvalidInput(f"{len(ids)} ids given; one call takes at most {MAX_IDS}")
    for one in ids:
        if not is_text(one) or not one:
            raise InvalidInput(f"{one!r} is not an item id")


def may_find(asked: Iterable[str], found: Iterable[str], base_id: str) -> None:
    """Unknown ids, or ids of another base, reject the whole call and are named."""
    known = set(found)
    unknown = [one for one in asked if one not in known]
    if unknown:
        named = ", ".join(unknown[:NAMED]) + (", …" if len(unknown) > NAMED else "")
        raise NotFound(f"base {base_id} has no item {named}")


def may_reindex(standing: Iterable[Standing]) -> None:
    """Every item of every selected subtree has settled, or nothing is enqueued."""
    blocking = [one for one in standing if not has_settled(one)]
    if blocking:
        first = blocking[0]
        raise Conflict(
            f"{len(blocking)} items have not settled (item {first.id} is {first.status}); "
            "reindex waits for completed or failed",
            blocking=[Blocking(one.id, one.name, one.status) for one in blocking[:1_000]],
        )


def has_settled(one: Standing) -> bool:
    """Completed and failed have; idle, and work past its bounds, count as failed."""
    if one.status is DELETING:
        return False
    return one.status in TERMINAL or one.status is Status.IDLE or one.past_bounds


def may_update(item: Item | None, item_id: str) -> Item:
    if item is None:
        raise NotFound(f"there is no item {item_id}")
    if item.status is DELETING:
        raise GuardRejected(f"item {item.id} is being deleted", code="deleting")
    return item


def may_list_chunks(item: Item | None, item_id: str, deleting_inside: int) -> Item:
    """Chunks are shown of what is completed, and of containers nothing is being deleted in."""
    item = may_update(item, item_id)
    if item.status is not COMPLETED:
        raise Conflict(
            f"item {item.id} is {item.status}; its chunks can be listed when it is completed",
            code="not_completed",
            blocking=[Blocking(item.id, item.name, item.status)],
        )
    if item.is_container and deleting_inside:
        raise Conflict(
            f"{deleting_inside} items inside {item.id} are being deleted; "
            "try again when they are gone",
            blocking=[Blocking(item.id, item.name, item.status)],
        )
    return item
