"""Which chunks does an item answer with?"""

from __future__ import annotations

import re

from holdfast.domain.chunks import ChunkView, StoredChunk, chunk_id
from holdfast.domain.errors import InvalidInput
from holdfast.domain.given import may_page
from holdfast.domain.guards import Operation, may_list_chunks, may_update, may_use
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.domain.items import Page
from holdfast.workflow.workbench import Workbench

CURSOR = re.compile(r"([0-9]{1,9})\.(-1|[0-9]{1,9})")


def list_chunks(
    kb: Workbench, item_id: ItemId, cursor: str | None = None, limit: int = 100
) -> Page[ChunkView]:
    """A page of the published chunks; of a container, those of its completed leaves in order."""
    may_page(limit, cursor)
    at, after = _cursor(cursor)
    base, leaves = _leaves(kb, item_id)
    found: list[ChunkView] = []
    for place in range(at, len(leaves)):
        item, build = leaves[place]
        room = limit - len(found)
        rows = kb.index.chunks(base, item, build, after, room + 1)
        found += [view(base, row) for row in rows[:room]]
        if len(rows) > room:
            last = rows[room - 1].chunk.ordinal if room else after
            return _last_look(kb, item_id, found, f"{place}.{last}")
        after = -1
    return _last_look(kb, item_id, found, None)


def view(base: BaseId, row: StoredChunk) -> ChunkView:
    chunk = row.chunk
    return ChunkView(
        id=chunk_id(row.item_id, row.build, chunk.ordinal),
        item_id=row.item_id,
        base_id=base,
        ordinal=chunk.ordinal,
        content=chunk.text,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        page=chunk.page,
        headings=chunk.headings,
    )


def _leaves(kb: Workbench, item_id: ItemId) -> tuple[BaseId, list[tuple[ItemId, ClaimNo]]]:
    with kb.main.read() as snapshot:
        below = snapshot.deleting_below(item_id)
        known = may_update(snapshot.item(item_id), item_id)
        base = may_use(snapshot.base(known.base_id), Operation.LIST_CHUNKS, known.base_id)
        item = may_list_chunks(known, item_id, below)
        if item.is_container:
            return base.id, snapshot.completed_leaves(item.id)
    builds = [] if item.published_build is None else [(item.id, item.published_build)]
    return base.id, builds


def _last_look(
    kb: Workbench, item_id: ItemId, found: list[ChunkView], cursor: str | None
) -> Page[ChunkView]:
    """The last act of every list: what was deleted meanwhile is not in it."""
    _, leaves = _leaves(kb, item_id)
    answering = {item for item, _ in leaves}
    return Page(tuple(one for one in found if one.item_id in answering), cursor)


def _cursor(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, -1
    found = CURSOR.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{text!r} is not a cursor of this list")
    return int(found[1]), int(found[2])
