"""What is on disk after a crash, and after the power failed? Two disks that can tell.

`MemoryDisk` is quick: one in-memory SQLite per name, images taken as commits end. A crash rolls
the open transaction back. A power cut puts each file, on its own, back to an image that was not
older than its last synced one: the disk may have kept more than was promised, never less.
Readers of a watched file share its one connection (no task yields inside a transaction); readers
of other files get a copy, a stable snapshot as WAL gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, cast

import apsw

from holdfast.domain.errors import Unavailable
from holdfast.stores.sqlite.connection import Session
from holdfast.stores.sqlite.refill import refill

IMAGES_KEPT = 6
HALF = 0.5
CACHED_STATEMENTS = 512  # as many as there can be
SHORT = 60
PAGE = 1_024  # small: an image is taken after every commit


class SharedConnection(apsw.Connection):
    """The one connection of a file: it outlives the objects that think they own it.

    Settings are made once: each PRAGMA that sets one would expire every prepared statement.
    """

    settings: set[str]

    def execute(self, sql: str, *values: Any) -> apsw.Cursor:  # type: ignore[override]
        if len(sql) < SHORT:
            return self._short(sql, *values)
        return super().execute(sql, *values)

    def _short(self, sql: str, *values: Any) -> apsw.Cursor:
        """Quickly prepared: it shall not push dearer ones out of the cache, which is a ring."""
        if "PRAGMA" in sql and "=" in sql:
            if sql in self.settings:
                return NOTHING
            self.settings.add(sql)
        return super().execute(sql, *values, can_cache=False)

    def close(self, force: bool = False) -> None:  # noqa: FBT002  (apsw's signature)
        """Stay open: the file is still there when its process is gone."""


NOTHING = apsw.Connection(":memory:").execute("")


class SharedReader:
    """A reader that is the writer's connection in disguise: pragmas of readers are not for it."""

    def __init__(self, shared: apsw.Connection) -> None:
        self._shared = shared
        self.cursor = shared.cursor
        self.changes = shared.changes

    @property
    def in_transaction(self) -> bool:
        return self._shared.in_transaction

    def execute(self, sql: str, *values: Any) -> apsw.Cursor:
        if len(sql) < SHORT and "PRAGMA" in sql:
            return NOTHING
        return self._shared.execute(sql, *values)

    def close(self) -> None:
        """Nothing of its own to close."""


class SnapshotReader(apsw.Connection):
    """A reader of its own: each transaction sees the file as it was when it began, as in WAL."""

    file: MemoryFile

    def execute(self, sql: str, *values: Any) -> apsw.Cursor:  # type: ignore[override]
        if sql == "BEGIN":
            self.deserialize("main", self.file.image())
        return super().execute(sql, *values)


class MemoryFile:
    """One file: its connection, and what it may be after a power cut."""

    def __init__(self, image: bytes | None) -> None:
        self.connection = POOL.take(image)
        self.images = [self.image()]
        self._grown_from_template = image is not None

    def image(self) -> bytes:
        return self.connection.serialize("main")

    def committed(self) -> None:
        """A commit that did not wait for the disk: it may be lost, or kept."""
        self.images.append(self.image())
        if len(self.images) > IMAGES_KEPT:
            del self.images[1]

    def synced(self) -> None:
        """All commits so far are safe."""
        self.images = [self.image()]

    def crash(self) -> None:
        Session(self.connection, {}).roll_back()

    def power_cut(self, rng: Random) -> None:
        self.crash()
        image = rng.choice([*self.images, self.image()])
        if self._grown_from_template:
            refill(self.connection, image)
        else:
            self.connection = _fresh(image)
        self.images = [image]


class MemoryDisk:
    """Databases in memory; `watched` files are asked for open transactions at every yield."""

    def __init__(
        self, templates: Mapping[str, bytes] | None = None, watched: tuple[str, ...] = ()
    ) -> None:
        self.files: dict[str, MemoryFile] = {}
        self._removed: dict[str, MemoryFile] = {}  # until a later sync makes it certain
        self._templates = dict(templates or {})
        self._watched = watched

    def connect(self, name: str, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
        if name not in self.files:
            if readonly or not create:
                raise Unavailable(f"{name} is not there", code="unreadable")
            self.files[name] = MemoryFile(self._templates.get(name))
        file = self.files[name]
        if not readonly:
            return file.connection
        if name in self._watched:
            return cast("apsw.Connection", SharedReader(file.connection))
        return _snapshot(file)

    def connection(self, name: str) -> apsw.Connection:
        """The file's own connection, to ask what no process should have to."""
        return self.files[name].connection

    def synced(self, name: str) -> None:
        self.files[name].synced()
        self._removed.clear()

    def exists(self, name: str) -> bool:
        return name in self.files

    def remove(self, name: str) -> None:
        file = self.files.pop(name, None)
        if file is not None:
            self._removed[name] = file

    def set_aside(self, name: str) -> None:
        number = 1
        while f"{name}.damaged-{number}" in self.files:
            number += 1
        if name in self.files:
            self.files[f"{name}.damaged-{number}"] = self.files.pop(name)

    def names(self, folder: str) -> list[str]:
        prefix = f"{folder.rstrip('/')}/" if folder not in {"", "."} else ""
        whole = [name for name in sorted(self.files) if ".damaged-" not in name]
        below = [name for name in whole if name.startswith(prefix)]
        return [name for name in below if "/" not in name[len(prefix) :]]

    def open_transaction(self) -> str | None:
        """The watched file that has one; nobody may yield while it does."""
        for name in self._watched:
            file = self.files.get(name)
            if file is not None and file.connection.in_transaction:
                return name
        return None

    def committed(self, name: str) -> None:
        self.files[name].committed()

    def crash(self) -> None:
        for file in self.files.values():
            file.crash()

    def power_cut(self, rng: Random) -> None:
        for name in sorted(self._removed):
            if rng.random() < HALF:
                self.files.setdefault(name, self._removed[name])
        self._removed.clear()
        for name in sorted(self.files):
            self.files[name].power_cut(rng)

    def recycle(self, name: str) -> None:
        """This file's connection may serve a later world; its prepared statements are dear."""
        file, image = self.files.pop(name, None), self._templates.get(name)
        if file is not None and image is not None:
            file.crash()
            refill(file.connection, image)
            POOL.give(image, file.connection)

    def close(self) -> None:
        for file in self.files.values():
            apsw.Connection.close(file.connection)


def _fresh(image: bytes | None) -> SharedConnection:
    connection = SharedConnection(":memory:", statementcachesize=CACHED_STATEMENTS)
    connection.settings = set()
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    if image is None:
        connection.pragma("page_size", PAGE)
    else:
        connection.deserialize("main", image)
    return connection


def _snapshot(file: MemoryFile) -> apsw.Connection:
    connection = SnapshotReader(":memory:")
    connection.file = file
    connection.deserialize("main", file.image())
    return connection


class Pool:
    """Connections that were used and made new again, by the template they grew from."""

    def __init__(self) -> None:
        self._idle: dict[bytes, list[SharedConnection]] = {}

    def take(self, image: bytes | None) -> SharedConnection:
        idle = self._idle.get(image) if image is not None else None
        return idle.pop() if idle else _fresh(image)

    def give(self, image: bytes, connection: SharedConnection) -> None:
        """Made as new by its user."""
        self._idle.setdefault(image, []).append(connection)


POOL = Pool()
