"""How are the user's files read, and ours kept?"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from holdfast.domain.errors import DiskFull, Permanent, Transient
from holdfast.domain.paths import as_text
from holdfast.machine.ages import Ages
from holdfast.ports import Copied, Entry, Look

PASSING = {4, 5, 11, 16, 110, 116}  # EINTR EIO EAGAIN EBUSY ETIMEDOUT ESTALE
NO_ROOM = {28, 122}  # ENOSPC EDQUOT
RESERVE = "reserve"
BLOCK = 1 << 20


class FolderFiles:
    """The files of this machine, and the stored bytes below one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ages = Ages(time.monotonic)

    def absolute(self, path: str) -> str:
        return os.path.abspath(path)  # not resolved: the user's own name for it stays

    def look(self, path: str) -> Look:
        try:
            return _look(os.stat(path))
        except OSError as error:
            raise unreadable(path, error) from error

    def read(self, path: str, limit: int) -> bytes:
        content = self.read_if_there(path, limit)
        if content is not None:
            return content
        self.look(path)  # says what is wrong with it, if it cannot be seen at all
        raise Permanent(f"{as_text(path)} is not a regular file", code="unreadable")

    def copy(self, path: str, name: str, limit: int | None, beat: Callable[[], None]) -> Copied:
        target = self._folder_of(name)
        with _opened(path) as source, open(target, "wb") as ours:
            if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
                raise Permanent(f"{as_text(path)} is not a regular file", code="unreadable")
            return _copied(_blocks(source, path, limit), name, ours, beat)

    def read_if_there(self, path: str, limit: int) -> bytes | None:
        try:
            with open(path, "rb", opener=_open_without_waiting) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                content = file.read(limit + 1)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ENXIO:  # a socket
                return None
            raise unreadable(path, error) from error
        return within(content, limit, path)

    def owns(self, path: str) -> bool:
        real, ours = os.path.realpath(path), os.path.realpath(self.folder)
        return os.path.commonpath([real, ours]) == ours

    def entries(self, path: str, after: str = "") -> Iterator[Entry]:
        try:
            names, kinds = _listed(path, after)
        except OSError as error:
            raise unreadable(path, error, code="source_unreadable") from error
        for name in names:
            yield _examined(path, name, kinds.get(name, "file"))

    def keep(self, name: str, content: bytes) -> None:
        path = self._folder_of(name)
        self._ages.kept(name)
        try:
            with open(path, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self._sync_folders(path.parent)
        except OSError as error:
            raise _not_kept(name, error) from error

    def move(self, name: str, to: str) -> None:
        path = self._folder_of(to)
        self._ages.kept(to)
        try:
            with open(self.folder / name, "rb") as file:
                os.fsync(file.fileno())
            os.replace(self.folder / name, path)
            self._sync_folders(path.parent)
        except OSError as error:
            raise _not_kept(to, error) from error

    def place(self, name: str) -> str:
        return str(self.folder / name)

    def _folder_of(self, name: str) -> Path:
        """Where a name of ours stands, in a folder that is there."""
        path = self.folder / name
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _not_kept(name, error) from error
        return path

    def _sync_folders(self, folder: Path) -> None:
        """Up to ours: a new folder is a name in the one above, and that must be on disk too."""
        _sync_folder(folder)
        if folder != self.folder:
            self._sync_folders(folder.parent)

    def kept(self, name: str, limit: int) -> bytes:
        return self.read(str(self.folder / name), limit)

    def unlink(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def stored(self, folder: str) -> list[tuple[str, float]]:
        now = time.time()
        found = [(path, _stat(path)) for path in sorted((self.folder / folder).rglob("*"))]
        return self._ages.of(
            (path.relative_to(self.folder).as_posix(), now - seen.st_mtime)
            for path, seen in found
            if seen is not None and stat.S_ISREG(seen.st_mode)
        )

    def free(self) -> tuple[int, int]:
        usage = shutil.disk_usage(self.folder)
        return usage.free, usage.total

    def reserve(self, size: int) -> None:
        path = self.folder / RESERVE
        if not size:
            path.unlink(missing_ok=True)
        elif (_stat_size(path)) != size:
            _allocate(path, size)


def unreadable(path: str, error: OSError, code: str = "unreadable") -> Permanent | Transient:
    """What the system said, as our error: passing trouble may be tried again."""
    path = as_text(path)
    if error.errno in PASSING:
        return Transient(f"{path} could not be read just now: {error.strerror}", code=code)
    return Permanent(f"{path} cannot be read: {error.strerror or error}", code=code)


def _blocks(source: BinaryIO, path: str, limit: int | None) -> Iterator[bytes]:
    """What is read, until the end or the limit."""
    size = 0
    while True:
        try:
            block = source.read(BLOCK)
        except OSError as error:
            raise unreadable(path, error) from error
        size += len(block)
        if limit is not None and size > limit:
            raise _too_large(path, limit)
        if not block:
            return
        yield block


def _copied(blocks: Iterator[bytes], name: str, ours: BinaryIO, beat: Callable[[], None]) -> Copied:
    """What is written, with the hash of it; no more of it is in memory than a block."""
    digest, size = sha256(), 0
    for block in blocks:
        beat()
        digest.update(block)
        size += len(block)
        try:
            ours.write(block)
            ours.flush()
        except OSError as error:
            raise _not_kept(name, error) from error
    return Copied(digest.hexdigest(), size)


def within(content: bytes, limit: int, path: str) -> bytes:
    """The content, or Permanent(`too_large`)."""
    if len(content) > limit:
        raise _too_large(path, limit)
    return content


def _too_large(path: str, limit: int) -> Permanent:
    return Permanent(
        f"{as_text(path)} is larger than max_file_bytes ({limit} bytes)", code="too_large"
    )


def _not_kept(name: str, error: OSError) -> DiskFull | Transient:
    if error.errno in NO_ROOM:
        return DiskFull(f"no room to keep {name}")
    return Transient(f"{name} could not be kept: {error.strerror}", code="internal")


def _look(found: os.stat_result) -> Look:
    if stat.S_ISDIR(found.st_mode):
        return Look("directory", 0, found.st_mtime_ns)
    kind = "file" if stat.S_ISREG(found.st_mode) else "other"
    return Look(kind, found.st_size, found.st_mtime_ns)


def _listed(path: str, after: str) -> tuple[list[str], dict[str, str]]:
    """The names, and the kind of those that are no plain files: no more is held of a big folder."""
    names: list[str] = []
    kinds: dict[str, str] = {}
    with os.scandir(path) as found:
        for entry in found:
            if entry.name > after:
                names.append(entry.name)
                if (kind := _kind(entry)) != "file":
                    kinds[entry.name] = kind
    names.sort()
    return names, kinds


def _kind(entry: os.DirEntry[str]) -> str:
    """As the folder says; only file systems that do not say so are asked for each entry."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return "directory"
        plain = entry.is_file(follow_symlinks=False) or entry.is_symlink()
    except OSError:
        plain = True
    return "file" if plain else "other"


def _examined(folder: str, name: str, kind: str) -> Entry:
    path = os.path.join(folder, name)
    is_symlink = False
    try:
        found = os.lstat(path)
        is_symlink = stat.S_ISLNK(found.st_mode)
        return Entry(name, _look(os.stat(path) if is_symlink else found), is_symlink)
    except FileNotFoundError:
        return Entry(name, None, is_symlink, kind if is_symlink else "gone")
    except OSError:
        return Entry(name, None, is_symlink, kind)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    try:
        file = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115  (closed below)
    except OSError as error:
        raise unreadable(path, error) from error
    with file:
        yield file


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe without a writer must not hold the reader for ever."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _stat(path: Path) -> os.stat_result | None:
    """None for what went while its folder was listed."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _stat_size(path: Path) -> int:
    seen = _stat(path)
    return seen.st_size if seen else 0


def _allocate(path: Path, size: int) -> None:
    """Blocks that are really taken: a file with a hole in it would hold nothing."""
    try:
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError:
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
