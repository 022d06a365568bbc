"""What happens after a stop: resume, ask, takeover, and the deaths that end in giving up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.domain.errors import Conflict
from holdfast.domain.item_states import Status
from holdfast.domain.items import Item
from holdfast.domain.jobs import JobKind
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World, fence_of

INDEX = JobKind.INDEX_DOCUMENTS
COMPLETED, FAILED, PROCESSING = Status.COMPLETED, Status.FAILED, Status.PROCESSING


def asking(world: World) -> None:
    world.hf.update_base(world.base, recovery="ask")


def orphans(world: World) -> tuple[str, ...]:
    return world.hf.queue(world.base).orphan_item_ids


# --- resume ---------------------------------------------------------------------------------------


def test_interrupted_work_goes_on_by_itself(world: World) -> None:
    items = world.notes("alpha", "beta")
    world.take()

    world.crash()
    world.drain()

    assert [world.status(item) for item in items] == [COMPLETED, COMPLETED]
    assert world.ailments() == []


def test_a_crash_pays_again_for_the_batch_in_flight_only(make_world: MakeWorld) -> None:
    world = make_world(batch_size=4)
    world.note("\n\n".join(f"# {n}\n\nwords of chapter {n}" for n in range(20)))

    def die_at_the_fourth(_texts: Sequence[str]) -> None:
        if len(world.models.calls) == 4:
            raise SystemExit

    world.models.on_call = die_at_the_fourth
    with pytest.raises(SystemExit):
        world.drain()
    world.crash()
    world.drain()

    texts = world.models.texts
    assert len(set(texts)) == 20
    assert len(texts) - len(set(texts)) == 4


def test_claim_numbers_are_never_used_twice_over_a_restart(world: World) -> None:
    world.note("alpha")
    before = world.take()[0].claim
    world.crash()

    after = world.take()[0].claim

    assert before is not None
    assert after is not None
    assert after // 10**9 > before // 10**9


def test_a_run_that_lost_its_claim_publishes_nothing(world: World) -> None:
    item = world.note("alpha")
    old = world.take()
    world.rows("UPDATE jobs SET state = 'ready'")
    new = world.take()

    world.execute(old)
    stale = world.item(item).published_build
    world.execute(new)

    assert stale is None
    assert world.item(item).published_build == new[0].claim


def test_a_graceful_stop_counts_no_death(world: World) -> None:
    world.note("alpha")

    world.reopen()

    assert world.rows("SELECT deaths, attempt FROM jobs") == [(0, 0)]


def test_a_job_that_kills_its_worker_again_and_again_runs_alone_and_is_given_up(
    world: World,
) -> None:
    guilty = world.note("alpha " * 20_000)
    taken: list[int] = []
    for _ in range(4):
        taken.append(len(world.take()))
        world.crash()
    others = world.notes("beta", "gamma")

    world.drain()

    failed = world.item(guilty)
    assert taken == [1, 1, 1, 1]
    assert (failed.status, failed.error_code) == (FAILED, "killed_worker")
    assert [world.status(item) for item in others] == [COMPLETED, COMPLETED]


# --- ask ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", ["reopen", "crash"])
def test_ask_parks_unfinished_work_at_the_next_start(world: World, stop: str) -> None:
    asking(world)
    items = world.notes("alpha", "beta")

    getattr(world, stop)()
    world.drain()
    world.sweep()
    world.drain()

    assert world.jobs(INDEX) == ["parked", "parked"]
    assert orphans(world) == tuple(item.id for item in items)


def test_deletes_never_park(world: World) -> None:
    asking(world)
    item = world.done_note("alpha")
    world.hf.delete(item)

    world.crash()
    world.drain()

    assert world.is_gone(item)


def test_recover_puts_parked_work_back(world: World) -> None:
    asking(world)
    items = world.notes("alpha", "beta")
    world.crash()

    recovered = world.hf.recover(world.base)
    world.drain()

    assert recovered == [item.id for item in items]
    assert orphans(world) == ()
    assert {world.status(item) for item in items} == {COMPLETED}


def test_recover_of_some_leaves_the_others_parked(world: World) -> None:
    asking(world)
    first, second = world.notes("alpha", "beta")
    world.crash()

    world.hf.recover(world.base, [first])
    world.drain()

    assert (world.status(first), world.status(second)) == (COMPLETED, PROCESSING)
    assert orphans(world) == (second.id,)


def test_recover_gives_idle_rows_and_jobless_items_their_work(world: World) -> None:
    asking(world)
    idle, lost = world.notes("alpha", "beta")
    world.force(idle, Status.IDLE)
    world.force(lost, Status.READING)

    recovered = world.hf.recover(world.base)
    world.drain()

    assert sorted(recovered) == sorted([idle.id, lost.id])
    assert {world.status(idle), world.status(lost)} == {COMPLETED}


def test_dismiss_fails_what_was_interrupted(world: World) -> None:
    asking(world)
    box = world.directory({"a.txt": "alpha"})
    note = world.note("beta")
    world.crash()

    dismissed = world.hf.dismiss(world.base)

    assert sorted(dismissed) == sorted([box.id, note.id])
    assert {world.item(one).error_code for one in (box, note)} == {"interrupted"}
    assert orphans(world) == ()
    assert world.ailments() == []


def test_dismiss_of_children_rolls_their_container_up(world: World) -> None:
    asking(world)
    box = world.directory({"a.txt": "alpha", "b.txt": "beta"})
    world.step_control()
    world.crash()

    world.hf.dismiss(world.base)

    assert (world.status(box), {i.status for i in world.inside(box).values()}) == (FAILED, {FAILED})
    assert world.ailments() == []


def test_what_was_dismissed_can_be_reindexed(world: World) -> None:
    asking(world)
    item = world.note("alpha")
    world.crash()
    world.hf.dismiss(world.base)

    world.hf.reindex(item)
    world.drain()

    assert world.found("alpha") == [item.id]


def test_parked_work_is_not_taken_over(world: World) -> None:
    asking(world)
    item = world.note("alpha")
    world.crash()
    world.clock.advance(7 * 86_400)

    with pytest.raises(Conflict):
        world.hf.reindex(item)


# --- takeover -------------------------------------------------------------------------------------


def lost(world: World, status: Status) -> Item:
    """An item that is queued or at work and has no job, in a base where the sweep leaves it so."""
    asking(world)
    item = world.note("alpha")
    world.force(item, status)
    return item


def test_queued_without_a_job_for_over_ten_minutes_is_taken_over(world: World) -> None:
    item = lost(world, PROCESSING)
    world.clock.advance(601)

    world.hf.reindex(item)
    world.drain()

    assert world.status(item) is COMPLETED


@pytest.mark.parametrize(("status", "after"), [(PROCESSING, 599), (Status.EMBEDDING, 2_699)])
def test_nothing_is_taken_over_within_its_bounds(world: World, status: Status, after: int) -> None:
    item = lost(world, status)
    world.clock.advance(after)

    with pytest.raises(Conflict):
        world.hf.reindex(item)


@pytest.mark.parametrize("status", [Status.READING, Status.EMBEDDING])
def test_indexing_without_progress_for_over_forty_five_minutes_is_taken_over(
    world: World, status: Status
) -> None:
    item = lost(world, status)
    world.clock.advance(2_701)

    world.hf.reindex(item)
    world.drain()

    assert world.status(item) is COMPLETED


def test_live_progress_is_never_taken_over(make_world: MakeWorld) -> None:
    world = make_world(batch_size=1)
    item = world.note("\n\n".join(f"# {n}\n\nchapter {n}" for n in range(4)))
    refusals: list[str] = []

    def half_an_hour(_texts: Sequence[str]) -> None:
        world.clock.advance(1_800)
        try:
            world.hf.reindex(item)
        except Conflict as error:
            refusals.append(error.code)

    world.models.on_call = half_an_hour
    world.drain()

    assert refusals == ["conflict"] * 4
    assert world.item(item).generation == 1


def test_the_run_that_was_taken_over_ends_without_a_mark(world: World) -> None:
    item = world.note("alpha")
    old = world.take()
    world.rows("UPDATE items SET status = 'embedding' WHERE id = ?", item.id)
    world.clock.advance(2_701)
    with world.engine.kb.main.write() as tx:
        tx.rescue_stuck([fence_of(job) for job in old])
    world.hf.reindex(item)
    world.step_control()

    world.execute(old)
    world.drain()

    assert world.item(item).published_generation == 2
    assert world.ailments() == []
