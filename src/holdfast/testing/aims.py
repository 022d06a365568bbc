"""Which fault at which call has been met too seldom, and which schedules would meet it?

A seed that reached the call is played again: up to the n-th time it makes the call everything is
as it was, there the wanted fault happens, and what goes wrong afterwards is drawn anew. So each
aimed schedule hits, is unlike the others, and is replayed by its own seed.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.testing.coverage import ENOUGH, expected
from holdfast.testing.faults import Aim, Kind
from holdfast.testing.parts import Tally

SPARE = 2  # a few miss: what the aim itself changes comes before it now and then


def aimed(tally: Tally, salt: int) -> Iterator[str]:
    """Seeds aimed at every pair that is short of `ENOUGH`."""
    hits = tally.pairs
    for call, kind in expected(tally.ports):
        missing = ENOUGH - hits[call, kind]
        if missing > 0:
            yield from aimed_at(call, Kind(kind), tally.reached[call], missing + SPARE, salt)


def aimed_at(
    call: str, kind: Kind, reached: list[tuple[str, int]], wanted: int, salt: int
) -> Iterator[str]:
    """As many different schedules that meet this fault at this call."""
    for number in range(wanted):
        seed, times = reached[number % len(reached)]
        nth = 1 + (number // len(reached)) % times
        yield f"{seed}!{Aim(call, kind, nth, salt + number)}"
