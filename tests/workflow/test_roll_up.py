"""A container's status follows from what is inside, in the same transaction, all the way up."""

from __future__ import annotations

import pytest

from holdfast.domain.item_states import Status
from holdfast.domain.jobs import Lane
from tests.workflow.worlds import World

BAD = b"\x00"


def test_a_container_with_active_children_is_processing(world: World) -> None:
    box = world.directory({"a.txt": "alpha", "b.txt": "beta " * 20_000})
    world.step_control()
    world.step()

    statuses = {name: item.status for name, item in world.inside(box).items()}
    assert statuses == {"a.txt": Status.COMPLETED, "b.txt": Status.PROCESSING}
    assert world.status(box) is Status.PROCESSING


def test_a_failed_leaf_fails_every_container_above_it(world: World) -> None:
    box = world.done_directory({"one/two/three.txt": BAD, "a.txt": "alpha"})

    one = world.inside(box)["one"]
    assert [box.status, one.status, world.inside(one)["two"].status] == [Status.FAILED] * 3


def test_the_sentence_says_how_many_of_how_many_and_names_three(world: World) -> None:
    files = {f"bad{n}.txt": BAD for n in range(5)} | {"good.txt": "alpha"}

    box = world.done_directory(files)

    assert box.error is not None
    assert box.error.startswith("5 of 6 inside failed (")
    assert box.error.count("is not a text file") == 3


def test_an_empty_container_completes_with_a_warning(world: World) -> None:
    box = world.done_directory({})

    assert (box.status, box.warning) == (Status.COMPLETED, "nothing inside")


def test_a_repaired_child_completes_the_containers_above(world: World) -> None:
    box = world.done_directory({"one/bad.txt": BAD})
    world.tree({"one/bad.txt": "good now"})
    child = world.inside(world.inside(box)["one"])["bad.txt"]

    world.hf.reindex(child)
    world.drain()

    assert (box.status, world.status(box)) == (Status.FAILED, Status.COMPLETED)
    assert world.item(box).error is None


def test_deleting_children_are_ignored(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": BAD})

    world.hf.delete(world.inside(box)["b.txt"])

    assert world.status(box) is Status.COMPLETED


def test_a_child_in_work_again_brings_its_containers_back_to_processing(world: World) -> None:
    box = world.done_directory({"one/a.txt": "alpha"})
    child = world.inside(world.inside(box)["one"])["a.txt"]

    world.hf.reindex(child)
    world.step(Lane.CONTROL)

    assert world.status(box) is Status.PROCESSING


@pytest.mark.parametrize("seed", range(3))
def test_containers_always_agree_with_their_children(world: World, seed: int) -> None:
    files = {f"d{n % 3}/f{n}.txt": BAD if n % (seed + 2) == 0 else f"text {n}" for n in range(9)}
    world.directory(files)

    while world.step(Lane.CONTROL) or world.step(Lane.INDEX):
        assert [line for line in world.ailments() if "i4" in line] == []


def test_percent_of_a_container_is_weighted_by_what_is_inside(world: World) -> None:
    box = world.directory({"small.txt": "alpha", "large.txt": "beta " * 20_000})
    world.step_control()

    world.step()
    half = world.hf.progress(box).percent
    world.drain()

    assert half in (0, 99)
    assert world.hf.progress(box).percent == 100
