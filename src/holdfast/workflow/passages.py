"""Which passages of one base answer a question?

    index snapshot        first, so that the main store knows more than the candidates
    main snapshot         what is masked, what the filter lets pass
    candidates            by words, by vectors, or both
    main snapshot         who of them answers, with which build
    fused                 those that answer: older builds beside them take no place
    texts, neighbours     from the same index snapshot

A candidate whose item is published in a build that this index snapshot does not hold restarts the
search; after three restarts the older text is returned as stale. A build that is published and
stands in the snapshot silences the older ones beside it, so an answer shows one build per item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.domain.answers import RANKING, Hit, Neighbor, Question
from holdfast.domain.bases import Base
from holdfast.domain.chunks import StoredChunk, chunk_id
from holdfast.domain.filters import Filter, matches
from holdfast.domain.fusion import MAX_ALSO, fused
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.ports import Reranker
from holdfast.stores.catalog import Answering
from holdfast.stores.index import Candidate, IndexSnapshot
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESTARTS = 3
WIDTHS = (200, 800, 3_200)
PER_HIT = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question put to one base."""

    base: Base
    question: Question
    mode: str
    top_k: int
    vector: NDArray[np.float32] | None
    reranker: Reranker | None

    @property
    def first_width(self) -> int:
        """Candidates of each lane, unless too few of them may be shown."""
        return min(PER_HIT * self.top_k, WIDTHS[0])

    @property
    def depth(self) -> int:
        """How many texts are looked at: all a reranker may lift, else some to spare."""
        return self.first_width if self.reranker else 2 * self.top_k

    @property
    def threshold(self) -> float | None:
        if self.question.threshold is not None:
            return self.question.threshold
        return self.base.settings.threshold

    @property
    def cut(self) -> float | None:
        """What a candidate must score to be looked at: cosines here, if they are the last word."""
        return self.threshold if self.mode == "vector" and self.reranker is None else None


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its text and its item as the main store sees it."""

    score: float
    stored: StoredChunk
    item: Answering


def passages(kb: Workbench, wanted: Wanted) -> list[Hit]:
    """Best first, equal texts beside one another's, not yet cut to what was asked for."""
    for restart in range(RESTARTS + 1):
        with kb.index.snapshot(wanted.base.id) as index:
            found = _look(kb, index, wanted, last=restart == RESTARTS)
            if found is not None:
                return [_hit(index, wanted, one) for one in found]
    return []


def _look(kb: Workbench, index: IndexSnapshot, wanted: Wanted, *, last: bool) -> list[Found] | None:
    """Enough visible passages if there are any; None when a newer build overtook one."""
    base = wanted.base.id
    masked, within = _shown(kb, base, wanted.question.filter)
    visible: list[Found] = []
    for width in sorted({wanted.first_width, *WIDTHS}):
        lanes = _lanes(index, wanted, width, masked, within)
        candidates = [one for lane in lanes for one in lane]
        with kb.main.read() as snapshot:
            standing = snapshot.answering(base, {one.item_id for one in candidates})
        builds = _answering_builds(index, candidates, standing, last=last)
        if builds is None:
            return None
        # before places are counted: what is not shown takes none from what is
        shown = [[one for one in lane if builds.get(one.item_id) == one.build] for lane in lanes]
        visible = _loaded(index, wanted, _fused(shown), standing)
        if _is_all(wanted, lanes, width) or _is_enough(wanted, visible, lanes, shown, width):
            break
    return visible


def _is_enough(
    wanted: Wanted,
    visible: Sequence[Found],
    lanes: Sequence[Sequence[Candidate]],
    shown: Sequence[Sequence[Candidate]],
    width: int,
) -> bool:
    """Texts enough, and no lane in which what is not shown left too little room for the rest."""
    for lane, some in zip(lanes, shown, strict=True):
        if len(lane) >= width and len(some) < wanted.top_k:
            return False
    return len({one.stored.chunk.text for one in visible}) >= wanted.top_k


def _is_all(wanted: Wanted, lanes: Sequence[Sequence[Candidate]], width: int) -> bool:
    """Would a wider look find nothing more that may be shown?"""
    if all(len(lane) < width for lane in lanes):
        return True
    return wanted.cut is not None and lanes[0][-1].score < wanted.cut


