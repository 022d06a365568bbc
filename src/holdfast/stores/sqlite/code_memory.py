"""How much memory do codes take, over all bases? One budget; who was asked longest ago leaves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from holdfast.domain.ids import BaseId, ItemId
from holdfast.ports import Lock, Runtime
from holdfast.stores.sqlite.code_cache import BYTES_BESIDE, CodeCache, Part
from holdfast.stores.sqlite.connection import Session

BUDGET_BYTES = 2 << 30
MOST_ROWS_OF_BYTES = 1_200_000

Key = tuple[BaseId, int]


class CodeMemory:
    """The caches of all bases."""

    def __init__(
        self,
        runtime: Runtime,
        budget: int = BUDGET_BYTES,
        most_rows: int = MOST_ROWS_OF_BYTES,
    ) -> None:
        self._runtime, self._budget, self._most_rows = runtime, budget, most_rows
        self._turn = runtime.lock()
        self._caches: OrderedDict[Key, tuple[Lock, CodeCache]] = OrderedDict()

    def select(
        self,
        session: Session,
        base: BaseId,
        space: int,
        width: int,
        *,
        masked: Collection[ItemId],
        within: Collection[ItemId] | None,
    ) -> tuple[list[Part], bool]:
        """What a search in this snapshot looks at, and whether it is bits."""
        rev, pruned = revs(session)
        with self._cache(session, base, space, width) as cache:
            if rev >= cache.rev:
                cache.follow(session, rev, pruned)
            if cache.answers(rev):
                parts = cache.select(rev, masked, within)
                return parts, cache.as_bits
        alone = CodeCache(space, width, cache.as_bits, cache.file)
        alone.follow(session, rev, pruned)
        return alone.select(rev, masked, within), alone.as_bits

    def follow(self, session: Session, base: BaseId) -> None:
        """Keep what is in memory in step, so that this snapshot can still be asked later on."""
        with self._turn:
            held = [(space, entry) for (b, space), entry in self._caches.items() if b == base]
        if not held:
            return
        rev, pruned = revs(session)
        for _space, (lock, cache) in held:
            with lock:
                if cache.rev and rev > cache.rev:
                    cache.follow(session, rev, pruned)

    def forget(self, base: BaseId) -> None:
        """The index is gone, or another one now."""
        with self._turn:
            for key in [key for key in self._caches if key[0] == base]:
                del self._caches[key]

    @property
    def size(self) -> int:
        with self._turn:
            return sum(cache.size for _, cache in self._caches.values())

    @contextmanager
    def _cache(self, session: Session, base: BaseId, space: int, width: int) -> Iterator[CodeCache]:
        key = (base, space)
        with self._turn:
            entry = self._caches.get(key)
            if entry is None:
                bits = self._must_be_bits(session, width)
                entry = (self._runtime.lock(), CodeCache(space, width, bits, f"index of {base}"))
                self._caches[key] = entry
            self._caches.move_to_end(key)
        lock, cache = entry
        with lock:
            yield cache
        self._make_room(key)

    def _must_be_bits(self, session: Session, width: int) -> bool:
        rows: int = session.value("rows_to_cache")
        return rows > self._most_rows or rows * (width + BYTES_BESIDE) > self._budget

    def _make_room(self, key: Key) -> None:
        """Others leave first; one that alone is too large comes back as bits."""
        with self._turn:
            total = sum(cache.size for _, cache in self._caches.values())
            for other in [other for other in self._caches if other != key]:
                if total <= self._budget:
                    return
                total -= self._caches.pop(other)[1].size
            entry = self._caches.get(key)
            if entry and not entry[1].as_bits and self._outgrown(entry[1]):
                del self._caches[key]

    def _outgrown(self, cache: CodeCache) -> bool:
        return cache.rows > self._most_rows or cache.size > self._budget


def revs(session: Session) -> tuple[int, int]:
    """The rev of this snapshot, and the one up to which tombstones were pruned."""
    row = session.one("index_meta")
    if row is None:
        raise LookupError("an index without a first row")
    return int(row[1]), int(row[2])
