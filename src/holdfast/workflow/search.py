"""What answers a question, and nothing that was deleted?

    query vector          before anything is opened: a model may be slow
    index snapshot        first, so that the main store knows more than the candidates
    main snapshot         what is masked, what the filter lets pass
    candidates, fused     by words, by vectors, or both
    main snapshot         who of them answers, with which build
    texts, neighbours     from the same index snapshot
    last act              once more: who is still there; everything after it is arithmetic

A candidate whose item is published in a build that this index snapshot does not hold restarts the
search; after three restarts the older text is returned as stale. A build that is published and
stands in the snapshot silences the older ones beside it, so an answer shows one build per item.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.domain.answers import (
    RANKING,
    RELEVANCE,
    Hit,
    Neighbor,
    Question,
    SearchAnswer,
    checked_question,
)
from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.chunks import StoredChunk, chunk_id
from holdfast.domain.errors import GuardRejected, NotFound, Transient
from holdfast.domain.filters import Filter, matches
from holdfast.domain.fusion import by_rank, fused, merge_equal
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.stages.embedding.checks import checked
from holdfast.stages.finding.highlights import highlights
from holdfast.stores.catalog import Answering
from holdfast.stores.index import Candidate, IndexSnapshot
from holdfast.workflow.take import embedder_of
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESTARTS = 3
WIDTHS = (200, 800, 3_200)
PER_HIT = 5

__all__ = ["Hit", "Question", "SearchAnswer", "search"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question put to one base."""

    base: Base
    question: Question
    mode: str
    top_k: int
    vector: NDArray[np.float32] | None

    @property
    def score_kind(self) -> str:
        """Cosines compare across queries; places and word counts do not."""
        return RELEVANCE if self.mode == "vector" else RANKING

    @property
    def threshold(self) -> float | None:
        if self.question.threshold is not None:
            return self.question.threshold
        return self.base.settings.threshold


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its text and its item as the main store sees it."""

    score: float
    stored: StoredChunk
    item: Answering


def search(kb: Workbench, question: Question) -> SearchAnswer:
    """The best passages of all asked bases, merged by rank."""
    question = checked_question(question)
    warnings: dict[str, None] = {}
    bases = _bases(kb, question.bases)
    wanted = [_wanted(kb, base, question, warnings) for base in bases]
    ranked = by_rank([_search_base(kb, one) for one in wanted])
    top_k = max((one.top_k for one in wanted), default=0)
    return SearchAnswer(_answer(_last_look(kb, ranked), top_k), tuple(warnings))


def _bases(kb: Workbench, ids: Sequence[BaseId]) -> list[Base]:
    with kb.main.read() as snapshot:
        found = [(one, snapshot.base(one)) for one in dict.fromkeys(ids)]
    bases: list[Base] = []
    for base_id, base in found:
        if base is None or base.status is BaseStatus.DELETING:
            raise NotFound(f"there is no base {base_id}")
        if base.status is BaseStatus.FAILED:
            raise GuardRejected(
                f"base {base.name!r} is failed ({base.error_code})", code="base_failed"
            )
        bases.append(base)
    return bases


def _wanted(kb: Workbench, base: Base, question: Question, warnings: dict[str, None]) -> Wanted:
    mode = question.mode or base.settings.search_mode
    vector = None
    if mode != "keyword":
        mode, vector = _asked_in_vectors(kb, base, question, mode, warnings)
    wanted = Wanted(base, question, mode, question.top_k or base.settings.top_k, vector)
    if question.threshold is not None and wanted.score_kind is RANKING:
        warnings["a threshold holds for relevance scores; these are places in a ranking"] = None
    return wanted


def _asked_in_vectors(
    kb: Workbench, base: Base, question: Question, mode: str, warnings: dict[str, None]
) -> tuple[str, NDArray[np.float32] | None]:
    """The query's vector, and the mode that is left when there is none to be had."""
    embedder = embedder_of(kb, base)
    if embedder is None:
        return mode, None
    try:
        return mode, checked(embedder.embed_query(question.query), 1, embedder.width)[0]
    except Transient as error:
        if mode == "vector":
            raise
        warnings[f"the embedding model does not answer ({error}): searched by words"] = None
        return "keyword", None


def _search_base(kb: Workbench, wanted: Wanted) -> list[Hit]:
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
    for width in sorted({min(PER_HIT * wanted.top_k, WIDTHS[0]), *WIDTHS}):
        lanes = _lanes(index, wanted, width, masked, within)
        ranked = _fused(lanes)
        with kb.main.read() as snapshot:
            standing = snapshot.answering(base, {one.item_id for one in ranked})
        builds = _answering_builds(index, ranked, standing, last=last)
        if builds is None:
            return None
        answering = [one for one in ranked if builds.get(one.item_id) == one.build]
        visible = _loaded(index, wanted, answering, standing)
        distinct = {one.stored.chunk.text for one in visible}
        if len(distinct) >= wanted.top_k or all(len(lane) < width for lane in lanes):
            break
    return visible


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
    ranked: Sequence[Candidate],
    standing: dict[ItemId, Answering],
    *,
    last: bool,
) -> dict[ItemId, ClaimNo] | None:
    """The one build with which each item answers; None when the search has to start again."""
    builds = {item: one.build for item, one in standing.items() if one.build is not None}
    older = [one for one in ranked if one.build < builds.get(one.item_id, 0)]
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
    """The passages themselves, twice as many as asked: equal texts become one."""
    if wanted.score_kind is RELEVANCE and wanted.threshold is not None:
        answering = [one for one in answering if one.score >= wanted.threshold]
    some = answering[: 2 * wanted.top_k]
    stored = index.load([one.chunk_id for one in some])
    found = [Found(one.score, stored[one.chunk_id], standing[one.item_id]) for one in some]
    if len({one.stored.chunk.text for one in found}) < wanted.top_k < len(answering):
        stored = index.load([one.chunk_id for one in answering])
        found = [Found(one.score, stored[one.chunk_id], standing[one.item_id]) for one in answering]
    return found


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
        score_kind=wanted.score_kind,
        rank=0,
        stale=item.published_generation != item.generation or item.build != one.stored.build,
        generation=item.published_generation or item.generation,
        highlights=highlights(chunk.text, wanted.question.query),
        neighbors=tuple(_neighbor(beside) for beside in around),
    )


def _neighbor(stored: StoredChunk) -> Neighbor:
    chunk = stored.chunk
    name = chunk_id(stored.item_id, stored.build, chunk.ordinal)
    return Neighbor(name, chunk.ordinal, chunk.text, chunk.char_start, chunk.char_end)


def _last_look(kb: Workbench, hits: Sequence[Hit]) -> list[Hit]:
    """The last act of every search: what was deleted meanwhile is not in the answer."""
    by_base: dict[BaseId, set[ItemId]] = {}
    for hit in hits:
        by_base.setdefault(hit.base_id, set()).add(hit.item_id)
    with kb.main.read() as snapshot:
        living = {
            item for base, items in by_base.items() for item in snapshot.answering(base, items)
        }
    return [hit for hit in hits if hit.item_id in living]


def _answer(living: Sequence[Hit], top_k: int) -> tuple[Hit, ...]:
    """Equal texts as one hit, cut and numbered."""
    merged = merge_equal(living, lambda hit: hit.content, lambda hit: hit.item_id)[:top_k]
    return tuple(
        replace(one.hit, rank=rank, also=one.also) for rank, one in enumerate(merged, start=1)
    )
