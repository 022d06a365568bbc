"""How much memory do codes take, over all bases? One budget; who was asked longest ago leaves."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.domain.ids import BaseId, ItemId
from holdfast.ports import Lock, Runtime
from holdfast.stores.sqlite.code_cache import BYTES_BESIDE, CodeCache, Part
from holdfast.stores.sqlite.connection import Damaged, Session

BUDGET_BYTES = 2 << 30
MOST_ROWS_OF_BYTES = 1_200_000

Key = tuple[BaseId, int]


@dataclass(frozen=True, slots=True)
class Moment:
    """What a snapshot says of itself: its rev, the last pruning, the spaces and their widths."""

    rev: int
    pruned: int
    widths: Mapping[int, int]


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
        moment: Moment,
        key: Key,
        *,
        masked: Collection[ItemId],
        within: Collection[ItemId] | None,
    ) -> tuple[list[Part], bool]:
        """What a search in this snapshot looks at, and whether it is bits."""
        with self._cache(session, moment, key) as cache:
            if moment.rev >= cache.rev:
                cache.follow(session, moment.rev, moment.pruned)
            if cache.answers(moment.rev):
                return cache.select(moment.rev, masked, within), cache.as_bits
        alone = CodeCache(cache.space, cache.width, cache.as_bits, cache.file)
        alone.follow(session, moment.rev, moment.pruned)
        return alone.select(moment.rev, masked, within), alone.as_bits

    def follow(self, session: Session, moment: Moment, base: BaseId) -> None:
        """Keep what is in memory in step, so that this snapshot can still be asked later on."""
        with self._turn:
            held = [entry for (one, _), entry in self._caches.items() if one == base]
        for lock, cache in held:
            with lock:
                if 0 < cache.rev < moment.rev:
                    cache.follow(session, moment.rev, moment.pruned)

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
    def _cache(self, session: Session, moment: Moment, key: Key) -> Iterator[CodeCache]:
        with self._turn:
            entry = self._caches.get(key)
            if entry is None:
                entry = (self._runtime.lock(), self._new(session, moment, key))
                self._caches[key] = entry
            self._caches.move_to_end(key)
        lock, cache = entry
        with lock:
            yield cache
        self._make_room(key)

    def _new(self, session: Session, moment: Moment, key: Key) -> CodeCache:
        base, space = key
        width = moment.widths[space]
        return CodeCache(space, width, self._must_be_bits(session, width), f"index of {base}")

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


def moment_of(session: Session) -> Moment:
    """The first look into a snapshot; it fixes the moment."""
    row = session.one("index_moment")
    if row is None:
        raise Damaged("an index without a first row")
    rev, pruned, spaces = row
    return Moment(rev, pruned, dict(json.loads(spaces)))
