"""Clock: `wall` tells the time of day, `mono` never goes back."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def clock(stage: Any) -> Any:
    return stage.clock


def test_wall_is_in_our_century(clock: Any) -> None:
    assert 1_700_000_000 < clock.wall() < 4_102_444_800


def test_mono_never_goes_back(stage: Any, clock: Any) -> None:
    def body() -> None:
        before = clock.mono()
        for _ in range(50):
            stage.runtime.event().wait(0.0005)
            now = clock.mono()
            assert now >= before
            before = now

    stage.play(body)


def test_both_advance_while_one_waits(stage: Any, clock: Any) -> None:
    def body() -> None:
        wall, mono = clock.wall(), clock.mono()
        stage.runtime.event().wait(0.02)

        assert clock.mono() - mono >= 0.019
        assert clock.wall() - wall >= 0.015

    stage.play(body)
