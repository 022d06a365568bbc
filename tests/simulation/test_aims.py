"""Aimed schedules meet what others seldom do, and are schedules like any other."""

from __future__ import annotations

from random import Random

from holdfast.testing.aims import aimed
from holdfast.testing.case import Case
from holdfast.testing.coverage import ENOUGH
from holdfast.testing.parts import Tally, part, seeds_of
from holdfast.testing.world import play


def some_aims() -> list[str]:
    tally = part(seeds_of("aims", 0, 6))
    return Random(1).sample(list(aimed(tally, salt=0)), 12)


def test_an_aimed_schedule_meets_its_fault_at_its_call() -> None:
    for seed in some_aims():
        case = Case(seed)
        outcome = play(case)

        assert case.aim is not None
        assert (case.aim.call, case.aim.kind) in {(hit.call, hit.kind) for hit in outcome.faults}
        assert outcome.violations == []


def test_an_aimed_schedule_replays_by_its_seed_and_written_out() -> None:
    for seed in some_aims()[:4]:
        first, second = play(Case(seed)), play(Case(seed))

        assert first.digest == second.digest
        assert play(first.exact).digest == first.digest


def test_what_was_met_often_enough_is_not_aimed_at() -> None:
    tally = Tally(ports={"enqueue": "enqueue"}, reached={"enqueue": [("seed", 3)]})
    tally.hits["enqueue\trefused"] = ENOUGH

    assert list(aimed(tally, salt=0)) == []
