"""How is a text cut into chunks? Exact slices, sized in tokens, in memory that does not grow.

    segments -> window -> atoms -> sections -> chunks

A heading begins a section, and so does what follows a separator; a section that fits is one chunk,
a larger one is cut at its anchors (`anchors.py` says which places these are). A chunk begins with
the last atoms of the one before it in its section, as far as the overlap and its own size go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.domain.chunks import Chunk, Cutting, Segment
from holdfast.stages.chunking.anchors import HARD, cuts_between, sure_cuts
from holdfast.stages.chunking.atoms import Atom, Lexer
from holdfast.stages.chunking.stream import Window
from holdfast.stages.chunking.tokens import GUESS, counter

HELD = 16  # chunks' worth of a section that is held before its first cuts are told


def chunks_of(segments: Iterable[Segment], cutting: Cutting, form: str) -> Iterator[Chunk]:
    """The chunks of a text in order; white space alone makes none."""
    window, ordinal = Window(segments), 0
    count = count_tokens if cutting.tokenizer is None else counter(cutting.tokenizer).count
    for overlap, core in _packed(Lexer(window, cutting, form, count).atoms(), cutting):
        first = overlap[0] if overlap else core[0]
        window.needed = first.start
        exact = window.cut(first.start, core[-1].end)
        if not exact.strip():
            continue
        left = first.start + len(exact) - len(exact.lstrip())
        text = exact.strip()
        page = window.page_of(core[0].start if overlap else left)
        yield Chunk(ordinal, text, left, left + len(text), page, core[-1].headings)
        ordinal += 1


def count_tokens(text: str) -> int:
    """An estimate: a CJK character, a sign, or up to six letters are one token."""
    return len(GUESS.findall(text))


Core = Sequence[Atom]


def _packed(atoms: Iterable[Atom], cutting: Cutting) -> Iterator[tuple[Core, Core]]:
    """What goes into each chunk, and what of the one before it goes before that."""
    section = Section(cutting)
    for atom in atoms:
        if section.ends_before(atom):
            yield from section.ended()
            section = Section(cutting)
        section.add(atom)
        if section.tokens >= HELD * cutting.size:
            yield from section.begun()
    yield from section.ended()


class Section:
    """Atoms between two places that are cuts whatever stands around them."""

    def __init__(self, cutting: Cutting) -> None:
        self._cutting = cutting
        self._limit = max(cutting.size - cutting.overlap, cutting.size // 2)  # room for it
        self._held: list[Atom] = []
        self._before: Core = ()
        self.tokens = 0

    def ends_before(self, atom: Atom) -> bool:
        if atom.is_heading:
            return not all(one.is_heading for one in self._held)
        return atom.opens and bool(self._held)

    def add(self, atom: Atom) -> None:
        self._held.append(atom)
        self.tokens += atom.tokens

    def begun(self) -> Iterator[tuple[Core, Core]]:
        """The chunks that nothing to come can change."""
        yield from self._chunks(sure_cuts(*self._measures()))
        self.tokens = sum(atom.tokens for atom in self._held)

    def ended(self) -> Iterator[tuple[Core, Core]]:
        if self._held:
            inside = [] if self._fits() else cuts_between(*self._measures())
            yield from self._chunks([*inside, len(self._held)])

    def _fits(self) -> bool:
        """A whole section in one chunk needs no room for what comes before it."""
        return not self._before and self.tokens <= self._cutting.size

    def _measures(self) -> tuple[list[int], list[int], int]:
        ranks = [atom.rank for atom in self._held]
        if not self._before:
            ranks[0] = HARD
        return ranks, [atom.tokens for atom in self._held], self._limit

    def _chunks(self, cuts: Sequence[int]) -> Iterator[tuple[Core, Core]]:
        start = 0
        for end in cuts:
            core = self._held[start:end]
            yield self._overlap(core), core
            self._before, start = core, end
        del self._held[:start]

    def _overlap(self, core: Core) -> Core:
        """The last atoms of the chunk before, but never all of it."""
        size = sum(atom.tokens for atom in core)
        room = min(self._cutting.overlap, self._cutting.size - size)
        kept: list[Atom] = []
        for atom in reversed(self._before[1:]):
            room -= atom.tokens
            if room < 0:
                break
            kept.append(atom)
        return kept[::-1]
