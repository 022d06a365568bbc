"""On which disks does this seed keep its stores?

Nearly always in memory, the index in dictionaries: quick, and asked after every commit. Some seeds
keep the index in SQLite on the same memory disk, a few keep everything in real files whose logs
are cut at a random byte.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from holdfast.stores.sqlite.main import FILE
from holdfast.testing.disks import MemoryDisk
from holdfast.testing.file_disk import FileDisk
from holdfast.testing.templates import template

REAL_FILES, INDEX_IN_SQLITE = 0.02, 0.07
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  (syncs cost nothing)


@dataclass(frozen=True, slots=True)
class Stores:
    """The disk, and whether the index lies on it."""

    disk: MemoryDisk | FileDisk
    index_in_files: bool


def drawn_stores(rng: Random, *, shared: bool) -> Stores:
    """This seed's; several processes share what is in memory only."""
    chance = max(rng.random(), REAL_FILES + INDEX_IN_SQLITE if shared else 0.0)
    if chance < REAL_FILES:
        folder = Path(tempfile.mkdtemp(prefix="holdfast-sim-", dir=IN_MEMORY))
        return Stores(FileDisk(folder), index_in_files=True)
    memory = MemoryDisk(template(), watched=(FILE,))
    return Stores(memory, index_in_files=chance < REAL_FILES + INDEX_IN_SQLITE)
