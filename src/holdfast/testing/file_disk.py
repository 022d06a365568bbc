"""What do real SQLite files hold after the power failed at a random byte?

Real files in a folder of their own. A process crash loses nothing that was written; a power cut
keeps the database and cuts its write-ahead log at a byte not before the last sync, sometimes
with the last page garbled. The survivors are copied into a new folder and opened there, so that
SQLite's own recovery decides what they hold.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import apsw

from holdfast.domain.errors import Unavailable

GARBLED = 0.3
PAGE = 4_096


class FileDisk:
    """Database files below `folder`; each power cut moves on to the next life of them."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._life = folder, 0
        self._safe: dict[str, int] = {}
        self._open: list[apsw.Connection] = []
        self._writers: dict[str, apsw.Connection] = {}
        self._here.mkdir(parents=True, exist_ok=True)

    @property
    def _here(self) -> Path:
        return self._folder / str(self._life)

    def connect(self, name: str, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
        path = self._here / name
        if (readonly or not create) and not path.exists():
            raise Unavailable(f"{name} is not there", code="unreadable")
        path.parent.mkdir(parents=True, exist_ok=True)
        make = apsw.SQLITE_OPEN_READWRITE | (0 if readonly else apsw.SQLITE_OPEN_CREATE)
        connection = apsw.Connection(str(path), flags=make)
        if not readonly:
            self._writers[name] = connection
        self._open.append(connection)
        return connection

    def synced(self, name: str) -> None:
        self._safe[name] = _size(self._wal(name))

    def exists(self, name: str) -> bool:
        return (self._here / name).exists()

    def remove(self, name: str) -> None:
        for end in ("", "-wal", "-shm"):
            (self._here / f"{name}{end}").unlink(missing_ok=True)
        self._safe.pop(name, None)

    def set_aside(self, name: str) -> None:
        number = len(list(self._here.glob(f"{name}.damaged-*"))) + 1
        for end in ("", "-wal", "-shm"):
            path = self._here / f"{name}{end}"
            if path.exists():
                path.rename(self._here / f"{name}.damaged-{number}{end}")

    def names(self, folder: str) -> list[str]:
        below = sorted((self._here / folder).glob("*"))
        files = [one for one in below if one.is_file() and one.suffix == ".db"]
        return [one.relative_to(self._here).as_posix() for one in files]

    def open_transaction(self) -> str | None:
        """Real files are watched by SQLite's own locks."""
        return None

    def connection(self, name: str) -> apsw.Connection:
        """The file's writer, to ask what no process should have to."""
        return self._writers[name]

    def committed(self, name: str) -> None:
        """The log itself remembers."""

    def recycle(self, name: str) -> None:
        """Real files are not used twice."""

    def crash(self) -> None:
        """What was written stays; the connections are gone with their process."""
        self._next_life(None)

    def power_cut(self, rng: Random) -> None:
        self._next_life(rng)

    def _next_life(self, rng: Random | None) -> None:
        before = self._here
        self._life += 1
        shutil.copytree(before, self._here, ignore=shutil.ignore_patterns("*-shm"))
        for connection in self._open:
            connection.close(True)
        self._open.clear()
        self._writers.clear()
        shutil.rmtree(before)
        if rng is not None:
            self._cut_logs(rng)

    def _cut_logs(self, rng: Random) -> None:
        for log in sorted(self._here.rglob("*-wal")):
            name = log.relative_to(self._here).as_posix()[: -len("-wal")]
            size = _size(log)
            least = min(self._safe.get(name, 0), size)
            kept = rng.choice((least, rng.randint(least, size), rng.randint(least, size), size))
            with log.open("r+b") as file:
                file.truncate(kept)
                if kept - PAGE > self._safe.get(name, 0) and rng.random() < GARBLED:
                    file.seek(kept - PAGE)
                    file.write(rng.randbytes(PAGE))

    def _wal(self, name: str) -> Path:
        return self._here / f"{name}-wal"

    def close(self) -> None:
        for connection in self._open:
            connection.close(True)
        self._open.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
