"""Which stored bytes belong to whom?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from holdfast.domain.ids import EntryId, ItemId


class Role(StrEnum):
    """What the bytes are to the item."""

    SOURCE = "source"
    SNAPSHOT = "snapshot"
    PROCESSED = "processed"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """Stored bytes; `path` is relative to the data folder and is never given twice."""

    id: EntryId
    sha256: str
    size: int

    @property
    def path(self) -> str:
        return stored_path(self.sha256, self.id)


@dataclass(frozen=True, slots=True)
class FileRef:
    """A living item's hold on stored bytes."""

    entry_id: EntryId
    item_id: ItemId
    role: Role


def stored_path(sha256: str, entry: EntryId) -> str:
    return f"files/{sha256[:2]}/{sha256}-{entry}"
