"""A page of the web is fetched, kept, read and found; and asked for again no more than needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from holdfast.domain.errors import InvalidInput
from holdfast.domain.events import EventKind
from holdfast.domain.item_states import COMPLETED, FAILED
from holdfast.domain.items import Item, Sitemap, Url
from holdfast.ports import Fetched, Wanted
from holdfast.stages.reading.cutting import OwnReader
from holdfast.workflow.rebuild_base import rebuild_lost
from tests.workflow.webs import SITE, Pages, done_page, html, restart_leaf, web_of
from tests.workflow.worlds import World

LAMP = "Hold both buttons until the lamp blinks."


@pytest.fixture
def pages(world: World) -> Iterator[Pages]:
    world.engine.kb = replace(world.engine.kb, reader=OwnReader())
    with web_of(world) as found:
        yield found


def text_of(world: World, item: Item) -> str:
    return "\n".join(chunk.content for chunk in world.hf.chunks(item).items)


def again(world: World, item: Item) -> Item:
    """A new attempt that no user asked for, as a sync makes it."""
    restart_leaf(world, item)
    world.finish()
    return world.item(item)


def test_a_page_is_found_by_its_main_content_and_bears_its_title(
    world: World, pages: Pages
) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP, "How to reset")))

    assert (item.status, item.name, item.source) == (COMPLETED, "How to reset", f"{SITE}/reset")
    assert world.found("lamp blinks") == [item.id]
    assert "Navigation" not in text_of(world, item)
    assert world.ailments() == []


def test_a_bare_address_is_a_page_or_a_sitemap(world: World, pages: Pages) -> None:
    added = world.hf.add(world.base, [f"{SITE}/a", f"{SITE}/sitemap_index.xml.gz", "HTTP://x.y/"])

    assert [item.type for item in added.created] == ["url", "sitemap", "url"]


def test_what_is_no_address_is_refused_with_advice(world: World) -> None:
    added = world.hf.add(
        world.base, [Url("ftp://a.example/"), Url("http://a b/"), Sitemap("http://me@a.example/")]
    )

    codes = [(refused.path, refused.code) for refused in added.failed]
    assert codes == [
        ("ftp://a.example/", "fetch_refused"),
        ("http://a b/", "invalid_input"),
        ("http://me@a.example/", "fetch_refused"),
    ]
    assert not added.created


def test_a_page_as_it_was_costs_one_question_and_no_work(world: World, pages: Pages) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP)))
    calls = len(world.models.calls)

    item = again(world, item)

    assert (item.status, item.published_generation) == (COMPLETED, item.generation)
    assert len(world.models.calls) == calls
    assert world.events(item, EventKind.INDEXED)[-1].detail["why"] == "equal recipe"
    assert item.name == "Reset"


def test_equal_bytes_without_a_mark_cost_no_work_either(world: World, pages: Pages) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP), ETag=""))
    kept, calls = world.dump()["files"], len(world.models.calls)

    item = again(world, item)

    assert world.dump()["files"] == kept
    assert len(world.models.calls) == calls


def test_a_changed_page_is_read_anew_and_only_its_last_copy_is_kept(
    world: World, pages: Pages
) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP)))
    pages.put("/reset", html("The heron stands in the pond.", "Herons"))

    item = again(world, item)

    assert (item.name, world.found("heron")[0]) == ("Herons", item.id)
    assert "lamp" not in text_of(world, item)
    assert world.rows("SELECT count(*) FROM file_refs") == [(1,)]
    world.sweep()
    assert len(world.dump()["files"]) == 1
    assert world.ailments() == []


def test_a_user_s_reindex_fetches_the_page_whole_and_reads_it_again(
    world: World, pages: Pages
) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP)))
    assert pages.server is not None
    pages.server.asked.clear()

    world.hf.reindex(item)
    world.finish()

    assert "if-none-match" not in pages.server.asked[0].headers
    assert world.item(item).status is COMPLETED
    assert "why" not in world.events(item, EventKind.INDEXED)[-1].detail


@pytest.mark.parametrize("status", [404, 503])
def test_a_failed_fetch_keeps_what_answered(world: World, pages: Pages, status: int) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP)))
    pages.fail("/reset", status)

    world.hf.reindex(item)
    world.finish()

    failed = world.item(item)
    assert (failed.status, failed.error_code) == (FAILED, "fetch_failed")
    assert str(status) in (failed.error or "")
    assert failed.error_advice
    assert world.found("lamp blinks") == [item.id]


def test_a_page_that_may_not_be_asked_fails_and_says_why(world: World, pages: Pages) -> None:
    item = done_page(world, "http://127.0.0.1/admin")

    assert (item.status, item.error_code) == (FAILED, "fetch_refused")
    assert "fetch_allow" in (item.error or "")
    assert pages.asked == []


def test_a_busy_server_is_asked_again_when_it_says(world: World, pages: Pages) -> None:
    pages.fail("/reset", 429, **{"Retry-After": "30"})
    item = world.hf.add(world.base, [Url(f"{SITE}/reset")]).created[0]
    world.drain()
    before = world.clock.now
    pages.put("/reset", html(LAMP))

    world.finish()

    assert world.item(item).status is COMPLETED
    assert world.clock.now - before >= 30


def test_text_at_an_address_is_read_as_text(world: World, pages: Pages) -> None:
    item = done_page(world, pages.put("/notes", b"# Lamps\n\nThe lamp hums.", "text/markdown"))

    chunk = world.hf.chunks(item).items[0]
    assert (chunk.headings, item.name) == (("Lamps",), f"{SITE}/notes")


def test_another_address_is_another_page_and_the_same_changes_nothing(
    world: World, pages: Pages
) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP)))
    there = pages.put("/heron", html("The heron stands in the pond.", "Herons"))

    assert world.hf.update(item, url=f"{SITE}/reset#part").generation == item.generation
    world.hf.update(item, url=there)
    world.finish()

    moved = world.item(item)
    assert (moved.name, moved.source, moved.status) == ("Herons", there, COMPLETED)
    assert moved.generation == item.generation + 1


def test_an_address_belongs_to_a_page(world: World, pages: Pages) -> None:
    note = world.done_note()
    page = done_page(world, pages.put("/reset", html(LAMP)))

    with pytest.raises(InvalidInput, match="no url"):
        world.hf.update(note, url=SITE)
    with pytest.raises(InvalidInput, match="no content"):
        world.hf.update(page, content="text")
    with pytest.raises(InvalidInput, match="not both"):
        world.hf.update(page, content="text", url=SITE)


def test_a_deleted_page_leaves_no_copy(world: World, pages: Pages) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP)))

    world.hf.delete(item)
    world.finish()

    assert world.is_gone(item)
    assert world.dump()["files"] == []


def test_a_page_whose_delete_comes_while_it_is_fetched_leaves_nothing(
    world: World, pages: Pages
) -> None:
    url = pages.put("/reset", html(LAMP))
    item = world.hf.add(world.base, [Url(url)]).created[0]
    fetch = world.engine.kb.fetcher.fetch

    class Deleting:
        def fetch(self, wanted: Wanted, check: Callable[[], None]) -> Fetched:
            found = fetch(wanted, check)
            world.hf.delete(item)
            return found

    world.engine.kb = replace(world.engine.kb, fetcher=Deleting())
    world.finish()

    assert world.is_gone(item)
    assert world.rows("SELECT count(*) FROM file_refs") == [(0,)]
    assert world.ailments() == []


def test_a_lost_index_is_made_again_from_the_copies(world: World, pages: Pages) -> None:
    item = done_page(world, pages.put("/reset", html(LAMP)))
    pages.fail("/reset", 404)
    kb = world.engine.kb
    kb.index.drop(world.base.id)

    rebuild_lost(kb)
    world.finish()

    assert (world.status(item), world.found("lamp blinks")) == (COMPLETED, [item.id])
    assert pages.asked == ["/reset"]


def test_a_page_takes_a_slot_of_its_own(world: World, pages: Pages) -> None:
    for number in range(3):
        done_page(world, pages.put(f"/{number}", html(f"{LAMP} {number}")))
    world.hf.reindex([item.id for item in world.hf.items(world.base).items])
    world.step_control()

    assert len(world.take()) == 1
