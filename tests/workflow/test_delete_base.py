"""How a whole base goes: hidden at once, rows last, nothing left."""

from __future__ import annotations

import pytest

from holdfast.domain.errors import NotFound
from holdfast.domain.items import File
from holdfast.domain.jobs import Lane
from holdfast.jobs.claim import Holder, claim
from tests.workflow.worlds import World, once


def test_a_base_being_deleted_is_not_there_for_any_operation(world: World) -> None:
    item = world.done_note("alpha")

    world.hf.delete_base(world.base)

    assert world.hf.bases() == []
    with pytest.raises(NotFound):
        world.hf.item(item)
    with pytest.raises(NotFound):
        world.note()


def test_nothing_of_a_deleted_base_is_left(world: World) -> None:
    world.done_directory({"a.txt": "alpha", "sub/b.txt": "beta"})
    world.hf.add(world.base, [File(content=b"gamma", name="c.txt")])
    world.drain()

    world.hf.delete_base(world.base)
    world.finish()

    for table in ("bases", "items", "file_refs", "file_entries"):
        assert world.rows(f"SELECT * FROM {table}") == []
    assert world.engine.kb.index.bases() == []
    assert world.dump()["files"] == []


def test_another_base_is_not_touched(world: World) -> None:
    other = world.hf.create_base("other", embedding_model=None)
    kept = world.note("alpha", base=other)
    world.done_note("beta")

    world.hf.delete_base(world.base)
    world.finish()

    assert [hit.item_id for hit in world.hf.search("alpha").hits] == [kept.id]
    assert world.ailments() == []


def test_deleting_a_base_cancels_its_waiting_jobs(world: World) -> None:
    world.notes("one", "two")
    world.directory({"a.txt": "alpha"})

    world.hf.delete_base(world.base)

    assert world.jobs() == ["cancelled", "cancelled", "cancelled", "ready"]


def test_a_base_deleted_in_the_middle_of_a_run_is_gone_in_the_end(world: World) -> None:
    world.note("alpha")
    world.models.on_call = once(lambda: world.hf.delete_base(world.base))

    world.finish()

    assert world.rows("SELECT * FROM bases") == []
    assert world.engine.kb.index.bases() == []


def test_the_index_stays_until_the_runs_of_the_base_have_ended(world: World) -> None:
    world.note("alpha")
    jobs = world.take()
    world.hf.delete_base(world.base)

    world.drain()
    waiting = world.engine.kb.index.bases()
    world.execute(jobs)
    world.finish()

    assert waiting == [world.base.id]
    assert world.engine.kb.index.bases() == []


def test_a_delete_base_that_died_goes_on_after_the_next_start(world: World) -> None:
    world.done_note("alpha")
    world.hf.delete_base(world.base)
    world.crash()

    world.finish()

    assert world.rows("SELECT * FROM bases") == []


def test_a_failed_base_can_be_deleted(world: World) -> None:
    world.done_note("alpha")
    world.fail_base()

    world.hf.delete_base(world.base)
    world.finish()

    assert world.rows("SELECT * FROM bases") == []


def test_a_deleted_name_can_be_given_again(world: World) -> None:
    world.hf.delete_base(world.base)

    again = world.hf.create_base("manuals", embedding_model=None)

    assert world.hf.base("manuals").id == again.id


def test_a_reindex_that_was_running_leaves_no_job_behind_its_base(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.reindex([item])
    holder = Holder(world.engine.kb.owner, world.engine.kb.lease)
    runner = world.runner()
    taken = claim(world.engine.kb.main, Lane.CONTROL, runner.caps, holder).jobs

    world.hf.delete_base(world.base)
    runner.execute(taken)
    world.finish()

    assert world.rows("SELECT * FROM bases") == []
    assert "ready" not in world.jobs()
