"""What time is it, what is this called, and how lucky are we, in a simulated process?"""

from __future__ import annotations

from random import Random

from holdfast.domain.ids import uuid7
from holdfast.testing.gate import Outage
from holdfast.testing.schedule import Kernel

WALL_AT_START = 1_800_000_000.0


class SimClock:
    """Virtual time; a jump of the wall clock leaves the monotonic one alone."""

    def __init__(self, kernel: Kernel, outage: Outage) -> None:
        self._kernel, self._outage = kernel, outage

    def wall(self) -> float:
        return WALL_AT_START + self._kernel.now + self._outage.wall_jumped

    def mono(self) -> float:
        return self._kernel.now


class SimIds:
    """UUIDv7s from the virtual wall clock and the seed; later than every one before."""

    def __init__(self, clock: SimClock, rng: Random) -> None:
        self._clock, self._rng = clock, rng
        self._millisecond = self._random = 0

    def new(self) -> str:
        millisecond = int(self._clock.wall() * 1_000)
        if millisecond > self._millisecond:
            self._millisecond, self._random = millisecond, self._rng.getrandbits(72)
        else:
            self._random += 1 + self._rng.getrandbits(16)
        return uuid7(self._millisecond, self._random)


class SimRng:
    """Jitter that a seed decides."""

    def __init__(self, rng: Random) -> None:
        self._random = rng.random

    def random(self) -> float:
        return self._random()
