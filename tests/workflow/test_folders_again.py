"""What a second listing of a folder keeps, makes anew, and believes to be gone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.domain.errors import Permanent, Transient
from holdfast.domain.events import EventKind
from holdfast.domain.item_states import Status
from holdfast.domain.items import Item
from tests.workflow.folders import (
    OLD,
    as_it_is,
    edit,
    failing_at,
    generations,
    ids,
    lasting,
    listing,
    reindex,
    rescan,
    restart,
    settle_times,
    telling,
    tree_of,
)
from tests.workflow.worlds import World

COMPLETED, FAILED = Status.COMPLETED, Status.FAILED
FILES = {"a.txt": "alpha one", "b.txt": "beta two", "in/c.txt": "gamma three"}
Again = Callable[[World, Item], None]


@pytest.fixture
def box(world: World) -> Item:
    """Three files in two folders, indexed long ago."""
    item = world.directory(FILES)
    settle_times(world.folder / "docs")
    world.drain()
    world.models.calls.clear()
    world.reader.names.clear()
    return world.item(item)


@pytest.fixture
def root(world: World) -> Path:
    return world.folder / "docs"


both = pytest.mark.parametrize("again", [reindex, rescan])


# --- what is unchanged ------------------------------------------------------------------------


@both
def test_unchanged_children_keep_their_ids_and_nothing_is_embedded(
    world: World, box: Item, again: Again
) -> None:
    before = ids(world, box)

    again(world, box)

    assert ids(world, box) == before
    assert world.models.calls == []
    assert world.status(box) is COMPLETED
    assert world.ailments() == []


def test_a_user_s_reindex_reads_again_what_seems_unchanged(world: World, box: Item) -> None:
    reindex(world, box)

    assert sorted(world.reader.names) == ["a.txt", "b.txt", "c.txt"]


def test_an_automatic_rescan_does_not_even_open_what_seems_unchanged(
    world: World, box: Item
) -> None:
    before, jobs = generations(world, box), len(world.jobs())

    rescan(world, box)

    assert world.reader.names == []
    assert generations(world, box) == {**before, "in": before["in"] + 1}
    assert len(world.jobs()) == jobs + 2  # the two folders; no file has work


def test_a_file_with_a_newer_time_and_equal_content_is_not_parsed_and_keeps_its_build(
    world: World, box: Item, root: Path
) -> None:
    before = tree_of(world, box)["a.txt"]
    os.utime(root / "a.txt", (OLD + 50, OLD + 50))

    rescan(world, box)
    after = tree_of(world, box)["a.txt"]

    assert world.reader.names == []
    assert after.published_build == before.published_build
    assert after.published_generation == after.generation > before.generation
    assert world.models.calls == []

    rescan(world, box)

    assert tree_of(world, box)["a.txt"].generation == after.generation  # the new time is known


def test_a_file_changed_a_moment_ago_is_read_again_whatever_its_time(
    world: World, root: Path
) -> None:
    item = world.directory({"a.txt": "alpha"})
    now = world.clock.wall()
    os.utime(root / "a.txt", (now, now))
    world.drain()
    edit(root / "a.txt", "gamma", at=int(now))

    rescan(world, item)

    assert len(telling(world, "gamma")) == 1


def test_what_was_made_in_another_manner_is_made_again(world: World, box: Item) -> None:
    world.hf.update_base(world.base, chunk_size=40, chunk_overlap=0)

    rescan(world, box)

    assert sorted(world.reader.names) == ["a.txt", "b.txt", "c.txt"]


def test_a_failed_child_is_tried_again_by_a_rescan(world: World, box: Item, root: Path) -> None:
    edit(root / "b.txt", "beta\0two")
    rescan(world, box)
    assert tree_of(world, box)["b.txt"].error_code == "unsupported"
    assert world.status(box) is FAILED
    edit(root / "b.txt", "beta mended")

    rescan(world, box)

    assert tree_of(world, box)["b.txt"].status is COMPLETED
    assert world.status(box) is COMPLETED


# --- what changed -----------------------------------------------------------------------------


@both
def test_of_an_edited_file_only_what_is_new_is_embedded(
    world: World, box: Item, root: Path, again: Again
) -> None:
    before = ids(world, box)
    edit(root / "b.txt", "beta changed")

    again(world, box)

    assert ids(world, box) == before
    assert world.models.texts == ["beta changed"]
    assert not telling(world, "two")
    assert telling(world, "changed") == {before["b.txt"]}


@both
def test_a_renamed_file_is_another_child_and_costs_nothing(
    world: World, box: Item, root: Path, again: Again
) -> None:
    before = ids(world, box)
    (root / "a.txt").rename(root / "z.txt")

    again(world, box)
    after = ids(world, box)

    assert set(after) == {"z.txt", "b.txt", "in", "in/c.txt"}
    assert {path: after[path] for path in after if path != "z.txt"} == {
        path: before[path] for path in before if path != "a.txt"
    }
    assert world.models.calls == []
    assert telling(world, "alpha") == {after["z.txt"]}
    assert world.is_gone(before["a.txt"])


@both
def test_a_moved_file_costs_nothing(world: World, box: Item, root: Path, again: Again) -> None:
    (root / "a.txt").rename(root / "in/a.txt")
    (root / "in/c.txt").rename(root / "c.txt")

    again(world, box)

    assert set(ids(world, box)) == {"b.txt", "c.txt", "in", "in/a.txt"}
    assert world.models.calls == []
    assert world.ailments() == []


@both
def test_a_renamed_folder_costs_nothing(world: World, box: Item, root: Path, again: Again) -> None:
    before = ids(world, box)
    (root / "in").rename(root / "out")

    again(world, box)

    assert set(ids(world, box)) == {"a.txt", "b.txt", "out", "out/c.txt"}
    assert world.models.calls == []
    assert world.is_gone(before["in/c.txt"])
    assert world.ailments() == []


@both
def test_deleted_files_and_folders_are_gone_from_every_answer(
    world: World, box: Item, root: Path, again: Again
) -> None:
    before = ids(world, box)
    (root / "a.txt").unlink()
    shutil.rmtree(root / "in")

    again(world, box)

    assert ids(world, box) == {"b.txt": before["b.txt"]}
    assert not telling(world, "alpha")
    assert not telling(world, "gamma")
    assert world.status(box) is COMPLETED
    assert world.ailments() == []


def test_what_was_missed_is_hidden_before_the_moved_ones_are_done(
    world: World, box: Item, root: Path
) -> None:
    before = ids(world, box)
    (root / "a.txt").rename(root / "z.txt")
    world.hf.reindex(box)
    world.step_control()
    world.step_control()

    assert not telling(world, "alpha")
    assert world.item(before["a.txt"]).deleting


def test_the_clean_up_of_what_was_missed_does_not_wait_for_ever(
    world: World, box: Item, root: Path
) -> None:
    before = ids(world, box)
    (root / "a.txt").rename(root / "z.txt")
    world.hf.reindex(box)
    world.step_control()
    world.step_control()
    world.hf.pause(world.base)
    world.drain()
    assert not world.is_gone(before["a.txt"])

    world.clock.advance(4_000)
    world.drain()

    assert world.is_gone(before["a.txt"])


def test_children_deleted_by_hand_come_back_as_new_ones(world: World, box: Item) -> None:
    before = ids(world, box)
    world.hf.delete(before["a.txt"])
    world.drain()

    reindex(world, box)

    assert set(ids(world, box)) == set(before)
    assert ids(world, box)["a.txt"] != before["a.txt"]


# --- what seems to have vanished ----------------------------------------------------------------


@pytest.mark.parametrize("kind", [Permanent, Transient])
@pytest.mark.parametrize("place", range(5))
@both
def test_a_listing_that_fails_at_any_entry_deletes_no_child(
    world: World,
    box: Item,
    root: Path,
    again: Again,
    *,
    place: int,
    kind: type[Permanent | Transient],
) -> None:
    before = ids(world, box)
    (root / "a.txt").unlink()
    world.tree({"new.txt": "new", "zoo.txt": "zoo"})

    with failing_at(place, kind("the disk is gone", code="source_unreadable")):
        again(world, box)

    assert set(before) <= set(ids(world, box))
    assert (world.status(box), world.item(box).error_code) == (FAILED, "source_unreadable")
    assert world.ailments() == []

    reindex(world, box)

    assert set(ids(world, box)) == {"b.txt", "in", "in/c.txt", "new.txt", "zoo.txt"}
    assert ids(world, box)["in/c.txt"] == before["in/c.txt"]
    assert world.status(box) is COMPLETED


@both
@pytest.mark.parametrize("stand_in", [None, "a file"])
def test_a_root_that_is_missing_fails_and_no_child_is_touched(
    world: World, box: Item, root: Path, again: Again, stand_in: str | None
) -> None:
    before = tree_of(world, box)
    root.rename(world.folder / "elsewhere")
    if stand_in:
        root.write_text(stand_in)

    again(world, box)

    assert tree_of(world, box) == before
    assert (world.status(box), world.item(box).error_code) == (FAILED, "source_unreadable")
    assert telling(world, "alpha") == {before["a.txt"].id}


def test_a_root_that_is_back_is_as_before(world: World, box: Item, root: Path) -> None:
    before = ids(world, box)
    root.rename(world.folder / "elsewhere")
    reindex(world, box)
    (world.folder / "elsewhere").rename(root)

    reindex(world, box)

    assert ids(world, box) == before
    assert world.status(box) is COMPLETED
    assert world.models.calls == []


@both
def test_an_empty_root_deletes_nothing_and_warns(
    world: World, box: Item, root: Path, again: Again
) -> None:
    before = tree_of(world, box)
    root.rename(world.folder / "elsewhere")
    root.mkdir()

    again(world, box)

    assert tree_of(world, box) == before
    assert (world.status(box), world.item(box).warning) == (COMPLETED, "many_vanished")
    (told,) = world.events(box, EventKind.EXPANDED)[-1:]
    assert (told.detail["missing"], told.detail["deleted"]) == (3, 0)
    assert world.ailments() == []


def test_the_warning_goes_when_the_files_are_back(world: World, box: Item, root: Path) -> None:
    root.rename(world.folder / "elsewhere")
    root.mkdir()
    rescan(world, box)
    root.rmdir()
    (world.folder / "elsewhere").rename(root)

    rescan(world, box)

    assert world.item(box).warning is None


def test_a_confirmed_loss_empties_the_container(world: World, box: Item, root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()

    rescan(world, box, prune=True)

    assert ids(world, box) == {}
    assert (world.status(box), world.item(box).warning) == (COMPLETED, "nothing inside")


def test_an_emptied_folder_inside_is_believed_when_a_user_asks(
    world: World, box: Item, root: Path
) -> None:
    (root / "in/c.txt").unlink()

    rescan(world, box)
    assert "in/c.txt" in ids(world, box)
    assert tree_of(world, box)["in"].warning == "many_vanished"

    reindex(world, box)
    assert "in/c.txt" not in ids(world, box)


@pytest.mark.parametrize(("lost", "goes"), [(10, True), (11, False)])
def test_a_rescan_does_not_believe_that_most_of_twenty_vanished(
    world: World, lost: int, goes: bool
) -> None:
    item = world.done_directory({f"{number:02}.txt": f"text {number}" for number in range(20)})
    for number in range(lost):
        (world.folder / f"docs/{number:02}.txt").unlink()

    rescan(world, item)

    assert len(ids(world, item)) == (20 - lost if goes else 20)
    assert world.item(item).warning == (None if goes else "many_vanished")

    reindex(world, item)
    assert len(ids(world, item)) == 20 - lost


def test_a_root_that_goes_away_between_two_pages_deletes_nothing(
    world: World, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.workflow.prepare_root.PAGE", 2)
    item = world.done_directory({f"{number}.txt": f"text {number}" for number in range(6)})
    before = ids(world, item)
    world.hf.reindex(item)
    world.step_control()
    with listing(lasting(world, 6)):
        world.step_control()  # two pages, then it yields
    root.rename(world.folder / "elsewhere")
    root.mkdir()

    world.finish()

    assert ids(world, item) == before
    assert world.item(item).warning == "many_vanished"


def test_a_child_that_is_at_work_on_what_is_no_longer_there_starts_anew(
    world: World, root: Path
) -> None:
    item = world.directory({"a.txt": "alpha", "b.txt": "beta"})
    settle_times(root)
    world.step_control()
    jobs = world.take()  # both are running, and have not been read
    edit(root / "a.txt", "gamma")
    world.rows("UPDATE items SET own_outcome = 'completed' WHERE id = ?", item.id)
    before = generations(world, item)

    rescan(world, item)
    world.execute(jobs)
    world.finish()

    assert generations(world, item) == {"a.txt": before["a.txt"] + 1, "b.txt": before["b.txt"]}
    assert len(telling(world, "gamma")) == 1
    assert world.ailments() == []


def test_newer_content_takes_the_place_in_the_queue_that_the_older_held(
    world: World, root: Path
) -> None:
    item = world.directory({"a.txt": "alpha", "b.txt": "beta"})
    settle_times(root)
    world.step_control()
    child = ids(world, item)["a.txt"]
    place = "SELECT ordinal FROM jobs WHERE item_id = ? ORDER BY id"
    (before,) = world.rows(place, child)
    edit(root / "a.txt", "gamma")
    world.hf.pause(world.base)
    world.note("something that came later")
    world.hf.resume(world.base)
    restart(world, item)
    world.step_control()

    assert world.rows(place, child) == [before, before]
    assert world.rows("SELECT state FROM jobs WHERE item_id = ? ORDER BY id", child) == [
        ("cancelled",),
        ("ready",),
    ]


def test_nothing_is_examined_twice_in_one_listing(world: World, box: Item) -> None:
    with listing(as_it_is) as seen:
        reindex(world, box)

    assert sorted(seen) == ["a.txt", "b.txt", "c.txt", "in"]
