"""What new content does to an item, to its waiting and its running work."""

from __future__ import annotations

from holdfast.domain.events import EventKind
from holdfast.domain.item_states import Status
from holdfast.domain.items import File
from holdfast.domain.jobs import JobKind
from tests.workflow.worlds import World, once

INDEX = JobKind.INDEX_DOCUMENTS


def test_an_update_ends_the_waiting_work_and_takes_its_place(world: World) -> None:
    first, *_ = world.notes("one", "two", "three")

    world.hf.update(first, content="one again")

    jobs = world.rows("SELECT item_id, generation, state, reason, ordinal FROM jobs ORDER BY id")
    old, new = jobs[0], jobs[-1]
    assert (old[:4], new[:3]) == (
        (first.id, 1, "cancelled", "superseded"),
        (first.id, 2, "ready"),
    )
    assert new[4] == old[4]


def test_something_updated_every_minute_still_gets_indexed_first(world: World) -> None:
    first, *_ = world.notes("one " * 20_000, "two " * 20_000, "three " * 20_000)

    for turn in range(5):
        world.hf.update(first, content=f"turn {turn} " * 20_000)
    world.step()

    assert world.status(first) is Status.COMPLETED


def test_an_update_tells_running_work_to_stop_and_takes_its_place(world: World) -> None:
    item = world.note("first words")
    world.models.on_call = once(lambda: world.hf.update(item, content="second words"))

    world.drain()

    assert world.jobs(INDEX) == ["cancelled", "done"]
    assert world.item(item).generation == 2
    assert [world.hf.chunks(item).items[0].content] == ["second words"]
    assert world.ailments() == []


def test_a_run_of_an_older_generation_publishes_nothing(world: World) -> None:
    item = world.note("first words")
    jobs = world.take()
    world.hf.update(item, content="second words")

    world.execute(jobs)

    assert world.item(item).published_build is None
    world.drain()
    assert world.item(item).published_generation == 2


def test_the_old_content_answers_until_the_new_one_is_published(world: World) -> None:
    item = world.done_note("alpha words")

    world.hf.update(item, content="omega words")
    (hit,) = world.hf.search("alpha", bases=[world.base]).hits
    world.drain()

    assert (hit.item_id, hit.stale, hit.content) == (item.id, True, "alpha words")
    assert [one.content for one in world.hf.search("omega", bases=[world.base]).hits] == [
        "omega words"
    ]


def test_only_the_new_texts_of_an_update_are_embedded(world: World) -> None:
    item = world.done_note("# One\n\nalpha\n\n# Two\n\nbeta")
    calls = len(world.models.texts)

    world.hf.update(item, content="# One\n\nalpha\n\n# Two\n\ngamma")
    world.drain()

    assert world.models.texts[calls:] == ["# Two\n\ngamma"]


def test_an_update_back_to_what_is_published_ends_without_work(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.update(item, content="beta")
    world.hf.update(item, content="alpha")

    world.drain()

    assert world.models.texts == ["alpha"]
    assert world.item(item).published_build == item.published_build
    assert world.events(item, EventKind.INDEXED)[-1].detail["why"] == "equal recipe"


def test_attributes_change_without_reading_anything_again(world: World) -> None:
    item = world.done_note("alpha")

    updated = world.hf.update(item, attributes={"room": "cellar"})

    assert (updated.attributes, updated.status) == ({"room": "cellar"}, Status.COMPLETED)
    assert world.jobs(INDEX) == ["done"]


def test_new_bytes_of_a_file_replace_the_old_ones_on_disk(world: World) -> None:
    (item,) = world.hf.add(world.base, [File(content=b"alpha", name="a.txt")]).created
    world.drain()

    world.hf.update(item, content=b"beta")
    world.drain()
    world.sweep()

    kept = [path for path in (world.folder / "kb" / "files").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in kept] == [b"beta"]
    assert world.ailments() == []


def test_an_update_of_a_failed_item_gives_it_another_chance(world: World) -> None:
    (item,) = world.hf.add(world.base, [File(content=b"\x00", name="a.txt")]).created
    world.drain()
    failed = world.item(item)

    world.hf.update(item, content=b"alpha")
    world.drain()

    assert (failed.status, world.status(item)) == (Status.FAILED, Status.COMPLETED)
    assert world.item(item).error_code is None
