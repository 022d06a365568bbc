"""What is asked, and what is an answer: passages that say where they stand."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.errors import InvalidInput
from holdfast.domain.filters import Filter
from holdfast.domain.given import is_number, is_whole
from holdfast.domain.ids import BaseId, Generation, ItemId

MAX_QUERY = 8_000
MAX_TOP_K = 100
MAX_NEIGHBORS = 10
MODES = ("hybrid", "vector", "keyword")

RELEVANCE, RANKING = "relevance", "ranking"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of which bases; what is absent is as the base has it."""

    query: str
    bases: tuple[BaseId, ...]
    top_k: int | None = None
    mode: str | None = None
    filter: Filter | None = None
    threshold: float | None = None
    neighbors: int = 0
    rerank: bool | None = None


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A passage before or after a hit, in the same build."""

    chunk_id: str
    ordinal: int
    content: str
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers, and where it stands.

    `highlights` are offsets into `content`; `also` are other items that hold the same text.
    A score of kind `relevance` compares across queries, one of kind `ranking` only within one.
    """

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
    highlights: tuple[tuple[int, int], ...] = ()
    also: tuple[ItemId, ...] = ()
    neighbors: tuple[Neighbor, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, and what could not be done."""

    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()


def checked_question(question: Question) -> Question:
    """The question, or InvalidInput naming what it takes."""
    query: object = question.query
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty")
    if len(query) > MAX_QUERY:
        raise InvalidInput(f"the query has {len(query)} characters; at most {MAX_QUERY}")
    if question.top_k is not None and not is_whole(question.top_k, 1, MAX_TOP_K):
        raise InvalidInput(f"top_k is {question.top_k!r}; it takes 1 to {MAX_TOP_K}")
    if question.mode is not None and question.mode not in MODES:
        raise InvalidInput(f"mode is {question.mode!r}; it takes {' | '.join(MODES)}")
    if question.threshold is not None and not is_number(question.threshold):
        raise InvalidInput(f"threshold is {question.threshold!r}; it takes a finite number")
    if question.rerank not in (None, True, False):
        raise InvalidInput(f"rerank is {question.rerank!r}; it takes true | false")
    if not is_whole(question.neighbors, 0, MAX_NEIGHBORS):
        raise InvalidInput(f"neighbors is {question.neighbors!r}; it takes 0 to {MAX_NEIGHBORS}")
    return question
