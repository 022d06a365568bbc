"""How is a reranker asked that speaks as Cohere, Jina or TEI do?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from holdfast.domain.errors import Permanent
from holdfast.stages.remote.endpoint import Endpoint
from holdfast.stages.remote.refusals import TooMuch

SECONDS = 30.0
TEI = "tei"


class HttpReranker:
    """One model of one endpoint; how many texts it takes at once is learnt by asking."""

    def __init__(self, model: str, endpoint: Endpoint) -> None:
        self.name = f"{endpoint.access.name}/{model}"
        self._model, self._endpoint = model, endpoint
        self._most: int | None = None

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order; each is judged alone, so calls may be divided."""
        most = self._most or len(texts)
        slices = [texts[at : at + most] for at in range(0, len(texts), most or 1)]
        return [score for some in slices for score in self._in_halves(query, some)]

    def _in_halves(self, query: str, texts: Sequence[str]) -> list[float]:
        try:
            return scores_of(
                self._endpoint.post("rerank", self._body(query, texts), SECONDS), len(texts)
            )
        except TooMuch:
            if len(texts) == 1:
                raise
        half = (len(texts) + 1) // 2
        scores = self._in_halves(query, texts[:half]) + self._in_halves(query, texts[half:])
        self._most = min(self._most or half, half)
        return scores

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        asked, *readable = (text.encode("utf-8", "replace").decode() for text in (query, *texts))
        if self._endpoint.access.kind == TEI:
            return {"query": asked, "texts": readable, "truncate": True}
        given = {"model": self._model, "query": asked, "documents": readable}
        return {**given, "top_n": len(readable)}


def scores_of(answer: Any, count: int) -> list[float]:
    """The scores by the texts' places; Permanent(`provider_failed`) unless each has one."""
    found = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        _refuse("the reranker's answer has no list of scores")
    scores = {one.get("index"): one.get("relevance_score", one.get("score")) for one in found}
    if set(scores) != set(range(count)) or len(found) != count:
        _refuse(f"{count} texts were sent, the scores are numbered otherwise")
    return [scores[place] for place in range(count)]


def _refuse(what: str) -> NoReturn:
    raise Permanent(what, code="provider_failed")