def _shown(
    kb: Workbench, base: BaseId, wanted: Filter | None
) -> tuple[set[ItemId], set[ItemId] | None]:
    """What is being deleted, and what the filter lets pass."""
    with kb.main.read() as snapshot:
        masked = snapshot.masked(base)
        if wanted is None:
            return masked, None
        return masked, {item.id for item in snapshot.filterable(base) if matches(wanted, item)}


def _lanes(
    index: IndexSnapshot,
    wanted: Wanted,
    width: int,
    masked: Collection[ItemId],
    within: Collection[ItemId] | None,
) -> list[list[Candidate]]:
    lanes: list[list[Candidate]] = []
    if wanted.vector is not None:
        lanes.append(index.vector(wanted.base.space, wanted.vector, width, masked, within))
    if wanted.mode != "vector":
        lanes.append(index.keyword(wanted.question.query, width, masked, within))
    return lanes


def _fused(lanes: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    if len(lanes) == 1:
        return list(lanes[0])
    known = {one.chunk_id: one for lane in lanes for one in lane}
    ranking = fused([[one.chunk_id for one in lane] for lane in lanes])
    return [replace(known[chunk], score=score) for chunk, score in ranking]


def _answering_builds(
    index: IndexSnapshot,
    candidates: Sequence[Candidate],
    standing: dict[ItemId, Answering],
    *,
    last: bool,
) -> dict[ItemId, ClaimNo] | None:
    """The one build with which each item answers; None when the search has to start again."""
    builds = {item: one.build for item, one in standing.items() if one.build is not None}
    older = [one for one in candidates if one.build < builds.get(one.item_id, 0)]
    published = {(one.item_id, builds[one.item_id]) for one in older}
    overtaken = {item for item, _ in published - index.sealed(published)} if published else set()
    if overtaken and not last:
        return None
    for item in overtaken:
        builds[item] = max(one.build for one in older if one.item_id == item)
    return builds


def _loaded(
    index: IndexSnapshot,
    wanted: Wanted,
    answering: Sequence[Candidate],
    standing: dict[ItemId, Answering],
) -> list[Found]:
    """The passages themselves, until enough texts differ; the holders of one text are bounded."""
    found: list[Found] = []
    holders: Counter[str] = Counter()
    for some in _batches(answering, wanted):
        stored = index.load([one.chunk_id for one in some])
        for one in some:
            text = stored[one.chunk_id].chunk.text
            if text in holders or len(holders) < wanted.depth:
                holders[text] += 1
                if holders[text] <= 1 + MAX_ALSO:
                    found.append(Found(one.score, stored[one.chunk_id], standing[one.item_id]))
        if len(holders) >= wanted.depth:
            break
    return found


def _batches(answering: Sequence[Candidate], wanted: Wanted) -> list[Sequence[Candidate]]:
    if wanted.cut is not None:
        answering = [one for one in answering if one.score >= wanted.cut]
    step = 2 * wanted.depth
    return [answering[at : at + step] for at in range(0, len(answering), step)]


def _hit(index: IndexSnapshot, wanted: Wanted, one: Found) -> Hit:
    chunk, item = one.stored.chunk, one.item
    around = (
        index.around(one.stored, wanted.question.neighbors) if wanted.question.neighbors else ()
    )
    return Hit(
        chunk_id=chunk_id(item.id, one.stored.build, chunk.ordinal),
        item_id=item.id,
        base_id=wanted.base.id,
        title=item.name,
        source=item.source,
        page=chunk.page,
        headings=chunk.headings,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        content=chunk.text,
        score=one.score,
        score_kind=RANKING,
        rank=0,
        stale=item.published_generation != item.generation or item.build != one.stored.build,
        generation=item.published_generation or item.generation,
        neighbors=tuple(_neighbor(beside) for beside in around),
    )


def _neighbor(stored: StoredChunk) -> Neighbor:
    chunk = stored.chunk
    name = chunk_id(stored.item_id, stored.build, chunk.ordinal)
    return Neighbor(name, chunk.ordinal, chunk.text, chunk.char_start, chunk.char_end)
