"""How does new content replace what an item was made of?

Equal content changes nothing. Other content starts a new generation: the item's waiting work is
ended, its running work told to stop, and the new job inherits their place in the queue, so that
something updated every minute still gets indexed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from holdfast.domain.addresses import address_of
from holdfast.domain.errors import HoldfastError, InvalidInput
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.guards import Operation, may_update, may_use
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import PROCESSING, Move
from holdfast.domain.items import (
    Attribute,
    Item,
    ItemType,
    checked_attributes,
    workload_of_text,
)
from holdfast.stores.catalog import Moved
from holdfast.stores.main import Transaction
from holdfast.workflow.add_items import may_enqueue
from holdfast.workflow.inputs import checked_name, checked_text, entry_of
from holdfast.workflow.room import may_take_in
from holdfast.workflow.schedule_item import schedule_items
from holdfast.workflow.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Change:
    """What a user wants changed; what is None stays."""

    content: str | bytes | None = None
    url: str | None = None
    attributes: Mapping[str, Attribute] | None = None


def update_item(kb: Workbench, item_id: ItemId, change: Change) -> Item:
    """The item as it is now; its new content is accepted durably when this returns."""
    if change.attributes is not None:
        change = replace(change, attributes=checked_attributes(change.attributes))
    entry = entry_of(kb, change.content) if isinstance(change.content, bytes) else None
    _look_first(kb, item_id, change, entry)
    if entry is not None and isinstance(change.content, bytes):
        kb.files.keep(entry.path, change.content)
    refusal: HoldfastError | None = None
    with kb.main.write() as tx:
        item = may_update(tx.item(item_id), item_id)
        base = may_use(tx.base(item.base_id), Operation.UPDATE, item.base_id)
        if change.attributes is not None:
            tx.set_attributes(item.id, change.attributes)
        newer = _with_content(item, change, entry)
        if newer is not None:
            may_enqueue(tx, kb, 1)
            _restart(tx, newer, entry)
            places = tx.cancel_items([item.id], "superseded")
            restarted = tx.items([item.id])
            refusal = schedule_items(tx, kb, base, restarted, ordinals=places)
        updated = may_update(tx.item(item_id), item_id)
    kb.main.durable()
    if refusal is not None:
        raise refusal
    return updated


def _look_first(kb: Workbench, item_id: ItemId, change: Change, entry: FileEntry | None) -> None:
    """Refuse before any bytes are kept; the transaction asks again."""
    with kb.main.read() as snapshot:
        item = may_update(snapshot.item(item_id), item_id)
        may_use(snapshot.base(item.base_id), Operation.UPDATE, item.base_id)
    if _with_content(item, change, entry) is not None:
        may_take_in(kb)


def _restart(tx: Transaction, newer: Item, entry: FileEntry | None) -> None:
    tx.set_source(newer)
    if entry is not None:
        tx.keep_entry(entry, newer.id, Role.SOURCE)
        tx.keep_only(newer.id, Role.SOURCE, entry.id)
    tx.move_or_end(Move.RESTART, Moved(newer.id, PROCESSING, new_generation=True))


def _with_content(item: Item, change: Change, entry: FileEntry | None) -> Item | None:
    """The item with its new content, or None when there is none or it is equal."""
    if change.content is not None and change.url is not None:
        raise InvalidInput("an item takes new content or a new url, not both")
    if change.url is not None:
        return _url(item, change.url)
    if change.content is None:
        return None
    if item.type is ItemType.NOTE and isinstance(change.content, str):
        return _note(item, checked_text(change.content))
    if item.type is ItemType.FILE and entry is not None:
        return _file(item, entry)
    kind = "text" if item.type is ItemType.NOTE else "bytes"
    if item.type not in (ItemType.NOTE, ItemType.FILE):
        raise InvalidInput(f"item {item.id} is a {item.type}; it has no content of its own")
    raise InvalidInput(f"item {item.id} is a {item.type}; its content is given as {kind}")


def _note(item: Item, content: str) -> Item | None:
    if item.data.get("content") == content:
        return None
    return replace(
        item,
        data={**item.data, "content": content},
        size=len(content.encode()),
        workload=workload_of_text(content),
    )


def _url(item: Item, url: str) -> Item | None:
    """Another address is another page: nothing that is known of the old one holds."""
    if item.type is not ItemType.URL:
        raise InvalidInput(f"item {item.id} is a {item.type}; it has no url to change")
    if item.parent_id is not None:
        raise InvalidInput(f"item {item.id} is a page of a sitemap, which says where it is")
    address = str(address_of(url))
    if item.data["url"] == address:
        return None
    return replace(item, data={"url": address}, source=url, name=checked_name(address))


def _file(item: Item, entry: FileEntry) -> Item | None:
    if item.data.get("sha256") == entry.sha256:
        return None
    data = {"entry": entry.id, "sha256": entry.sha256, "size": entry.size}
    return replace(item, data=data, size=entry.size, workload=entry.size)
