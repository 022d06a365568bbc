"""Which codes are in memory, and how do they keep in step with the file?

A cache follows the revs of its index: builds that were sealed since are added, builds that went
are crossed out. Rows are never moved or written again, so what an earlier rev saw can still be
told from what is marked; a snapshot older than all a cache remembers reads for itself.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.domain.ids import ItemId
from holdfast.stores.sqlite import codes as coding
from holdfast.stores.sqlite.connection import Damaged, Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.stores.sqlite.codes import Floats

PAGES_AT_ONCE = 64
REMEMBERED_REVS = 64
FEW = 0.25  # of a block's rows: up to here they are gathered, above the whole block is looked at
BYTES_BESIDE = 16  # per row: scale, chunk number, mark
FOREVER = 1 << 62


class Block:
    """65,536 rows: codes, scales, chunk numbers, and marks (0 alive, minus infinity gone)."""

    def __init__(self, width: int, as_bits: bool) -> None:
        import numpy as np

        rows = coding.BLOCK_ROWS
        shape = (rows, (width + 7) // 8 if as_bits else width)
        self.codes: NDArray[Any] = np.empty(shape, dtype=np.uint8 if as_bits else np.int8)
        self.scales = np.empty(rows, dtype=np.float32)
        self.chunks = np.empty(rows, dtype=np.int64)
        self.marks = np.empty(rows, dtype=np.float32)
        self.filled = self.alive = 0

    @property
    def room(self) -> int:
        return coding.BLOCK_ROWS - self.filled


@dataclass(slots=True, eq=False)
class Span:
    """Rows of one build in one block, and the revs in which they answer."""

    block: Block
    start: int
    end: int
    born: int
    died: int = FOREVER


@dataclass(frozen=True, slots=True)
class Part:
    """What one search looks at of one block: marks of all rows, or chosen rows."""

    codes: NDArray[Any]
    scales: Floats
    chunks: NDArray[np.int64]
    marks: Floats


class CodeCache:
    """The codes of one base in one space; its lock is held by the caller."""

    def __init__(self, space: int, width: int, as_bits: bool, file: str) -> None:
        self.space, self.width, self.as_bits, self.file = space, width, as_bits, file
        self.rev = 0
        self._known: deque[int] = deque(maxlen=REMEMBERED_REVS)
        self._blocks: list[Block] = []
        self._spans: dict[int, list[Span]] = {}
        self._pages: dict[int, set[int]] = {}
        self._builds: dict[ItemId, set[int]] = {}
        self._owners: dict[int, ItemId] = {}

    @property
    def rows(self) -> int:
        return sum(block.alive for block in self._blocks)

    @property
    def size(self) -> int:
        row = (self.width + 7) // 8 if self.as_bits else self.width
        return sum(block.filled for block in self._blocks) * (row + BYTES_BESIDE)

    def answers(self, rev: int) -> bool:
        """Is what this rev saw still known?"""
        return rev == self.rev or rev in self._known

    def follow(self, session: Session, rev: int, pruned: int) -> None:
        """In step with this snapshot, which is not older than the last one followed."""
        if rev == self.rev:
            return
        if 0 < self.rev < pruned:
            self._forget()
        since = self.rev
        changed = session.rows("builds_since", since=since)
        for build, item, state, changed_at in changed:
            if state == 1:
                self._builds.setdefault(ItemId(item), set()).add(build)
                self._owners[build] = ItemId(item)
            else:
                self._cross_out(build, changed_at)
        if any(state == 1 for _, _, state, _ in changed):
            born = {build: changed_at for build, _, _, changed_at in changed}
            self._add_pages(session, since, born)
        self.rev = rev
        self._known.append(rev)
        self._tidy()

    def select(
        self, rev: int, masked: Collection[ItemId], within: Collection[ItemId] | None
    ) -> list[Part]:
        """What a search at this rev looks at; stays as it is whatever is written meanwhile."""
        marks = {id(block): block.marks[: block.filled].copy() for block in self._blocks}
        if rev != self.rev:
            self._turn_back(marks, rev)
        if within is not None:
            return list(self._chosen(marks, set(within) - set(masked)))
        for span in self._spans_of(masked):
            marks[id(span.block)][span.start : span.end] = float("-inf")
        return [_part(block, marks[id(block)]) for block in self._blocks if block.filled]

    def _chosen(self, marks: dict[int, Floats], items: set[ItemId]) -> Iterator[Part]:
        import numpy as np

        chosen: dict[int, list[Span]] = {}
        for span in self._spans_of(items):
            chosen.setdefault(id(span.block), []).append(span)
        for block in self._blocks:
            if spans := chosen.get(id(block)):
                rows = np.concatenate([np.arange(span.start, span.end) for span in spans])
                yield _gathered(block, marks[id(block)], rows)

    def _spans_of(self, items: Collection[ItemId]) -> Iterator[Span]:
        for item in items:
            for build in self._builds.get(item, ()):
                yield from self._spans.get(build, ())

    def _turn_back(self, marks: dict[int, Floats], rev: int) -> None:
        for spans in self._spans.values():
            for span in spans:
                if span.born > rev or span.died <= self.rev:
                    seen = span.born <= rev < span.died
                    mark = 0.0 if seen else float("-inf")
                    marks[id(span.block)][span.start : span.end] = mark

    def _add_pages(self, session: Session, since: int, born: dict[int, int]) -> None:
        statement, after = "new_codes" if since else "all_codes", 0
        while True:
            pages, blob = _pages(session, statement, self.space, since, after)
            self._add_blob(pages, blob, born)
            if len(pages) < PAGES_AT_ONCE:
                return
            after = pages[-1][0]

    def _add_blob(self, pages: list[list[int]], blob: bytes, born: dict[int, int]) -> None:
        at, whole = 0, memoryview(blob)
        for first, build, n in pages:
            size = coding.packed_size(n, self.width)
            known = self._pages.setdefault(build, set())
            if first not in known:
                known.add(first)
                self._add(build, first, n, whole[at : at + size], born[build])
            at += size

    def _add(self, build: int, first: int, n: int, page: memoryview, born: int) -> None:
        import numpy as np

        try:
            rows, scales = coding.unpacked(page, n, self.width)
        except ValueError as error:
            raise Damaged(f"{self.file}: {error}") from error
        codes = coding.bits(rows) if self.as_bits else rows
        self._place(build, codes, scales, np.arange(first, first + n), Span(_NOWHERE, 0, 0, born))

    def _place(
        self, build: int, codes: NDArray[Any], scales: Floats, chunks: NDArray[np.int64], like: Span
    ) -> None:
        """Rows at the end of the last block, the rest in a new one."""
        while len(codes):
            block = self._with_room()
            n = min(block.room, len(codes))
            start, end = block.filled, block.filled + n
            block.codes[start:end], block.scales[start:end] = codes[:n], scales[:n]
            block.chunks[start:end], block.marks[start:end] = chunks[:n], 0.0
            block.filled, block.alive = end, block.alive + n
            span = Span(block, start, end, like.born, like.died)
            self._spans.setdefault(build, []).append(span)
            codes, scales, chunks = codes[n:], scales[n:], chunks[n:]

    def _with_room(self) -> Block:
        if not self._blocks or not self._blocks[-1].room:
            self._blocks.append(Block(self.width, self.as_bits))
        return self._blocks[-1]

    def _cross_out(self, build: int, rev: int) -> None:
        if build not in self._spans:
            self._forget_build(build)
        for span in self._spans.get(build, ()):
            if span.died == FOREVER:
                span.died = rev
                span.block.marks[span.start : span.end] = float("-inf")
                span.block.alive -= span.end - span.start

    def _tidy(self) -> None:
        """Blocks that are mostly gone are given up; what lives in them moves to the last one."""
        mostly_gone = [b for b in self._blocks[:-1] if b.alive * 2 < b.filled]
        last = self._blocks[-1] if self._blocks else None
        if last and not last.room and last.alive * 2 < last.filled:
            mostly_gone.append(last)
        if mostly_gone:
            self._move_out(mostly_gone)
            self._known.clear()
            self._known.append(self.rev)

    def _move_out(self, leaving: list[Block]) -> None:
        left = {id(block) for block in leaving}
        self._blocks = [block for block in self._blocks if id(block) not in left]
        for build, spans in list(self._spans.items()):
            moving = [span for span in spans if id(span.block) in left]
            self._spans[build] = [span for span in spans if id(span.block) not in left]
            for span in moving:
                if span.died == FOREVER:
                    self._move(build, span)
            if not self._spans[build]:
                self._forget_build(build)

    def _move(self, build: int, span: Span) -> None:
        rows, block = slice(span.start, span.end), span.block
        self._place(build, block.codes[rows], block.scales[rows], block.chunks[rows], span)

    def _forget_build(self, build: int) -> None:
        self._spans.pop(build, None)
        self._pages.pop(build, None)
        item = self._owners.pop(build, None)
        if item is not None:
            self._builds[item].discard(build)
            if not self._builds[item]:
                del self._builds[item]

    def _forget(self) -> None:
        self.rev = 0
        self._known.clear()
        self._blocks, self._spans, self._pages = [], {}, {}
        self._builds, self._owners = {}, {}


def coarse(query: Floats, parts: list[Part], k: int, as_bits: bool) -> NDArray[np.int64]:
    """The chunks that are most likely among the k nearest."""
    import numpy as np

    scores, chunks = [], []
    for part in parts:
        if as_bits:
            found = coding.scores_of_bits(query, part.codes)
        else:
            found = coding.scores_of_codes(query, part.codes, part.scales)
        found += part.marks
        places = coding.highest(found, k)
        scores.append(found[places])
        chunks.append(part.chunks[places])
    if not scores:
        return np.zeros(0, dtype=np.int64)
    best = coding.highest(np.concatenate(scores), k)
    chosen: NDArray[np.int64] = np.concatenate(chunks)[best]
    return chosen


def _pages(
    session: Session, statement: str, space: int, since: int, after: int
) -> tuple[list[list[int]], bytes]:
    row = session.one(statement, space=space, since=since, after=after, pages=PAGES_AT_ONCE)
    pages, blob = row or ("[]", None)
    return json.loads(pages), blob or b""


def _part(block: Block, marks: Floats) -> Part:
    rows = slice(0, len(marks))
    return Part(block.codes[rows], block.scales[rows], block.chunks[rows], marks)


def _gathered(block: Block, marks: Floats, rows: NDArray[np.intp]) -> Part:
    import numpy as np

    if len(rows) <= len(marks) * FEW:
        return Part(block.codes[rows], block.scales[rows], block.chunks[rows], marks[rows])
    only = np.full(len(marks), float("-inf"), dtype=np.float32)
    only[rows] = marks[rows]
    return _part(block, only)


_NOWHERE: Any = None
