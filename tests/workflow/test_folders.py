"""What of a folder becomes children, and what is told of the rest."""

from __future__ import annotations

import os
from unittest import mock

import pytest

from holdfast.domain.errors import Permanent
from holdfast.domain.item_states import Status
from holdfast.domain.items import Directory, File
from holdfast.machine.files import FolderFiles
from tests.workflow.conftest import MakeWorld
from tests.workflow.folders import (
    ids,
    listing,
    reasons,
    reindex,
    rescan,
    telling,
    tree_of,
    unexaminable,
)
from tests.workflow.worlds import World

COMPLETED, FAILED = Status.COMPLETED, Status.FAILED


def test_folders_inside_are_expanded_by_themselves(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "in/b.txt": "beta", "in/deep/c.txt": "gamma"})

    found = tree_of(world, box)

    assert {path: item.status for path, item in found.items()} == dict.fromkeys(
        ["a.txt", "in", "in/b.txt", "in/deep", "in/deep/c.txt"], COMPLETED
    )
    assert world.item(box).status is COMPLETED
    assert telling(world, "gamma") == {found["in/deep/c.txt"].id}
    assert world.ailments() == []


def test_each_container_tells_what_it_passed_over_relative_to_itself(world: World) -> None:
    box = world.done_directory({"a.txt": "a", "cat.png": "x", "in/film.mp4": "x", "in/b.txt": "b"})

    assert reasons(world, box) == {"cat.png": "unsupported type"}
    assert reasons(world, world.inside(box)["in"]) == {"film.mp4": "unsupported type"}


def test_hidden_names_and_version_control_are_counted_in_silence(world: World) -> None:
    box = world.done_directory({"a.txt": "a", ".env": "secret", ".git/x": "x", "CVS/Root": "r"})

    assert world.item(box).skipped == {"count": 3, "entries": []}
    assert list(world.inside(box)) == ["a.txt"]


def test_what_was_passed_over_is_counted_anew_each_time(world: World) -> None:
    box = world.done_directory({"a.txt": "a", "cat.png": "x", ".env": "x", "dog.png": "x"})
    (world.folder / "docs/dog.png").unlink()

    reindex(world, box)

    assert world.item(box).skipped == {
        "count": 2,
        "entries": [{"path": "cat.png", "reason": "unsupported type"}],
    }


def test_rules_of_the_folders_above_hold_in_those_inside(world: World) -> None:
    files = {
        ".gitignore": "*.log\n/in/draft.txt\n",
        "in/.holdfastignore": "!keep.log\n",
        "in/keep.log": "kept",
        "in/other.log": "left out",
        "in/draft.txt": "left out",
        "in/text.txt": "kept",
    }
    box = world.done_directory(files)
    inner = world.inside(box)["in"]

    assert set(world.inside(inner)) == {"keep.log", "text.txt"}
    assert reasons(world, inner) == {
        "draft.txt": "ignored by ../.gitignore: /in/draft.txt",
        "other.log": "ignored by ../.gitignore: *.log",
    }


def test_rules_above_the_added_folder_do_not_count(world: World) -> None:
    world.tree({".gitignore": "*", "docs/a.txt": "alpha"}, "home")

    (box,) = world.hf.add(world.base, [Directory(str(world.folder / "home/docs"))]).created
    world.drain()

    assert list(world.inside(box)) == ["a.txt"]


