"""Who owns the data folder? One process, proved by an operating-system lock."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from holdfast.domain.errors import Unavailable

LOCK = "engine.lock"
LONGEST_COMMAND = 80


class OwnerLock:
    """Held until closed or until the process is gone, whatever ended it."""

    def __init__(self, folder: Path) -> None:
        _make(folder)
        # CLOEXEC: a child that outlives us must not keep the folder owned
        self._handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.read(self._handle, 100).decode(errors="replace").strip() or "unknown"
            os.close(self._handle)
            said = f"{folder} is owned by another process (pid {owner}{_running(owner)})"
            raise Unavailable(said) from error
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, str(os.getpid()).encode(), 0)

    def close(self) -> None:
        os.close(self._handle)


def _running(pid: str) -> str:
    """What that process was started as, where the system tells."""
    try:
        words = Path(f"/proc/{int(pid)}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return ""
    first, *rest = [word.decode(errors="replace") for word in words if word]
    if Path(first).name.startswith("python") and rest:
        first, *rest = rest  # a script, or -m and a module: the interpreter says nothing
    return ": " + " ".join([Path(first).name, *rest])[:LONGEST_COMMAND]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise Unavailable(
            f"{str(folder)!r} cannot be a data folder: {error}",
            code="unreadable",
            advice="name a folder that can be made and written",
        ) from error


def is_owned(folder: Path) -> bool:
    """Does a living process hold the folder?"""
    try:
        OwnerLock(folder).close()
    except Unavailable:
        return True
    return False
