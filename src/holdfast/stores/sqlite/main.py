"""How is the main store one SQLite file with one writer?

Every transaction commits at NORMAL: it survives the process at once and the power at the next FULL
commit of the same file. `durable` is that FULL commit, shared by all who wait for it: while one is
under way the others gather, and the first of them makes the next one for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from holdfast.domain.events import stored
from holdfast.domain.ids import JobId
from holdfast.domain.jobs import Lane
from holdfast.ports import Clock, Runtime, Wakeups
from holdfast.stores.sqlite.catalog import SqliteCatalogWrites
from holdfast.stores.sqlite.catalog_reads import SqliteCatalogReads
from holdfast.stores.sqlite.connection import Database, Disk, Session, prepare
from holdfast.stores.sqlite.ledger import SqliteLedgerReads, SqliteLedgerWrites
from holdfast.stores.sqlite.migrations import migrate, must_be_newest
from holdfast.stores.sqlite.processing import SqliteProcessingReads, SqliteProcessingWrites
from holdfast.stores.sqlite.queries import queries
from holdfast.stores.sqlite.queue import SqliteQueueReads, SqliteQueueWrites
from holdfast.stores.sqlite.repair import SqliteRepairs, flaws, mended

FILE = "holdfast.db"
# Before the writer is taken for a FULL commit: others join it, and the job whose commit is to be
# made durable can be claimed meanwhile instead of waiting for the disk.
GATHER = 0.001


class SqliteSnapshot(
    SqliteCatalogReads, SqliteQueueReads, SqliteLedgerReads, SqliteProcessingReads
):
    """One moment of the main store."""

    def __init__(self, session: Session, now: int) -> None:
        self.session, self.now = session, now


class SqliteTransaction(
    SqliteCatalogWrites,
    SqliteQueueWrites,
    SqliteLedgerWrites,
    SqliteProcessingWrites,
    SqliteRepairs,
):
    """What happens together; it remembers whom to wake when it is done."""

    def __init__(self, session: Session, now: int) -> None:
        self.session, self.now = session, now
        self.woken: set[Lane] = set()
        self.stopped: set[JobId] = set()

    def savepoint(self) -> AbstractContextManager[None]:
        return self.session.savepoint()


class SqliteMain:
    """The main store of one data folder."""

    def __init__(
        self,
        disk: Disk,
        clock: Clock,
        runtime: Runtime,
        wakeups: Wakeups,
        *,
        readonly: bool = False,
        create: bool = True,
    ) -> None:
        self._clock, self._wakeups, self._disk = clock, wakeups, disk
        self._db = Database(disk, FILE, runtime, _statements(), readonly=readonly, create=create)
        self._gather = runtime.condition()
        self._asked = self._reached = 0
        self._syncing = False
        if readonly:
            with self._db.read() as session:
                must_be_newest(session)
        else:
            with self._db.exclusively() as session:
                migrate(session)

    @contextmanager
    def write(self) -> Iterator[SqliteTransaction]:
        tx: SqliteTransaction | None = None
        try:
            with self._db.write() as session:
                tx = SqliteTransaction(session, stored(self._clock.wall()))
                yield tx
        finally:
            # after an unclear commit too: a wake-up for nothing costs nothing
            if tx is not None and tx.stopped:
                self._wakeups.cancelled(tx.stopped)
            if tx is not None and tx.woken:
                self._wakeups.ready(tx.woken)

    @contextmanager
    def read(self) -> Iterator[SqliteSnapshot]:
        now = stored(self._clock.wall())
        with self._db.read() as session:
            yield SqliteSnapshot(session, now)

    def durable(self) -> None:
        with self._gather:
            self._asked += 1
            ticket = self._asked
            while self._syncing and self._reached < ticket:
                self._gather.wait()
            if self._reached >= ticket:
                return
            self._syncing = True
            self._gather.wait(GATHER)
            covers = self._asked
        try:
            self._sync()
            self._settle(covers)
        except BaseException:
            self._settle(0)
            raise

    def _settle(self, covers: int) -> None:
        with self._gather:
            self._reached = max(self._reached, covers)
            self._syncing = False
            self._gather.notify_all()

    def _sync(self) -> None:
        """The small FULL transaction; `synchronous` cannot change inside one: set around it."""
        with self._db.exclusively() as session:
            prepare(session.connection, "sync_full")
            try:
                session.run("touch")
            finally:
                prepare(session.connection, "sync_normal")
            self._disk.synced(FILE)

    def purge_due(self) -> bool:
        with self._db.read() as session:
            return bool(session.value("main_purge_due"))

    def purge(self) -> bool:
        """SQLite overwrites what it frees; what was written before stands in the log until then."""
        with self._db.exclusively() as session:
            emptied = self._db.emptied_log(session)
            if emptied:
                session.run("note_main_purged")
            return emptied

    def verify(self) -> list[str]:
        return list(flaws(self._db))

    def mend(self) -> None:
        mended(self._db)

    def close(self) -> None:
        self._db.close()


def _statements() -> dict[str, str]:
    files = ("catalog", "queue", "ledger", "processing", "invariants", "engine", "repair")
    return {name: text for file in files for name, text in queries(file).items()}
