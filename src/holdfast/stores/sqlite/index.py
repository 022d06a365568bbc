"""Where are chunks, vectors and full text kept on one machine? In one SQLite file per base.

`index/<base>.db`, made only by `create`, opened when first asked for and checked then. A file that
disagrees with itself, at open or in the middle of a call, is set aside under another name and the
base counts as missing: it is rebuilt, never silently empty. While a backup holds, nothing leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.domain.chunks import Chunk, Seal, SmallBuild, StoredChunk
from holdfast.domain.errors import Transient, Unavailable
from holdfast.domain.ids import BaseId, ClaimNo, ItemId, TextHash
from holdfast.ports import Clock, Runtime
from holdfast.stores.index import BuildRow, IndexMissing, IndexSnapshot, Pair
from holdfast.stores.sqlite.code_memory import CodeMemory, moment_of
from holdfast.stores.sqlite.connection import Damaged, Database, Disk
from holdfast.stores.sqlite.index_check import checked_at_open, disagreements
from holdfast.stores.sqlite.index_file import IndexFile
from holdfast.stores.sqlite.index_mend import mended
from holdfast.stores.sqlite.index_search import SqliteSnapshot
from holdfast.stores.sqlite.purge import purge_is_due, purge_slice
from holdfast.stores.sqlite.queries import queries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "index"
SUFFIX = ".db"
HELD = "a backup is being taken: nothing is dropped meanwhile"


class SqliteIndex:
    """The index stores of one data folder."""

    def __init__(
        self,
        disk: Disk,
        runtime: Runtime,
        clock: Clock,
        *,
        memory: CodeMemory | None = None,
        readonly: bool = False,
        on_damage: Callable[[BaseId, str], None] = lambda _base, _what: None,
    ) -> None:
        self._disk, self._runtime, self._clock = disk, runtime, clock
        self._memory = memory or CodeMemory(runtime)
        self._readonly, self._on_damage = readonly, on_damage
        self._files: dict[BaseId, IndexFile] = {}
        self._turn = runtime.lock()
        self._quiet = runtime.condition()
        self._holders = self._removing = 0

    # -------------------------------------------------------------------- bases

    def create(self, base: BaseId) -> None:
        with self._turn:
            try:
                self._opened(base)
            except IndexMissing:
                self._make(base)

    def drop(self, base: BaseId) -> None:
        with self._may_remove() as allowed, self._turn:
            if not allowed:
                raise _held()
            self._let_go(base, sound=False)
            self._disk.remove(_name(base))

    def bases(self) -> list[BaseId]:
        names = self._disk.names(FOLDER)
        return [BaseId(name.removeprefix(f"{FOLDER}/").removesuffix(SUFFIX)) for name in names]

    # ------------------------------------------------------------------ writing

    def missing(self, base: BaseId, space: int, hashes: Collection[TextHash]) -> set[TextHash]:
        with self._file(base) as file:
            return file.missing(space, hashes)

    def put_vectors(
        self,
        base: BaseId,
        space: int,
        claim: ClaimNo,
        hashes: Sequence[TextHash],
        vectors: NDArray[np.float32],
    ) -> None:
        with self._file(base) as file:
            file.put_vectors(space, claim, hashes, vectors)

    def begin(self, base: BaseId, item: ItemId, claim: ClaimNo) -> None:
        with self._file(base) as file:
            file.begin(item, claim)

    def append(
        self, base: BaseId, item: ItemId, claim: ClaimNo, space: int | None, chunks: Sequence[Chunk]
    ) -> None:
        with self._file(base) as file:
            file.append(item, claim, space, chunks)

    def seal(self, base: BaseId, item: ItemId, claim: ClaimNo) -> Seal:
        with self._file(base) as file:
            return file.seal(item, claim)

    def write_small(
        self, base: BaseId, space: int | None, builds: Sequence[SmallBuild]
    ) -> list[Seal]:
        with self._file(base) as file:
            return file.write_small(space, builds)

    # ----------------------------------------------------------------- removing

    def drop_before(
        self, base: BaseId, builds: Collection[Pair], live: Collection[ClaimNo]
    ) -> None:
        self._take_from(base, lambda file: file.drop_before(builds, live))

    def remove(self, base: BaseId, pairs: Collection[Pair], live: Collection[ClaimNo]) -> None:
        self._take_from(base, lambda file: file.remove(pairs, live))

    def remove_items(
        self, base: BaseId, items: Collection[ItemId], live: Collection[ClaimNo]
    ) -> bool:
        with self._quiet:
            if self._holders:
                raise _held()  # False would ask for another call at once
        return self._take_from(base, lambda file: file.remove_items(items, live)) is not False

    def purge(self, base: BaseId) -> bool:
        done = self._take_from(base, lambda file: purge_slice(file.database, self._clock))
        return done is True or not self.purge_due(base)

    # ------------------------------------------------------------------ reading

    def builds(self, base: BaseId) -> list[BuildRow]:
        try:
            with self._file(base) as file:
                return file.builds()
        except IndexMissing:
            return []

    def seals(self, base: BaseId, pairs: Collection[Pair]) -> dict[Pair, Seal]:
        try:
            with self._file(base) as file:
                return file.seals(pairs)
        except IndexMissing:
            return {}

    def chunks(
        self, base: BaseId, item: ItemId, claim: ClaimNo, after: int, limit: int
    ) -> list[StoredChunk]:
        with self._file(base) as file:
            return file.chunks(item, claim, after, limit)

    @contextmanager
    def snapshot(self, base: BaseId) -> Iterator[IndexSnapshot]:
        with self._file(base) as file, file.database.read() as session:
            moment = moment_of(session)
            self._memory.follow(session, moment, base)
            yield SqliteSnapshot(session, moment, self._memory, base)

    @contextmanager
    def hold(self) -> Iterator[None]:
        with self._quiet:
            self._holders += 1
            while self._removing:
                self._quiet.wait()
        try:
            yield
        finally:
            with self._quiet:
                self._holders -= 1

    def verify(self, base: BaseId) -> list[str]:
        try:
            with self._file(base) as file:
                return list(disagreements(file.database))
        except IndexMissing as missing:
            return [str(missing)]

    def mend(self, base: BaseId) -> list[Pair]:
        with self._file(base) as file:
            broken = mended(file.database)
            self._memory.forget(base)
            return broken

    def purge_due(self, base: BaseId) -> bool:
        """Does a file still hold text that was deleted?"""
        try:
            with self._file(base) as file:
                return purge_is_due(file.database)
        except IndexMissing:
            return False

    def close(self) -> None:
        with self._turn:
            for base in list(self._files):
                self._let_go(base)

    # ------------------------------------------------------------------- opening

    @contextmanager
    def _file(self, base: BaseId) -> Iterator[IndexFile]:
        """The index, open; one that turns out damaged is set aside and missing from then on."""
        with self._turn:
            file = self._opened(base)
        try:
            yield file
        except Damaged as damage:
            with self._turn:
                if self._files.get(base) is file:
                    self._set_aside(base, str(damage))
            raise IndexMissing(str(damage)) from damage

    def _opened(self, base: BaseId) -> IndexFile:
        if base not in self._files:
            if not self._disk.exists(_name(base)):
                raise IndexMissing(f"base {base} has no index here")
            try:
                self._files[base] = self._open(base)
            except Damaged as damage:
                self._set_aside(base, str(damage))
                raise IndexMissing(str(damage)) from damage
        return self._files[base]

    def _open(self, base: BaseId) -> IndexFile:
        database = self._database(base, create=False)
        try:
            clean = checked_at_open(database, base, closely=not self._readonly)
        except BaseException:
            database.close()
            raise
        return IndexFile(database, base, clean=clean)

    def _make(self, base: BaseId) -> None:
        if self._readonly:
            raise Unavailable("the data folder is open for reading only")
        database = self._database(base, create=True)
        with database.write() as session:
            session.run("index_schema")
            session.run("index_first_row", base=base, made=self._clock.wall())
        self._files[base] = IndexFile(database, base, clean=True)

    def _database(self, base: BaseId, *, create: bool) -> Database:
        return Database(
            self._disk,
            _name(base),
            self._runtime,
            _statements(),
            full=True,
            readonly=self._readonly,
            create=create,
        )

    def _set_aside(self, base: BaseId, what: str) -> None:
        self._let_go(base, sound=False)
        if not self._readonly:
            self._disk.set_aside(_name(base))
        self._on_damage(base, what)

    def _let_go(self, base: BaseId, *, sound: bool = True) -> None:
        self._memory.forget(base)
        file = self._files.pop(base, None)
        if file is not None:
            file.close(sound=sound)

    # ------------------------------------------------------------------- backups

    def _take_from(self, base: BaseId, take: Callable[[IndexFile], bool | None]) -> bool | None:
        """Nothing happens while a backup holds; from a missing index there is nothing to take."""
        with self._may_remove() as allowed:
            if not allowed:
                return None
            try:
                with self._file(base) as file:
                    return take(file)
            except IndexMissing:
                return None

    @contextmanager
    def _may_remove(self) -> Iterator[bool]:
        with self._quiet:
            allowed = not self._holders
            self._removing += allowed
        try:
            yield allowed
        finally:
            if allowed:
                with self._quiet:
                    self._removing -= 1
                    self._quiet.notify_all()


def _held() -> Transient:
    return Transient(HELD, code="internal", advice="nothing to do: it is tried again by itself")


def _name(base: BaseId) -> str:
    return f"{FOLDER}/{base}{SUFFIX}"


def _statements() -> dict[str, str]:
    files = ("index", "index_search", "index_check", "index_mend", "index_schema")
    return {name: text for file in files for name, text in queries(file).items()}
