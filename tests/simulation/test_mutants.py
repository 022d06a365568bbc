"""Every named guard can be taken away and is put back; a few are hunted, to know the hunt works."""

from __future__ import annotations

import pytest

from holdfast.testing.hunt import find
from holdfast.testing.mutants import MUTANTS
from holdfast.testing.mutation import Mutant

QUICKLY_FOUND = ("durable_waits_for_the_disk", "progress_only_grows", "vectors_are_there")


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_a_guard_can_be_taken_away_and_put_back(mutant: Mutant) -> None:
    with mutant.off():
        pass
    with mutant.off():
        pass


def test_there_are_enough_guards_and_the_redundant_ones_say_why() -> None:
    assert len(MUTANTS) >= 20
    assert all(len(one.redundant) > 20 for one in MUTANTS.values() if one.redundant is not None)


@pytest.mark.parametrize("name", QUICKLY_FOUND)
def test_a_missing_guard_is_found(name: str) -> None:
    found = find(MUTANTS[name], "test", seeds=60)

    assert found.seed is not None
