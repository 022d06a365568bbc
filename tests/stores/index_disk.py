"""A folder of SQLite files, and time that only moves when it is told to."""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from holdfast.domain.errors import Unavailable
from holdfast.machine.threads import Threads

BESIDE = ("", "-wal", "-shm", "-journal")


class TestDisk:
    """Database files below one folder."""

    __test__ = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def connect(self, name: str, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
        path = self.folder / name
        if not path.exists() and (readonly or not create):
            raise Unavailable(f"{name} is not there", code="not_found")
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        return apsw.Connection(str(path), flags=flags, statementcachesize=300)

    def synced(self, name: str) -> None:
        """Nothing to do."""

    def exists(self, name: str) -> bool:
        return (self.folder / name).exists()

    def remove(self, name: str) -> None:
        for suffix in BESIDE:
            (self.folder / f"{name}{suffix}").unlink(missing_ok=True)

    def set_aside(self, name: str) -> None:
        for suffix in BESIDE:
            path = self.folder / f"{name}{suffix}"
            if path.exists():
                path.rename(self.folder / f"{name}.damaged{suffix}")

    def names(self, folder: str) -> list[str]:
        path = self.folder / folder
        return sorted(f"{folder}/{file.name}" for file in path.glob("*.db"))


class TestThreads(Threads):
    """Real threads."""

    __test__ = False


class TestClock:
    __test__ = False

    def wall(self) -> float:
        return time.time()

    def mono(self) -> float:
        return time.monotonic()
