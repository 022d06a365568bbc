"""Which job does a free slot get? What every main store promises to the fair claim."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest

from holdfast.domain.bases import BaseStatus
from holdfast.domain.errors import HoldfastError
from holdfast.domain.ids import BaseId, JobId
from holdfast.domain.item_states import Status
from holdfast.domain.jobs import BUNDLE_ITEMS, MAX_INPUT_BYTES, JobKind, JobState, Lane, NewJob
from tests.stores.main_worlds import (
    IMPLEMENTATIONS,
    SECOND,
    A,
    B,
    C,
    World,
    fence_of,
    ids_of,
    opened,
)

# ------------------------------------------------------------------------------- one job, one run


def test_two_claimers_get_one_job(world: World) -> None:
    job = world.queued()
    taken: list[list[JobId]] = []
    together = Barrier(8)

    def claim() -> None:
        together.wait()
        taken.append(world.take(per_base=8, total=8))

    claimers = [Thread(target=claim) for _ in range(8)]
    for claimer in claimers:
        claimer.start()
    for claimer in claimers:
        claimer.join()

    assert sorted(taken) == [[]] * 7 + [[job.id]]


def test_a_claim_says_who_has_the_job_and_since_which_number(world: World) -> None:
    world.queued()

    (job,) = world.claim().jobs

    assert (job.state, job.claim) == (JobState.RUNNING, 1_000_000_001)


def test_an_empty_lane_says_that_nothing_is_coming(world: World) -> None:
    found = world.claim()

    assert (found.jobs, found.look_again, found.more) == ((), None, False)


def test_a_claim_says_whether_more_could_start(world: World) -> None:
    world.queued(A)
    world.base(B)
    world.queued(B)

    assert world.claim().more
    assert not world.claim().more


# ------------------------------------------------------------------------------- whose turn it is


def test_bases_take_turns(world: World) -> None:
    for base in (A, A, A, world.base(B), B, B, world.base(C)):
        world.queued(base)

    assert world.served(7) == [A, B, C, A, B, A, B]


def test_the_turn_is_remembered_in_the_database(tmp_path: Path) -> None:
    make = IMPLEMENTATIONS["sqlite"]
    with opened(make, tmp_path) as first:
        for base in (first.base(A), A, first.base(B)):
            first.queued(base)
        assert first.serve() == A

    with opened(make, tmp_path) as second:
        assert second.served(2) == [B, A]


def test_each_lane_has_its_own_turn(world: World) -> None:
    world.base(B)
    for base in (A, B):
        world.queued(base)
        world.queued(base, kind=JobKind.PREPARE_ROOT)

    assert world.serve() == A
    assert world.serve(Lane.CONTROL) == A
    assert world.serve() == B


def test_inside_a_base_the_first_to_come_is_the_first_to_go(world: World) -> None:
    jobs = [world.queued() for _ in range(5)]

    started = [world.run().job for _ in range(2)]
    assert started == ids_of(jobs[:2])


def test_joining_a_live_key_does_not_disturb_the_order(world: World) -> None:
    items = [world.item() for _ in range(8)]
    again = [NewJob(JobKind.INDEX_DOCUMENTS, A, f"key {one}", one) for one in items]
    with world.main.write() as tx:
        tx.enqueue(again[:5])
        tx.enqueue(again[:7])  # five are there already
        tx.enqueue(again[7:])

    order = [world.run(per_base=10, total=10).item for _ in range(8)]
    assert order == items


def test_an_inherited_place_goes_before_what_came_later(world: World) -> None:
    early = world.queued()
    late = world.queued()
    with world.main.write() as tx:
        places = tx.cancel_items([early.item_id or ""], "superseded")  # type: ignore[list-item]

    heir = world.enqueue(early.item_id, ordinal=places[early.item_id or ""])  # type: ignore[index]

    assert [world.run().job for _ in range(2)] == [heir.id, late.id]


def test_a_base_holds_no_more_slots_than_it_may(world: World) -> None:
    for _ in range(3):
        world.queued(A)
    world.base(B)
    other = world.queued(B)

    taken = [world.take(per_base=2) for _ in range(4)]

    assert taken[2:] == [[], []] or [other.id] in taken[:3]
    with world.main.read() as snapshot:
        assert sorted(one.base for one in snapshot.running(Lane.INDEX)) == [A, A, B]


def test_no_more_run_than_there_are_slots(world: World) -> None:
    for name in "abcdef":
        base = world.base(BaseId(name))
        world.queued(base)

    taken = [world.take(total=4) for _ in range(6)]

    assert [len(jobs) for jobs in taken] == [1, 1, 1, 1, 0, 0]


def test_a_long_row_of_full_bases_hides_nobody(world: World) -> None:
    for number in range(40):
        base = world.base(BaseId(f"n{number:02}"))
        world.queued(base)
        world.queued(base)
    seen = {world.run(total=41, per_base=1).job for _ in range(40)}

    last = world.queued(world.base(BaseId("z")))

    assert len(seen) == 40
    assert world.take(total=41, per_base=1) == [last.id]


# ------------------------------------------------------------------------------- who is passed over


@pytest.mark.parametrize("lane", [Lane.INDEX, Lane.CONTROL])
def test_a_paused_base_is_passed_over(world: World, lane: Lane) -> None:
    world.queued(world.base(B, paused=True), kind=kind_of(lane))
    open_base = world.queued(A, kind=kind_of(lane))

    assert world.take(lane) == [open_base.id]
    assert world.take(lane) == []


@pytest.mark.parametrize("lane", [Lane.INDEX, Lane.CONTROL])
def test_a_failed_base_is_passed_over(world: World, lane: Lane) -> None:
    world.queued(A, kind=kind_of(lane))
    with world.main.write() as tx:
        tx.set_base_state(A, BaseStatus.FAILED, "missing_embedding_model")

    assert world.take(lane) == []


@pytest.mark.parametrize("lane", [Lane.INDEX, Lane.CONTROL])
def test_a_base_whose_provider_is_paused_is_passed_over(world: World, lane: Lane) -> None:
    with_model = world.base(B, embedding_model="acme/big", dimensions=8)
    world.queued(with_model, kind=kind_of(lane))
    opens = world.clock.now + 30 * SECOND
    with world.main.write() as tx:
        tx.pause_provider("acme", opens, "too many requests", failed=True)

    held_back = world.claim(lane)
    world.clock.at += 31

    assert (held_back.jobs, held_back.look_again) == ((), opens)
    assert len(world.take(lane)) == 1


@pytest.mark.parametrize("lane", [Lane.URGENT, Lane.POLL])
def test_deletes_and_polls_run_in_paused_and_failed_bases(world: World, lane: Lane) -> None:
    paused = world.queued(world.base(B, paused=True), kind=kind_of(lane))
    failed = world.queued(A, kind=kind_of(lane))
    with world.main.write() as tx:
        tx.set_base_state(A, BaseStatus.FAILED, "missing_vector_store")

    assert sorted(world.take(lane) + world.take(lane)) == sorted([paused.id, failed.id])


def test_a_row_of_paused_bases_hides_nobody(world: World) -> None:
    for number in range(60):
        world.queued(world.base(BaseId(f"n{number:02}"), paused=True))
    last = world.queued(world.base(BaseId("z")))

    assert world.take() == [last.id]


def test_an_item_at_work_is_skipped_and_the_next_one_is_not(world: World) -> None:
    item = world.item()
    world.enqueue(item)
    world.run()
    again = world.enqueue(item, generation=2)
    behind = world.queued()

    assert world.take() == [behind.id]
    assert world.job(again).state is JobState.READY


def test_a_skipped_item_is_taken_when_its_other_run_has_ended(world: World) -> None:
    item = world.item()
    world.enqueue(item)
    first = world.run()
    again = world.enqueue(item, generation=2)
    assert world.take() == []

    world.end(first)

    assert world.take() == [again.id]


# ------------------------------------------------------------------------------- large items


def test_large_items_take_at_most_half_the_slots(world: World) -> None:
    for name in "abcd":
        world.queued(world.base(BaseId(name)), large=True)

    assert [len(world.take(total=4)) for _ in range(4)] == [1, 1, 0, 0]


def test_one_large_item_of_a_base_runs_at_a_time(world: World) -> None:
    world.queued(large=True)
    world.queued(large=True)

    assert [len(world.take(total=8, per_base=8)) for _ in range(2)] == [1, 0]


def test_a_large_item_without_a_slot_is_passed_over(world: World) -> None:
    first, waiting, small = world.queued(large=True), world.queued(large=True), world.queued()

    assert [world.take() for _ in range(2)] == [[first.id], [small.id]]
    assert world.job(waiting).state is JobState.READY


def test_a_large_item_keeps_its_place_before_smaller_ones(world: World) -> None:
    large, small = world.queued(large=True), world.queued()

    assert [world.take() for _ in range(2)] == [[large.id], [small.id]]


def test_bases_that_wait_for_a_large_slot_hide_nobody(world: World) -> None:
    for number in range(60):
        world.queued(world.base(BaseId(f"n{number:02}")), large=True)
    last = world.queued(world.base(BaseId("z")))

    assert [len(world.take(total=4)) for _ in range(2)] == [1, 1]  # the large slots
    assert world.take(total=4) == [last.id]


# ------------------------------------------------------------------------------- bundles


def test_small_items_of_one_base_share_a_slot(world: World) -> None:
    jobs = world.small(A, 5)

    assert world.take() == ids_of(jobs)


def test_a_bundle_has_a_limit_of_items(world: World) -> None:
    jobs = world.small(A, BUNDLE_ITEMS + 3)

    assert world.take() == ids_of(jobs[:BUNDLE_ITEMS])


def test_a_bundle_takes_one_slot(world: World) -> None:
    world.small(A, 2 * BUNDLE_ITEMS)
    world.small(world.base(B), 3)

    taken = [len(world.take(total=3, per_base=2)) for _ in range(4)]

    assert taken == [BUNDLE_ITEMS, 3, BUNDLE_ITEMS, 0]


def test_a_bundle_holds_its_slot_until_its_last_item_has_ended(world: World) -> None:
    world.small(A, 2)
    first, second = map(fence_of, world.claim().jobs)
    waiting = world.queued()

    world.end(first)
    assert world.take(per_base=1) == []
    world.end(second)
    assert world.take(per_base=1) == [waiting.id]


def test_each_item_of_a_bundle_has_its_own_claim(world: World) -> None:
    world.small(A, 3)

    claims = [job.claim for job in world.claim().jobs]

    assert claims == [1_000_000_001, 1_000_000_002, 1_000_000_003]


def test_small_items_do_not_overtake_a_large_one(world: World) -> None:
    before = world.small(A, 2)
    large = world.queued(large=True, workload=1 << 25)
    after = world.small(A, 2)

    taken = []
    for _ in range(3):
        jobs = world.claim().jobs
        taken.append(ids_of(jobs))
        world.end(*map(fence_of, jobs))

    assert taken == [ids_of(before), [large.id], ids_of(after)]


# ------------------------------------------------------------------------------- later and parked


def test_a_delayed_job_waits_for_its_time(world: World) -> None:
    due = world.clock.now + 5 * SECOND
    job = world.queued(run_at=due)

    early = world.claim()
    world.clock.at += 5

    assert (early.jobs, early.look_again) == ((), due)
    assert world.take() == [job.id]


def test_a_clock_set_back_does_not_hold_a_delayed_job_for_as_long(world: World) -> None:
    job = world.queued(run_at=world.clock.now + 60 * SECOND)

    world.clock.at -= 7 * 3_600

    assert world.take() == [job.id]


def test_a_job_delayed_for_the_longest_pause_still_waits(world: World) -> None:
    world.queued(run_at=world.clock.now + 3_600 * SECOND)

    assert world.take() == []


def test_the_next_look_is_at_the_first_of_the_delayed(world: World) -> None:
    times = [world.clock.now + n * SECOND for n in (9, 3, 6)]
    for when in times:
        world.queued(run_at=when)

    assert world.claim().look_again == min(times)


def test_a_parked_job_is_never_claimed(world: World) -> None:
    world.queued(world.base(B, recovery="ask"))
    with world.main.write() as tx:
        assert tx.park() == 1

    world.clock.at += 10_000_000

    assert world.take() == []


def test_deletes_never_park(world: World) -> None:
    job = world.queued(world.base(B, recovery="ask"), kind=JobKind.DELETE_SUBTREE)
    with world.main.write() as tx:
        assert tx.park() == 0

    assert world.take(Lane.URGENT) == [job.id]


def test_only_bases_that_ask_are_parked(world: World) -> None:
    job = world.queued(A)
    with world.main.write() as tx:
        tx.park()

    assert world.take() == [job.id]


def test_an_unparked_job_goes_on(world: World) -> None:
    job = world.queued(world.base(B, recovery="ask"))
    with world.main.write() as tx:
        tx.park()
        assert tx.unpark(B, None) == {job.item_id}

    assert world.take() == [job.id]


def test_a_dismissed_job_is_over_and_its_key_is_free(world: World) -> None:
    item = world.item(world.base(B, recovery="ask"))
    job = world.enqueue(item, B, key="k")
    with world.main.write() as tx:
        tx.park()
        assert tx.end_parked(B, [item]) == {item}

    assert world.job(job).state is JobState.CANCELLED
    assert world.enqueue(item, B, key="k").id != job.id


# ------------------------------------------------------------------------------- keys and refusals


def test_a_live_key_joins_the_job_it_names(world: World) -> None:
    item = world.item()
    first = world.enqueue(item, key="k")

    second = world.enqueue(item, key="k")

    assert second.id == first.id
    with world.main.read() as snapshot:
        assert snapshot.unfinished() == 1


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_the_key_of_an_ended_job_may_be_used_again(world: World, state: JobState) -> None:
    item = world.item()
    first = world.enqueue(item, key="k")
    fence = world.run()
    with world.main.write() as tx:
        tx.finish([fence], state)

    assert world.enqueue(item, key="k").id != first.id


def test_a_call_with_one_job_too_large_enqueues_nothing(world: World) -> None:
    good, bad = world.item(), world.item()
    too_large = {"text": "x" * (MAX_INPUT_BYTES + 1)}

    with pytest.raises(HoldfastError, match="carries") as refused, world.main.write() as tx:
        tx.enqueue(
            [
                NewJob(JobKind.INDEX_DOCUMENTS, A, "good", good),
                NewJob(JobKind.INDEX_DOCUMENTS, A, "bad", bad, input=too_large),
            ]
        )

    assert refused.value.code == "too_large"
    with world.main.read() as snapshot:
        assert snapshot.unfinished() == 0


def test_the_roots_of_a_job_are_found(world: World) -> None:
    items = [world.item(), world.item()]
    job = world.enqueue(None, kind=JobKind.DELETE_SUBTREE, input={"roots": items})

    with world.main.read() as snapshot:
        found = snapshot.live_roots(items, JobKind.DELETE_SUBTREE)
        others = snapshot.live_roots(items, JobKind.REINDEX_SUBTREE)

    assert found == dict.fromkeys(items, job.id)
    assert others == {}


# ------------------------------------------------------------------------------- solo


def test_a_job_that_killed_three_workers_runs_alone(world: World) -> None:
    killer = world.queued()
    for death in range(3):
        world.run(owner=f"dead-{death}")
        world.new_owner(f"dead-{death + 1}")
    beside = world.queued(world.base(B))
    assert world.job(killer).deaths == 3

    assert world.take() == [killer.id]
    assert world.take() == []  # nothing beside it

    world.end(fence_of(world.job(killer)))
    assert world.take() == [beside.id]


def test_the_slots_drain_before_a_killer_runs_alone(world: World) -> None:
    killer = world.queued()
    for death in range(3):
        world.run(owner=f"dead-{death}")
        world.new_owner(f"dead-{death + 1}")
    with world.main.write() as tx:
        tx.set_base_state(A, BaseStatus.FAILED, "missing_vector_store")
    world.queued(world.base(B))
    busy = world.run()
    with world.main.write() as tx:
        tx.set_base_state(A, BaseStatus.COMPLETED, None)

    assert world.take() == []
    world.end(busy)
    assert world.take() == [killer.id]


def kind_of(lane: Lane) -> JobKind:
    return {
        Lane.INDEX: JobKind.INDEX_DOCUMENTS,
        Lane.CONTROL: JobKind.PREPARE_ROOT,
        Lane.POLL: JobKind.CHECK_FILE_PROCESSING_RESULT,
        Lane.URGENT: JobKind.DELETE_SUBTREE,
    }[lane]


def test_items_of_these_tests_are_at_work(world: World) -> None:
    """The worlds here are sound: no invariant is broken by how they are made."""
    world.queued()

    assert world.find(world.queued().item_id or "").status is Status.PROCESSING  # type: ignore[arg-type]
    assert world.violations() == []
