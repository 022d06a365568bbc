"""What becomes of the pages that a sitemap names: new children, known ones, or none?

Children are matched by their address. One whose `lastmod` is that of its published content is left
alone, unless a user asks; a page whose time nobody tells is asked for, and says itself if it is as
it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.domain.bases import Base
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import COMPLETED, IDLE, TERMINAL, first_status
from holdfast.domain.items import MAX_NAME, Item, ItemType, NewItem
from holdfast.domain.recipe import is_outdated
from holdfast.stages.web.sitemaps import Listed
from holdfast.workflow.meet_children import Met
from holdfast.workflow.workbench import Workbench


def meet_pages(
    kb: Workbench,
    base: Base,
    box: Item,
    pages: Sequence[Listed],
    *,
    known: Mapping[str, Item],
    asked: bool,
) -> Met:
    """Sort the pages of one slice of a listing, from the rows as they are now."""
    met = Met()
    for page in pages:
        child = known.get(page.name)
        if child is None:
            met.new.append(_child(kb, box, page))
        elif child.seen != box.generation:  # else it was met by an earlier run of this job
            met.known += 1
            _meet_known(base, child, page, met, asked=asked)
    return met


def _meet_known(base: Base, child: Item, page: Listed, met: Met, *, asked: bool) -> None:
    newer = replace(child, data=_data(child, page))
    if not asked and _is_unchanged(base, child, page):
        met.stay.append(child)
    elif child.status in TERMINAL or child.status is IDLE:
        met.again.append(newer)
    else:
        met.stay.append(child)  # at work: it will fetch what is there now


def _is_unchanged(base: Base, child: Item, page: Listed) -> bool:
    return (
        child.status is COMPLETED
        and page.lastmod is not None
        and child.data.get("lastmod") == page.lastmod
        and not is_outdated(child.recipe, base.settings, base.space)
    )


def _data(child: Item, page: Listed) -> dict[str, object]:
    data = {name: value for name, value in child.data.items() if name != "lastmod"}
    return data if page.lastmod is None else {**data, "lastmod": page.lastmod}


def _child(kb: Workbench, box: Item, page: Listed) -> NewItem:
    data = {"url": page.name}
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=box.base_id,
        type=ItemType.URL,
        name=page.name[:MAX_NAME],
        source=page.name,
        status=first_status(is_container=False),
        parent_id=box.id,
        source_key=page.name,
        data=data if page.lastmod is None else {**data, "lastmod": page.lastmod},
        attributes=box.attributes,
        seen=box.generation,
    )
