"""A world beside a web: real pages on a server of the test's own, which it may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256

from holdfast.domain.item_states import Move, Status
from holdfast.domain.items import Item, Sitemap, Url
from holdfast.stores.catalog import Moved
from holdfast.workflow.schedule_item import schedule_items
from tests.stages.web.servers import PUBLIC, Asked, Reply, Site, Web, fetcher, site
from tests.workflow.worlds import World

SITE = "http://site.example"
FILLER = "Every valve is opened by hand before the first frost comes, and nobody counts them. " * 4


def html(text: str, title: str = "Reset") -> bytes:
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title></head><body><nav>Navigation</nav>"
        f"<article><h1>{title}</h1><p>{text} {FILLER}</p></article></body></html>"
    ).encode()


@dataclass
class Pages:
    """What the site holds; answers with marks, and says what was asked."""

    pages: dict[str, Reply] = field(default_factory=dict[str, Reply])
    server: Site | None = None

    def put(self, path: str, content: bytes, kind: str = "text/html", **headers: str) -> str:
        mark = sha256(content).hexdigest()[:8]
        told = {"Content-Type": kind, "ETag": f'"{mark}"', **headers}
        self.pages[path] = Reply(content, headers=told)
        return SITE + path

    def fail(self, path: str, status: int, **headers: str) -> None:
        self.pages[path] = Reply(status=status, headers=headers)

    def sitemap(self, *pages: str, path: str = "/sitemap.xml") -> str:
        """Pages, or pages with their time behind a space."""
        rows = "".join(_row(page) for page in pages)
        return self.put(path, f"<urlset>{rows}</urlset>".encode(), "application/xml")

    def answer(self, asked: Asked) -> Reply:
        reply = self.pages.get(asked.path, Reply(b"nothing here", 404))
        if asked.headers.get("if-none-match") == reply.headers.get("ETag", "?"):
            return Reply(status=304, headers=reply.headers)
        return reply

    @property
    def asked(self) -> list[str]:
        """Every path that was asked for, and forget them."""
        assert self.server is not None
        paths = [one.path for one in self.server.asked]
        self.server.asked.clear()
        return paths


def _row(page: str) -> str:
    path, _, lastmod = page.partition(" ")
    told = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>{SITE}{path}</loc>{told}</url>"


@contextmanager
def web_of(world: World) -> Iterator[Pages]:
    """The world fetches from this site, by the real fetcher."""
    pages = Pages()
    with site(pages.answer) as server:
        pages.server = server
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: server})
        world.engine.kb = replace(world.engine.kb, fetcher=fetcher(web))
        yield pages


def done_page(world: World, url: str) -> Item:
    item = world.hf.add(world.base, [Url(url)]).created[0]
    world.finish()
    return world.item(item)


def done_sitemap(world: World, url: str) -> Item:
    item = world.hf.add(world.base, [Sitemap(url)]).created[0]
    world.finish()
    return world.item(item)


def restart_leaf(world: World, item: Item) -> None:
    """A new attempt that no user asked for, accepted and not yet done."""
    kb = world.engine.kb
    with kb.main.write() as tx:
        base = tx.base(world.base.id)
        assert base is not None
        tx.move(Move.RESTART, [Moved(item.id, Status.PROCESSING, new_generation=True)])
        schedule_items(tx, kb, base, tx.items([item.id]))
