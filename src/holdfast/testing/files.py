"""Which files are there, and which of ours survive the power cut? Folders in a dictionary.

The user's files are a script's to change, remove or lock away while the engine works. Of the data
folder's own, what `keep` returned from is on disk; what `unlink` removed may come back with the
power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from random import Random

from holdfast.domain.errors import Permanent
from holdfast.machine.ages import Ages
from holdfast.ports import Copied, Entry, Look
from holdfast.testing.clock import SimClock
from holdfast.testing.gate import Gate

DISK = 100 << 30
HALF = 0.5
HOME = "/user"


class Landscape:
    """What the machine's disks hold; outlives the processes."""

    def __init__(self) -> None:
        self.user: dict[str, bytes] = {}
        self.locked: set[str] = set()
        self.changed: dict[str, int] = {}
        self.ours: dict[str, tuple[bytes, float]] = {}
        self.removed: dict[str, tuple[bytes, float]] = {}
        self.free = DISK // 2
        self.reserved = 0

    def write(self, path: str, content: bytes) -> None:
        """A user saves a file."""
        self.user[path] = content
        self.changed[path] = self.changed.get(path, 0) + 1

    def remove(self, path: str) -> None:
        """A user removes a file, or a folder with all that is in it."""
        for name in [name for name in self.user if name == path or _inside(name, path)]:
            del self.user[name]

    def power_cut(self, rng: Random) -> None:
        for name in sorted(self.removed):
            if rng.random() < HALF:
                self.ours.setdefault(name, self.removed[name])
        self.removed.clear()

    def is_folder(self, path: str) -> bool:
        return any(_inside(name, path) for name in self.user)

    def below(self, path: str) -> list[str]:
        """The names that stand directly in a folder."""
        start = len(path.rstrip("/")) + 1
        return sorted({name[start:].split("/")[0] for name in self.user if _inside(name, path)})


class SimFiles:
    """The Files of one simulated process."""

    def __init__(
        self, landscape: Landscape, gate: Gate, clock: SimClock, *, shared: bool = False
    ) -> None:
        self._disk, self._gate, self._clock = landscape, gate, clock
        self._ages = Ages(clock.mono, shared=shared)

    def absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{HOME}/{path}"

    def look(self, path: str) -> Look:
        return self._gate.call("user", "files.look", lambda: self._look(path))

    def read(self, path: str, limit: int) -> bytes:
        return self._gate.call("user", "files.read", lambda: self._read(path, limit))

    def read_if_there(self, path: str, limit: int) -> bytes | None:
        return self._gate.call("user", "files.read", lambda: self._read_if_there(path, limit))

    def owns(self, path: str) -> bool:
        return False

    def entries(self, path: str, after: str = "") -> Iterator[Entry]:
        names = self._gate.call("user", "files.entries", lambda: self._names(path))
        for name in names:
            if name > after:
                yield self._examined(path, name)

    def keep(self, name: str, content: bytes) -> None:
        self._gate.call("keep", "files.keep", lambda: self._keep(name, content))

    def kept(self, name: str, limit: int) -> bytes:
        return self._gate.call("files", "files.kept", lambda: self._kept(name, limit))

    def move(self, name: str, to: str) -> None:
        self._gate.call("keep", "files.move", lambda: self._move(name, to))

    def place(self, name: str) -> str:
        return name

    def copy(self, path: str, name: str, limit: int | None, beat: Callable[[], None]) -> Copied:
        content = self._gate.call("user", "files.copy", lambda: self._read(path, limit))
        beat()
        self._gate.call("keep", "files.copied", lambda: self._write(name, content))
        return Copied(sha256(content).hexdigest(), len(content))

    def unlink(self, name: str) -> None:
        self._gate.call("files", "files.unlink", lambda: self._unlink(name))

    def stored(self, folder: str) -> list[tuple[str, float]]:
        return self._gate.call("files", "files.stored", lambda: self._stored(folder))

    def free(self) -> tuple[int, int]:
        return self._disk.free - self._disk.reserved, DISK

    def reserve(self, size: int) -> None:
        self._disk.reserved = size

    def _look(self, path: str) -> Look:
        if path in self._disk.locked:
            raise Permanent(f"{path} may not be read", code="unreadable")
        content = self._disk.user.get(path)
        if content is not None:
            return Look("file", len(content), self._disk.changed[path])
        if self._disk.is_folder(path):
            return Look("directory", 0, 0)
        raise Permanent(f"{path} is not there", code="unreadable")

    def _examined(self, folder: str, name: str) -> Entry:
        path = f"{folder.rstrip('/')}/{name}"
        try:
            return Entry(name, self._look(path))
        except Permanent:
            if path not in self._disk.locked:
                return Entry(name, None, hint="gone")
            return Entry(name, None, hint="directory" if self._disk.is_folder(path) else "file")

    def _read_if_there(self, path: str, limit: int) -> bytes | None:
        there = path in self._disk.user or path in self._disk.locked
        return self._read(path, limit) if there else None

    def _read(self, path: str, limit: int | None) -> bytes:
        if self._look(path).kind != "file":
            raise Permanent(f"{path} is not a file", code="unreadable")
        return _at_most(self._disk.user[path], limit, path)

    def _names(self, path: str) -> list[str]:
        if path in self._disk.locked or not self._disk.is_folder(path):
            raise Permanent(f"{path} cannot be listed", code="source_unreadable")
        return self._disk.below(path)

    def _keep(self, name: str, content: bytes) -> None:
        self._ages.kept(name)
        self._disk.ours[name] = (content, self._clock.wall())
        self._disk.removed.clear()  # the folder was synced with it

    def _write(self, name: str, content: bytes) -> None:
        self._disk.ours[name] = (content, self._clock.wall())

    def _move(self, name: str, to: str) -> None:
        content, _ = self._disk.ours.pop(name)
        self._keep(to, content)

    def _kept(self, name: str, limit: int) -> bytes:
        if name not in self._disk.ours:
            raise Permanent(f"{name} is gone", code="unreadable")
        return _at_most(self._disk.ours[name][0], limit, name)

    def _unlink(self, name: str) -> None:
        gone = self._disk.ours.pop(name, None)
        if gone is not None:
            self._disk.removed[name] = gone

    def _stored(self, folder: str) -> list[tuple[str, float]]:
        now = self._clock.wall()
        below = [name for name in sorted(self._disk.ours) if _inside(name, folder)]
        return self._ages.of((name, max(0.0, now - self._disk.ours[name][1])) for name in below)


def _inside(name: str, folder: str) -> bool:
    return name.startswith(f"{folder.rstrip('/')}/")


def _at_most(content: bytes, limit: int | None, name: str) -> bytes:
    if limit is not None and len(content) > limit:
        raise Permanent(f"{name} has {len(content)} bytes, over {limit}", code="too_large")
    return content
