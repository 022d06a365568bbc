"""How are new items accepted?

    look at the inputs -> keep given bytes -> one transaction: guard, room, rows, jobs -> durable

Returning means: rows and jobs are on disk, together. Inputs that cannot be accepted come back in
`failed`; the others are created together or not at all. When a job is refused inside the
transaction, its item and all later ones are failed, earlier ones stay, and the refusal is raised.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

from holdfast.domain.errors import HoldfastError, InvalidInput, QueueFull
from holdfast.domain.files import Role
from holdfast.domain.given import is_text
from holdfast.domain.guards import Operation, may_add, may_use
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.items import Input, Item, Refused
from holdfast.stores.ledger import Answer
from holdfast.stores.main import Transaction
from holdfast.workflow.inputs import Sorted, shown, sort_inputs
from holdfast.workflow.room import may_take_in
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.workbench import Workbench

HOUR = 3_600_000_000
MAX_KEY = 255


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a call: items in the order given, and the inputs refused."""

    created: tuple[Item, ...]
    failed: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class Promise:
    """An Idempotency-Key: the same request by the same principal gets the same answer."""

    key: str
    principal: str
    body: str


def add_items(
    kb: Workbench,
    base_id: BaseId,
    inputs: Sequence[Input | str],
    key: str | None = None,
    principal: str = "",
) -> Added:
    """Accept the inputs durably; see the module for what holds when this returns or raises."""
    may_add(len(inputs))
    promise = promised(key, principal, base_id, inputs)
    with kb.main.read() as snapshot:
        may_use(snapshot.base(base_id), Operation.ADD, base_id)
    if inputs:
        may_take_in(kb)
    found = sort_inputs(kb, base_id, inputs)
    for entry in found.entries.values():
        kb.files.keep(entry.path, found.contents[entry.id])
    with kb.main.write() as tx:
        added, refusal = _accept(tx, kb, base_id, found, promise)
    kb.main.durable()
    if refusal is not None:
        raise with_outcome(refusal, added)
    return added


def _accept(
    tx: Transaction, kb: Workbench, base_id: BaseId, found: Sorted, promise: Promise | None
) -> tuple[Added, HoldfastError | None]:
    base = may_use(tx.base(base_id), Operation.ADD, base_id)
    before = _answered(tx, kb, promise)
    if before is not None:
        return before, None
    may_enqueue(tx, kb, len(found.items))
    tx.insert_items(found.items)
    for item, entry in found.entries.items():
        tx.keep_entry(entry, item, Role.SOURCE)
    refusal = schedule_items(tx, kb, base, found.items)
    added = _added(tx, [item.id for item in found.items], found.refused)
    if promise is not None and refusal is None:
        tx.remember(promise.key, promise.principal, Answer(promise.body, _written(added)))
    return added, refusal


def may_enqueue(tx: Transaction, kb: Workbench, count: int) -> None:
    """Room for the whole call, or nothing of it."""
    waiting, limit = tx.unfinished(), kb.settings.max_queue_size
    if count and waiting + count > limit:
        raise QueueFull(
            f"{waiting} jobs are unfinished and {count} more do not fit: max_queue_size is {limit}"
        )


def _added(tx: Transaction, ids: Sequence[ItemId], refused: Sequence[Refused]) -> Added:
    rows = {item.id: item for item in tx.items(ids)}
    return Added(tuple(rows[one] for one in ids if one in rows), tuple(refused))


def promised(
    key: str | None, principal: str, base: BaseId, inputs: Sequence[Input | str]
) -> Promise | None:
    if key is None:
        return None
    if not is_text(key) or not 0 < len(key) <= MAX_KEY:
        raise InvalidInput(f"an idempotency key is 1 to {MAX_KEY} characters, not {key!r}")
    body = repr((base, [(shown(one), one) for one in inputs]))
    return Promise(key, principal, sha256(body.encode("utf-8", "replace")).hexdigest())


def _answered(tx: Transaction, kb: Workbench, promise: Promise | None) -> Added | None:
    """The answer given before to this very request; another body under its key is refused."""
    if promise is None:
        return None
    after = tx.now - kb.settings.keep_answers_hours * HOUR
    found = tx.answer(promise.key, promise.principal, after)
    if found is None:
        return None
    if found.body != promise.body:
        raise InvalidInput(f"the idempotency key {promise.key!r} was used with another request")
    document = json.loads(found.answer)
    return _added(tx, document["created"], [Refused(**one) for one in document["failed"]])


def _written(added: Added) -> str:
    failed = [asdict(one) for one in added.failed]
    return json.dumps({"created": [item.id for item in added.created], "failed": failed})


def with_outcome(refusal: HoldfastError, added: Added) -> HoldfastError:
    """The original error, carrying what was created and what was not."""
    refusal.created = added.created  # type: ignore[attr-defined]
    refusal.failed = added.failed  # type: ignore[attr-defined]
    return refusal
