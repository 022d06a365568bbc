"""Where in a passage do the words of a query stand? Offsets into the text as it is.

Words are compared folded, as they are kept; folding can change a text's length, so each folded
character remembers which of the text's it came from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from holdfast.stores.lines import LONG_RUN, folded, is_paired, pairs, pieces_of

MAX_HIGHLIGHTS = 100

Offsets = tuple[int, int]


def highlights(text: str, query: str, limit: int = MAX_HIGHLIGHTS) -> tuple[Offsets, ...]:
    """The places of the query's words, in order, without overlaps: `text[start:end]`."""
    wanted = pieces_of(query)
    if not wanted:
        return ()
    plain, origin = _folded_with_origin(text)
    found = sorted(_found(plain, wanted))
    places = [(origin[start], _after(origin, end, text)) for start, end in _joined(found)]
    # joined once more: one character of the text may fold to several words (a vulgar fraction)
    return tuple(_joined(sorted(places)))[:limit]


def _found(plain: str, wanted: Sequence[str]) -> Iterator[Offsets]:
    words = [re.escape(piece) for piece in wanted if not is_paired(piece)]
    if words:
        pattern = rf"(?<![^\W_])(?:{'|'.join(sorted(words, key=len, reverse=True))})(?![^\W_])"
        yield from (match.span() for match in re.finditer(_beside_paired(pattern), plain))
    for run in wanted:
        if is_paired(run):
            yield from _runs(plain, run)


def _beside_paired(pattern: str) -> str:
    """A word of letters may touch a character of an unspaced script: 新款iPhone手机."""
    from holdfast.stores.lines import PAIRED

    letter = rf"[^\W_{PAIRED}]"
    return pattern.replace(r"(?<![^\W_])", f"(?<!{letter})").replace(r"(?![^\W_])", f"(?!{letter})")


def _runs(plain: str, run: str) -> Iterator[Offsets]:
    """The whole run where it stands; of a sentence, the pairs that stand here."""
    whole = list(_everywhere(plain, run))
    yield from whole
    if len(run) > LONG_RUN and not whole:
        for pair in dict.fromkeys(pairs(run)):
            yield from _everywhere(plain, pair)


def _everywhere(plain: str, piece: str) -> Iterator[Offsets]:
    at = plain.find(piece)
    while at >= 0:
        yield at, at + len(piece)
        at = plain.find(piece, at + 1)


def _joined(found: Sequence[Offsets]) -> Iterator[Offsets]:
    """Places that overlap are one."""
    if not found:
        return
    start, end = found[0]
    for first, last in found[1:]:
        if first < end:
            end = max(end, last)
            continue
        yield start, end
        start, end = first, last
    yield start, end


def _folded_with_origin(text: str) -> tuple[str, Sequence[int]]:
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    plain: list[str] = []
    origin: list[int] = []
    for start, end in pairwise(_borders(text)):
        part = folded(text[start:end])
        plain.append(part)
        origin.extend([start] * len(part))
    return "".join(plain), [*origin, len(text)]


def _borders(text: str) -> list[int]:
    """Where a character begins that does not combine with the one before."""
    inner = (at for at in range(1, len(text)) if not _combines(text[at]))
    return [0, *inner, len(text)]


def _combines(character: str) -> bool:
    return unicodedata.combining(character) != 0 or character in "\uff9e\uff9f"


def _after(origin: Sequence[int], end: int, text: str) -> int:
    """The end of the character that the last folded one came from."""
    last = origin[end - 1]
    while end < len(origin) and origin[end] == last:
        end += 1
    return origin[end] if end < len(origin) else len(text)
