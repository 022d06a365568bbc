"""How do passages come into the order a reranker gives them?

Without a snapshot and without a transaction: it may take its time, and what is deleted meanwhile
is left out by the last act of the search. A reranker that fails leaves the order as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.domain.answers import Hit, Question
from holdfast.domain.bases import Base, provider_of
from holdfast.domain.errors import HoldfastError
from holdfast.ports import Reranker
from holdfast.stages.reranking.checks import checked_scores
from holdfast.workflow.asking import soon
from holdfast.workflow.passages import Wanted
from holdfast.workflow.workbench import Workbench

PATIENCE = 30.0  # seconds a search waits for its better order


def reranker_of(
    kb: Workbench, base: Base, question: Question, warnings: dict[str, None]
) -> Reranker | None:
    """The base's reranker, unless the question declines it or there is none to be had."""
    model = base.settings.rerank_model
    if question.rerank is False or model is None:
        if question.rerank and model is None:
            warnings[f"base {base.name!r} has no rerank_model: not reranked"] = None
        return None
    try:
        return kb.rerankers.resolve(model)
    except HoldfastError as error:
        warnings[f"not reranked: {error}"] = None
        return None


def reranked(
    kb: Workbench, wanted: Wanted, hits: Sequence[Hit], warnings: dict[str, None]
) -> list[Hit] | None:
    """The hits in their new order, every text sent once; None, and a warning, when it failed."""
    if wanted.reranker is None or not hits:
        return None
    query, texts = wanted.question.query, list(dict.fromkeys(hit.content for hit in hits))
    try:
        scores = checked_scores(_scores(kb, wanted.reranker, query, texts), len(texts))
    except HoldfastError as error:
        warnings[f"not reranked: {wanted.reranker.name} does not answer ({error})"] = None
        return None
    score_of = dict(zip(texts, scores, strict=True))
    scored = [replace(hit, score=score_of[hit.content]) for hit in hits]
    return sorted(scored, key=lambda hit: -hit.score)


def _scores(kb: Workbench, reranker: Reranker, query: str, texts: Sequence[str]) -> Sequence[float]:
    provider = provider_of(reranker.name) or reranker.name
    return soon(kb, provider, "".join(texts), lambda: reranker.rerank(query, texts), PATIENCE)
