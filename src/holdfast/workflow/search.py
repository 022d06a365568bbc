"""What answers a question, and nothing that was deleted?

The index snapshot is opened first, the main one second: what the main store says is then newer than
the candidates it is asked about. A candidate whose item is published in a newer build than the
snapshot holds restarts the search; after three restarts the older text is returned as stale. The
last act, after everything slow, is a check of the items' states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.domain.bases import Base, BaseStatus
from holdfast.domain.chunks import StoredChunk, chunk_id
from holdfast.domain.errors import GuardRejected, InvalidInput, NotFound
from holdfast.domain.given import is_whole
from holdfast.domain.ids import BaseId, Generation, ItemId
from holdfast.stages.embedding.checks import checked
from holdfast.stores.catalog import Answering
from holdfast.stores.index import Candidate, IndexSnapshot
from holdfast.workflow.take import embedder_of
from holdfast.workflow.workbench import Workbench

MAX_QUERY = 8_000
MAX_TOP_K = 100
RESTARTS = 3
WIDTHS = (200, 800, 3_200)
RRF_K = 60


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of which bases."""

    query: str
    bases: tuple[BaseId, ...]
    top_k: int | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers, and where it stands."""

    chunk_id: str
    item_id: ItemId
    base_id: BaseId
    title: str
    source: str
    page: int | None
    headings: tuple[str, ...]
    char_start: int
    char_end: int
    content: str
    score: float
    score_kind: str
    rank: int
    stale: bool
    generation: Generation


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, and what could not be done."""

    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question put to one base."""

    base: Base
    query: str
    mode: str
    top_k: int


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its text and its item as the main store sees it."""

    score: float
    stored: StoredChunk
    item: Answering


def search(kb: Workbench, question: Question) -> SearchAnswer:
    """The best passages of all asked bases, merged by rank."""
    _check(question)
    bases = _bases(kb, question.bases)
    per_base = [_search_base(kb, base, question) for base in bases]
    ranked = [hit for place in _by_rank(per_base) for hit in place]
    top_k = question.top_k or max((base.settings.top_k for base in bases), default=10)
    return SearchAnswer(_last_look(kb, ranked)[:top_k])


def _check(question: Question) -> None:
    query: object = question.query
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty")
    if len(question.query) > MAX_QUERY:
        raise InvalidInput(f"the query has {len(question.query)} characters; at most {MAX_QUERY}")
    if question.top_k is not None and not is_whole(question.top_k, 1, MAX_TOP_K):
        raise InvalidInput(f"top_k is {question.top_k!r}; it takes 1 to {MAX_TOP_K}")
    if question.mode not in (None, "hybrid", "vector", "keyword"):
        raise InvalidInput(f"mode is {question.mode!r}; it takes hybrid | vector | keyword")


def _bases(kb: Workbench, ids: Sequence[BaseId]) -> list[Base]:
    with kb.main.read() as snapshot:
        found = [(one, snapshot.base(one)) for one in ids]
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


def _search_base(kb: Workbench, base: Base, question: Question) -> list[Hit]:
    wanted = Wanted(
        base,
        question.query,
        question.mode or base.settings.search_mode,
        question.top_k or base.settings.top_k,
    )
    found: list[Found] = []
    for restart in range(RESTARTS + 1):
        with kb.index.snapshot(base.id) as index:
            found, overtaken = _look(kb, index, wanted)
        if not overtaken or restart == RESTARTS:
            break
    return [_hit(base, one, rank) for rank, one in enumerate(found[: wanted.top_k], 1)]


def _look(kb: Workbench, index: IndexSnapshot, wanted: Wanted) -> tuple[list[Found], bool]:
    """Enough visible passages if there are any, and whether a newer build overtook one."""
    base, top_k = wanted.base.id, wanted.top_k
    visible: list[Found] = []
    overtaken = False
    for width in WIDTHS:
        ranked = _fused(_lanes(kb, index, wanted, width))
        with kb.main.read() as snapshot:
            standing = snapshot.answering(base, {one.item_id for one in ranked})
        answering = [one for one in ranked if _answers(standing.get(one.item_id), one)]
        # it may also be a leftover that nobody could drop yet: then what is visible is the answer
        overtaken |= any(_overtaken(standing.get(one.item_id), one) for one in ranked)
        stored = index.load([one.chunk_id for one in answering[: top_k * 2]])
        visible = [
            Found(one.score, stored[one.chunk_id], standing[one.item_id])
            for one in answering
            if one.chunk_id in stored
        ]
        if len(visible) >= top_k or len(ranked) < width:
            break
    return visible, overtaken


def _lanes(
    kb: Workbench, index: IndexSnapshot, wanted: Wanted, width: int
) -> list[list[Candidate]]:
    base = wanted.base
    with kb.main.read() as snapshot:
        masked = snapshot.masked(base.id)
    lanes: list[list[Candidate]] = []
    embedder = embedder_of(kb, base) if wanted.mode != "keyword" else None
    if embedder is not None:
        vector = checked(embedder.embed([wanted.query]), 1, embedder.width)[0]
        lanes.append(index.vector(base.space, vector, width, masked))
    if wanted.mode != "vector":
        lanes.append(index.keyword(wanted.query, width, masked))
    return lanes


def _fused(lanes: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Reciprocal rank: what stands high in several lanes stands highest."""
    if len(lanes) == 1:
        return list(lanes[0])
    scores: dict[int, float] = {}
    known: dict[int, Candidate] = {}
    for lane in lanes:
        for rank, one in enumerate(lane, 1):
            scores[one.chunk_id] = scores.get(one.chunk_id, 0.0) + 1.0 / (RRF_K + rank)
            known[one.chunk_id] = one
    order = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
    return [
        Candidate(chunk, known[chunk].item_id, known[chunk].build, scores[chunk]) for chunk in order
    ]


def _answers(item: Answering | None, one: Candidate) -> bool:
    return item is not None and item.build == one.build


def _overtaken(item: Answering | None, one: Candidate) -> bool:
    return item is not None and item.build is not None and item.build > one.build


def _hit(base: Base, one: Found, rank: int) -> Hit:
    chunk = one.stored.chunk
    return Hit(
        chunk_id=chunk_id(one.item.id, one.stored.build, chunk.ordinal),
        item_id=one.item.id,
        base_id=base.id,
        title=one.item.name,
        source=one.item.source,
        page=chunk.page,
        headings=chunk.headings,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        content=chunk.text,
        score=one.score,
        score_kind="ranking",
        rank=rank,
        stale=one.item.published_generation != one.item.generation,
        generation=one.item.published_generation or one.item.generation,
    )


def _by_rank(per_base: Sequence[Sequence[Hit]]) -> list[list[Hit]]:
    """All firsts, then all seconds: raw scores of different bases do not compare."""
    longest = max((len(hits) for hits in per_base), default=0)
    return [[hits[place] for hits in per_base if place < len(hits)] for place in range(longest)]


def _last_look(kb: Workbench, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The last act of every search: what was deleted meanwhile is not in the answer."""
    by_base: dict[BaseId, set[ItemId]] = {}
    for hit in hits:
        by_base.setdefault(hit.base_id, set()).add(hit.item_id)
    with kb.main.read() as snapshot:
        living = {
            item for base, items in by_base.items() for item in snapshot.answering(base, items)
        }
    return tuple(hit for hit in hits if hit.item_id in living)
