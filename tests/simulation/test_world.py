"""Production code under every kind of bad luck: it holds, and what happened can be repeated."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import pytest

from holdfast.testing.case import Case
from holdfast.testing.nth_call import SCENARIOS, calls_of
from holdfast.testing.parts import part, seeds_of
from holdfast.testing.shrink import told
from holdfast.testing.world import play

FRESH = secrets.token_hex(4)


@pytest.mark.parametrize("block", range(4))
def test_fresh_seeds_break_nothing(block: int) -> None:
    tally = part(seeds_of(FRESH, block * 15, 15))

    assert tally.failed == [], "\n\n".join(tally.stories)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(30))
def test_many_fresh_seeds_break_nothing(block: int) -> None:
    tally = part(seeds_of(FRESH, 1_000 + block * 100, 100))

    assert tally.failed == [], "\n\n".join(tally.stories)


def test_a_seed_replays_to_an_identical_trace() -> None:
    for number in range(5):
        first, second = play(Case(f"replay-{number}")), play(Case(f"replay-{number}"))

        assert first.digest == second.digest
        assert list(first.trace) == list(second.trace)


def test_a_schedule_written_out_replays_too() -> None:
    for number in range(5):
        drawn = play(Case(f"exact-{number}"))

        assert play(drawn.exact).digest == drawn.digest


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_a_scenario_without_faults_comes_to_its_rest(scenario: str) -> None:
    assert calls_of(scenario)


def test_a_story_names_seed_script_and_faults() -> None:
    story = told(play(Case("story-1")))

    assert "seed story-1" in story
    assert "script: add_notes" in story


@pytest.mark.slow
def test_a_seed_replays_in_another_process_with_other_hashes() -> None:
    program = (
        "from holdfast.testing.case import Case; from holdfast.testing.world import play; "
        "print(*(play(Case(f'hashes-{n}')).digest for n in range(8)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(told) == 1
