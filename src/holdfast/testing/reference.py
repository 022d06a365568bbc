"""What should a search of an index answer? Computed slowly, from nothing but its sealed chunks.

The reference reads a base through the door of its index store, embeds nothing itself and uses none
of the store's search paths: every chunk is compared, every word counted. Tests hold answers of the
real store against it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from holdfast.domain.chunks import StoredChunk
from holdfast.domain.ids import BaseId, ItemId
from holdfast.stores.index import Candidate, IndexStore
from holdfast.stores.memory_index import allowance
from holdfast.stores.memory_world import World

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAGE = 1_000

VectorOf = Callable[[str], "NDArray[np.float32]"]


class Reference:
    """One base, as it stood when this was made."""

    def __init__(self, index: IndexStore, base: BaseId, vector_of: VectorOf) -> None:
        self.chunks = sorted(_sealed(index, base), key=lambda stored: stored.id)
        self._vector_of = vector_of

    def nearest(
        self,
        query: NDArray[np.float32],
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[tuple[int, float]]:
        """Chunk numbers and cosines, best first."""
        import numpy as np

        allowed = allowance(masked, within)
        here = [stored for stored in self.chunks if allowed(stored)]
        if not here:
            return []
        scores = np.stack([self._vector_of(stored.chunk.text) for stored in here]) @ query
        order = np.argsort(-scores, kind="stable")[:k].tolist()
        return [(here[place].id, float(scores[place])) for place in order]

    def ranked(
        self,
        query: str,
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        """By BM25 over all chunks."""
        return self._world().ranked(query, k, allowance(masked, within))

    def holding(self, piece: str) -> set[int]:
        """The chunks in whose text this stands, letter by letter."""
        return {stored.id for stored in self.chunks if piece in stored.chunk.text}

    def _world(self) -> World:
        world = World()
        world.__dict__["by_id"] = {stored.id: stored for stored in self.chunks}
        world.__dict__["answering"] = self.chunks
        return world


def _sealed(index: IndexStore, base: BaseId) -> list[StoredChunk]:
    found: list[StoredChunk] = []
    for row in index.builds(base):
        after = -1
        while row.seal is not None:
            page = index.chunks(base, row.item_id, row.claim, after, PAGE)
            if not page:
                break
            found += page
            after = page[-1].chunk.ordinal
    return found
