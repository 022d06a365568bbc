"""What happened to an item?"""

from __future__ import annotations

from holdfast.domain.errors import InvalidInput, NotFound
from holdfast.domain.events import Event
from holdfast.domain.given import is_whole
from holdfast.domain.ids import BaseId, ItemId
from holdfast.workflow.workbench import Workbench

LAST_EVENT = (1 << 63) - 1


def history(kb: Workbench, item_id: ItemId) -> list[Event]:
    """The ledger of one item, oldest first; it outlives the item until it is pruned."""
    with kb.main.read() as snapshot:
        found = snapshot.history(item_id)
    if not found:
        raise NotFound(f"there is no item {item_id}")
    return found


def events(kb: Workbench, after: int, base: BaseId | None = None, limit: int = 500) -> list[Event]:
    if not is_whole(after, 0, LAST_EVENT):
        raise InvalidInput(f"{after!r} is not the id of an event")
    with kb.main.read() as snapshot:
        return snapshot.events_after(after, base, limit)
