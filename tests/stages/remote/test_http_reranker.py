"""What is asked of a reranker in the forms of Cohere, Jina and TEI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from holdfast.config import Access
from holdfast.domain.errors import Permanent, ProviderDown
from holdfast.machine.clock import SystemClock
from holdfast.stages.remote.endpoint import Endpoint
from holdfast.stages.reranking.http_model import HttpReranker
from tests.stages.remote.servers import Models, serving

TEXTS = [f"tea number {number}" + " green" * (number % 2) for number in range(50)]
QUERY = "green tea number 7"
RIGHT = [float(len(set(QUERY.split()) & set(text.split()))) for text in TEXTS]


@contextmanager
def reranker(kind: str = "cohere", **what: Any) -> Iterator[tuple[HttpReranker, Models]]:
    with serving(**what) as server:
        endpoint = Endpoint(Access("mine", kind, server.base_url), SystemClock())
        try:
            yield HttpReranker("rerank-3", endpoint), server
        finally:
            endpoint.close()


@pytest.mark.parametrize("kind", ["openai", "cohere", "jina", "tei"])
def test_scores_come_in_the_order_of_the_texts(kind: str) -> None:
    with reranker(kind) as (model, server):
        assert model.rerank(QUERY, TEXTS) == RIGHT
        assert set(server.asked[0]) == (
            {"query", "texts", "truncate"}
            if kind == "tei"
            else {"model", "query", "documents", "top_n"}
        )


def test_a_reranker_that_takes_few_at_once_is_asked_in_parts_from_then_on() -> None:
    with reranker("tei", most=32) as (model, server):
        assert model.rerank(QUERY, TEXTS) == RIGHT
        before = len(server.asked)

        assert model.rerank(QUERY, TEXTS) == RIGHT
        assert len(server.asked) - before == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda results: results[:-1],
        lambda results: [*results, results[0]],
        lambda results: [{**one, "index": 0} for one in results],
        lambda results: "none",
        lambda results: [1.0] * len(results),
    ],
)
def test_scores_that_are_not_one_for_each_text_are_refused(spoil: Any) -> None:
    with reranker(spoil=spoil) as (model, _), pytest.raises(Permanent) as refusal:
        model.rerank(QUERY, TEXTS[:3])

    assert refusal.value.code == "provider_failed"


def test_a_reranker_that_is_down_says_so() -> None:
    with reranker() as (model, server):
        server.say = [(503, {}, {"message": "Model is overloaded"})]
        with pytest.raises(ProviderDown, match="overloaded"):
            model.rerank(QUERY, TEXTS)


def test_no_text_asks_nobody() -> None:
    with reranker() as (model, server):
        assert model.rerank(QUERY, []) == []
        assert server.asked == []
