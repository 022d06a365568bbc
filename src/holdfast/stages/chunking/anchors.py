"""At which of the places where a text may be cut is it cut? Where its own content says so.

Every place has a rank: how gladly one would cut there (its level), and among equals a number that
the words after it decide. An **anchor** outranks all places within a quarter of a chunk before and
after it, and every anchor is a cut. So whether a place is a cut depends on its surroundings alone:
what is edited further away changes nothing, and an edit of one paragraph moves at most one cut on
either side of it, which makes at most three chunks new.

What stands between two places of a higher level, a paragraph for example, has no anchors inside as
long as it can be had in one chunk or in two. What stands between two cuts and is too large is
halved where its own ranks say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

REACH = 4  # an anchor outranks everything within a part of a chunk: this part
MIDDLE = 4  # what is much too large is not halved within its first and its last part: this part
LEVEL = 1 << 32
HARD = 1 << 40  # a place that is a cut whatever stands around it


def cuts_between(ranks: Sequence[int], sizes: Sequence[int], limit: int) -> list[int]:
    """The cuts of a stretch whose end is a hard one; its first rank is that of its beginning."""
    places = [0, *accumulate(sizes)]
    return _all_cuts(ranks, places, _anchors(ranks, places, limit), limit)


def sure_cuts(ranks: Sequence[int], sizes: Sequence[int], limit: int) -> list[int]:
    """The cuts of a stretch that goes on, as far as what follows cannot change them.

    Where equal ranks leave no anchor at all it is halved, or it would grow for ever.
    """
    places = [0, *accumulate(sizes)]
    sure = places[-1] - 2 * limit
    found = [one for one in _anchors(ranks, places, limit) if places[one] <= sure]
    if not found:
        return _halves(ranks, places, 0, len(ranks), limit)
    top = max(ranks[one] // LEVEL for one in found)
    last = max(one for one in found if ranks[one] // LEVEL == top)
    inside = [one for one in found if one < last]
    return [*_all_cuts(ranks[:last], places[: last + 1], inside, limit), last]


def _anchors(ranks: Sequence[int], places: Sequence[int], limit: int) -> list[int]:
    reach, last = max(1, limit // REACH), places[-1]
    return [
        place
        for place in _divisible(ranks, places, limit)
        if reach <= places[place] <= last - reach and _outranks(ranks, places, place, reach)
    ]


def _divisible(ranks: Sequence[int], places: Sequence[int], limit: int) -> list[int]:
    """The places in stretches that are too large to be left whole, or halved."""
    levels = [*(rank // LEVEL for rank in ranks), HARD // LEVEL]
    indices = range(len(levels))
    before, after = _next_higher(levels, indices), _next_higher(levels, reversed(indices))
    found: list[int] = []
    for place in range(1, len(ranks)):
        low, high = before[place], after[place]
        if low is None or high is None:
            found.append(place)
            continue
        most = limit if levels[low] == levels[high] == levels[-1] else 2 * limit
        if places[high] - places[low] > most:
            found.append(place)
    return found


def _next_higher(levels: Sequence[int], order: Iterable[int]) -> list[int | None]:
    """For each place the nearest one of a higher level, seen in this order."""
    nearest: list[int | None] = [None] * len(levels)
    waiting: list[int] = []
    for place in order:
        while waiting and levels[waiting[-1]] <= levels[place]:
            waiting.pop()
        nearest[place] = waiting[-1] if waiting else None
        waiting.append(place)
    return nearest


def _outranks(ranks: Sequence[int], places: Sequence[int], place: int, reach: int) -> bool:
    """Of equals the first counts."""
    rank, here = ranks[place], places[place]
    other = place - 1
    while here - places[other] < reach:
        if ranks[other] >= rank:
            return False
        other -= 1
    other = place + 1
    while places[other] - here < reach:
        if ranks[other] > rank:
            return False
        other += 1
    return True


def _all_cuts(
    ranks: Sequence[int], places: Sequence[int], found: Sequence[int], limit: int
) -> list[int]:
    """The anchors, and the halves of what is too large between them."""
    cuts: list[int] = []
    start = 0
    for end in (*found, len(ranks)):
        cuts += _halves(ranks, places, start, end, limit)
        cuts.append(end)
        start = end
    return cuts[:-1]


def _halves(
    ranks: Sequence[int], places: Sequence[int], start: int, end: int, limit: int
) -> list[int]:
    size = places[end] - places[start]
    if size <= limit or end == start + 1:
        return []
    least = size - limit if size <= 2 * limit else size // MIDDLE
    low, high = places[start] + least, places[end] - least
    middle = (places[start] + places[end]) // 2
    inside = range(start + 1, end)
    allowed = [one for one in inside if low <= places[one] <= high] or inside
    cut = max(allowed, key=lambda one: (ranks[one], -abs(places[one] - middle)))
    left = _halves(ranks, places, start, cut, limit)
    return [*left, cut, *_halves(ranks, places, cut, end, limit)]
