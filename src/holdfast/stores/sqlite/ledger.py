"""How is the ledger kept in SQLite?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from holdfast.domain.events import Event, EventKind, NewEvent, instant
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import Status
from holdfast.stores.ledger import Answer
from holdfast.stores.sqlite.connection import Session


class SqliteLedgerReads:
    """What can be asked of the past in one snapshot."""

    session: Session

    def events_after(self, after: int, base: BaseId | None, limit: int) -> list[Event]:
        rows = self.session.rows("events_after", after=after, base=base, limit=limit)
        return [_event(row) for row in rows]

    def event_range(self) -> tuple[int, int]:
        return self.session.value("oldest_event"), self.session.value("newest_event")

    def history(self, item: ItemId) -> list[Event]:
        return [_event(row) for row in self.session.rows("history", item=item)]

    def answer(self, key: str, principal: str, after: int) -> Answer | None:
        row = self.session.one("answer", key=key, principal=principal, after=after)
        return Answer(*row) if row else None


class SqliteLedgerWrites(SqliteLedgerReads):
    """What can be written down, inside one transaction."""

    now: int

    def record(self, events: Sequence[NewEvent]) -> None:
        documents = json.dumps([_document(event) for event in events], ensure_ascii=False)
        self.session.run("record", events=documents, now=self.now)

    def remember(self, key: str, principal: str, answer: Answer) -> None:
        self.session.run(
            "remember",
            key=key,
            principal=principal,
            body=answer.body,
            answer=answer.answer,
            now=self.now,
        )

    def prune_ledger(self, before: int, per_item: int, most: int, answers_before: int) -> int:
        self.session.run("forget_answers", before=answers_before)
        return (
            self.session.run("prune_events_by_age", before=before)
            + self.session.run("prune_events_by_count", most=most)
            + self.session.run("prune_events_of_item", most=per_item)
        )


def _document(event: NewEvent) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "base_id": event.base_id,
        "item_id": event.item_id,
        "generation": event.generation,
        "detail": dict(event.detail or {}),
    }


def _event(row: Sequence[Any]) -> Event:
    number, at, kind, base, item, status, generation, detail = row
    return Event(
        id=number,
        at=instant(at),
        kind=EventKind(kind),
        base_id=base,
        item_id=item,
        status=Status(status) if status else None,
        generation=generation,
        detail=json.loads(detail),
    )
