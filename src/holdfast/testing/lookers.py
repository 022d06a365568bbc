"""What may a user see, and what must be there? Every answer is compared with the promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.domain.ids import BaseId
from holdfast.stores.catalog import Listing
from holdfast.testing.case import Step
from holdfast.testing.contents import SHARED
from holdfast.testing.expectations import Known
from holdfast.workflow.list_chunks import list_chunks
from holdfast.workflow.list_items import list_items
from holdfast.workflow.search import Question, search
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    from holdfast.testing.world import World


def look_for(world: World, kb: Workbench, bases: Sequence[BaseId], step: Step) -> None:
    """Search: nothing deleted, one build an item, and only text that somebody gave."""
    looked = world.look(world.kernel.current)
    query = SHARED[step.first % len(SHARED)]
    answer = search(kb, Question(query, tuple(bases), top_k=20))
    builds: dict[str, str] = {}
    for hit in answer.hits:
        build = hit.chunk_id.split(".")[1]
        if hit.item_id in looked.gone:
            world.kernel.found(f"I2 search shows {hit.item_id}, deleted before its last look")
        if builds.setdefault(hit.item_id, build) != build:
            world.kernel.found(f"I3 one answer shows two builds of {hit.item_id}")
        known = world.expectations.items.get(hit.item_id)
        if known is not None and not any(hit.content in text for text in known.history):
            world.kernel.found(f"I10 search shows a text that {hit.item_id} never had")


def look_at_list(world: World, kb: Workbench, base: BaseId) -> None:
    """List: all that was accepted and not deleted, nothing that was."""
    must_be = {known.id for known in world.expectations.living(base)}
    gone = world.expectations.gone() | world.deleting()
    shown = set()
    cursor = None
    while True:
        page = list_items(kb, Listing(base, everywhere=True, cursor=cursor, limit=10))
        shown |= {item.id for item in page.items}
        cursor = page.next_cursor
        if cursor is None:
            break
    still = {known.id for known in world.expectations.living(base)}
    for item in sorted(shown & gone):
        world.kernel.found(f"I2 the list shows {item}, deleted before it was asked")
    for item in sorted((must_be & still) - shown):
        world.kernel.found(f"accepted item {item} is not in the list")


def look_at_chunks(world: World, kb: Workbench, known: Known) -> None:
    """Chunks: of one version that somebody gave, and nothing of a deleted item."""
    was_deleted = known.deleted
    page = list_chunks(kb, known.id)
    if was_deleted:
        world.kernel.found(f"I2 chunks of {known.id} are shown, deleted before they were asked")
    texts = [chunk.content for chunk in page.items]
    if not any(all(text in version for text in texts) for version in known.history):
        world.kernel.found(f"I10 the chunks of {known.id} belong to no version of it")
