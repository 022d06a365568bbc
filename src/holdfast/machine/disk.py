"""Where do the database files of a data folder lie?"""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from holdfast.domain.errors import Unavailable

CACHED_STATEMENTS = 500
BESIDE = ("", "-wal", "-shm", "-journal")


def opened(path: str, flags: int) -> apsw.Connection:
    """A connection that prepares a statement once, whatever values it is given.

    Otherwise SQLite, which keeps statistics in this build, prepares many of ours again at every
    use: it looks at the values to choose a plan.
    """
    connection = apsw.Connection(path, flags=flags, statementcachesize=CACHED_STATEMENTS)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


class FolderDisk:
    """SQLite files below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def connect(self, name: str, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
        path = self.folder / name
        if not path.exists():
            if readonly or not create:
                raise Unavailable(
                    f"{name} is not there", code="not_found", advice="check the data folder"
                )
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        return opened(str(path), flags)

    def synced(self, name: str) -> None:
        """The kernel has it; nothing more to do here."""

    def exists(self, name: str) -> bool:
        return (self.folder / name).exists()

    def remove(self, name: str) -> None:
        for suffix in BESIDE:
            (self.folder / f"{name}{suffix}").unlink(missing_ok=True)

    def set_aside(self, name: str) -> None:
        """Out of the way and kept: `<name>.damaged-N`, with what SQLite keeps beside it."""
        number = 1
        while (self.folder / f"{name}.damaged-{number}").exists():
            number += 1
        for suffix in BESIDE:
            path = self.folder / f"{name}{suffix}"
            if path.exists():
                path.rename(self.folder / f"{name}.damaged-{number}{suffix}")

    def names(self, folder: str) -> list[str]:
        path = self.folder / folder
        found = os.listdir(path) if path.is_dir() else []
        return sorted(f"{folder}/{name}" for name in found if name.endswith(".db"))
