"""Which items are there?"""

from __future__ import annotations

from dataclasses import replace

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.errors import NotFound
from holdfast.domain.given import may_page
from holdfast.domain.guards import may_find
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.items import Item, Page
from holdfast.domain.progress import shown
from holdfast.domain.recipe import is_outdated
from holdfast.stores.catalog import Listing
from holdfast.stores.main import Snapshot
from holdfast.workflow.workbench import Workbench


def list_items(kb: Workbench, listing: Listing) -> Page[Item]:
    """A page of a base's items; what is being deleted is left out unless asked for."""
    may_page(listing.limit, listing.cursor)
    with kb.main.read() as snapshot:
        base = living_base(snapshot, listing.base)
        if listing.parent is not None:
            found = [
                item.id for item in snapshot.items([listing.parent]) if item.base_id == base.id
            ]
            may_find([listing.parent], found, base.id)
        page = snapshot.list_items(listing)
    return replace(page, items=tuple(_as_seen(base, item) for item in page.items))


def get_item(kb: Workbench, item_id: ItemId) -> Item:
    """One item, also while it is being deleted."""
    with kb.main.read() as snapshot:
        item = snapshot.item(item_id)
        base = snapshot.base(item.base_id) if item else None
    if item is None or base is None or base.status is BaseStatus.DELETING:
        raise NotFound(f"there is no item {item_id}")
    return _as_seen(base, item)


def living_base(snapshot: Snapshot, base_id: BaseId) -> Base:
    base = snapshot.base(base_id)
    if base is None or base.status is BaseStatus.DELETING:
        raise NotFound(f"there is no base {base_id}")
    return base


def _as_seen(base: Base, item: Item) -> Item:
    return replace(
        item,
        progress=shown(item.status, item.progress),
        outdated=is_outdated(item.recipe, base.settings, base.space),
    )
