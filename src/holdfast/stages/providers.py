"""Which endpoints are declared, and which models do they have?"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.config import Access, Settings, access_of, providers_named
from holdfast.domain.errors import HoldfastError, Permanent
from holdfast.ports import Clock, Embedder, Lock, Reranker
from holdfast.stages.embedding.openai_model import OpenAIEmbedder
from holdfast.stages.remote.endpoint import Endpoint
from holdfast.stages.reranking.http_model import HttpReranker

RERANKS_ONLY = "cohere"


class Providers:
    """The endpoints of an installation, each made at first use; closed with the engine."""

    def __init__(self, settings: Settings, clock: Clock, lock: Lock) -> None:
        self._settings, self._clock, self._lock = settings, clock, lock
        self._made: dict[str, Endpoint] = {}

    def embedders(self) -> dict[str, Callable[[str, int], Embedder]]:
        """Makers of embedders by provider."""
        return {name: self._embedder(name) for name in providers_named(self._settings)}

    def rerankers(self) -> dict[str, Callable[[str], Reranker]]:
        """Makers of rerankers by provider."""
        return {name: self._reranker(name) for name in providers_named(self._settings)}

    def close(self) -> None:
        with self._lock:
            for endpoint in self._made.values():
                endpoint.close()
            self._made.clear()

    def _embedder(self, provider: str) -> Callable[[str, int], Embedder]:
        def made(model: str, dimensions: int) -> Embedder:
            endpoint = self._endpoint(provider)
            if not model or endpoint.access.kind == RERANKS_ONLY:
                raise _missing(f"provider {provider} has no embedding model {model!r}")
            return OpenAIEmbedder(model, endpoint, dimensions)

        return made

    def _reranker(self, provider: str) -> Callable[[str], Reranker]:
        return lambda model: HttpReranker(model, self._endpoint(provider))

    def _endpoint(self, provider: str) -> Endpoint:
        with self._lock:
            if provider not in self._made:
                self._made[provider] = Endpoint(self._access(provider), self._clock)
            return self._made[provider]

    def _access(self, provider: str) -> Access:
        try:
            return access_of(self._settings, provider)
        except HoldfastError as error:
            raise _missing(str(error)) from error


def _missing(what: str) -> Permanent:
    return Permanent(what, code="missing_embedding_model")
