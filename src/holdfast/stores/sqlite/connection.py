"""How is one SQLite file opened, written by one and read by many?

One writer connection behind a lock, BEGIN IMMEDIATE always; readers with short transactions from a
pool. Only the writer checkpoints. Errors of the driver are translated here, once. Answers of many
rows come as one row of JSON: the driver gives the interpreter's lock away at every row, and beside
busy threads each row then waits for its turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import apsw

from holdfast.domain.errors import DiskFull, HoldfastError, Transient, Unavailable
from holdfast.ports import Runtime
from holdfast.stores.sqlite.queries import queries

BUSY_MILLISECONDS = 5_000
INDEXES = "index/"
SHAPED: dict[str, str] = {}  # by its text: how a SELECT is asked for as one row


class Disk(Protocol):
    """Where database files come from; names are relative to the data folder."""

    def connect(self, name: str, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
        """A connection to the file; Unavailable when it is missing and may not be made."""

    def synced(self, name: str) -> None:
        """Told after every commit that waited for the disk (the simulator keeps an image)."""

    def exists(self, name: str) -> bool: ...

    def remove(self, name: str) -> None:
        """The file and what SQLite keeps beside it are gone; not there is fine."""

    def set_aside(self, name: str) -> None:
        """The file and what SQLite keeps beside it get a name that `names` does not list."""

    def names(self, folder: str) -> list[str]:
        """The database files in a folder."""


class Session:
    """Named statements inside one transaction."""

    def __init__(self, connection: apsw.Connection, statements: Mapping[str, str]) -> None:
        self.connection = connection
        self.statements = statements

    def run(self, name: str, /, **values: Any) -> int:
        """Execute for its effect; the number of rows changed."""
        for _ in self.connection.execute(self.statements[name], values):
            pass
        return self.connection.changes()

    def one(self, name: str, /, **values: Any) -> tuple[Any, ...] | None:
        """The only row, or None."""
        found: tuple[Any, ...] | None = None
        for row in self.connection.execute(self.statements[name], values):
            found = row if found is None else found
        return found

    def value(self, name: str, /, **values: Any) -> Any:
        """The only column of the only row, or None."""
        row = self.one(name, **values)
        return row[0] if row else None

    def returned(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement that changes something and says what (RETURNING)."""
        return list(self.connection.execute(self.statements[name], values))

    def rows(self, name: str, /, **values: Any) -> list[list[Any]]:
        """All rows of a SELECT, fetched as one; no BLOB columns."""
        text = self.value_of(self._as_one_row(name), values)
        rows: list[list[Any]] = json.loads(text)
        return rows

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self.roll_back()
            raise

    def roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """What fails inside is undone alone."""
        self.connection.execute("SAVEPOINT inner")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK TO inner")
            self.connection.execute("RELEASE inner")
            raise
        self.connection.execute("RELEASE inner")

    def value_of(self, sql: str, values: Mapping[str, Any]) -> Any:
        for row in self.connection.execute(sql, values):
            return row[0]
        return None

    def _as_one_row(self, name: str) -> str:
        select = self.statements[name]
        if select not in SHAPED:
            SHAPED[select] = self._shape(select)
        return SHAPED[select]

    def _shape(self, select: str) -> str:
        """The same SELECT as one JSON array of arrays, its columns numbered."""
        shell = queries("connection")["as_one_row"]
        width = len(self._columns(select))
        names = [f"c{number}" for number in range(width)]
        return shell.replace("/*columns*/", ", ".join(names)).replace("/*select*/", select)

    def _columns(self, select: str) -> Sequence[Any]:
        cursor = self.connection.cursor()
        found: list[Sequence[Any]] = []

        def note(cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
            found.append(cursor.get_description())
            return False

        cursor.exec_trace = note
        with suppress(apsw.ExecTraceAbort):
            cursor.execute(select, _anything())
        return found[0]


class _anything(Mapping[str, Any]):  # noqa: N801  (a value, not a concept: binds every name to NULL)
    def __getitem__(self, key: str) -> None:
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Database:
    """One SQLite file: a writer, a pool of readers."""

    def __init__(
        self,
        disk: Disk,
        name: str,
        runtime: Runtime,
        statements: Mapping[str, str],
        *,
        full: bool = False,
        readonly: bool = False,
        create: bool = True,
    ) -> None:
        self.disk, self.name, self._statements = disk, name, statements
        self._full, self.readonly = full, readonly
        self._turn, self._pool_lock = runtime.lock(), runtime.lock()
        self._idle: list[Session] = []
        self._closed = False
        self._writer = None if readonly else self._open(create)

    def _open(self, create: bool) -> Session:
        with translated(self.name):
            connection = self.disk.connect(self.name, create=create)
            prepare(connection, "as_writer")
            prepare(connection, "sync_full" if self._full else "sync_normal")
            return Session(connection, self._statements)

    @property
    def writer(self) -> Session:
        """The writer's session; its lock must be held."""
        if self._writer is None or self._closed:
            raise Unavailable(f"{self.name} is not open for writing")
        return self._writer

    @contextmanager
    def write(self) -> Iterator[Session]:
        """One transaction: all of it or nothing, visible to others when this ends."""
        with self._turn, translated(self.name):
            session = self.writer
            with session.transaction():
                yield session
            if self._full:
                self.disk.synced(self.name)

    @contextmanager
    def exclusively(self) -> Iterator[Session]:
        """The writer outside a transaction, for pragmas and checkpoints."""
        with self._turn, translated(self.name):
            yield self.writer

    def emptied_log(self, session: Session) -> bool:
        """Cut the write-ahead log, inside `exclusively`; a reader at work keeps it: False.

        Not waited for: every other writer would wait too.
        """
        session.connection.set_busy_timeout(0)
        try:
            row = session.connection.execute(queries("connection")["empty_the_log"]).fetchone()
        except apsw.BusyError:
            return False
        finally:
            session.connection.set_busy_timeout(BUSY_MILLISECONDS)
        return row is None or row[0] == 0

    @contextmanager
    def read(self) -> Iterator[Session]:
        """One snapshot; keep it short: an open one pins the write-ahead log."""
        session = self._take_reader()
        try:
            with translated(self.name):
                session.connection.execute("BEGIN")
                yield session
        finally:
            self._give_back(session)

    def _take_reader(self) -> Session:
        with self._pool_lock:
            if self._closed:
                raise Unavailable(f"{self.name} is closed")
            if self._idle:
                return self._idle.pop()
        with translated(self.name):
            connection = self.disk.connect(self.name, readonly=True, create=False)
            prepare(connection, "as_reader")
            return Session(connection, self._statements)

    def _give_back(self, session: Session) -> None:
        session.roll_back()
        with self._pool_lock:
            if not self._closed:
                self._idle.append(session)
                return
        session.connection.close()

    def close(self) -> None:
        """Close what is idle now; a reader at work closes when it gives back."""
        with self._turn, self._pool_lock:
            self._closed = True
            for session in self._idle:
                session.connection.close()
            self._idle.clear()
            if self._writer is not None:
                self._writer.connection.close()


def prepare(connection: apsw.Connection, pragmas: str) -> None:
    """Run a named list of pragmas, one by one: a row returned by one would stop the rest."""
    for statement in queries("connection")[pragmas].split(";"):
        if statement.strip():
            connection.execute(statement).fetchall()


@contextmanager
def translated(name: str) -> Iterator[None]:
    """The driver's errors in our words: what passes by itself, and what needs somebody."""
    try:
        yield
    except apsw.FullError as error:
        raise DiskFull(f"no room to write {name}") from error
    except (apsw.BusyError, apsw.LockedError, apsw.IOError) as error:
        raise Transient(f"{name} could not be used just now: {error}", code="internal") from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        advice = None if name.startswith(INDEXES) else "restore the data folder from a backup"
        raise Damaged(f"{name} is damaged: {error}", advice=advice) from error
    except apsw.CantOpenError as error:
        raise Unavailable(f"{name} cannot be opened: {error}", code="unreadable") from error


class Damaged(HoldfastError):
    """A database file disagrees with itself."""

    default_code = "missing_vector_store"
