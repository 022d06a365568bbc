"""Which pages does a sitemap name? Read without trust: no entities, no other site, no end in sight.

    the sitemap -> sitemaps it names, three levels deep -> their pages, each once, in order

What is broken or left out is told. A listing that could not be read to its end says so: it is no
evidence of what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO

from holdfast.domain.addresses import Address, address_of, followed
from holdfast.domain.errors import HoldfastError, Permanent
from holdfast.ports import Fetched
from holdfast.stages.web.bodies import unpacked_gzip

DEEPEST = 3
MOST_PAGES = 50_000
MOST_SITEMAPS = 500
MOST_SKIPPED = 1_000
LONGEST_MOMENT = 64
OTHER_SITE = "on another site"
NO_ADDRESS = "no address that is fetched"
TOO_DEEP = f"a sitemap more than {DEEPEST} levels deep"
TOO_MANY = f"beyond the first {MOST_PAGES:,} pages"
TOO_MANY_SITEMAPS = f"beyond the first {MOST_SITEMAPS} sitemaps"
XML_SPACE = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Listed:
    """A page that a sitemap names; `lastmod` as it stands there."""

    name: str  # the address in its one form
    lastmod: str | None = None


@dataclass(slots=True)
class Listing:
    """What a sitemap with all below it names."""

    pages: dict[str, str | None] = field(default_factory=dict[str, str | None])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    left_out: int = 0
    complete: bool = True  # else what is not in it may still be there

    def leave_out(self, url: str, reason: str) -> None:
        self.left_out += 1
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append((url, reason))

    def document(self) -> bytes:
        """To be kept: a run that goes on later does not fetch it again."""
        whole = [sorted(self.pages.items()), self.skipped, self.left_out, self.complete]
        return json.dumps(whole, ensure_ascii=False).encode()

    @classmethod
    def of(cls, document: bytes) -> Listing:
        pages, skipped, left_out, complete = json.loads(document)
        pairs = [(str(url), str(reason)) for url, reason in skipped]
        return cls(dict(pages), pairs, int(left_out), bool(complete))

    def after(self, name: str) -> Iterator[Listed]:
        """The pages whose address sorts after one, in order."""
        return (Listed(url, self.pages[url]) for url in sorted(self.pages) if url > name)


Fetch = Callable[[str], Fetched]


@dataclass(slots=True)
class Reading:
    """One reading of one sitemap and those it names."""

    fetch: Fetch
    limit: int
    listing: Listing = field(default_factory=Listing)
    sites: set[str] = field(default_factory=set[str])
    seen: set[str] = field(default_factory=set[str])

    def read(self, url: str, depth: int = 1) -> None:
        """The first must be there; one below that is gone leaves the listing incomplete."""
        self.seen.add(url)
        found = self.fetch(url)
        self.seen.add(found.url)
        if depth == 1:
            self.sites = {site_of(address_of(url)), site_of(address_of(found.url))}
        base = address_of(found.url)
        content = unpacked_gzip(found.content or b"", self.limit, base.shown)
        for kind, place, lastmod in entries_of(content, base.shown):
            self._take(base, kind, place, lastmod, depth)

    def _take(self, base: Address, kind: str, place: str, lastmod: str | None, depth: int) -> None:
        address = self._same_site(base, place)
        if address is None:
            return
        if kind == "sitemap":
            self._below(str(address), depth + 1)
        elif str(address) in self.listing.pages:
            return
        elif len(self.listing.pages) >= MOST_PAGES:
            self._incomplete(str(address), TOO_MANY)
        else:
            self.listing.pages[str(address)] = lastmod

    def _below(self, url: str, depth: int) -> None:
        if url in self.seen:
            return
        if depth > DEEPEST:
            self.listing.leave_out(url, TOO_DEEP)
        elif len(self.seen) >= MOST_SITEMAPS:
            self._incomplete(url, TOO_MANY_SITEMAPS)
        else:
            try:
                self.read(url, depth)
            except Permanent as error:
                self._incomplete(url, str(error))

    def _incomplete(self, url: str, reason: str) -> None:
        self.listing.complete = False
        self.listing.leave_out(url, reason)

    def _same_site(self, base: Address, place: str) -> Address | None:
        try:
            address = followed(base, place)
        except HoldfastError:
            self.listing.leave_out(place[:200], NO_ADDRESS)
            return None
        if site_of(address) not in self.sites:
            self.listing.leave_out(str(address), OTHER_SITE)
            return None
        return address


def site_of(address: Address) -> str:
    """With or without www, and by whichever scheme, it is one site."""
    return address.host.removeprefix("www.")


def entries_of(content: bytes, what: str) -> Iterator[tuple[str, str, str | None]]:
    """`page` or `sitemap`, address and lastmod, as they stand in one file."""
    if not content.lstrip(XML_SPACE).startswith(b"<"):
        yield from _lines(content, what)
        return
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    try:
        kind: str | None = None
        for event, element in iterparse(BytesIO(content), events=("start", "end"), forbid_dtd=True):
            name = _local(element.tag)
            if kind is None:
                kind = _kind(name, what)
            elif event == "end" and name in ("url", "sitemap"):
                place, lastmod = _child(element, "loc"), _child(element, "lastmod")
                if place:
                    yield kind, place, lastmod[:LONGEST_MOMENT] if lastmod else None
                element.clear()
    except (DefusedXmlException, ParseError, ValueError, LookupError) as error:
        raise _unreadable(what, f"{type(error).__name__}: {error}") from error


def _lines(content: bytes, what: str) -> Iterator[tuple[str, str, str | None]]:
    """A sitemap may be a plain list of addresses."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise _unreadable(what, "it is neither XML nor text") from error
    places = [line.strip() for line in lines if line.strip()]
    if not all(place.lower().startswith("http") for place in places):
        raise _unreadable(what, "it is neither XML nor a list of addresses")
    for place in places:
        yield "page", place, None


def _kind(root: str, what: str) -> str:
    if root not in ("urlset", "sitemapindex"):
        raise _unreadable(what, f"it begins with <{root[:40]}>")
    return "page" if root == "urlset" else "sitemap"


def _child(element: object, name: str) -> str | None:
    for child in element:  # type: ignore[attr-defined]
        if _local(child.tag) == name:
            return (child.text or "").strip() or None
    return None


def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2].lower()


def _unreadable(what: str, why: str) -> Permanent:
    return Permanent(f"{what} is no sitemap that can be read: {why}", code="source_unreadable")
