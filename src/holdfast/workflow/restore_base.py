"""How does a new base come from the roots of another? The other one may be broken, and stays.

What cannot be had any more is passed over and counted: a path where nothing stands, with no copy
of ours. What is stored is not fetched or converted again: the new items refer to the same bytes.
What is below a container is found by listing it anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.errors import HoldfastError, InvalidInput, NotFound, Permanent
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import first_status
from holdfast.domain.items import Item, ItemType, NewItem
from holdfast.stores.catalog import Listing
from holdfast.workflow.add_items import may_enqueue
from holdfast.workflow.bases import create_base
from holdfast.workflow.delete_base import delete_base
from holdfast.workflow.room import may_take_in
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.workbench import Workbench

PAGE, TOLD = 1_000, 1_000
COPIED = (Role.SOURCE, Role.SNAPSHOT, Role.PROCESSED)


@dataclass(frozen=True, slots=True)
class Missing:
    """A root that could not be taken along, and why."""

    name: str
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Restored:
    """The new base, how many roots it has, and those that are gone: the first thousand."""

    base: Base
    created: int
    missing: tuple[Missing, ...]
    missing_count: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A root for the new base, and the stored bytes it refers to."""

    item: NewItem
    refs: tuple[tuple[FileEntry, Role], ...]


def restore_base(kb: Workbench, base_id: BaseId, changes: Mapping[str, Any]) -> Restored:
    """Durable when this returns; raises before anything is made, or leaves no base behind."""
    may_take_in(kb)
    old = _standing(kb, base_id)
    try:
        wanted = replace(old.settings, **{"name": f"{old.settings.name} restored", **changes})
    except TypeError as error:
        raise InvalidInput(f"a base has no such setting: {error}") from error
    base = create_base(kb, wanted)
    try:
        return _filled(kb, old, base)
    except BaseException:
        delete_base(kb, base.id)
        raise


def _standing(kb: Workbench, base_id: BaseId) -> Base:
    """A failed base may be restored from; one that is going may not."""
    with kb.main.read() as snapshot:
        base = snapshot.base(base_id)
    if base is None or base.status is BaseStatus.DELETING:
        raise NotFound(f"there is no base {base_id}")
    return base


def _filled(kb: Workbench, old: Base, base: Base) -> Restored:
    taken: list[Taken] = []
    missing: list[Missing] = []
    for root in _roots(kb, old.id):
        found = _taken(kb, base, root)
        if isinstance(found, Taken):
            taken.append(found)
        else:
            missing.append(found)
    refusal = _write(kb, base, taken)
    kb.main.durable()
    if refusal is not None:
        raise refusal
    return Restored(base, len(taken), tuple(missing[:TOLD]), len(missing))


def _write(kb: Workbench, base: Base, taken: list[Taken]) -> HoldfastError | None:
    with kb.main.write() as tx:
        may_enqueue(tx, kb, len(taken))
        tx.insert_items([one.item for one in taken])
        for one in taken:
            for entry, role in one.refs:
                tx.keep_entry(entry, one.item.id, role)
        return schedule_items(tx, kb, base, [one.item for one in taken])


def _roots(kb: Workbench, base: BaseId) -> Iterator[Item]:
    cursor = None
    while True:
        with kb.main.read() as snapshot:
            page = snapshot.list_items(Listing(base, cursor=cursor, limit=PAGE))
        yield from page.items
        if (cursor := page.next_cursor) is None:
            return


def _taken(kb: Workbench, base: Base, root: Item) -> Taken | Missing:
    refs = _refs(kb, root)
    data = dict(root.data)
    if "path" in data and (reason := _gone(kb, str(data["path"]))):
        copy = next((entry for entry, role in refs if role is Role.SNAPSHOT), None)
        if copy is None or root.type is not ItemType.FILE:
            return Missing(root.name, root.source, reason)
        data = {"entry": copy.id, "sha256": copy.sha256, "size": copy.size}
        refs = ((copy, Role.SOURCE),)
    new = NewItem(
        id=ItemId(kb.ids.new()),
        base_id=base.id,
        type=root.type,
        name=root.name,
        source=root.source,
        status=first_status(root.is_container),
        source_key=root.source_key,
        data=data,
        attributes=root.attributes,
        size=root.size,
        workload=0 if root.is_container else root.workload,
    )
    return Taken(new, refs)


def _refs(kb: Workbench, root: Item) -> tuple[tuple[FileEntry, Role], ...]:
    with kb.main.read() as snapshot:
        return tuple((entry, role) for role in COPIED for entry in snapshot.entries(root.id, role))


def _gone(kb: Workbench, path: str) -> str | None:
    """Why a path cannot be had; trouble that may pass is the new item's own to meet."""
    try:
        kb.files.look(path)
    except Permanent as refusal:
        return str(refusal)
    except HoldfastError:
        return None
    return None
