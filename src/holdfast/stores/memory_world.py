"""What does an index in memory hold, and what is found in it? Values, never changed in place.

A change makes a new world, so a snapshot and an image are the world itself. Everything is looked
at one by one: slow, exact, and short enough to be believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from holdfast.domain.chunks import Chunk, Seal, StoredChunk, digest_of
from holdfast.domain.errors import Superseded
from holdfast.domain.ids import ClaimNo, TextHash
from holdfast.stores.index import Candidate, Pair, VectorsMissing
from holdfast.stores.lines import Term, terms_of, words_of
from holdfast.stores.vectors import best_first, unit_query, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FREQUENT, LENGTH_MATTERS = 1.2, 0.75  # BM25's k1 and b, as FTS5 sets them
RAREST_IDF = 1e-6


@dataclass(frozen=True, slots=True)
class Build:
    """The chunks of one run for one item, by ordinal."""

    chunks: Mapping[int, StoredChunk] = field(default_factory=dict)
    seal: Seal | None = None

    def in_order(self) -> list[StoredChunk]:
        return [self.chunks[ordinal] for ordinal in sorted(self.chunks)]

    def counted(self) -> Seal:
        return digest_of(stored.chunk.hash for stored in self.in_order())


@dataclass(frozen=True, slots=True)
class Kept:
    """A vector, and the claim that put it last."""

    row: NDArray[np.float32]
    claim: ClaimNo


@dataclass(frozen=True)
class World:
    """The index of one base at one moment."""

    builds: Mapping[Pair, Build] = field(default_factory=dict)
    vectors: Mapping[tuple[int, TextHash], Kept] = field(default_factory=dict)
    next_id: int = 1

    def missing(self, space: int, hashes: Collection[TextHash]) -> set[TextHash]:
        return {text for text in hashes if (space, text) not in self.vectors}

    def width(self, space: int) -> int | None:
        return next((len(kept.row) for (s, _), kept in self.vectors.items() if s == space), None)

    def with_vectors(
        self,
        space: int,
        claim: ClaimNo,
        hashes: Sequence[TextHash],
        vectors: NDArray[np.float32],
    ) -> World:
        rows = unit_rows(vectors, len(hashes), self.width(space))
        known = dict(self.vectors)
        for text, row in zip(hashes, rows, strict=True):
            known[space, text] = Kept(row, claim)
        return replace(self, vectors=known)

    def with_empty(self, pair: Pair) -> World:
        return replace(self, builds={**self.builds, pair: Build()})

    def with_page(self, pair: Pair, space: int | None, chunks: Sequence[Chunk]) -> World:
        """The build with these chunks; ordinals it has stay as they are (a page given twice)."""
        build = self._open(pair)
        if space is not None and (missing := self.missing(space, {c.hash for c in chunks})):
            raise VectorsMissing(missing)
        new = {chunk.ordinal: chunk for chunk in chunks if chunk.ordinal not in build.chunks}
        stored = {
            chunk.ordinal: StoredChunk(self.next_id + place, pair[0], pair[1], chunk)
            for place, chunk in enumerate(new.values())
        }
        if build.seal and stored:
            raise Superseded(f"build {pair[1]} of item {pair[0]} is sealed already")
        grown = replace(build, chunks={**build.chunks, **stored})
        builds = {**self.builds, pair: grown}
        return replace(self, builds=builds, next_id=self.next_id + len(stored))

    def sealed(self, pair: Pair) -> World:
        build = self._open(pair)
        builds = {**self.builds, pair: replace(build, seal=build.counted())}
        return replace(self, builds=builds)

    def without(self, gone: Callable[[Pair], bool], live: Collection[ClaimNo]) -> World:
        """Neither these builds, nor vectors that no chunk names and no living claim put."""
        builds = {pair: build for pair, build in self.builds.items() if not gone(pair)}
        named = {c.chunk.hash for build in builds.values() for c in build.chunks.values()}
        vectors = {
            key: kept for key, kept in self.vectors.items() if key[1] in named or kept.claim in live
        }
        return replace(self, builds=builds, vectors=vectors)

    def _open(self, pair: Pair) -> Build:
        build = self.builds.get(pair)
        if build is None:
            raise Superseded(f"build {pair[1]} of item {pair[0]} is gone: someone newer took over")
        return build

    @cached_property
    def by_id(self) -> Mapping[int, StoredChunk]:
        return {c.id: c for build in self.builds.values() for c in build.chunks.values()}

    @cached_property
    def answering(self) -> Sequence[StoredChunk]:
        """The chunks of sealed builds, oldest first."""
        found = [c for build in self.builds.values() if build.seal for c in build.chunks.values()]
        return sorted(found, key=lambda stored: stored.id)

    def nearest(
        self,
        space: int,
        query: NDArray[np.float32],
        k: int,
        allowed: Callable[[StoredChunk], bool],
    ) -> list[Candidate]:
        import numpy as np

        here = [
            (stored, self.vectors[space, stored.chunk.hash])
            for stored in self.answering
            if allowed(stored) and (space, stored.chunk.hash) in self.vectors
        ]
        if not here:
            return []
        rows = np.stack([kept.row for _, kept in here])
        scores = rows @ unit_query(query, rows.shape[1])
        return [_candidate(here[place][0], scores[place]) for place in best_first(scores, k)]

    def ranked(self, query: str, k: int, allowed: Callable[[StoredChunk], bool]) -> list[Candidate]:
        """BM25 over the chunks that stand here, as FTS5 computes it."""
        lines = {c.id: _line(c.chunk.text) for c in self.by_id.values()}
        scores = _bm25(terms_of(query), lines)
        here = [c for c in self.answering if scores.get(c.id, 0.0) > 0 and allowed(c)]
        best = best_first([scores[c.id] for c in here], k)
        return [_candidate(here[place], scores[here[place].id]) for place in best]


def _candidate(stored: StoredChunk, score: float) -> Candidate:
    return Candidate(stored.id, stored.item_id, stored.build, float(score))


@dataclass(frozen=True, slots=True)
class Line:
    """A chunk's words between spaces, and how many they are."""

    text: str
    count: int


@lru_cache(maxsize=65_536)
def _line(text: str) -> Line:
    words = words_of(text)
    return Line(f" {' '.join(words)} ", len(words))


def _bm25(terms: Sequence[Term], lines: Mapping[int, Line]) -> dict[int, float]:
    scores: dict[int, float] = {}
    average = sum(line.count for line in lines.values()) / max(1, len(lines))
    for term in terms:
        for chunk, score in _term_scores(term, lines, average):
            scores[chunk] = scores.get(chunk, 0.0) + score
    return scores


def _term_scores(
    term: Term, lines: Mapping[int, Line], average: float
) -> Iterator[tuple[int, float]]:
    wanted = f" {' '.join(term.words)}{'' if term.prefix else ' '}"
    times = {chunk: n for chunk, line in lines.items() if (n := _times(wanted, line.text))}
    rare = math.log((len(lines) - len(times) + 0.5) / (len(times) + 0.5)) if times else 0.0
    for chunk, n in times.items():
        long = 1 - LENGTH_MATTERS + LENGTH_MATTERS * lines[chunk].count / average
        weight = n * (FREQUENT + 1) / (n + FREQUENT * long)
        yield chunk, (rare if rare > 0 else RAREST_IDF) * weight


def _times(wanted: str, text: str) -> int:
    """How often it stands there; neighbours may share the space between them."""
    count, at = 0, text.find(wanted)
    while at >= 0:
        count, at = count + 1, text.find(wanted, at + 1)
    return count
