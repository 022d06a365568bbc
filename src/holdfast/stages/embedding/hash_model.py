r"""How is a text embedded without a model? By hashing its words and their parts into dimensions.

Texts that share words lie near one another, in every script, and the same text gives the same
numbers on every machine. Each word, and each three letters of it, adds to a few dimensions with a
sign; equal words add in the same places. All texts of a batch are one array of code points:

    line      wörter sind  ->  " worter sind \n"
    words     differences of running sums of c[i] * B**i, brought back to B**0
    triples   c[i-1], c[i], c[i+1] wherever the middle one stands inside a word
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.domain.chunks import text_hash
from holdfast.stores.lines import words_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Features = tuple[NDArray[np.intp], NDArray[np.uint64], NDArray[np.float64]]

BATCH = 1_024
PLACES = 2  # dimensions per feature: one alone would make two colliding words the same
WORD, SHORT_WORD, TRIPLE = 1.0, 0.35, 0.35
SHORT = 3  # letters: "the", "of"; the pairs of unspaced scripts are no short words
FIRST_PAIRED = 0x0E00
NOTHING = 1e-9
SPACE, END = 0x20, 0x0A
BASE = 0x9E3779B97F4A7C15
BASE_INVERSE = pow(BASE, -1, 1 << 64)
MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class HashEmbedder:
    """The `hash/N` model: N dimensions, no weights, nothing to download."""

    max_batch = BATCH
    max_tokens: int | None = None
    tokenizer: str | None = None
    batch_tokens: int | None = None
    steady = True

    def __init__(self, width: int) -> None:
        self.name, self.width = f"hash/{width}", width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length one per text, in order."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        rows = np.zeros((len(texts), self.width))
        for owners, features, weights in _features(texts):
            _add(rows, owners, features, weights)
        return _at_length_one(rows, texts)

    def embed_query(self, query: str) -> NDArray[np.float32]:
        return self.embed([query])


def _features(texts: Sequence[str]) -> Iterator[_Features]:
    """Who has which feature, how strongly: words, then triples."""
    import numpy as np

    lines = "".join(f" {' '.join(words_of(text))} \n" for text in texts)
    points = np.frombuffer(lines.encode("utf-32-le"), dtype=np.uint32)
    owner = np.cumsum(points == END)
    inside = (points != SPACE) & (points != END)
    yield _words(points, inside, owner)
    yield _triples(points, inside, owner)


def _words(
    points: NDArray[np.uint32], inside: NDArray[np.bool_], owner: NDArray[np.intp]
) -> _Features:
    import numpy as np

    edges = np.flatnonzero(np.diff(inside)) + 1  # a line begins and ends outside
    starts, ends = edges[0::2], edges[1::2]
    power = _powers(BASE, len(points))
    sums = np.concatenate(([np.uint64(0)], np.cumsum(points * power, dtype=np.uint64)))
    values = (sums[ends] - sums[starts]) * _powers(BASE_INVERSE, len(points))[starts]
    short = (ends - starts <= SHORT) & (points[starts] < FIRST_PAIRED)
    return owner[starts], values, np.where(short, SHORT_WORD, WORD)


def _triples(
    points: NDArray[np.uint32], inside: NDArray[np.bool_], owner: NDArray[np.intp]
) -> _Features:
    import numpy as np

    middle = np.flatnonzero(inside & (points < FIRST_PAIRED))
    around = [points[middle + step].astype(np.uint64) for step in (-1, 0, 1)]
    values = (around[0] << np.uint64(42)) | (around[1] << np.uint64(21)) | around[2]
    return owner[middle], ~values, np.full(len(middle), TRIPLE)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    """1, base, base squared …, each modulo 2**64."""
    import numpy as np

    steps = np.full(count, base, dtype=np.uint64)
    steps[:1] = 1
    return np.multiply.accumulate(steps)


def _add(
    rows: NDArray[np.float64],
    owners: NDArray[np.intp],
    features: NDArray[np.uint64],
    weights: NDArray[np.float64],
) -> None:
    import numpy as np

    width = rows.shape[1]
    for place in range(PLACES):
        mixed = _mixed(features + np.uint64((place + 1) * BASE % (1 << 64)))
        signs = np.where(mixed >> np.uint64(63), weights, -weights)
        at = owners * width + (mixed % np.uint64(width)).astype(np.intp)
        rows += np.bincount(at, signs, minlength=rows.size).reshape(rows.shape)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of a value spread over all bits."""
    import numpy as np

    for shift, factor in zip((30, 27), MIX, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


def _at_length_one(rows: NDArray[np.float64], texts: Sequence[str]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1)
    for place in np.flatnonzero(lengths < NOTHING).tolist():  # no words, or words that cancel out
        rows[place, int(text_hash(texts[place])[:8], 16) % rows.shape[1]] = 1.0
        lengths[place] = np.linalg.norm(rows[place])
    unit: NDArray[np.float32] = (rows / lengths[:, np.newaxis]).astype(np.float32)
    return unit
