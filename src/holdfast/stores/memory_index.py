"""Where are chunks kept when nothing has to last? In dicts: for tests, small worlds, simulation.

Every method is one step from one world to the next. `on_commit` is told of each step after it was
taken, and an image of all bases costs nothing, so a simulator can cut the power anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from holdfast.domain.chunks import Chunk, Seal, SmallBuild, StoredChunk
from holdfast.domain.errors import Transient
from holdfast.domain.ids import BaseId, ClaimNo, ItemId, TextHash
from holdfast.ports import Runtime
from holdfast.stores.index import BuildRow, Candidate, IndexMissing, IndexSnapshot, Pair
from holdfast.stores.memory_world import World

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLICE_CHUNKS = 5_000

Worlds = Mapping[BaseId, World]


class MemoryIndex:
    """An IndexStore in memory."""

    def __init__(self, runtime: Runtime | None = None) -> None:
        self._turn: AbstractContextManager[object] = runtime.lock() if runtime else nullcontext()
        self._worlds: Worlds = {}
        self._holders = 0
        self.on_commit: Callable[[BaseId, str], None] = lambda _base, _method: None

    @classmethod
    def from_image(cls, image: object, runtime: Runtime | None = None) -> MemoryIndex:
        """An index that holds what another held when its image was taken."""
        if not isinstance(image, dict):
            raise TypeError(f"an image of a MemoryIndex is a dict, not {type(image).__name__}")
        index = cls(runtime)
        index._worlds = image
        return index

    def image(self) -> object:
        """Everything as it stands now; later writes do not touch it."""
        return self._worlds

    def create(self, base: BaseId) -> None:
        with self._turn:
            if base not in self._worlds:
                self._worlds = {**self._worlds, base: World()}
        self.on_commit(base, "create")

    def drop(self, base: BaseId) -> None:
        with self._turn:
            refuse_while_held(self._holders)
            self._worlds = {b: world for b, world in self._worlds.items() if b != base}
        self.on_commit(base, "drop")

    def bases(self) -> list[BaseId]:
        return sorted(self._worlds)

    def missing(self, base: BaseId, space: int, hashes: Collection[TextHash]) -> set[TextHash]:
        return self._world(base).missing(space, hashes)

    def put_vectors(
        self,
        base: BaseId,
        space: int,
        claim: ClaimNo,
        hashes: Sequence[TextHash],
        vectors: NDArray[np.float32],
    ) -> None:
        with self._step(base, "put_vectors") as to:
            to(self._world(base).with_vectors(space, claim, hashes, vectors))

    def begin(self, base: BaseId, item: ItemId, claim: ClaimNo) -> None:
        with self._step(base, "begin") as to:
            to(self._world(base).with_empty((item, claim)))

    def append(
        self, base: BaseId, item: ItemId, claim: ClaimNo, space: int | None, chunks: Sequence[Chunk]
    ) -> None:
        with self._step(base, "append") as to:
            to(self._world(base).with_page((item, claim), space, chunks))

    def seal(self, base: BaseId, item: ItemId, claim: ClaimNo) -> Seal:
        with self._step(base, "seal") as to:
            to(self._world(base).sealed((item, claim)))
        return self.seals(base, [(item, claim)])[item, claim]

    def write_small(
        self, base: BaseId, space: int | None, builds: Sequence[SmallBuild]
    ) -> list[Seal]:
        with self._step(base, "write_small") as to:
            world = self._world(base)
            for build in builds:
                pair = (build.item_id, build.claim)
                world = world.with_empty(pair).with_page(pair, space, build.chunks).sealed(pair)
            to(world)
        return [seal for b in builds if (seal := world.builds[b.item_id, b.claim].seal)]

    def drop_before(
        self, base: BaseId, builds: Collection[Pair], live: Collection[ClaimNo]
    ) -> None:
        newest = dict(builds)
        self._remove(base, "drop_before", lambda p: p[1] < newest.get(p[0], p[1]), live)

    def builds(self, base: BaseId) -> list[BuildRow]:
        world = self._worlds.get(base, World())
        return [BuildRow(item, claim, b.seal) for (item, claim), b in world.builds.items()]

    def remove(self, base: BaseId, pairs: Collection[Pair], live: Collection[ClaimNo]) -> None:
        exactly = frozenset(pairs)
        self._remove(base, "remove", lambda pair: pair in exactly, live)

    def remove_items(
        self, base: BaseId, items: Collection[ItemId], live: Collection[ClaimNo]
    ) -> bool:
        refuse_while_held(self._holders)
        wanted = frozenset(items)
        slice_ = _first_slice(self._worlds.get(base, World()), wanted)
        self._remove(base, "remove_items", lambda pair: pair in slice_, live)
        left = self._worlds.get(base, World()).builds
        return all(item not in wanted for item, _ in left)

    def seals(self, base: BaseId, pairs: Collection[Pair]) -> dict[Pair, Seal]:
        builds = self._worlds.get(base, World()).builds
        return {p: seal for p in pairs if (b := builds.get(p)) and (seal := b.seal)}

    def chunks(
        self, base: BaseId, item: ItemId, claim: ClaimNo, after: int, limit: int
    ) -> list[StoredChunk]:
        build = self._world(base).builds.get((item, claim))
        found = build.in_order() if build else []
        return [stored for stored in found if stored.chunk.ordinal > after][:limit]

    @contextmanager
    def snapshot(self, base: BaseId) -> Iterator[IndexSnapshot]:
        yield MemorySnapshot(self._world(base))

    @contextmanager
    def hold(self) -> Iterator[None]:
        with self._turn:
            self._holders += 1
        try:
            yield
        finally:
            with self._turn:
                self._holders -= 1

    def purge(self, base: BaseId) -> bool:
        self.on_commit(base, "purge")
        return True

    def purge_due(self, base: BaseId) -> bool:
        """What is removed here is gone at once."""
        return False

    def verify(self, base: BaseId) -> list[str]:
        if base not in self._worlds:
            return ["the base has no index"]
        return list(_disagreements(self._worlds[base]))

    def mend(self, base: BaseId) -> list[Pair]:
        builds = self._world(base).builds
        return [pair for pair, one in builds.items() if one.seal not in (None, one.counted())]

    def close(self) -> None:
        """Nothing is open."""

    def _world(self, base: BaseId) -> World:
        if base not in self._worlds:
            raise IndexMissing(f"base {base} has no index here")
        return self._worlds[base]

    @contextmanager
    def _step(self, base: BaseId, method: str) -> Iterator[Callable[[World], None]]:
        def to(world: World) -> None:
            self._worlds = {**self._worlds, base: world}

        with self._turn:
            yield to
        self.on_commit(base, method)

    def _remove(
        self, base: BaseId, method: str, gone: Callable[[Pair], bool], live: Collection[ClaimNo]
    ) -> None:
        if base not in self._worlds:
            return
        with self._step(base, method) as to:
            if not self._holders:
                to(self._world(base).without(gone, live))


class MemorySnapshot:
    """A world, asked."""

    def __init__(self, world: World) -> None:
        self._world = world

    def vector(
        self,
        space: int,
        query: NDArray[np.float32],
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        return self._world.nearest(space, query, k, allowance(masked, within))

    def keyword(
        self,
        query: str,
        k: int,
        masked: Collection[ItemId] = (),
        within: Collection[ItemId] | None = None,
    ) -> list[Candidate]:
        return self._world.ranked(query, k, allowance(masked, within))

    def sealed(self, pairs: Collection[Pair]) -> set[Pair]:
        builds = self._world.builds
        return {pair for pair in pairs if pair in builds and builds[pair].seal}

    def load(self, chunk_ids: Collection[int]) -> Mapping[int, StoredChunk]:
        known = self._world.by_id
        return {chunk: known[chunk] for chunk in chunk_ids if chunk in known}

    def around(self, chunk: StoredChunk, n: int) -> list[StoredChunk]:
        build = self._world.builds.get((chunk.item_id, chunk.build))
        here = build.in_order() if build else []
        at = chunk.chunk.ordinal
        return [c for c in here if c.chunk.ordinal != at and abs(c.chunk.ordinal - at) <= n]


def allowance(
    masked: Collection[ItemId], within: Collection[ItemId] | None
) -> Callable[[StoredChunk], bool]:
    """May this chunk answer?"""
    hidden = frozenset(masked)
    if within is None:
        return lambda stored: stored.item_id not in hidden
    shown = frozenset(within) - hidden
    return lambda stored: stored.item_id in shown


def refuse_while_held(holders: int) -> None:
    """A delete does not begin while a backup is being taken; it comes again."""
    if holders:
        raise Transient(
            "a backup is being taken: nothing is dropped meanwhile",
            code="internal",
            advice="nothing to do: the delete goes on when the backup has ended",
        )


def _first_slice(world: World, items: frozenset[ItemId]) -> set[Pair]:
    taken: set[Pair] = set()
    room = SLICE_CHUNKS
    for pair, build in world.builds.items():
        if pair[0] in items and room > 0:
            taken.add(pair)
            room -= max(1, len(build.chunks))
    return taken


def _disagreements(world: World) -> Iterator[str]:
    for (item, claim), build in world.builds.items():
        if build.seal not in (None, build.counted()):
            yield f"build {claim} of item {item} is not what was sealed"