def test_a_file_that_is_ignored_from_now_on_leaves_the_index(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.log": "beta"})
    world.tree({".holdfastignore": "*.log"})

    reindex(world, box)

    assert list(world.inside(box)) == ["a.txt"]
    assert not telling(world, "beta")


def test_rules_that_cannot_be_read_end_the_listing_before_any_child(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha"})
    before = ids(world, box)
    world.tree({"secret.txt": "secret", ".gitignore": "secret.txt"})
    refused = Permanent("no permission", code="unreadable")

    with mock.patch.object(FolderFiles, "read_if_there", side_effect=refused):
        reindex(world, box)

    assert ids(world, box) == before
    assert (world.status(box), world.item(box).error_code) == (FAILED, "source_unreadable")


def test_an_entry_that_cannot_be_examined_is_a_failed_child_to_be_tried_alone(
    world: World,
) -> None:
    box = world.directory({"a.txt": "alpha", "b.txt": "beta"})
    with listing(unexaminable("b.txt")):
        world.drain()
    child = world.inside(box)["b.txt"]

    assert (child.status, child.error_code) == (FAILED, "unreadable")
    assert world.status(box) is FAILED
    assert "1 of 2 inside failed (b.txt" in (world.item(box).error or "")

    reindex(world, child)

    assert world.status(child) is COMPLETED
    assert world.status(box) is COMPLETED
    assert world.ailments() == []


def test_a_folder_that_cannot_be_examined_can_be_tried_alone_too(world: World) -> None:
    box = world.directory({"a.txt": "alpha", "in/b.txt": "beta"})
    with listing(unexaminable("in", "directory")):
        world.drain()
    inner = world.inside(box)["in"]
    assert inner.status is FAILED

    reindex(world, inner)

    assert world.status(box) is COMPLETED
    assert "in/b.txt" in tree_of(world, box)


def test_a_known_child_that_cannot_be_examined_is_seen_and_kept(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": "beta"})
    before = ids(world, box)

    with listing(unexaminable("b.txt")):
        reindex(world, box)

    assert ids(world, box) == before
    assert telling(world, "beta") == {before["b.txt"]}


def test_a_known_folder_that_cannot_be_examined_is_not_taken_for_a_file(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "in/b.txt": "beta"})
    before = ids(world, box)

    with listing(unexaminable("in", "file")):
        reindex(world, box)

    assert ids(world, box) == before


def test_what_goes_away_while_it_is_listed_becomes_no_child(world: World) -> None:
    box = world.directory({"a.txt": "alpha", "b.txt": "beta"})

    with listing(unexaminable("b.txt", "gone")):
        world.drain()

    assert list(world.inside(box)) == ["a.txt"]
    assert world.status(box) is COMPLETED


def test_a_folder_added_without_recursion_has_no_folders_inside(world: World) -> None:
    root = world.tree({"a.txt": "alpha", "in/b.txt": "beta"})

    (box,) = world.hf.add(world.base, [Directory(str(root), recursive=False)]).created
    world.drain()

    assert list(world.inside(box)) == ["a.txt"]
    assert list(reasons(world, box)) == ["in"]


def test_links_are_not_followed_and_circles_end(world: World) -> None:
    root = world.tree({"a.txt": "alpha", "in/b.txt": "beta"})
    (root / "in/up").symlink_to(root)
    (root / "alias.txt").symlink_to("a.txt")

    box = world.done_directory({})

    assert set(tree_of(world, box)) == {"a.txt", "in", "in/b.txt"}
    assert reasons(world, box) == {"alias.txt": "symbolic link"}


def test_links_to_files_are_followed_when_that_is_set(make_world: MakeWorld) -> None:
    world = make_world(follow_symlinks=True)
    root = world.tree({"in/b.txt": "beta"})
    (root / "alias.txt").symlink_to("in/b.txt")
    (root / "circle").symlink_to(root)

    box = world.done_directory({})

    assert set(tree_of(world, box)) == {"in", "in/b.txt", "alias.txt"}
    assert reasons(world, box) == {"circle": "symbolic link to a folder"}


def test_pipes_and_files_that_are_too_large_are_told(make_world: MakeWorld) -> None:
    world = make_world(max_file_bytes=10)
    root = world.tree({"a.txt": "alpha", "big.txt": "x" * 11})
    os.mkfifo(root / "pipe")

    box = world.done_directory({})

    assert reasons(world, box) == {
        "big.txt": "larger than max_file_bytes (10)",
        "pipe": "not a regular file",
    }
    assert world.status(box) is COMPLETED


def test_names_that_are_no_text_are_indexed_once_and_kept(world: World) -> None:
    root = world.tree({"plain.txt": "plain"})
    odd = os.fsdecode(b"caf\xe9")
    (root / odd).mkdir()
    (root / odd / f"{odd}.txt").write_text("odd")
    (root / f"{odd}.png").touch()

    box = world.done_directory({})
    before = ids(world, box)
    reindex(world, box)

    assert ids(world, box) == before
    assert set(before) == {"plain.txt", "caf\\xe9", "caf\\xe9/caf\\xe9.txt"}
    assert telling(world, "odd") == {before["caf\\xe9/caf\\xe9.txt"]}
    assert reasons(world, box) == {"caf\\xe9.png": "unsupported type"}


def test_of_two_names_that_read_the_same_one_is_taken_and_the_other_told(world: World) -> None:
    composed, decomposed = "caf\u00e9.txt", "cafe\u0301.txt"
    box = world.done_directory({composed: "one", decomposed: "two"})
    before = ids(world, box)

    reindex(world, box)

    assert ids(world, box) == before
    assert list(before) == [composed]
    assert list(reasons(world, box)) == [composed]


def test_a_name_composed_anew_is_the_same_child(world: World) -> None:
    box = world.done_directory({"caf\u00e9.txt": "one"})
    before = ids(world, box)
    (world.folder / "docs/caf\u00e9.txt").rename(world.folder / "docs/cafe\u0301.txt")

    rescan(world, box)

    assert ids(world, box) == before
    assert world.status(before["caf\u00e9.txt"]) is COMPLETED


def test_our_own_data_folder_is_never_taken_in(world: World) -> None:
    world.tree({"a.txt": "alpha"}, "docs")
    added = world.hf.add(
        world.base,
        [
            Directory(str(world.folder)),
            Directory(str(world.folder / "kb")),
            File(str(world.folder / "kb/holdfast.db")),
        ],
    )
    world.finish()
    (box,) = added.created

    assert set(tree_of(world, box)) == {"docs", "docs/a.txt"}
    assert reasons(world, box) == {"kb": "the data folder of this engine"}
    assert [refused.code for refused in added.failed] == ["invalid_input", "invalid_input"]


def test_a_folder_with_nothing_inside_completes_and_says_so(world: World) -> None:
    box = world.done_directory({})

    assert (world.status(box), world.item(box).warning) == (COMPLETED, "nothing inside")


@pytest.mark.parametrize("asked", [True, False])
def test_a_file_that_became_a_folder_is_replaced_and_the_other_way_round(
    world: World, asked: bool
) -> None:
    box = world.done_directory({"one": "first alpha", "two/b.txt": "first beta", "c.txt": "c"})
    before = ids(world, box)
    root = world.folder / "docs"
    (root / "one").unlink()
    (root / "two/b.txt").unlink()
    (root / "two").rmdir()
    world.tree({"one/a.txt": "second alpha", "two": "second beta"})

    if asked:
        reindex(world, box)
    else:
        rescan(world, box)
    after = ids(world, box)

    assert set(after) == {"one", "one/a.txt", "two", "c.txt"}
    assert after["c.txt"] == before["c.txt"]
    assert not {before["one"], before["two"], before["two/b.txt"]} & set(after.values())
    assert all(world.is_gone(before[path]) for path in ("one", "two", "two/b.txt"))
    assert not telling(world, "first")
    assert len(telling(world, "second")) == 2
    assert world.ailments() == []


def test_children_bear_the_attributes_of_their_container(world: World) -> None:
    root = world.tree({"in/a.txt": "alpha"})

    (box,) = world.hf.add(world.base, [Directory(str(root), attributes={"team": "north"})]).created
    world.drain()

    assert tree_of(world, box)["in/a.txt"].attributes == {"team": "north"}
