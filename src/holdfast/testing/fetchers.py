"""What does the web hold in a simulated world, and in which ways is it not there?

Pages are texts that a script changes and removes; a sitemap names those that are there. Marks
follow the content, so a page that did not change answers so.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from holdfast.domain.errors import Permanent, Transient
from holdfast.ports import Fetched, Wanted
from holdfast.testing.faults import Fault, Kind
from holdfast.testing.gate import Gate

SITE = "http://sim.example"
SITEMAP = f"{SITE}/sitemap.xml"
PAGES = tuple(f"{SITE}/{kind}{n}.md" for n in range(2) for kind in ("odd", "even"))
FRONT = f"{SITE}/front.md"  # a sitemap without any page would be no evidence
TIMEOUT = 60.0


class SimWeb:
    """What stands on servers elsewhere; no process of ours can harm it."""

    def __init__(self) -> None:
        self.pages = {FRONT: "the front page of a site stands whatever becomes of the others.\n"}

    def sitemap(self) -> bytes:
        """Every second page says when it was changed; for the others nobody knows."""
        rows = [self._row(url) for url in sorted(self.pages)]
        return f"<urlset>{''.join(rows)}</urlset>".encode()

    def _row(self, url: str) -> str:
        told = f"<lastmod>{mark_of(self.pages[url])}</lastmod>" if "odd" in url else ""
        return f"<url><loc>{url}</loc>{told}</url>"

    def answer(self, wanted: Wanted) -> Fetched:
        if wanted.url == SITEMAP:
            return Fetched(SITEMAP, self.sitemap(), "application/xml")
        content = self.pages.get(wanted.url)
        if content is None:
            raise Permanent(f"{wanted.url} answered 404 Not Found", code="fetch_failed")
        mark = mark_of(content)
        if wanted.etag == mark:
            return Fetched(wanted.url, None, etag=mark)
        return Fetched(wanted.url, content.encode(), "text/markdown", "utf-8", mark)


class SimFetcher:
    """The Fetcher of one simulated process."""

    def __init__(self, web: SimWeb, gate: Gate) -> None:
        self._web, self._gate = web, gate

    def fetch(self, wanted: Wanted, check: Callable[[], None]) -> Fetched:
        check()
        fault = self._gate.drawn("fetch", "fetcher.fetch")
        if fault is None:
            return self._web.answer(wanted)
        self._gate.before(fault)
        check()
        self._refuse(fault, wanted)
        answer = self._web.answer(wanted)
        self._gate.after(fault)
        return answer

    def _refuse(self, fault: Fault, wanted: Wanted) -> None:
        what = f"{wanted.url}: injected {fault.kind}"
        match fault.kind:
            case Kind.TOO_MANY | Kind.SERVER_ERROR:
                raise Transient(what, code="fetch_failed")
            case Kind.TOO_MANY_LATER:
                raise Transient(what, code="fetch_failed", retry_after=fault.amount)
            case Kind.TIMEOUT:
                self._gate.kernel.sleep(TIMEOUT, "fetch timeout")
                raise Transient(what, code="fetch_failed")
            case Kind.GONE:
                raise Permanent(what, code="fetch_failed")
            case Kind.ASTRAY:
                raise Permanent(what, code="fetch_refused")
            case _:
                pass


def mark_of(content: str) -> str:
    return sha256(content.encode()).hexdigest()[:16]
