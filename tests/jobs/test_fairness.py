"""Whose turn is it? Pure rules over lists."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.ids import BaseId, JobId
from holdfast.domain.jobs import (
    BUNDLE_BYTES,
    BUNDLE_ITEMS,
    SMALL_ITEM_BYTES,
    Job,
    JobKind,
    JobState,
    Lane,
    Verdict,
)
from holdfast.jobs.fairness import bundle, is_small, may_start_large, next_base, turns

BASES = st.sampled_from([BaseId(name) for name in "abcdefgh"])

JOB = Job(
    id=JobId(1),
    kind=JobKind.INDEX_DOCUMENTS,
    lane=Lane.INDEX,
    base_id=BaseId("a"),
    item_id=None,
    key="k",
    state=JobState.READY,
    ordinal=1,
    large=False,
    run_at=None,
    reason=None,
    attempt=0,
    deaths=0,
    verdict=Verdict.RUN,
    claim=None,
    generation=None,
    workload=100,
    input={},
    error=None,
    created_at=0,
    updated_at=0,
)


def jobs(*workloads: int) -> list[Job]:
    return [replace(JOB, id=JobId(n), workload=size) for n, size in enumerate(workloads)]


def test_a_base_with_a_long_backlog_waits_its_turn() -> None:
    waiting = [BaseId("big"), BaseId("big"), BaseId("small")]

    assert next_base(waiting, last_served=BaseId("big"), active={}, limit_per_base=2) == "small"


def test_a_base_alone_is_served_again_and_again() -> None:
    assert next_base([BaseId("a")], BaseId("a"), {}, limit_per_base=2) == "a"


def test_a_full_base_is_passed_over() -> None:
    waiting = [BaseId("a"), BaseId("b")]

    assert next_base(waiting, None, {BaseId("a"): 2}, limit_per_base=2) == "b"


def test_nobody_is_served_when_all_are_full() -> None:
    assert next_base([BaseId("a")], None, {BaseId("a"): 2}, limit_per_base=2) is None


@given(st.lists(BASES, min_size=1), st.none() | BASES)
def test_the_ring_holds_each_waiting_base_once_and_the_last_served_last(
    waiting: list[BaseId], last: BaseId | None
) -> None:
    ring = turns(waiting, last)

    assert sorted(ring) == sorted(set(waiting))
    assert last not in ring[:-1]


@given(st.sets(BASES, min_size=1))
def test_in_as_many_picks_as_there_are_bases_each_is_served_once(waiting: set[BaseId]) -> None:
    served: list[BaseId] = []
    last: BaseId | None = None

    for _ in waiting:
        last = next_base(waiting, last, {}, limit_per_base=1)
        assert last is not None
        served.append(last)

    assert sorted(served) == sorted(waiting)


@pytest.mark.parametrize(
    ("slots", "running", "in_base", "allowed"),
    [(4, 0, 0, True), (4, 1, 0, True), (4, 2, 0, False), (4, 1, 1, False), (1, 0, 0, True)],
)
def test_large_items_take_at_most_half_the_slots_and_one_per_base(
    slots: int, running: int, in_base: int, allowed: bool
) -> None:
    assert may_start_large(slots, running, in_base) is allowed


@given(st.lists(st.integers(0, 2 * SMALL_ITEM_BYTES), max_size=200))
def test_a_bundle_is_a_beginning_of_the_queue_within_its_bounds(workloads: list[int]) -> None:
    heads = jobs(*workloads)

    together = bundle(heads)

    assert together == heads[: len(together)]
    assert bool(together) == bool(heads)
    assert len(together) <= BUNDLE_ITEMS
    if len(together) > 1:
        assert all(is_small(job) for job in together)
        assert sum(job.workload for job in together) <= BUNDLE_BYTES


def test_a_bundle_takes_all_it_may() -> None:
    assert len(bundle(jobs(*[1] * 100))) == BUNDLE_ITEMS
    assert len(bundle(jobs(*[SMALL_ITEM_BYTES] * 100))) == BUNDLE_BYTES // SMALL_ITEM_BYTES


@pytest.mark.parametrize(
    "marked",
    [
        replace(JOB, attempt=1),
        replace(JOB, deaths=1),
        replace(JOB, verdict=Verdict.GIVE_UP),
        replace(JOB, kind=JobKind.PREPARE_ROOT),
        replace(JOB, workload=0),
        replace(JOB, workload=SMALL_ITEM_BYTES + 1),
    ],
)
def test_what_failed_killed_or_is_not_small_runs_by_itself(marked: Job) -> None:
    assert bundle([marked, JOB]) == [marked]
    assert bundle([JOB, marked, JOB]) == [JOB]
