"""The power fails between every pair of steps, the disk is full at every write: nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from holdfast.testing.case import Case
from holdfast.testing.faults import POSSIBLE, Fault, Kind
from holdfast.testing.mutants import MUTANTS
from holdfast.testing.nth_call import SCENARIOS, calls_of
from holdfast.testing.world import play

INDEXED = ("add and find", "upload and update", "file that changes")
REMOVED = ("delete what is found", "delete while at work")


def at_every_call(scenario: str, kind: Kind, seed: str) -> Iterator[Case]:
    """The scenario, over and over, each time with this fault at another call."""
    alone = Case(seed, SCENARIOS[scenario], clients=1)
    for number, (call, port) in enumerate(calls_of(scenario), start=1):
        if kind in POSSIBLE[port]:
            yield replace(alone, plan=(Fault(number, call, kind),))


def violated(scenario: str, kind: Kind, seed: str = "") -> list[str]:
    cases = at_every_call(scenario, kind, seed or scenario)
    return [one for case in cases for one in play(case).violations]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [*INDEXED, *REMOVED])
def test_the_power_may_fail_between_every_pair_of_steps(scenario: str) -> None:
    """Of index-documents and of delete-subtree, whose every step is a call to the outside."""
    assert violated(scenario, Kind.POWER_CUT) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "guard"),
    [
        ("upload and update", "durable_waits_for_the_disk"),
        ("delete what is found", "durable_waits_for_the_disk"),
    ],
)
def test_without_its_guard_some_power_cut_breaks_it(scenario: str, guard: str) -> None:
    with MUTANTS[guard].off():
        seeds = (scenario, f"{scenario} 0", f"{scenario} 1")
        cases = (case for seed in seeds for case in at_every_call(scenario, Kind.POWER_CUT, seed))
        assert any(play(case).violations for case in cases)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_a_full_disk_at_any_write_loses_nothing_and_all_goes_on(scenario: str) -> None:
    """Deletes end and work resumes by itself: the world comes to its rest, or says why not."""
    assert violated(scenario, Kind.DISK_FULL) == []
