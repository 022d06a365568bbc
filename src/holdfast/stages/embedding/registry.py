"""Which model is meant by `provider/model`? The embedders of this installation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from holdfast.domain.errors import Permanent
from holdfast.ports import Embedder
from holdfast.stages.embedding.hash_model import HashEmbedder

MAX_WIDTH = 16_384

Maker = Callable[[str, int], Embedder]


class Registry:
    """Embedders by provider; each model is made once."""

    def __init__(self, makers: Mapping[str, Maker] | None = None) -> None:
        self._makers: dict[str, Maker] = {"hash": hash_model, **(makers or {})}
        self._made: dict[tuple[str, int], Embedder] = {}

    def resolve(self, model: str, dimensions: int) -> Embedder:
        """The model; Permanent(`missing_embedding_model`) when it is unknown or of other width.

        With 0 dimensions the model's own width is taken.
        """
        key = (model, dimensions)
        if key not in self._made:
            self._made[key] = self._make(model, dimensions)
        return self._made[key]

    def width(self, model: str) -> int:
        """The dimensions of a model by its name."""
        provider, _, name = model.partition("/")
        if provider == "hash" and name.isascii() and name.isdigit():
            return self.resolve(model, int(name)).width
        return self.resolve(model, 0).width

    def _make(self, model: str, dimensions: int) -> Embedder:
        provider, _, name = model.partition("/")
        if provider not in self._makers:
            known = ", ".join(sorted(self._makers))
            _refuse(f"no provider {provider!r} for model {model!r} here; there are {known}")
        embedder = self._makers[provider](name, dimensions)
        if dimensions and embedder.width != dimensions:
            _refuse(f"{model} has {embedder.width} dimensions, the base asks for {dimensions}")
        return embedder


def hash_model(name: str, _dimensions: int) -> Embedder:
    """`hash/N`: N says the width."""
    if not name.isascii() or not name.isdigit() or not 0 < int(name) <= MAX_WIDTH:
        _refuse(f"hash/{name} is no model: write hash/N with N dimensions, 1 to {MAX_WIDTH}")
    return HashEmbedder(int(name))


def _refuse(what: str) -> NoReturn:
    raise Permanent(what, code="missing_embedding_model")
