"""How do several rankings become one, and when are two hits the same?

Only places are compared, never scores: a cosine and a word count have no common scale, nor have
two bases.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from holdfast.domain.ids import ItemId

RANK_OFFSET = 60
MAX_ALSO = 10

Key = TypeVar("Key", bound=Hashable)
Hit = TypeVar("Hit")


@dataclass(frozen=True, slots=True)
class Merged(Generic[Hit]):
    """A hit, and the other items that hold the same text."""

    hit: Hit
    also: tuple[ItemId, ...] = ()


def fused(rankings: Sequence[Sequence[Key]], offset: int = RANK_OFFSET) -> list[tuple[Key, float]]:
    """Reciprocal rank fusion: 1 / (offset + place), summed over the rankings; best first.

    Of equals, what stands in an earlier ranking, or higher in it, comes first.
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for place, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (offset + place)
    return sorted(scores.items(), key=lambda scored: -scored[1])


def by_rank(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """All firsts, then all seconds, and so on; within a place in the order of the rankings."""
    longest = max(map(len, rankings), default=0)
    places = range(longest)
    return [ranking[place] for place in places for ranking in rankings if place < len(ranking)]


def merge_equal(
    ranked: Sequence[Hit], text: Callable[[Hit], Hashable], item: Callable[[Hit], ItemId]
) -> list[Merged[Hit]]:
    """Equal texts as one hit, where the first of them stands; the others' items are named."""
    firsts: dict[Hashable, Hit] = {}
    others: dict[Hashable, dict[ItemId, None]] = {}
    for hit in ranked:
        key = text(hit)
        firsts.setdefault(key, hit)
        others.setdefault(key, {}).setdefault(item(hit))
    return [Merged(hit, _also(item(hit), others[key])) for key, hit in firsts.items()]


def _also(own: ItemId, holders: dict[ItemId, None]) -> tuple[ItemId, ...]:
    return tuple(other for other in holders if other != own)[:MAX_ALSO]
