"""Which models does the provider `local` have? Two, and both side by side.

local/minilm   384   English, quick to tell near texts apart
local/use      512   sixteen languages, questions in one and answers in another
local/auto     896   both; the script of a question says which of them is listened to
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from holdfast.domain.errors import Permanent
from holdfast.ports import Embedder, Lock, Runtime
from holdfast.stages.embedding.local import minilm, use
from holdfast.stages.embedding.local.minilm import MiniLM
from holdfast.stages.embedding.local.scripts import is_latin
from holdfast.stages.embedding.local.use import Use
from holdfast.stages.embedding.local.weights import MINILM, USE, USE_PIECES, Weight, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encoder = Callable[[Sequence[str]], NDArray[np.float32]]

BATCH = 256
LONGEST = minilm.LONGEST - 2  # both marks
LISTENED, OVERHEARD = 1.0, 0.2
NAMES = ("auto", "minilm", "use")

T = TypeVar("T")


class Once(Generic[T]):
    """Made at first use, by one thread; the others wait for it."""

    def __init__(self, make: Callable[[], T], lock: Lock) -> None:
        self._make, self._lock = make, lock
        self._made: T | None = None

    def __call__(self) -> T:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


class LocalModels:
    """The makers of `local/…`; models share what they are made of."""

    def __init__(self, weights: Weights, runtime: Runtime) -> None:
        self.weights, self._lock = weights, runtime.lock()
        self._minilm: Once[Encoder] = Once(self._load_minilm, runtime.lock())
        self._use: Once[Encoder] = Once(self._load_use, runtime.lock())

    def __call__(self, name: str, _dimensions: int) -> Embedder:
        match name:
            case "minilm":
                parts, needs, reads = [(self._minilm, minilm.WIDTH)], [MINILM], "minilm"
            case "use":
                parts, needs, reads = [(self._use, use.WIDTH)], [USE, USE_PIECES], "use"
            case "auto":
                parts = [(self._minilm, minilm.WIDTH), (self._use, use.WIDTH)]
                needs, reads = [MINILM, USE, USE_PIECES], "minilm"
            case _:
                raise _unknown(name)
        return self._embedder(name, parts, needs, reads)

    def _embedder(
        self,
        name: str,
        parts: list[tuple[Once[Encoder], int]],
        needs: list[Weight],
        reads: str,
    ) -> Embedder:
        self.weights.require(*needs)
        width = sum(wide for _, wide in parts)
        return LocalEmbedder(f"local/{name}", width, [one for one, _ in parts], reads)

    def _load_minilm(self) -> MiniLM:
        return MiniLM(self.weights.optimized() or self.weights.read(MINILM))

    def _load_use(self) -> Use:
        return Use(self.weights.read(USE), self.weights.read(USE_PIECES), self._lock)


class LocalEmbedder:
    """One model, or two side by side; nothing is loaded before it is asked."""

    max_batch = BATCH
    max_tokens: int | None = LONGEST
    batch_tokens: int | None = None  # sorted and divided here
    steady = True  # its weights are known by their sums

    def __init__(
        self, name: str, width: int, parts: Sequence[Once[Encoder]], tokenizer: str
    ) -> None:
        self.name, self.width, self._parts = name, width, parts
        self.tokenizer: str | None = tokenizer

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length one per text, in order."""
        return self._rows(texts, [LISTENED] * len(self._parts))

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """The part that knows the script of the question is listened to."""
        latin, other = (LISTENED, OVERHEARD) if is_latin(query) else (OVERHEARD, LISTENED)
        return self._rows([query], [latin, other][: len(self._parts)])

    def _rows(self, texts: Sequence[str], shares: Sequence[float]) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        readable = [text.encode("utf-8", "replace").decode() for text in texts]
        rows = np.concatenate(
            [part()(readable) * share for part, share in zip(self._parts, shares, strict=True)],
            axis=1,
        )
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit.astype(np.float32, copy=False)


def _unknown(name: str) -> Permanent:
    there = ", ".join(f"local/{one}" for one in NAMES)
    return Permanent(
        f"there is no model local/{name}; there are {there}", code="missing_embedding_model"
    )
