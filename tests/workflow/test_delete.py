"""Delete wins over everything, and what is deleted is not found from that moment on."""

from __future__ import annotations

import pytest

from holdfast.domain.events import EventKind
from holdfast.domain.item_states import Status
from holdfast.domain.items import File
from holdfast.domain.jobs import JobKind, Lane
from tests.workflow.worlds import World, once

DELETE = JobKind.DELETE_SUBTREE


def test_what_is_deleted_is_not_found_when_the_call_returns(world: World) -> None:
    item = world.done_note("alpha")

    world.hf.delete(item)

    assert world.found("alpha") == []
    assert world.hf.items(world.base).items == ()


def test_a_delete_ends_the_waiting_work_of_the_whole_subtree(world: World) -> None:
    box = world.directory({"a.txt": "alpha", "b.txt": "beta"})
    world.step_control()

    world.hf.delete(box)

    assert world.jobs(JobKind.INDEX_DOCUMENTS) == ["cancelled", "cancelled"]


@pytest.mark.parametrize("moment", ["read", "embed"])
def test_a_delete_in_the_middle_of_a_run_leaves_no_mark_of_it(world: World, moment: str) -> None:
    box = world.directory({"a.txt": "alpha"})
    part = once(lambda: world.hf.delete(box))
    if moment == "read":
        world.reader.on_read = part
    else:
        world.models.on_call = part

    world.drain()
    world.sweep()

    assert world.is_gone(box)
    assert world.engine.kb.index.builds(world.base.id) == []
    assert world.ailments() == []


def test_a_job_that_finds_its_item_deleting_leaves_no_mark(world: World) -> None:
    item = world.note("alpha")
    jobs = world.take()
    world.hf.delete(item)
    before = world.rows("SELECT * FROM items")

    world.execute(jobs)

    assert world.rows("SELECT * FROM items") == before
    assert world.models.calls == []


@pytest.mark.parametrize("others", [0, 2])
def test_a_delete_between_seal_and_publish_wins(world: World, others: int) -> None:
    item, *rest = world.notes("alpha", *("beta",) * others)
    world.sealing(lambda: world.hf.delete(item))

    world.execute(world.take())

    assert world.status(item) is Status.DELETING
    assert {world.status(one) for one in rest} <= {Status.COMPLETED}
    world.drain()
    world.sweep()
    assert {row.item_id for row in world.engine.kb.index.builds(world.base.id)} == {
        one.id for one in rest
    }


def test_a_child_deleted_alone_leaves_its_siblings(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": "beta"})

    world.hf.delete(world.inside(box)["a.txt"])
    world.drain()

    assert list(world.inside(box)) == ["b.txt"]
    assert world.status(box) is Status.COMPLETED
    assert world.found("beta")


def test_the_bytes_of_a_deleted_file_are_gone_from_the_disk(world: World) -> None:
    (item,) = world.hf.add(world.base, [File(content=b"alpha", name="a.txt")]).created
    world.drain()

    world.hf.delete(item)
    world.drain()

    assert world.dump()["files"] == []
    assert world.rows("SELECT * FROM file_refs") == world.rows("SELECT * FROM file_entries") == []


def test_refs_of_a_whole_subtree_go_with_its_rows(world: World) -> None:
    world.hf.update_base(world.base, keep_originals=True)
    box = world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})
    kept = len(world.dump()["files"])

    world.hf.delete(box)
    world.drain()

    assert kept == 2
    assert world.dump()["files"] == world.rows("SELECT * FROM file_refs") == []


def test_a_delete_that_fails_keeps_its_marks_and_is_tried_again_later(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.delete(item)

    with world.failing_index("remove_items"):
        world.drain()
    stuck = world.hf.explain(item)
    world.finish()

    assert (stuck.reason, stuck.item.status) == ("delete_stuck", Status.DELETING)
    assert world.is_gone(item)


def test_the_pauses_of_a_stuck_delete_double_up_to_an_hour_and_it_never_gives_up(
    world: World,
) -> None:
    item = world.done_note("alpha")
    world.hf.delete(item)
    pauses: list[float] = []

    with world.failing_index("remove_items"):
        for _ in range(9):
            world.drain()
            (until,) = world.rows("SELECT run_at FROM jobs WHERE state = 'later'")[0]
            pauses.append(until / 1_000_000 - world.clock.now)
            world.clock.advance(pauses[-1])

    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert world.status(item) is Status.DELETING


def test_deletes_have_a_lane_of_their_own(world: World) -> None:
    old = world.done_note("alpha")
    world.notes(*(f"note {n}" for n in range(30)))

    world.hf.delete(old)
    world.step(Lane.URGENT)

    assert world.is_gone(old)
    assert "done" not in world.jobs(JobKind.INDEX_DOCUMENTS)[1:]


def test_the_ledger_tells_the_end_of_an_item(world: World) -> None:
    item = world.done_note("alpha")

    world.hf.delete(item)
    world.drain()

    assert world.hf.history(item)[-1].kind is EventKind.GONE


def test_deleting_the_only_failed_child_completes_its_container(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": b"\x00"})

    world.hf.delete(world.inside(box)["b.txt"])

    assert box.status is Status.FAILED
    assert world.status(box) is Status.COMPLETED
