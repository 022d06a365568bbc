"""How a folder is expanded: the same children once, whatever happens in between."""

from __future__ import annotations

from unittest import mock

import pytest

from holdfast.domain.errors import QueueFull
from holdfast.domain.item_states import Status
from holdfast.domain.items import Directory
from holdfast.domain.jobs import JobKind
from holdfast.workflow import prepare_root
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World, once, refusing

COMPLETED, FAILED = Status.COMPLETED, Status.FAILED
FILES = {f"f{n}.txt": f"words of {n}" for n in range(5)}


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare_root, "PAGE", 2)


def test_a_folder_becomes_a_tree_of_its_files(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta", "sub/deep/c.txt": "gamma"})

    sub = world.inside(box)["sub"]
    assert sorted(world.inside(box)) == ["a.txt", "sub"]
    assert sorted(world.inside(sub)) == ["b.txt", "deep"]
    assert world.found("gamma")


def test_an_expansion_that_died_gives_the_same_children_once_with_their_ids(world: World) -> None:
    box = world.directory(FILES)
    real, dies = prepare_root._write_page, mock.Mock(side_effect=[None, SystemExit])

    def write_page(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        dies()

    with mock.patch.object(prepare_root, "_write_page", write_page), pytest.raises(SystemExit):
        world.step_control()
    before = {name: item.id for name, item in world.inside(box).items()}
    world.crash()
    world.drain()

    after = world.inside(box)
    assert len(before) == 4
    assert sorted(after) == sorted(FILES)
    assert {name: after[name].id for name in before} == before
    assert {item.generation for item in after.values()} == {1}
    assert world.ailments() == []


def test_an_expansion_delivered_twice_creates_nothing_twice(world: World) -> None:
    box = world.directory(FILES)
    jobs = world.take_control()

    world.execute(jobs)
    world.execute(jobs)

    assert len(world.inside(box)) == 5
    assert len(world.jobs(JobKind.INDEX_DOCUMENTS)) == 5


def test_a_root_deleted_between_two_pages_gets_no_more_children(world: World) -> None:
    box = world.directory(FILES)
    real, act = prepare_root._write_page, once(lambda: world.hf.delete(box))

    def write_page(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        act()

    with mock.patch.object(prepare_root, "_write_page", write_page):
        world.step_control()

    assert world.rows("SELECT DISTINCT status FROM items") == [("deleting",)]
    assert world.rows("SELECT count(*) FROM items") == [(3,)]
    world.drain()
    assert world.is_gone(box)


def test_a_child_being_deleted_is_not_known_and_a_new_row_is_made_beside_it(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha"})
    old = world.inside(box)["a.txt"]
    world.hf.delete(old)
    world.rows("UPDATE jobs SET state = 'cancelled' WHERE kind = 'delete-subtree'")
    world.rows("UPDATE items SET own_outcome = NULL WHERE id = ?", box.id)
    world.force(box, Status.PREPARING)
    world.sweep()

    world.step_control()

    fresh = world.inside(box)["a.txt"]
    assert fresh.id != old.id


def test_a_refused_child_and_all_later_ones_fail_and_earlier_ones_keep_their_jobs(
    world: World,
) -> None:
    box = world.directory({"a.txt": "alpha", "b.txt": "beta"})
    children: list[str] = []

    def is_second(job: object) -> bool:
        key = getattr(job, "key", "")
        if ":index:" in key and key not in children:
            children.append(key)
        return ":index:" in key and children.index(key) == 1

    with refusing(is_second, QueueFull("no room for this child")):
        world.step_control()
    world.finish()

    inside = world.inside(box)
    assert {name: item.status for name, item in inside.items()} == {
        "a.txt": COMPLETED,
        "b.txt": FAILED,
    }
    assert inside["b.txt"].error_code == "schedule_failed"
    assert world.status(box) is FAILED
    assert world.ailments() == []


def test_with_a_full_queue_the_page_waits_and_no_child_is_refused(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=3)
    box = world.directory(FILES)

    world.step_control()
    world.step_control()
    waiting = world.hf.explain(box)
    world.finish()

    assert waiting.reason == "queue_full"
    assert {item.status for item in world.inside(box).values()} == {COMPLETED}


def test_a_root_that_vanished_fails_with_its_reason_and_touches_no_child(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha"})
    (world.folder / "docs").rename(world.folder / "elsewhere")

    world.hf.reindex(box)
    world.drain()

    assert (world.status(box), world.item(box).error_code) == (FAILED, "source_unreadable")
    assert world.inside(box)["a.txt"].status is COMPLETED
    assert world.found("alpha")


def test_recursive_off_takes_one_level_and_tells_what_it_left_out(world: World) -> None:
    root = world.tree({"a.txt": "alpha", "sub/b.txt": "beta"})
    (box,) = world.hf.add(world.base, [Directory(str(root), recursive=False)]).created
    world.drain()

    skipped = world.item(box).skipped
    assert list(world.inside(box)) == ["a.txt"]
    assert skipped is not None
    assert [entry["path"] for entry in skipped["entries"]] == ["sub"]


def test_hidden_names_are_skipped_in_silence_and_links_with_their_reason(world: World) -> None:
    root = world.tree({"a.txt": "alpha", ".git/config": "x", ".hidden": "y"})
    (root / "link.txt").symlink_to(root / "a.txt")
    (box,) = world.hf.add(world.base, [str(root)]).created
    world.drain()

    assert list(world.inside(box)) == ["a.txt"]
    assert world.item(box).skipped == {
        "count": 3,
        "entries": [{"path": "link.txt", "reason": "symbolic link"}],
    }


def test_children_bear_the_attributes_of_their_folder(world: World) -> None:
    root = world.tree({"a.txt": "alpha"})
    (box,) = world.hf.add(world.base, [Directory(str(root), attributes={"k": 1})]).created
    world.drain()

    assert world.inside(box)["a.txt"].attributes == {"k": 1}
