"""Bases and items in numbers, and whether anything goes on."""

from __future__ import annotations

from holdfast.domain.items import Note
from holdfast.domain.jobs import Lane
from tests.workflow.worlds import World

FILES: dict[str, str | bytes] = {"a.md": "alpha", "bad.md": b"\x00", "deep/b.md": "beta"}


def test_a_base_is_told_in_numbers(world: World) -> None:
    world.done_directory(FILES)

    seen = world.hf.overview(world.base)

    assert (seen.item_count, seen.document_count, seen.failed_count) == (5, 3, 1)
    assert (seen.chunk_count, seen.percent) == (2, 100)
    assert sum(seen.counts.values()) == 5


def test_a_tally_counts_the_leaves_below_once(world: World) -> None:
    box = world.done_directory(FILES)
    note = world.note()

    tally = world.hf.tally([box, *world.inside(box).values(), note])

    assert (tally.leaves, tally.completed, tally.failed, tally.settled) == (4, 2, 1, 3)
    assert (tally.chunks, tally.listing) == (2, 0)
    assert 0 < tally.workload_done < tally.workload


def test_a_folder_not_listed_yet_is_said_to_be_listing(world: World) -> None:
    box = world.directory(FILES)

    tally = world.hf.tally(box)

    assert (tally.leaves, tally.listing) == (0, 1)


def test_failures_are_the_leaves_that_failed_and_folders_that_cannot_be_listed(
    world: World,
) -> None:
    box = world.done_directory(FILES)
    gone = world.directory({"x.md": "x"}, "gone")
    (world.folder / "gone" / "x.md").unlink()
    (world.folder / "gone").rmdir()
    world.drain()

    found = world.hf.failures([box, gone])

    assert {item.name for item in found} == {"bad.md", "gone"}
    assert all(item.error and item.error_advice for item in found)


def test_work_goes_on_until_it_is_done(world: World) -> None:
    assert not world.hf.is_going_on()

    world.note()
    assert world.hf.is_going_on()

    world.drain()
    assert not world.hf.is_going_on(delayed=True)


def test_work_of_a_paused_base_does_not_go_on_by_itself(world: World) -> None:
    world.hf.pause(world.base)
    item = world.note()

    assert not world.hf.is_going_on(delayed=True)
    assert world.hf.unsettled([item.id]) == [item.id]


def test_draining_some_lanes_leaves_the_others_alone(world: World) -> None:
    doomed = world.done_note()
    waiting = world.note("another")
    world.hf.delete(doomed)

    world.hf.drain(5.0, due_only=True, lanes=[Lane.URGENT])

    assert world.is_gone(doomed)
    assert world.status(waiting) == "processing"


def test_what_was_deleted_is_counted_nowhere(world: World) -> None:
    item = world.done_note()
    world.hf.add(world.base, [Note("stays")])
    world.hf.delete(item)

    assert world.hf.overview(world.base).item_count == 1
    assert world.hf.tally(item).leaves == 0


def test_entries_that_became_no_items_are_counted(world: World) -> None:
    root = world.tree({"a.md": "alpha", "deep/b.md": "beta"})
    (root / "deep" / "link").symlink_to(root)

    box = world.done_directory({})

    assert world.hf.tally(box).skipped == 1
