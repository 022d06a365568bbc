"""What waits in the line for a model: whose texts are they, and which go together into one call?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.domain.chunks import about_tokens
from holdfast.domain.errors import StageFailed
from holdfast.domain.ids import BaseId, ClaimNo, JobId, TextHash
from holdfast.ports import Embedder

Key = tuple[BaseId, int, TextHash]  # a vector is kept once in each space of each base


class Spending(Protocol):
    """Where an order writes down what it cost."""

    embedded: int
    reused: int
    calls: int
    tokens: int


@dataclass(slots=True, eq=False)
class Order:
    """What one run waits for: its texts without a vector, and what became of them."""

    base: BaseId
    space: int
    claim: ClaimNo
    jobs: frozenset[JobId]
    provider: str
    embedder: Embedder
    spent: Spending
    open: set[TextHash]
    gone: bool = False
    paid: set[TextHash] = field(default_factory=set[TextHash])
    guilty: dict[TextHash, StageFailed] = field(default_factory=dict[TextHash, StageFailed])

    def key(self, text: TextHash) -> Key:
        return self.base, self.space, text


@dataclass(slots=True, eq=False)
class Wish:
    """A text that waits for its vector, and who waits for it; the first of them pays."""

    key: Key
    text: str
    came: float
    orders: list[Order]
    jobs: frozenset[JobId] = frozenset()  # of the run that calls for it

    @property
    def hash(self) -> TextHash:
        return self.key[2]

    @property
    def holder(self) -> Order:
        """The first who still waits for it; else who waited first."""
        return next((order for order in self.orders if not order.gone), self.orders[0])

    @property
    def tokens(self) -> int:
        return about_tokens(self.text)

    def join(self, other: Wish | None) -> None:
        """Who waits for the other one waits for this one too."""
        waiting = other.orders if other is not None else []
        self.orders += [order for order in waiting if not order.gone and order not in self.orders]


@dataclass(slots=True)
class Line:
    """The texts that wait for one model, and those that are at it."""

    waiting: dict[Key, Wish] = field(default_factory=dict[Key, Wish])
    under_way: dict[Key, Wish] = field(default_factory=dict[Key, Wish])
    claims: set[ClaimNo] = field(default_factory=set[ClaimNo])


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts taken for one call, with a place at their provider."""

    line: Line
    wishes: Sequence[Wish]

    @property
    def left(self) -> list[Wish]:
        """Those that have no answer yet."""
        return [wish for wish in self.wishes if self.line.under_way.get(wish.key) is wish]


@dataclass(frozen=True, slots=True)
class Full:
    """Our own limits admit no call for so long."""

    seconds: float


def fitting(wishes: Sequence[Wish], size: int, embedder: Embedder) -> list[Wish]:
    """The oldest text, and those nearest to it in length that the model takes at once.

    A model that works on a grid as wide as its longest text says how many tokens it takes; for it
    a short text beside a long one is as dear as a long one.
    """
    if embedder.batch_tokens is None:
        return list(wishes[:size])
    ordered = sorted(wishes, key=lambda wish: wish.tokens)
    low = high = ordered.index(wishes[0])
    while high - low + 1 < size and (low > 0 or high + 1 < len(ordered)):
        shorter = low > 0 and (high + 1 == len(ordered) or _nearer_below(ordered, low, high))
        first, last = (low - 1, high) if shorter else (low, high + 1)
        if ordered[last].tokens * (last - first + 1) > embedder.batch_tokens:
            if shorter or low == 0:
                break
            first, last = low - 1, high
            if ordered[last].tokens * (last - first + 1) > embedder.batch_tokens:
                break
        low, high = first, last
    return ordered[low : high + 1]


def _nearer_below(ordered: Sequence[Wish], low: int, high: int) -> bool:
    below = ordered[low].tokens - ordered[low - 1].tokens
    return below <= ordered[high + 1].tokens - ordered[high].tokens
