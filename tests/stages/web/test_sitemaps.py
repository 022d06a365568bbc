"""What a sitemap names is read without trust in whoever wrote it."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import pytest

from holdfast.domain.errors import Permanent, Transient
from holdfast.ports import Fetched
from holdfast.stages.web import sitemaps
from holdfast.stages.web.robots import Robots
from holdfast.stages.web.sitemaps import Listed, Listing, Reading

SITE = "http://site.example"
LIMIT = 1 << 20


def urlset(*pages: str, head: str = "") -> bytes:
    rows = "".join(f"<url><loc>{page}</loc><lastmod>2026-01-02</lastmod></url>" for page in pages)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?>{head}<urlset xmlns="{space}">{rows}</urlset>'.encode()


def index(*places: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{place}</loc></sitemap>" for place in places)
    return f"<sitemapindex>{rows}</sitemapindex>".encode()


def read(files: Mapping[str, bytes], first: str = "/sitemap.xml") -> Listing:
    def fetch(url: str) -> Fetched:
        path = url.removeprefix(SITE)
        if path not in files:
            raise Permanent(f"{url} answered 404", code="fetch_failed")
        return Fetched(url, files[path])

    reading = Reading(fetch, LIMIT)
    reading.read(SITE + first)
    return reading.listing


def test_pages_are_listed_in_order_with_their_time() -> None:
    listing = read({"/sitemap.xml": urlset(f"{SITE}/b", f" {SITE}/a#x ", "/c", f"{SITE}/b")})

    assert list(listing.after(f"{SITE}/a")) == [
        Listed(f"{SITE}/b", "2026-01-02"),
        Listed(f"{SITE}/c", "2026-01-02"),
    ]
    assert list(listing.pages) == [f"{SITE}/b", f"{SITE}/a", f"{SITE}/c"]


def test_sitemaps_below_are_read_packed_or_not_three_levels_deep() -> None:
    files = {
        "/sitemap.xml": index("/one.xml.gz", "/two.xml"),
        "/one.xml.gz": gzip.compress(urlset("/a")),
        "/two.xml": index("/three.xml", "/sitemap.xml"),
        "/three.xml": urlset("/b"),
    }
    assert sorted(read(files).pages) == [f"{SITE}/a", f"{SITE}/b"]

    deep = {**files, "/three.xml": index("/four.xml"), "/four.xml": urlset("/c")}
    assert read(deep).skipped == [(f"{SITE}/four.xml", sitemaps.TOO_DEEP)]


def test_other_sites_and_what_is_no_address_are_left_out_with_a_reason() -> None:
    listing = read(
        {"/sitemap.xml": urlset("http://other.example/x", "ftp://x/", "http://www.site.example/y")}
    )

    assert list(listing.pages) == ["http://www.site.example/y"]
    assert [reason for _, reason in listing.skipped] == [sitemaps.OTHER_SITE, sitemaps.NO_ADDRESS]
    assert listing.complete


def test_a_sitemap_below_that_is_gone_leaves_the_listing_incomplete() -> None:
    listing = read({"/sitemap.xml": index("/gone.xml", "/one.xml"), "/one.xml": urlset("/a")})

    assert (list(listing.pages), listing.complete) == ([f"{SITE}/a"], False)


def test_no_more_pages_than_the_limit_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MOST_PAGES", 3)
    listing = read({"/sitemap.xml": urlset(*(f"/{n}" for n in range(5)))})

    assert (len(listing.pages), listing.left_out, listing.complete) == (3, 2, False)


def test_a_plain_list_of_addresses_is_a_sitemap() -> None:
    assert list(read({"/sitemap.xml": f"{SITE}/a\n\n{SITE}/b\n".encode()}).pages) == [
        f"{SITE}/a",
        f"{SITE}/b",
    ]


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
HOSTILE = {
    "billion laughs": urlset("&l9;", head=f'<!DOCTYPE u [<!ENTITY l0 "ha">{LAUGHS}]>'),
    "file of ours": urlset("&x;", head='<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    "other server": urlset(head='<!DOCTYPE u SYSTEM "http://127.0.0.1/x.dtd">'),
    "only a doctype": urlset("/a", head="<!DOCTYPE urlset>"),
    "parameter": urlset(head='<!DOCTYPE u [<!ENTITY % p SYSTEM "http://127.0.0.1/">%p;]>'),
    "cut short": urlset("/a")[:-20],
    "a page": b"<html><body>not found</body></html>",
    "a picture": b"\x89PNG\r\n\x1a\n\x00",
    "nothing": b"",
    "unknown encoding": b'<?xml version="1.0" encoding="x-no-such"?><urlset/>',
}


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "nothing"])
def test_a_hostile_or_broken_sitemap_is_refused_whole(name: str) -> None:
    with pytest.raises(Permanent) as caught:
        read({"/sitemap.xml": HOSTILE[name]})

    assert caught.value.code == "source_unreadable"


def test_a_packed_bomb_is_refused() -> None:
    with pytest.raises(Permanent) as caught:
        read({"/sitemap.xml": gzip.compress(bytes(4 << 20))})

    assert caught.value.code == "too_large"


def test_what_is_kept_of_a_listing_is_the_listing() -> None:
    listing = read({"/sitemap.xml": urlset("/a", "ftp://x/")})

    assert Listing.of(listing.document()) == listing


def test_robots_are_asked_once_for_each_origin() -> None:
    asked: list[str] = []

    def fetch(url: str) -> Fetched:
        asked.append(url)
        return Fetched(
            url, b"User-agent: *\nDisallow: /private\n\nUser-agent: Holdfast\nDisallow: /x"
        )

    robots = Robots(fetch)

    assert [robots.allow(f"{SITE}{path}") for path in ("/private", "/x", "/x/y", "/a")] == [
        True,  # what is said to us by name is said to nobody else
        False,
        False,
        True,
    ]
    assert asked == [f"{SITE}/robots.txt"]


def test_a_site_without_robots_allows_all_and_one_that_is_down_nothing() -> None:
    def gone(url: str) -> Fetched:
        raise Permanent(f"{url} answered 404", code="fetch_failed")

    def down(url: str) -> Fetched:
        raise Transient(f"{url} answered 503", code="fetch_failed")

    assert Robots(gone).allow(f"{SITE}/a")
    with pytest.raises(Transient):
        Robots(down).allow(f"{SITE}/a")
