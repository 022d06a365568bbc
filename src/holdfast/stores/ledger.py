"""Where is it written down what happened and what was answered? The door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.domain.events import Event, NewEvent
from holdfast.domain.ids import BaseId, ItemId


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a request with an idempotency key, and to which body."""

    body: str
    answer: str


class LedgerReads(Protocol):
    """What can be asked of the past in one snapshot."""

    def events_after(self, after: int, base: BaseId | None, limit: int) -> list[Event]: ...
    def event_range(self) -> tuple[int, int]: ...
    def history(self, item: ItemId) -> list[Event]: ...
    def answer(self, key: str, principal: str, after: int) -> Answer | None: ...


class LedgerWrites(LedgerReads, Protocol):
    """What can be written down, inside one transaction."""

    def record(self, events: Sequence[NewEvent]) -> None: ...
    def remember(self, key: str, principal: str, answer: Answer) -> None: ...
    def prune_ledger(self, before: int, per_item: int, most: int, answers_before: int) -> int: ...
