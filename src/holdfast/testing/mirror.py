"""Does a sitemap that was read again hold exactly the pages of its site, each as it is there now?

Asked once bad luck has ended and every living sitemap was re-indexed: what was added, changed and
removed meanwhile, in whatever order and under whatever faults, has then come in or gone out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.items import Item, ItemType
from holdfast.stores.catalog import Listing
from holdfast.stores.sqlite import invariants
from holdfast.stores.sqlite.main import FILE
from holdfast.testing.contents import seal_of
from holdfast.testing.expectations import Known
from holdfast.testing.fetchers import SITEMAP
from holdfast.testing.life import Life
from holdfast.workflow.list_items import list_items

if TYPE_CHECKING:
    from holdfast.testing.world import World


def living_sitemaps(world: World) -> list[Known]:
    there = {row[0] for row in invariants.standing(world.disk.connection(FILE))}
    living = world.expectations.living()
    return [known for known in living if known.path == SITEMAP and known.id in there]


def compare_sites(world: World, life: Life) -> None:
    for known in living_sitemaps(world):
        pages = list_items(life.kb, Listing(known.base, parent=known.id, limit=100)).items
        found = {str(page.data["url"]): page for page in pages if page.type is ItemType.URL}
        for url in sorted(world.web.pages.keys() ^ found.keys()):
            where = "missing from" if url in world.web.pages else "still in"
            world.kernel.found(f"at rest: {url} is {where} sitemap {known.id}")
        for url in sorted(world.web.pages.keys() & found.keys()):
            _compare(world, found[url], world.web.pages[url])


def _compare(world: World, page: Item, content: str) -> None:
    rows = {row[0]: row for row in invariants.standing(world.disk.connection(FILE))}
    seal, row = seal_of(content, world.base_settings(0)), rows[page.id]
    if row[1] != "completed" or (row[5], row[4]) != (seal.count, seal.digest):
        world.kernel.found(f"at rest: {page.source} is {row[1]} and not as its site has it")
