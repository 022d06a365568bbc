"""How far is an item?"""

from __future__ import annotations

from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import ACTIVE, COMPLETED
from holdfast.domain.items import Item
from holdfast.domain.progress import Progress
from holdfast.workflow.list_items import get_item
from holdfast.workflow.providers import row_of
from holdfast.workflow.workbench import Workbench


def progress(kb: Workbench, item_id: ItemId) -> Progress:
    """What is stored is what is shown; containers are weighted by the workload inside."""
    item = get_item(kb, item_id)
    percent = item.progress
    if item.is_container and item.status is not COMPLETED:
        with kb.main.read() as snapshot:
            percent = min(99, snapshot.percent_below(item_id))
    return Progress(
        percent,
        stage=item.status,
        chunks_done=item.chunk_count,
        waiting=paused_provider(kb, item) if item.status in ACTIVE else None,
    )


def paused_provider(kb: Workbench, item: Item) -> str | None:
    """What the provider of the item's base said when it was paused; None when it is not."""
    with kb.main.read() as snapshot:
        base = snapshot.base(item.base_id)
    row = row_of(kb, base.provider) if base is not None and base.provider else None
    return None if row is None else f"the provider {row.name} is paused ({row.reason})"
