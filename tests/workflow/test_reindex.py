"""What a user's re-index does: read again, cut again, pay for nothing twice."""

from __future__ import annotations

from holdfast.domain.errors import Permanent
from holdfast.domain.events import EventKind
from holdfast.domain.item_states import Status
from holdfast.domain.jobs import JobKind
from tests.workflow.worlds import World, every, refusing

COMPLETED, FAILED = Status.COMPLETED, Status.FAILED


def test_reindex_reads_again_and_embeds_nothing(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha"})
    calls = len(world.models.calls)

    world.hf.reindex(box)
    world.drain()

    assert world.reader.names == ["a.txt", "a.txt"]
    assert len(world.models.calls) == calls
    assert world.inside(box)["a.txt"].generation == 2


def test_force_embeds_equal_texts_again(world: World) -> None:
    item = world.done_note("alpha")

    world.hf.reindex(item, force=True)
    world.drain()

    assert world.models.texts == ["alpha", "alpha"]


def test_reindex_makes_a_new_build_and_drops_the_old_one(world: World) -> None:
    item = world.done_note("alpha")

    world.hf.reindex(item)
    world.drain()

    again = world.item(item)
    assert again.published_build != item.published_build
    assert {row.claim for row in world.engine.kb.index.builds(world.base.id)} == {
        again.published_build
    }


def test_many_read_again_into_the_chunks_that_answer_keep_their_builds(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": "beta", "c.txt": "gamma"})
    before = world.inside(box)
    world.tree({"b.txt": "delta"})

    world.hf.reindex(box)
    world.drain()

    after = world.inside(box)
    kept = {name for name in after if after[name].published_build == before[name].published_build}
    assert kept == {"a.txt", "c.txt"}
    assert {item.published_generation for item in after.values()} == {2}
    assert world.reader.names.count("a.txt") == 2


def test_until_its_job_starts_the_item_shows_pending_and_keeps_its_state(world: World) -> None:
    item = world.done_note("alpha")

    world.hf.reindex(item)
    pending = world.item(item)
    world.drain()

    assert (pending.pending, pending.status) == ("reindex", COMPLETED)
    assert world.item(item).pending is None


def test_a_failed_reindex_keeps_the_old_build_answering(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha"})
    world.tree({"a.txt": b"\x00"})

    world.hf.reindex(box)
    world.drain()

    child = world.inside(box)["a.txt"]
    (hit,) = world.hf.search("alpha", bases=[world.base]).hits
    assert (child.status, hit.item_id, hit.stale) == (FAILED, child.id, True)


def test_reindex_of_a_container_meets_what_is_there_now(world: World) -> None:
    box = world.done_directory({"a.txt": "alpha", "b.txt": "beta"})
    before = world.inside(box)
    (world.folder / "docs" / "b.txt").unlink()
    world.tree({"c.txt": "gamma"})

    world.hf.reindex(box)
    world.drain()

    after = world.inside(box)
    assert sorted(after) == ["a.txt", "c.txt"]
    assert after["a.txt"].id == before["a.txt"].id
    assert world.is_gone(before["b.txt"])


def test_skip_active_takes_the_settled_and_reports_the_rest(world: World) -> None:
    settled = world.done_note("alpha")
    active = world.note("beta")

    answer = world.hf.reindex([settled, active], skip_active=True)

    assert [item.id for item in answer.items] == [settled.id]
    assert answer.skipped == ((active.id, Status.PROCESSING, f"{active.id} is processing"),)


def test_a_second_reindex_of_the_same_roots_joins_the_first(world: World) -> None:
    item = world.done_note("alpha")

    world.hf.reindex(item)
    world.hf.reindex(item)

    assert world.jobs(JobKind.REINDEX_SUBTREE) == ["ready"]


def test_a_delete_after_an_accepted_reindex_wins(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.reindex(item)
    jobs = world.take_control()
    world.hf.delete(item)

    world.execute(jobs)

    assert world.status(item) is Status.DELETING
    assert [one.detail["why"] for one in world.events(item, EventKind.SKIPPED)] == ["being deleted"]


def test_a_reindex_keeps_an_attempt_that_started_meanwhile(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.reindex(item)
    jobs = world.take_control()
    world.hf.update(item, content="beta")

    world.execute(jobs)

    assert world.item(item).generation == 2
    assert world.jobs(JobKind.INDEX_DOCUMENTS) == ["done", "ready"]


def test_a_reindex_whose_root_cannot_be_scheduled_fails_that_root(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.reindex(item)

    with refusing(every):
        world.step_control()

    assert (world.status(item), world.item(item).error_code) == (FAILED, "schedule_failed")
    assert world.found("alpha") == [item.id]
    assert world.ailments() == []


def test_a_reindex_job_delivered_twice_restarts_its_roots_once(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.reindex(item)
    jobs = world.take_control()

    world.execute(jobs)
    world.drain()
    world.execute(jobs)

    assert world.item(item).generation == 2


def test_an_item_with_a_pending_reindex_is_waited_for(world: World) -> None:
    item = world.done_note("alpha")
    world.hf.reindex(item)

    with world.engine.kb.main.read() as snapshot:
        waiting = snapshot.unsettled([item.id])

    assert waiting == [item.id]


def test_a_model_that_refuses_a_text_fails_the_item_and_keeps_its_build(world: World) -> None:
    item = world.done_note("alpha")

    def refuse(_texts: object) -> None:
        raise Permanent("refused", code="provider_failed")

    world.models.on_call = refuse
    world.hf.reindex(item, force=True)
    world.finish()

    failed = world.item(item)
    assert (failed.status, failed.error_code, failed.error) == (
        FAILED,
        "provider_failed",
        "refused",
    )
    assert failed.published_build == item.published_build
