"""What may a process do that reads what strangers wrote? Compute, answer, and nothing else.

Every limit here is the kernel's, so that it also holds for code that has been taken over by what
it reads. What a kernel does not offer is left out: the limits of time are kept outside as well.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import tempfile
from contextlib import suppress
from typing import Any

ROOM_TO_SAY_SO = 32 << 20  # memory for the sentence "out of memory"
OPEN_FILES = 128
NEW_NET, NEW_USER = 0x40000000, 0x10000000
DIE_WITH_PARENT, ADOPT_ORPHANS, NO_NEW_RIGHTS = 1, 36, 38  # prctl(2)


def without_network() -> None:
    """From here on no address can be reached, where the kernel lets us say so."""
    flags = NEW_NET if os.geteuid() == 0 else NEW_NET | NEW_USER
    _libc("unshare", flags)


def adopting_orphans() -> None:
    """What a child of ours leaves behind becomes ours, so that it can be ended."""
    _libc("prctl", ADOPT_ORPHANS, 1, 0, 0, 0)


def confined(memory: int, cpu: int) -> None:
    """No new rights, no file written, little of everything, dead when the parent is."""
    _libc("prctl", DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    _libc("prctl", NO_NEW_RIGHTS, 1, 0, 0, 0)
    with suppress(OSError):  # should memory be short, this process goes before its owner does
        _write("/proc/self/oom_score_adj", b"1000")
    _limit("RLIMIT_CPU", cpu, cpu + 1)
    _limit("RLIMIT_AS", memory, memory + ROOM_TO_SAY_SO)
    limited(memory, cpu)


def limited(memory: int, cpu: int) -> None:
    """As much as can be taken back for the next document of the same process."""
    _limit("RLIMIT_CORE", 0, 0)
    _limit("RLIMIT_FSIZE", 0, 0)
    _limit("RLIMIT_NOFILE", OPEN_FILES, OPEN_FILES)
    _limit("RLIMIT_CPU", cpu)
    _limit("RLIMIT_AS", memory)


def room_to_say_so() -> None:
    """Memory ran out: the last of it is for saying that."""
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def in_an_empty_folder() -> None:
    """A working folder that is gone already: nothing is in it, nothing can be made in it."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def _limit(name: str, soft: int, most: int | None = None) -> None:
    kind: int = getattr(resource, name)
    _, ceiling = resource.getrlimit(kind)
    most = ceiling if most is None else most
    if ceiling != resource.RLIM_INFINITY:
        soft, most = min(soft, ceiling), min(most, ceiling)
    with suppress(ValueError, OSError):  # not every kernel keeps every limit
        resource.setrlimit(kind, (soft, most))


def _libc(name: str, *numbers: int) -> None:
    with suppress(AttributeError, OSError):
        library: Any = ctypes.CDLL(None)
        getattr(library, name)(*(ctypes.c_ulong(number) for number in numbers))


def _write(path: str, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(handle, content)
    finally:
        os.close(handle)
