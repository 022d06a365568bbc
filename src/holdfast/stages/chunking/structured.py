"""How is a text cut where its author paused? Exact slices, sized in estimated tokens.

The text is split into pieces that want to stay whole: headings, paragraphs, sentences, and words
when a sentence alone is too long. Pieces are packed up to the base's chunk size; a heading starts a
new chunk. The next chunk begins with the last pieces of the one before, as far as the overlap goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from holdfast.domain.chunks import Chunk, Cutting, Segment

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]{{1,6}}|[^\w\s]")
BLOCK = re.compile(r"(?:[^\n]+\n?)+\n*|\n+")
SENTENCE = re.compile(r"(?:[^.!?\u3002\uff01\uff1f\n]|[.!?](?=\S))*[.!?\u3002\uff01\uff1f\n]*\s*")
WORD = re.compile(rf"[{CJK}]|\S{{1,200}}?(?=[\s{CJK}]|$|(?<=\S{{200}}))\s*|\s+")
HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*\s*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A slice that wants to stay whole, its size, and the headings above it."""

    start: int
    end: int
    tokens: int
    headings: tuple[str, ...]
    is_heading: bool = False
    opens: bool = False  # begins a chunk whatever is held


def chunks_of(segments: Iterable[Segment], settings: Cutting, form: str) -> Iterator[Chunk]:
    """The chunks of a text in order; white space alone makes none."""
    text = "".join(segment.text for segment in segments)
    cutter = Cutter(text, settings.size)
    pieces = cutter.delimited(settings.separator) if settings.separator else cutter.pieces()
    ordinal = 0
    for start, end, headings in _packed(pieces, settings):
        exact = text[start:end]
        if exact.strip():
            left = start + len(exact) - len(exact.lstrip())
            right = start + len(exact.rstrip())
            yield Chunk(ordinal, text[left:right], left, right, None, headings)
            ordinal += 1


def count_tokens(text: str) -> int:
    """An estimate: a CJK character, a sign, or up to six letters are one token."""
    return len(TOKEN.findall(text))


@dataclass(frozen=True, slots=True)
class Cutter:
    """A text and the size its pieces may have."""

    text: str
    limit: int

    def pieces(self) -> Iterator[Piece]:
        """Headings, paragraphs and what they split into, with the headings above them."""
        headings: tuple[tuple[int, str], ...] = ()
        for block in BLOCK.finditer(self.text):
            for start, end in self._heading_apart(block.start(), block.end()):
                found = HEADING.match(self.text[start:end])
                if found:
                    headings = _under(headings, len(found[1]), found[2])
                path = tuple(title for _, title in headings)
                yield from self.split(start, end, path, is_heading=found is not None)

    def delimited(self, separator: str) -> Iterator[Piece]:
        """What stands between the separators, each beginning a chunk of its own."""
        start = 0
        while start < len(self.text):
            found = self.text.find(separator, start)
            end = len(self.text) if found < 0 else found + len(separator)
            first, *rest = self.split(start, end, ())
            yield replace(first, opens=True)
            yield from rest
            start = end

    def split(
        self, start: int, end: int, path: tuple[str, ...], *, is_heading: bool = False
    ) -> Iterator[Piece]:
        """The slice itself when it fits, else its sentences, else their words."""
        tokens = count_tokens(self.text[start:end])
        if tokens <= self.limit:
            yield Piece(start, end, tokens, path, is_heading)
            return
        for left, right in self._parts(start, end):
            yield from self.split(left, right, path)

    def _parts(self, start: int, end: int) -> list[tuple[int, int]]:
        for pattern in (SENTENCE, WORD):
            found = [one.span() for one in pattern.finditer(self.text, start, end)]
            parts = [(left, right) for left, right in found if right > left]
            if len(parts) > 1:
                return parts
        middle = (start + end) // 2
        return [(start, middle), (middle, end)]

    def _heading_apart(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """A block, with a heading line at its top set apart."""
        if self.text.startswith("#", start):
            line = self.text.find("\n", start, end) + 1
            if 0 < line < end:
                yield start, line
                start = line
        yield start, end


def _under(
    headings: tuple[tuple[int, str], ...], level: int, title: str
) -> tuple[tuple[int, str], ...]:
    return (*(above for above in headings if above[0] < level), (level, title))


def _packed(
    pieces: Iterator[Piece], settings: Cutting
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    held: list[Piece] = []
    size = 0
    for piece in pieces:
        opens = piece.opens or (piece.is_heading and any(not one.is_heading for one in held))
        if held and (opens or size + piece.tokens > settings.size):
            yield held[0].start, held[-1].end, held[-1].headings
            held = [] if opens else _overlap(held, settings, piece.tokens)
            size = sum(one.tokens for one in held)
        held.append(piece)
        size += piece.tokens
    if held:
        yield held[0].start, held[-1].end, held[-1].headings


def _overlap(held: list[Piece], settings: Cutting, coming: int) -> list[Piece]:
    """The last pieces that fit into the overlap and leave room for what comes."""
    room = min(settings.overlap, settings.size - coming)
    kept: list[Piece] = []
    for piece in reversed(held[1:]):
        room -= piece.tokens
        if room < 0:
            break
        kept.append(piece)
    return kept[::-1]
