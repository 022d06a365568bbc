"""Whose run is it, and how does it end? What every main store promises of fences and rescues."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.domain.ids import CLAIMS_PER_EPOCH, ClaimNo, ItemId, JobId
from holdfast.domain.item_states import Move, Status
from holdfast.domain.jobs import Fence, Job, JobKind, JobState, Lane, Verdict
from holdfast.stores.catalog import Moved
from holdfast.stores.main import Transaction
from tests.stores.main_worlds import (
    IMPLEMENTATIONS,
    LEASE,
    NEXT_OWNER,
    OWNER,
    SECOND,
    WHY,
    A,
    B,
    World,
    opened,
    published,
)

# ------------------------------------------------------------------------------- claim numbers


def test_claim_numbers_only_grow(world: World) -> None:
    numbers = []
    for _ in range(5):
        world.queued()
        fence = world.run()
        world.end(fence)
        numbers.append(fence.claim)

    assert numbers == sorted(set(numbers))


def test_a_job_taken_again_has_another_number(world: World) -> None:
    world.queued()
    first = world.run()
    with world.main.write() as tx:
        tx.give_back(first, None, "stopped", counts=False, trouble=None)

    assert world.run().claim > first.claim


def test_a_start_gives_numbers_above_all_that_the_power_may_have_taken(world: World) -> None:
    """Claims of the lost seconds are forgotten; their builds may stand in the index."""
    world.queued()
    before = world.run().claim

    world.new_owner()

    assert world.run().claim == 2 * CLAIMS_PER_EPOCH + 1 > before


def test_a_start_gives_numbers_above_those_found_in_an_index(world: World) -> None:
    world.queued()

    world.new_owner(above=7 * CLAIMS_PER_EPOCH + 42)

    assert world.run().claim == 8 * CLAIMS_PER_EPOCH + 1


def test_no_claim_number_is_used_twice_across_opens(tmp_path: Path) -> None:
    numbers = []
    for number in range(3):
        with opened(IMPLEMENTATIONS["sqlite"], tmp_path) as world:
            if number == 0:
                world.base(A)
                world.queued()
            world.new_owner(f"start-{number}")
            numbers.append(world.run().claim)

    assert len(set(numbers)) == 3
    assert numbers == sorted(numbers)


# ------------------------------------------------------------------------------- posted claims


def test_a_posted_claim_is_started_only_once(world: World) -> None:
    world.queued()
    fence = world.run(owner=None)

    def start(tx: Transaction) -> Job | None:
        return tx.start(fence.job, fence.claim, OWNER, tx.now + LEASE)

    with world.main.write() as tx:
        first, again = start(tx), start(tx)

    assert first is not None
    assert first.claim == fence.claim
    assert again is None


def test_a_message_of_an_older_claim_starts_nothing(world: World) -> None:
    world.queued()
    old = world.run(owner=None)
    world.new_owner()
    new = world.run(owner=None)

    with world.main.write() as tx:
        assert tx.start(old.job, old.claim, OWNER, tx.now + LEASE) is None
        assert tx.start(new.job, new.claim, OWNER, tx.now + LEASE) is not None


def test_a_claim_nobody_started_counts_no_death(world: World) -> None:
    job = world.queued()
    world.run(owner=None)

    world.new_owner()

    assert world.job(job).deaths == 0


# ------------------------------------------------------------------------------- fences


def test_only_the_running_claim_ends_a_job(world: World) -> None:
    job = world.queued()
    old = world.run()
    world.new_owner()
    new = world.run(owner=NEXT_OWNER)

    assert world.end(old) == set()
    assert world.job(job).state is JobState.RUNNING
    assert world.end(new) == {job.id}


def test_a_job_ends_once(world: World) -> None:
    world.queued()
    fence = world.run()
    world.end(fence)

    assert world.end(fence) == set()


def test_only_the_running_claim_moves_an_item(world: World) -> None:
    world.queued()
    old = world.run()
    world.new_owner()
    new = world.run(owner=NEXT_OWNER)

    assert world.move(Move.READ, Status.READING, old) == set()
    assert world.move(Move.READ, Status.READING, new) == {new.item}


def test_an_old_generation_cannot_publish(world: World) -> None:
    job = world.queued()
    fence = world.run()
    world.restart(item_of(job))

    assert world.move(Move.COMPLETE, Status.COMPLETED, fence) == set()
    assert world.find(item_of(job)).status is Status.PROCESSING


def test_the_running_claim_of_the_generation_publishes(world: World) -> None:
    job = world.queued()
    fence = world.run()
    with world.main.write() as tx:
        world_move(tx, Move.READ, Status.READING, fence)
        world_move(tx, Move.COMPLETE, Status.COMPLETED, fence)
        tx.publish([published(item_of(job), fence.claim)])
        tx.finish([fence])

    item = world.find(item_of(job))
    assert (item.published_build, item.published_generation) == (fence.claim, 1)
    assert world.violations() == []


def test_progress_is_told_only_by_the_running_claim(world: World) -> None:
    job = world.queued()
    old = world.run()
    world.new_owner()
    new = world.run(owner=NEXT_OWNER)
    with world.main.write() as tx:
        tx.set_progress(old, 90)
        tx.set_progress(new, 20)

    assert world.find(item_of(job)).progress == 20


def test_progress_of_an_older_generation_is_not_told(world: World) -> None:
    job = world.queued()
    fence = world.run()
    world.restart(item_of(job))

    with world.main.write() as tx:
        tx.set_progress(fence, 50)

    assert world.find(item_of(job)).progress == 0


def test_progress_never_falls_within_a_generation(world: World) -> None:
    job = world.queued()
    fence = world.run()
    with world.main.write() as tx:
        tx.set_progress(fence, 50)
        tx.set_progress(fence, 30)

    assert world.find(item_of(job)).progress == 50


@pytest.mark.parametrize("what", ["beat", "give_back", "condemn", "end_cancelled"])
def test_a_run_that_lost_its_job_changes_nothing_of_it(world: World, what: str) -> None:
    job = world.queued()
    old = world.run()
    world.new_owner()
    world.run(owner=NEXT_OWNER)
    before = world.job(job)
    world.clock.at += 1

    with world.main.write() as tx:
        match what:
            case "beat":
                tx.beat([old], tx.now + LEASE)
            case "give_back":
                tx.give_back(old, None, "retry", counts=True, trouble=WHY)
            case "condemn":
                tx.condemn(old, WHY)
            case _:
                tx.end_cancelled(old)

    assert world.job(job) == before


# ------------------------------------------------------------------------------- giving back


def test_a_run_given_back_keeps_its_place(world: World) -> None:
    first, _second = world.queued(), world.queued()
    fence = world.run()
    with world.main.write() as tx:
        tx.give_back(fence, None, "stopped", counts=False, trouble=None)

    assert world.run().job == first.id


def test_a_failed_run_comes_again_at_its_time_with_one_attempt_more(world: World) -> None:
    job = world.queued()
    fence = world.run()
    due = world.clock.now + 2 * SECOND
    with world.main.write() as tx:
        tx.give_back(fence, due, "retry", counts=True, trouble=WHY)

    again = world.job(job)
    assert (again.state, again.run_at, again.attempt) == (JobState.LATER, due, 1)
    assert (again.reason, again.error) == ("retry", WHY)


def test_a_condemned_job_is_handed_out_once_more_to_be_given_up(world: World) -> None:
    world.queued()
    fence = world.run()
    with world.main.write() as tx:
        tx.condemn(fence, WHY)

    (job,) = world.claim().jobs

    assert (job.verdict, job.error) == (Verdict.GIVE_UP, WHY)


# ------------------------------------------------------------------------------- cancel


def test_waiting_work_of_an_item_is_ended_at_once(world: World) -> None:
    job = world.queued()
    with world.main.write() as tx:
        places = tx.cancel_items([item_of(job)], "superseded")

    ended = world.job(job)
    assert (ended.state, ended.reason) == (JobState.CANCELLED, "superseded")
    assert places == {job.item_id: job.ordinal}
    assert world.take() == []


def test_running_work_of_an_item_is_told_to_stop(world: World) -> None:
    job = world.queued()
    world.run()
    with world.main.write() as tx:
        tx.cancel_items([item_of(job)], "deleted")

    assert world.bells.jobs == [job.id]
    assert world.job(job).state is JobState.RUNNING


def test_a_run_told_to_stop_that_fails_is_cancelled_and_not_tried_again(world: World) -> None:
    job = world.queued()
    fence = world.run()
    with world.main.write() as tx:
        tx.cancel_items([item_of(job)], "deleted")
    with world.main.write() as tx:
        tx.give_back(fence, None, "retry", counts=True, trouble=WHY)
        tx.condemn(fence, WHY)
        tx.end_cancelled(fence)

    assert world.job(job).state is JobState.CANCELLED


def test_a_run_nobody_stopped_is_not_ended_as_cancelled(world: World) -> None:
    job = world.queued()
    fence = world.run()
    with world.main.write() as tx:
        tx.end_cancelled(fence)

    assert world.job(job).state is JobState.RUNNING


def test_the_work_of_a_base_is_ended_but_not_its_own_end(world: World) -> None:
    running, waiting = world.queued(), world.queued()
    other = world.queued(world.base(B))
    last = world.enqueue(None, kind=JobKind.DELETE_BASE)
    world.run()
    with world.main.write() as tx:
        tx.cancel_base(A)

    assert world.bells.jobs == [running.id]
    assert world.job(waiting).state is JobState.CANCELLED
    assert world.job(other).state is JobState.READY
    assert world.take(Lane.URGENT) == [last.id]


# ------------------------------------------------------------------------------- rescue


def test_a_new_owner_frees_the_rows_of_the_old_one(world: World) -> None:
    job, waiting = world.queued(), world.queued()
    world.run()

    assert world.new_owner() == [job.id]
    assert world.job(job).state is JobState.READY
    assert world.job(waiting).deaths == 0


def test_an_owner_does_not_free_its_own_rows(world: World) -> None:
    world.queued()
    world.run()

    with world.main.write() as tx:
        assert tx.rescue_foreign(OWNER) == []


def test_a_rescued_job_counts_the_death_of_its_owner(world: World) -> None:
    job = world.queued()
    world.run()

    world.new_owner()

    assert world.job(job).deaths == 1


def test_a_cancelled_run_of_a_dead_owner_stays_cancelled(world: World) -> None:
    job = world.queued()
    world.run()
    with world.main.write() as tx:
        tx.cancel_items([item_of(job)], "deleted")

    world.new_owner()

    assert world.job(job).state is JobState.CANCELLED


def test_a_lease_that_ran_out_frees_the_job_and_one_that_did_not_keeps_it(world: World) -> None:
    lost, kept = world.queued(), world.queued()
    world.run()
    world.clock.at += 30
    world.run()
    world.clock.at += 31

    with world.main.write() as tx:
        freed = [one.job for one in tx.rescue_expired()]

    assert freed == [lost.id]
    assert world.job(kept).state is JobState.RUNNING


@pytest.mark.parametrize("how", ["beat", "renew"])
def test_a_renewed_lease_holds(world: World, how: str) -> None:
    world.queued()
    fence = world.run()
    world.clock.at += 50
    with world.main.write() as tx:
        if how == "beat":
            tx.beat([fence], tx.now + LEASE)
        else:
            tx.renew(OWNER, tx.now + LEASE)
    world.clock.at += 50

    with world.main.write() as tx:
        assert tx.rescue_expired() == []


def test_index_work_without_progress_is_fenced_and_told_to_stop(world: World) -> None:
    job = world.queued()
    fence = world.run()
    with world.main.write() as tx:
        freed = [one.job for one in tx.rescue_stuck([fence])]

    assert freed == world.bells.jobs == [job.id]
    assert world.job(job).deaths == 1
    assert world.end(fence) == set()


def test_a_run_that_has_ended_is_not_fenced_as_stuck(world: World) -> None:
    world.queued()
    fence = world.run()
    world.end(fence)

    with world.main.write() as tx:
        assert tx.rescue_stuck([fence]) == []


# ------------------------------------------------------------------------------- deaths


@pytest.mark.parametrize("how", ["beat", "give_back"])
def test_a_stored_batch_or_a_graceful_stop_forgets_deaths(world: World, how: str) -> None:
    job = world.queued()
    die(world, 2)
    fence = world.run()
    with world.main.write() as tx:
        if how == "beat":
            tx.beat([fence], tx.now + LEASE)
        else:
            tx.give_back(fence, None, "stopped", counts=False, trouble=None)

    assert world.job(job).deaths == 0


def test_the_fourth_death_gives_the_job_up(world: World) -> None:
    world.queued()
    die(world, 4)

    (job,) = world.claim().jobs

    assert job.verdict is Verdict.GIVE_UP
    assert job.error is not None
    assert job.error[0] == "killed_worker"
    assert "4 times" in job.error[1]


def test_deletes_are_never_given_up_for_deaths(world: World) -> None:
    world.queued(kind=JobKind.DELETE_SUBTREE)
    die(world, 6, Lane.URGENT)

    assert world.claim(Lane.URGENT).jobs[0].verdict is Verdict.RUN


# ------------------------------------------------------------------------------- pruning


def test_prune_keeps_the_newest_hundred_of_each_kind(world: World) -> None:
    index = [ended(world, JobKind.INDEX_DOCUMENTS) for _ in range(103)]
    control = [ended(world, JobKind.PREPARE_ROOT) for _ in range(3)]
    world.clock.at += 1
    with world.main.write() as tx:
        gone = tx.prune_jobs(before=tx.now, newest=100)

    with world.main.read() as snapshot:
        left = [job for job in index + control if snapshot.job(job) is not None]
    assert gone == 3
    assert left == index[3:] + control


def test_prune_keeps_what_is_not_old_enough(world: World) -> None:
    ended(world, JobKind.INDEX_DOCUMENTS)
    with world.main.write() as tx:
        assert tx.prune_jobs(before=tx.now, newest=0) == 0


def test_prune_never_touches_unfinished_jobs(world: World) -> None:
    job = world.queued()
    world.clock.at += 1
    with world.main.write() as tx:
        tx.prune_jobs(before=tx.now, newest=0)

    assert world.job(job).state is JobState.READY


def item_of(job: Job) -> ItemId:
    assert job.item_id is not None
    return job.item_id


def world_move(tx: Transaction, move: Move, target: Status, fence: Fence) -> None:
    assert fence.item is not None
    tx.move_or_end(move, Moved(fence.item, target, fence.generation, fence))


def die(world: World, times: int, lane: Lane = Lane.INDEX) -> None:
    """The owner of the only job dies that many times."""
    for death in range(times):
        world.claim(lane, owner=f"dead-{death}")
        world.new_owner(f"heir-{death}")


def ended(world: World, kind: JobKind) -> JobId:
    job = world.queued(kind=kind)
    world.end(world.run(job.lane))
    return job.id


def test_a_clean_stop_is_remembered_until_the_next_start(world: World) -> None:
    with world.main.write() as tx:
        tx.mark_clean_stop("somebody else")
        assert not tx.stopped_clean()
        tx.mark_clean_stop(OWNER)
        assert tx.stopped_clean()
        tx.raise_epoch(NEXT_OWNER, ClaimNo(0))
        assert not tx.stopped_clean()
