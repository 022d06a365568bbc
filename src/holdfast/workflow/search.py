"""What answers a question, and nothing that was deleted?

    query vector          before anything is opened: a model may be slow
    passages of a base    workflow/passages.py: index first, main store second, restarts
    rerank                if the base has a model; nothing is open meanwhile
    merged                several bases by rank, never by scores
    last act              once more: who is still there; everything after it is arithmetic

A model or a reranker that does not answer makes the answer poorer, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.domain.answers import (
    RANKING,
    RELEVANCE,
    Hit,
    Question,
    SearchAnswer,
    checked_question,
)
from holdfast.domain.bases import Base, BaseStatus, provider_of
from holdfast.domain.errors import GuardRejected, NotFound, Transient
from holdfast.domain.fusion import by_rank, merge_equal
from holdfast.domain.ids import BaseId, ItemId
from holdfast.ports import Embedder
from holdfast.stages.embedding.checks import checked
from holdfast.stages.finding.highlights import highlights
from holdfast.workflow.asking import soon
from holdfast.workflow.passages import Wanted, passages
from holdfast.workflow.rerank import reranked, reranker_of
from holdfast.workflow.take import embedder_of
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATIENCE = 10.0  # seconds a search waits for the vector of its question
UNRANKED = "a threshold holds for relevance scores; these are places in a ranking"

__all__ = ["Hit", "Question", "SearchAnswer", "search"]

Warnings = dict[str, None]


def search(kb: Workbench, question: Question) -> SearchAnswer:
    """The best passages of all asked bases, merged by rank."""
    question = checked_question(question)
    warnings: Warnings = {}
    bases = _bases(kb, question.bases)
    wanted = [_wanted(kb, base, question, warnings) for base in bases]
    ranked = by_rank([_search_base(kb, one, warnings) for one in wanted])
    top_k = max((one.top_k for one in wanted), default=0)
    return SearchAnswer(_answer(_last_look(kb, ranked), question, top_k), tuple(warnings))


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


def _wanted(kb: Workbench, base: Base, question: Question, warnings: Warnings) -> Wanted:
    mode = question.mode or base.settings.search_mode
    vector = None
    if mode != "keyword":
        mode, vector = _asked_in_vectors(kb, base, question, mode, warnings)
    top_k = question.top_k or base.settings.top_k
    return Wanted(base, question, mode, top_k, vector, reranker_of(kb, base, question, warnings))


def _asked_in_vectors(
    kb: Workbench, base: Base, question: Question, mode: str, warnings: Warnings
) -> tuple[str, NDArray[np.float32] | None]:
    """The query's vector, and the mode that is left when there is none to be had."""
    embedder = embedder_of(kb, base)
    if embedder is None:
        return mode, None
    try:
        return mode, checked(_of_query(kb, embedder, question.query), 1, embedder.width)[0]
    except Transient as error:
        if mode == "vector":
            raise
        warnings[f"the embedding model does not answer ({error}): searched by words"] = None
        return "keyword", None


def _of_query(kb: Workbench, embedder: Embedder, query: str) -> NDArray[np.float32]:
    provider = provider_of(embedder.name) or embedder.name
    patience = None if embedder.steady else PATIENCE
    return soon(kb, provider, query, lambda: embedder.embed_query(query), patience)


def _search_base(kb: Workbench, wanted: Wanted, warnings: Warnings) -> list[Hit]:
    found = passages(kb, wanted)
    kind = RELEVANCE if wanted.mode == "vector" else RANKING
    if wanted.reranker is not None:
        better = reranked(kb, wanted, found, warnings)
        if better is not None:
            found, kind = better, RELEVANCE
    return _above(wanted, [replace(hit, score_kind=kind) for hit in found], kind, warnings)


def _above(wanted: Wanted, hits: list[Hit], kind: str, warnings: Warnings) -> list[Hit]:
    """A threshold cuts what compares across queries; places in a ranking do not."""
    if kind == RELEVANCE:
        least = wanted.threshold
        return [hit for hit in hits if least is None or hit.score >= least]
    if wanted.question.threshold is not None:
        warnings[UNRANKED] = None
    return hits


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


def _answer(living: Sequence[Hit], question: Question, top_k: int) -> tuple[Hit, ...]:
    """Equal texts as one hit, cut and numbered, the words of the question marked in them."""
    merged = merge_equal(living, lambda hit: hit.content, lambda hit: hit.item_id)[:top_k]
    return tuple(
        replace(
            one.hit,
            rank=rank,
            also=one.also,
            highlights=highlights(one.hit.content, question.query),
        )
        for rank, one in enumerate(merged, start=1)
    )
