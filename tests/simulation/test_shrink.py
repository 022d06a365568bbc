"""Shrinking: what is left is enough to fail, and nothing of it can be left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.testing.case import Case, Outcome, Step
from holdfast.testing.faults import Fault, Kind
from holdfast.testing.shrink import shrunk, smallest, told

FAULTS = tuple(Fault(n, "main.write", Kind.BUSY) for n in range(10))
STEPS = tuple(Step("add_notes", n, 0) for n in range(8))


@given(st.sets(st.integers(0, 20)), st.integers(21, 40))
def test_only_the_needed_parts_are_left(needed: set[int], count: int) -> None:
    left = smallest(range(count), lambda parts: needed <= set(parts))

    assert set(left) == needed


def play(case: Case) -> Outcome:
    faults = {fault.number for fault in case.plan or ()}
    steps = {step.first for step in case.steps or ()}
    failed = {3, 7} <= faults and 5 in steps
    return Outcome(
        case,
        steps=case.steps or (),
        faults=list(case.plan or ()),
        violations=["I1 broken"] if failed else [],
        clients=case.clients or 1,
    )


def test_a_case_is_shrunk_to_two_faults_and_one_step() -> None:
    failed = play(Case("7", STEPS, FAULTS, clients=3))

    best = shrunk(play, failed)

    assert [fault.number for fault in best.faults] == [3, 7]
    assert [step.first for step in best.steps] == [5]
    assert best.clients == 1
    assert "I1 broken" in told(best)
    assert "seed 7" in told(best)
