"""Where may a text be cut, and how gladly? A stream of atoms: what is never cut inside.

Sentences, lines, headings and fenced code are atoms; what is larger than a chunk is broken into
clauses and words. How gladly a text is cut before an atom is told by what stands between it and the
one before: an empty line is better than the end of a line, that is better than a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zlib import crc32

from holdfast.domain.chunks import MARKDOWN, Cutting
from holdfast.stages.chunking.anchors import LEVEL
from holdfast.stages.chunking.stream import Window

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
STOPS = "\u3002\uff01\uff1f\u2026"
SENTENCE = re.compile(
    rf"(?:[^.!?\n{STOPS}]++|[.!?]++(?![\s\"'\u201d\u2019)\]\u00bb]|$))*+"
    rf"(?:[.!?{STOPS}]++[\"'\u201d\u2019)\]\u00bb\u300d\u300f]*)?\s{{0,256}}"
)
LINE = re.compile(r"[^\n]*\n?\s{0,256}")
CLAUSE = re.compile(r"[^,;:\uff0c\uff1b\uff1a\u3001]*[,;:\uff0c\uff1b\uff1a\u3001]*\s{0,256}")
WORD = re.compile(rf"[{CJK}]|\S{{1,200}}?(?=[\s{CJK}]|$|(?<=\S{{200}}))\s{{0,256}}|\s{{1,256}}")
HEADING = re.compile(r"(#{1,6})[ \t]+([^\n]*?)[ \t]*#*[ \t]*(?:\n\s{0,256}|$)")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^\n]*\n")

AHEAD = 1 << 16  # as far as one looks for the end of a sentence or a block of code
LONGEST = 1 << 13  # a sentence without an end
HASHED = 200  # characters

BY_WORD, BY_CLAUSE, BY_LINE, BY_SENTENCE, BY_PARAGRAPH = range(5)


@dataclass(slots=True)
class Atom:
    """A slice that stays whole, its size, and what the place before it is worth as a cut."""

    start: int
    end: int
    tokens: int
    rank: int
    headings: tuple[str, ...] = ()
    is_heading: bool = False
    opens: bool = False  # a chunk begins here whatever stands before


Count = Callable[[str], int]
Headings = tuple[tuple[int, str], ...]


class Lexer:
    """Goes through a text once, from its beginning."""

    def __init__(self, window: Window, cutting: Cutting, form: str, count: Count) -> None:
        self._window, self._count = window, count
        self._limit, self._separator = cutting.size, cutting.separator
        self._marked = form == MARKDOWN and not cutting.separator
        self._level = BY_PARAGRAPH
        self._fresh_line = True
        self._headings: Headings = ()
        self._path: tuple[str, ...] = ()
        self._fence: re.Pattern[str] | None = None
        self._opens = False

    def atoms(self) -> Iterator[Atom]:
        window, place = self._window, 0
        while True:
            window.reach(place, AHEAD + LONGEST)
            last = window.end if window.ended else window.end - AHEAD
            if place >= last:
                return
            while place < last:
                for atom in self._next(place):
                    place = atom.end
                    yield atom

    def _next(self, place: int) -> Iterator[Atom]:
        """The atom at a place, or what it is broken into."""
        text, at = self._window.text, place - self._window.base
        if self._fresh_line and self._marked:
            if self._fence is not None:
                return self._in_fence(self._fence, text, at)
            if text.startswith("#", at) and (found := HEADING.match(text, at)):
                return self._heading(found)
            if found := FENCE.match(text, at):
                return self._fenced(found)
        return self._prose(text, at)

    def _prose(self, text: str, at: int) -> Iterator[Atom]:
        most = min(at + LONGEST, self._end_of_part(text, at))
        return self._whole_or_broken(text, at, _end_of(SENTENCE, text, at, most))

    def _end_of_part(self, text: str, at: int) -> int:
        """Where the separator that ends this part ends, as far as it can be seen."""
        if not self._separator:
            return len(text)
        found = text.find(self._separator, at, at + LONGEST + len(self._separator))
        return len(text) if found < 0 else found + len(self._separator)

    def _heading(self, found: re.Match[str]) -> Iterator[Atom]:
        level, title = len(found[1]), found[2]
        self._headings = (*(one for one in self._headings if one[0] < level), (level, title))
        self._path = tuple(title for _, title in self._headings)
        for atom in self._whole_or_broken(found.string, found.start(), found.end()):
            atom.is_heading = True
            yield atom
        self._level = BY_PARAGRAPH

    def _fenced(self, opened: re.Match[str]) -> Iterator[Atom]:
        """Code in one piece when it fits into a chunk, else by its lines."""
        text, at, mark = opened.string, opened.start(), opened[1]
        closing = rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*(?:\n\s{{0,256}}|\Z)"
        pattern = re.compile(closing, re.MULTILINE)
        found = pattern.search(text, opened.end(), at + AHEAD)
        if found and (tokens := self._count(text[at : found.end()])) <= self._limit:
            yield self._atom(text, at, found.end(), tokens)
            return
        self._fence = pattern
        yield from self._whole_or_broken(text, at, opened.end())

    def _in_fence(self, closing: re.Pattern[str], text: str, at: int) -> Iterator[Atom]:
        if found := closing.match(text, at):
            self._fence = None
            return self._whole_or_broken(text, at, found.end())
        return self._whole_or_broken(text, at, _end_of(LINE, text, at, at + LONGEST))

    def _whole_or_broken(self, text: str, start: int, end: int) -> Iterator[Atom]:
        tokens = self._count(text[start:end])
        if tokens <= self._limit and end - start < LONGEST:
            yield self._atom(text, start, end, tokens)
        else:
            yield from self._broken(text, start, end, (CLAUSE, WORD))

    def _broken(
        self, text: str, start: int, end: int, patterns: tuple[re.Pattern[str], ...]
    ) -> Iterator[Atom]:
        """Parts that fit; what even a word is too long for is halved."""
        parts = _parts(text, start, end, patterns)
        finer = patterns[1:]
        for left, right in parts:
            tokens = self._count(text[left:right])
            if tokens > self._limit and right - left > 1:
                yield from self._broken(text, left, right, finer)
            else:
                yield self._atom(text, left, right, tokens)
            if right < end:
                self._level = min(self._level, BY_CLAUSE if finer else BY_WORD)

    def _atom(self, text: str, start: int, end: int, tokens: int) -> Atom:
        base, piece = self._window.base, text[start:end]
        rank = self._level * LEVEL + crc32(piece[:HASHED].encode("utf-8", "surrogatepass"))
        atom = Atom(base + start, base + end, tokens, rank, self._path, opens=self._opens)
        words = piece.rstrip()
        lines = piece.count("\n", len(words))
        self._level, self._fresh_line = _level_after(words, lines), lines > 0
        self._opens = self._separator is not None and piece.endswith(self._separator)
        return atom


def _end_of(pattern: re.Pattern[str], text: str, at: int, most: int) -> int:
    """Where a pattern that matches everywhere ends."""
    found = pattern.match(text, at, most)
    return found.end() if found and found.end() > at else at + 1


def _parts(
    text: str, start: int, end: int, patterns: tuple[re.Pattern[str], ...]
) -> list[tuple[int, int]]:
    if not patterns:
        middle = (start + end) // 2
        return [(start, middle), (middle, end)]
    spans = [one.span() for one in patterns[0].finditer(text, start, end)]
    return [span for span in spans if span[0] < span[1]]


def _level_after(words: str, lines: int) -> int:
    """What the place after an atom is worth, by its words and the ends of lines after them."""
    if lines > 1:
        return BY_PARAGRAPH
    if words and words[-1] in ENDINGS:
        return BY_SENTENCE
    return BY_LINE if lines else BY_CLAUSE


ENDINGS = frozenset(".!?\"'\u201d\u2019)]\u00bb\u300d\u300f" + STOPS)
