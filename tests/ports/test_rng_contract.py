"""Rng: a number from 0 up to 1, and not always the same."""

from __future__ import annotations

from typing import Any


def test_numbers_are_from_0_up_to_1_and_spread(stage: Any) -> None:
    drawn = [stage.rng.random() for _ in range(1_000)]

    assert all(0 <= number < 1 for number in drawn)
    assert len(set(drawn)) > 990
    assert 0.4 < sum(drawn) / len(drawn) < 0.6
