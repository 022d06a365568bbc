"""What the tests of the index stores share: implementations, texts, vectors, small words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from holdfast.domain.chunks import Chunk, text_hash
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.stores.index import IndexSnapshot, IndexStore
from holdfast.stores.memory_index import MemoryIndex
from holdfast.stores.sqlite.index import SqliteIndex
from tests.stores.index_disk import TestClock, TestDisk, TestThreads

BASE, OTHER = BaseId("b1"), BaseId("b2")
X, Y, Z = ItemId("item-x"), ItemId("item-y"), ItemId("item-z")
SPACE, WIDTH = 1, 16


def sqlite_index(folder: Path) -> SqliteIndex:
    return SqliteIndex(TestDisk(folder), TestThreads(), TestClock())


IMPLEMENTATIONS: dict[str, Callable[[Path], IndexStore]] = {
    "memory": lambda _folder: MemoryIndex(),
    "sqlite": sqlite_index,
}


def claim(number: int) -> ClaimNo:
    return ClaimNo(number)


def vector_of(text: str, width: int = WIDTH) -> NDArray[np.float32]:
    """A direction of its own for every text."""
    seed = int(text_hash(text)[:8], 16)
    row = np.random.default_rng(seed).normal(size=width).astype(np.float32)
    return row / np.float32(np.linalg.norm(row))


def chunks_of(texts: Sequence[str], first: int = 0) -> list[Chunk]:
    """Chunks as a reader would cut them, one after the other."""
    found, at = [], 0
    for place, text in enumerate(texts):
        found.append(Chunk(first + place, text, at, at + len(text), page=1, headings=("H", text)))
        at += len(text)
    return found


def put(index: IndexStore, number: int, texts: Sequence[str], base: BaseId = BASE) -> None:
    unique = list(dict.fromkeys(texts))
    rows = np.stack([vector_of(text) for text in unique])
    index.put_vectors(base, SPACE, claim(number), [text_hash(text) for text in unique], rows)


def unsealed(
    index: IndexStore, item: ItemId, number: int, texts: Sequence[str], base: BaseId = BASE
) -> None:
    index.begin(base, item, claim(number))
    if texts:
        put(index, number, texts, base)
        index.append(base, item, claim(number), SPACE, chunks_of(texts))


def write(
    index: IndexStore, item: ItemId, number: int, texts: Sequence[str], base: BaseId = BASE
) -> None:
    """A whole build, sealed."""
    unsealed(index, item, number, texts, base)
    index.seal(base, item, claim(number))


def found(
    index: IndexStore,
    query: str,
    k: int = 10,
    *,
    masked: Collection[ItemId] = (),
    within: Collection[ItemId] | None = None,
    base: BaseId = BASE,
) -> list[str]:
    """The texts that keyword search answers, best first."""
    with index.snapshot(base) as snapshot:
        return texts_of(snapshot, [c.chunk_id for c in snapshot.keyword(query, k, masked, within)])


def nearest(
    index: IndexStore,
    text: str,
    k: int = 10,
    *,
    masked: Collection[ItemId] = (),
    within: Collection[ItemId] | None = None,
    base: BaseId = BASE,
) -> list[str]:
    """The texts nearest to a text, best first."""
    with index.snapshot(base) as snapshot:
        candidates = snapshot.vector(SPACE, vector_of(text), k, masked, within)
        return texts_of(snapshot, [c.chunk_id for c in candidates])


def texts_of(snapshot: IndexSnapshot, ids: Sequence[int]) -> list[str]:
    loaded = snapshot.load(ids)
    return [loaded[one].chunk.text for one in ids]


def standing(index: IndexStore, base: BaseId = BASE) -> set[tuple[str, int]]:
    return {(row.item_id, row.claim) for row in index.builds(base)}


def has_vector(index: IndexStore, text: str, base: BaseId = BASE) -> bool:
    return not index.missing(base, SPACE, [text_hash(text)])
