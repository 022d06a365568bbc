"""What happened to an item, and when?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from holdfast.domain.ids import BaseId, Generation, ItemId
from holdfast.domain.item_states import Status


class EventKind(StrEnum):
    """What an entry of the ledger says; status changes are written by the database itself."""

    STATUS = "item.status"
    GONE = "item.gone"
    INDEXED = "indexed"
    EXPANDED = "expanded"
    SKIPPED = "skipped"
    RETRY = "retry"
    REPAIRED = "repaired"
    RECOVERED = "recovered"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of the ledger."""

    id: int
    at: datetime
    kind: EventKind
    base_id: BaseId
    item_id: ItemId
    status: Status | None
    generation: Generation | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An entry about to be written."""

    kind: EventKind
    base_id: BaseId
    item_id: ItemId
    generation: Generation | None = None
    detail: Mapping[str, Any] | None = None


def instant(microseconds: int) -> datetime:
    """The aware datetime of a stored time."""
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC)


def stored(at: float) -> int:
    """Wall seconds as they are stored: whole microseconds."""
    return round(at * 1_000_000)
