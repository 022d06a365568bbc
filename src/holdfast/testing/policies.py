"""Among those who can run, who does? Each seed draws one manner of choosing (a swarm).

A uniform choice finds what needs many switches; few pre-emptions among random priorities (PCT)
find what needs one switch at one exact place; a sticky choice lies between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Protocol

LIKELY_STEPS = 1_500
FAIR_AFTER = 2 * LIKELY_STEPS


class Ranked(Protocol):
    """Something that can be chosen: it keeps the priority it was given when it began."""

    priority: float


class Policy(Protocol):
    """Where in `ready` the next one stands; `current` is its last place or -1."""

    def choose(self, ready: Sequence[Ranked], current: int) -> int: ...


class Uniform:
    """Anyone, at every yield point."""

    def __init__(self, rng: Random) -> None:
        self._random = rng.random

    def choose(self, ready: Sequence[Ranked], current: int) -> int:
        return int(self._random() * len(ready))


class Sticky:
    """The one who runs goes on, but for a chance in so many."""

    def __init__(self, rng: Random) -> None:
        self._random = rng.random
        self._leave = rng.choice((0.05, 0.1, 0.3))

    def choose(self, ready: Sequence[Ranked], current: int) -> int:
        if current >= 0 and self._random() >= self._leave:
            return current
        return int(self._random() * len(ready))


class Priorities:
    """The highest random priority, until one of a few drawn steps puts it last (PCT).

    Nobody is starved for ever: where the changes are long past, it is anyone's turn.
    """

    def __init__(self, rng: Random) -> None:
        self._random = rng.random
        changes = rng.choice((1, 2, 3, 5, 8))
        self._changes = sorted((rng.randrange(LIKELY_STEPS) for _ in range(changes)), reverse=True)
        self._step = 0
        self._lowest = 0.0

    def choose(self, ready: Sequence[Ranked], current: int) -> int:
        self._step += 1
        if self._step > FAIR_AFTER:
            return int(self._random() * len(ready))
        best = self._highest(ready)
        if self._changes and self._step >= self._changes[-1]:
            self._changes.pop()
            self._lowest -= 1.0
            ready[best].priority = self._lowest
            best = self._highest(ready)
        return best

    def _highest(self, ready: Sequence[Ranked]) -> int:
        best = 0
        for place, one in enumerate(ready):
            if one.priority > ready[best].priority:
                best = place
        return best


def drawn_policy(rng: Random) -> Policy:
    """The manner of this seed."""
    kind = rng.choice((Uniform, Uniform, Sticky, Priorities, Priorities))
    return kind(rng)
