"""The pages of a sitemap are its children, matched by their address; a failing fetch harms none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from holdfast.domain.item_states import COMPLETED, DELETING, FAILED
from holdfast.domain.items import Item, Sitemap
from holdfast.domain.jobs import JobKind
from holdfast.stages.reading.cutting import OwnReader
from holdfast.workflow import prepare_root
from tests.workflow.conftest import MakeWorld
from tests.workflow.folders import rescan
from tests.workflow.webs import SITE, Pages, done_sitemap, html, web_of
from tests.workflow.worlds import World

LAMP = "Hold both buttons until the lamp blinks."


@pytest.fixture
def pages(world: World) -> Iterator[Pages]:
    world.engine.kb = replace(world.engine.kb, reader=OwnReader())
    with web_of(world) as found:
        for name in ("a", "b", "c"):
            found.put(f"/{name}", html(f"{LAMP} {name}", f"Page {name}"))
        yield found


def children(world: World, box: Item) -> dict[str, Item]:
    found = world.hf.items(world.base, parent=box, limit=1000).items
    return {str(one.data["url"]).removeprefix(SITE): one for one in found}


def test_the_pages_of_a_sitemap_can_be_found(world: World, pages: Pages) -> None:
    box = done_sitemap(world, pages.sitemap("/a", "/b 2026-01-01"))

    found = children(world, box)
    assert {url: item.name for url, item in found.items()} == {"/a": "Page a", "/b": "Page b"}
    assert (box.status, set(world.found("lamp"))) == (
        COMPLETED,
        {item.id for item in found.values()},
    )
    world.sweep()
    assert world.ailments() == []
    assert world.dump()["file_refs"] != []


def test_a_rescan_leaves_pages_alone_whose_time_is_the_same(world: World, pages: Pages) -> None:
    box = done_sitemap(world, pages.sitemap("/a 2026-01-01", "/b 2026-01-01", "/c"))
    before = children(world, box)
    pages.sitemap("/a 2026-01-01", "/b 2026-02-02", "/c")
    assert pages.asked

    rescan(world, box)

    after = children(world, box)
    assert [path for path in pages.asked if len(path) == 2] == ["/b", "/c"]
    assert {url: item.id for url, item in after.items()} == {u: i.id for u, i in before.items()}
    assert after["/a"].generation == before["/a"].generation
    assert after["/b"].data["lastmod"] == "2026-02-02"


def test_a_user_s_reindex_asks_for_every_page(world: World, pages: Pages) -> None:
    box = done_sitemap(world, pages.sitemap("/a 2026-01-01", "/b 2026-01-01"))
    assert pages.asked

    world.hf.reindex(box)
    world.finish()

    assert sorted(path for path in pages.asked if len(path) == 2) == ["/a", "/b"]


def test_pages_that_are_named_no_more_are_deleted_and_new_ones_come(
    world: World, pages: Pages
) -> None:
    box = done_sitemap(world, pages.sitemap("/a", "/b"))
    pages.sitemap("/b", "/c")

    rescan(world, box)

    assert sorted(children(world, box)) == ["/b", "/c"]
    assert world.ailments() == []


@pytest.mark.parametrize("trouble", [404, 503, 429, "broken", "page"])
def test_a_failing_fetch_of_the_sitemap_touches_no_child(
    world: World, pages: Pages, trouble: int | str
) -> None:
    box = done_sitemap(world, pages.sitemap("/a", "/b"))
    before = children(world, box)
    match trouble:
        case int():
            pages.fail("/sitemap.xml", trouble)
        case "broken":
            pages.put("/sitemap.xml", b"<urlset><url><loc>", "application/xml")
        case _:
            pages.put("/sitemap.xml", html("not found"))

    rescan(world, box)

    assert children(world, box) == before
    failed = world.item(box)
    assert failed.status is FAILED
    assert failed.error_code in ("fetch_failed", "source_unreadable")
    assert failed.error_advice


def test_an_empty_sitemap_is_no_evidence_unless_a_user_says_so(world: World, pages: Pages) -> None:
    box = done_sitemap(world, pages.sitemap("/a", "/b"))
    pages.sitemap()

    rescan(world, box)
    assert len(children(world, box)) == 2
    assert world.item(box).warning

    rescan(world, box, prune=True)
    assert children(world, box) == {}


def test_a_sitemap_below_that_is_gone_removes_no_page(world: World, pages: Pages) -> None:
    rows = b"".join(b"<sitemap><loc>/%s.xml</loc></sitemap>" % name for name in (b"one", b"two"))
    both = b"<sitemapindex>" + rows + b"</sitemapindex>"
    pages.sitemap("/a", path="/one.xml")
    pages.sitemap("/b", path="/two.xml")
    box = done_sitemap(world, pages.put("/sitemap.xml", both, "application/xml"))
    pages.fail("/two.xml", 404)

    rescan(world, box, asked=True)

    assert sorted(children(world, box)) == ["/a", "/b"]
    assert world.item(box).warning == "source_unreadable"
    assert "404" in str(world.item(box).skipped)


def test_what_is_passed_over_is_told_with_its_reason(world: World, pages: Pages) -> None:
    pages.put("/robots.txt", b"User-agent: *\nDisallow: /b", "text/plain")
    other = b"<urlset><url><loc>http://other.example/x</loc></url><url><loc>/b</loc></url></urlset>"

    box = done_sitemap(world, pages.put("/sitemap.xml", other, "application/xml"))

    assert box.skipped is not None
    assert box.skipped["count"] == 2
    assert [one["reason"] for one in box.skipped["entries"]] == [
        "on another site",
        "robots.txt forbids it",
    ]


def test_a_failed_page_fails_its_sitemap_by_roll_up_and_alone(world: World, pages: Pages) -> None:
    box = done_sitemap(world, pages.sitemap("/a", "/gone"))

    assert (box.status, children(world, box)["/a"].status) == (FAILED, COMPLETED)
    assert children(world, box)["/gone"].error_code == "fetch_failed"
    assert "1 of 2" in (box.error or "")


def test_a_long_sitemap_waits_for_room_and_is_fetched_once(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_root, "PAGE", 2)
    world = make_world(max_queue_size=4)
    with web_of(world) as pages:
        paths = [f"/{number}.md" for number in range(11)]
        for path in paths:
            pages.put(path, b"The lamp hums at night.", "text/markdown")

        box = done_sitemap(world, pages.sitemap(*paths))

        assert pages.asked.count("/sitemap.xml") == 1
    assert (box.status, len(children(world, box))) == (COMPLETED, 11)
    held = world.rows("SELECT count(*) FROM file_refs WHERE source_id = ?", box.id)
    assert held == [(0,)], "the listing is not kept when it has served"
    world.sweep()
    assert world.ailments() == []


def test_a_listing_that_is_lost_is_fetched_anew(world: World, pages: Pages) -> None:
    box = world.hf.add(world.base, [Sitemap(pages.sitemap("/a", "/b"))]).created[0]
    place = {"after": f"{SITE}/a", "met": 1, "known": 0, "listing": "lost"}
    with world.database() as connection:
        connection.execute(
            "UPDATE jobs SET input = json_set(input, '$.place', json(?))",
            (json.dumps(place),),
        )

    world.finish()

    assert sorted(children(world, box)) == ["/a", "/b"]


def test_a_deleted_sitemap_takes_its_pages_with_it(world: World, pages: Pages) -> None:
    box = done_sitemap(world, pages.sitemap("/a", "/b"))

    world.hf.delete(box)

    assert world.found("lamp") == []
    assert {one.status for one in world.hf.items(world.base, include_deleting=True).items} == {
        DELETING
    }
    world.finish()
    assert world.is_gone(box)
    assert world.dump()["files"] == []


def test_a_page_of_a_sitemap_is_where_the_sitemap_says(world: World, pages: Pages) -> None:
    box = done_sitemap(world, pages.sitemap("/a"))

    with pytest.raises(Exception, match="page of a sitemap"):
        world.hf.update(children(world, box)["/a"], url=f"{SITE}/b")
    assert world.jobs(JobKind.PREPARE_ROOT) == ["done"]
