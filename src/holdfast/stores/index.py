"""Where are chunks, vectors and full text kept? The door of the index store.

A build is what one run wrote for one item, numbered by its claim. The main store alone decides
which build answers; here builds are written beside one another, sealed, and removed by number.
Every method that changes something is durable when it returns, and may be called again.
A base whose index is missing: `missing`, `put_vectors`, `begin`, `append`, `seal` and `snapshot`
raise IndexMissing; removing from it is a success, as there is nothing left to remove.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from holdfast.domain.chunks import Chunk, Seal, SmallBuild, StoredChunk
from holdfast.domain.errors import Permanent
from holdfast.domain.ids import BaseId, ClaimNo, ItemId, TextHash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pair = tuple[ItemId, ClaimNo]


class VectorsMissing(Exception):
    """Texts of this page have no vector: never embedded, or collected by another item's delete."""

    def __init__(self, hashes: Collection[TextHash]) -> None:
        super().__init__(f"{len(hashes)} texts have no vector")
        self.hashes = frozenset(hashes)


class IndexMissing(Permanent):
    """The base has no index here; only create_base and a rebuild make one."""

    default_code = "missing_vector_store"


@dataclass(frozen=True, slots=True)
class BuildRow:
    """A build that stands in the index, sealed or not."""

    item_id: ItemId
    claim: ClaimNo
    seal: Seal | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer: where it stands and how well it fits (higher is better)."""

    chunk_id: int
    item_id: ItemId
    build: ClaimNo
    score: float


class IndexSnapshot(Protocol):
    """The index of one base as it was at one moment; used within its `with` only.

    Only sealed builds are candidates. `masked` items are left out before ranking; with `within`
    only these items are looked at, and enough of them to fill `k` if there are that many.
    """

    def vector(
        self,
        space: int,
        query: NDArray[np.float32],
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        """The k chunks whose vectors are nearest (cosine), best first."""

    def keyword(
        self,
        query: str,
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        """The k chunks that hold most of the query's words, best first; any string is fine."""

    def sealed(self, pairs: Collection[Pair]) -> set[Pair]:
        """Those of these builds that stand here, sealed."""

    def load(self, chunk_ids: Collection[int]) -> Mapping[int, StoredChunk]:
        """The chunks themselves; ids that are gone are left out."""

    def around(self, chunk: StoredChunk, n: int) -> list[StoredChunk]:
        """The n chunks before and after, of the same build, in order, without itself."""


class IndexStore(Protocol):
    """The index stores of all bases."""

    def create(self, base: BaseId) -> None:
        """An empty index; there already is fine."""

    def drop(self, base: BaseId) -> None:
        """The whole index of a base is gone, its files with it; none there is fine."""

    def bases(self) -> list[BaseId]:
        """The bases that have an index here."""

    def missing(self, base: BaseId, space: int, hashes: Collection[TextHash]) -> set[TextHash]:
        """Which of these texts have no vector in this space."""

    def put_vectors(
        self,
        base: BaseId,
        space: int,
        claim: ClaimNo,
        hashes: Sequence[TextHash],
        vectors: NDArray[np.float32],
    ) -> None:
        """Keep vectors under their texts' hashes: the newest is the one a text has."""

    def begin(self, base: BaseId, item: ItemId, claim: ClaimNo) -> None:
        """An empty, unsealed build; whatever bore this number for the item is removed first."""

    def append(
        self, base: BaseId, item: ItemId, claim: ClaimNo, space: int | None, chunks: Sequence[Chunk]
    ) -> None:
        """Add a page; VectorsMissing (and nothing written) unless every text has its vector.

        `space` is None in a keyword-only base: no vectors are asked for.
        """

    def seal(self, base: BaseId, item: ItemId, claim: ClaimNo) -> Seal:
        """The build is complete: count and digest are recorded, and all of it is on disk."""

    def write_small(
        self, base: BaseId, space: int | None, builds: Sequence[SmallBuild]
    ) -> list[Seal]:
        """begin, append and seal of several small builds in one transaction, or VectorsMissing."""

    def drop_before(
        self, base: BaseId, builds: Collection[Pair], live: Collection[ClaimNo]
    ) -> None:
        """Remove these items' builds with smaller numbers than the given, and lone vectors.

        A vector is collected only when no chunk names it and the claim that put it is not live.
        """

    def builds(self, base: BaseId) -> list[BuildRow]:
        """Every build that stands there, sealed or not."""

    def remove(self, base: BaseId, pairs: Collection[Pair], live: Collection[ClaimNo]) -> None:
        """Remove exactly these builds and the vectors only they named (as in drop_before)."""

    def remove_items(
        self, base: BaseId, items: Collection[ItemId], live: Collection[ClaimNo]
    ) -> bool:
        """Remove all builds of these items, about 50 ms' worth; True when none is left."""

    def seals(self, base: BaseId, pairs: Collection[Pair]) -> dict[Pair, Seal]:
        """The seals of those of these builds that are sealed."""

    def chunks(
        self, base: BaseId, item: ItemId, claim: ClaimNo, after: int, limit: int
    ) -> list[StoredChunk]:
        """Chunks of one build with ordinals above `after`, in order."""

    def snapshot(self, base: BaseId) -> AbstractContextManager[IndexSnapshot]:
        """One moment of the index to search in."""

    def hold(self) -> AbstractContextManager[None]:
        """While held nothing is dropped, purged or unlinked: a backup is being taken."""

    def purge(self, base: BaseId) -> bool:
        """A slice (about 50 ms) of clearing deleted text from the files; True when none is left."""

    def purge_due(self, base: BaseId) -> bool:
        """Does a file of this index still hold text that was deleted?"""

    def verify(self, base: BaseId) -> list[str]:
        """Every disagreement inside the index, in words; empty when it is sound."""

    def mend(self, base: BaseId) -> list[Pair]:
        """Everything that follows from chunks and vectors is made again from them.

        What cannot be is told: the builds whose chunks or vectors are not those that were sealed.
        They are still there; who knows their items removes them and has them indexed again.
        """

    def close(self) -> None: ...
