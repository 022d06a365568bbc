"""How far is an item?"""

from __future__ import annotations

from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import COMPLETED
from holdfast.domain.progress import Progress
from holdfast.workflow.list_items import get_item
from holdfast.workflow.workbench import Workbench


def progress(kb: Workbench, item_id: ItemId) -> Progress:
    """What is stored is what is shown; containers are weighted by the workload inside."""
    item = get_item(kb, item_id)
    percent = item.progress
    if item.is_container and item.status is not COMPLETED:
        with kb.main.read() as snapshot:
            percent = min(99, snapshot.percent_below(item_id))
    return Progress(percent, stage=item.status, chunks_done=item.chunk_count)
