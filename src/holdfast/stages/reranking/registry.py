"""Which reranker is meant by `provider/model`? Those of this installation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.domain.errors import InvalidInput
from holdfast.ports import Reranker

Maker = Callable[[str], Reranker]


class Rerankers:
    """Rerankers by provider; each model is made once."""

    def __init__(self, makers: Mapping[str, Maker] | None = None) -> None:
        self._makers = dict(makers or {})
        self._made: dict[str, Reranker] = {}

    def resolve(self, model: str) -> Reranker:
        """The reranker; InvalidInput when no provider of that name reranks here."""
        if model not in self._made:
            provider, _, name = model.partition("/")
            if provider not in self._makers or not name:
                known = ", ".join(sorted(self._makers)) or "none"
                raise InvalidInput(
                    f"rerank_model is {model!r}; it takes provider/model of a provider that "
                    f"reranks here: {known}"
                )
            self._made[model] = self._makers[provider](name)
        return self._made[model]
