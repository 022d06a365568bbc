"""How is a status written in SQLite? By one statement, and its parents' with it.

Every status write recomputes the containers above in the same transaction, upward, as long as one
changes. Nobody calls the roll-up for that: it is part of the move.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from holdfast.domain.errors import ItemDeleting, ItemGone, Superseded
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import DELETING, FAILED, Move, Status, may_lead_to, sources
from holdfast.domain.rollup import Outlook, roll_up
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.sqlite.catalog_reads import SqliteCatalogReads, listed


class SqliteMoves(SqliteCatalogReads):
    """The moves of items, inside one transaction."""

    now: int

    def move(self, move: Move, moved: Sequence[Moved]) -> set[ItemId]:
        done = self._move(move, moved)
        self.roll_up({parent for parent in done.values() if parent and parent not in done})
        return set(done)

    def move_or_end(self, move: Move, moved: Moved) -> None:
        if moved.item in self.move(move, [moved]):
            return
        item = self.item(moved.item)
        if item is None:
            raise ItemGone(f"item {moved.item} is gone")
        if item.status is DELETING:
            raise ItemDeleting(f"item {item.id} is being deleted")
        raise Superseded(
            f"item {item.id} is {item.status} in generation {item.generation}; "
            f"this run was for generation {moved.generation}"
        )

    def _move(self, move: Move, moved: Sequence[Moved]) -> dict[ItemId, ItemId | None]:
        rows = self.session.returned(
            "move_items",
            moves=listed(_asked(move, one) for one in moved),
            sources=listed(sorted(sources(move))),
            now=self.now,
        )
        return dict(rows)

    def roll_up(self, containers: Collection[ItemId]) -> None:
        """Upward: each container whose status changes takes its own parent along."""
        waiting = sorted(containers)
        while waiting:
            changed = [self._roll_up_one(container) for container in waiting]
            waiting = sorted({parent for parent in changed if parent})

    def _roll_up_one(self, container: ItemId) -> ItemId | None:
        """The parent, when this container's status changed; else None."""
        facts = self.session.one("roll_up_facts", id=container)
        if facts is None or facts[0] in (DELETING, Status.IDLE):
            return None
        status, parent, _, _, error, warning, *_ = facts
        verdict = roll_up(self._outlook(container, facts))
        said = verdict.error[1] if verdict.error else None
        if (status, error, warning) == (verdict.status, said, verdict.warning):
            return None
        asked = Moved(container, verdict.status, trouble=verdict.error, warning=verdict.warning)
        self._move(Move.ROLL_UP, [asked])
        return parent if status != verdict.status else None

    def _outlook(self, container: ItemId, facts: Sequence[Any]) -> Outlook:
        _, _, own_outcome, own_error, _, _, has_children, has_active, has_failed = facts
        outlook = Outlook(
            own_outcome=Status(own_outcome) if own_outcome else None,
            own_error=_trouble(own_error),
            has_children=bool(has_children),
            has_active=bool(has_active),
            failed=0,
            settled=0,
        )
        if has_active or own_outcome is None or not has_failed:
            return outlook
        failed, settled, worst = self.session.one("failed_inside", id=container) or (0, 0, "[]")
        return Outlook(
            outlook.own_outcome,
            outlook.own_error,
            has_children=True,
            has_active=False,
            failed=failed,
            settled=settled,
            worst=tuple((name, reason) for name, reason in json.loads(worst)),
        )


def _asked(move: Move, moved: Moved) -> list[Any]:
    if not may_lead_to(move, moved.target):
        raise ValueError(f"{move} does not lead to {moved.target}")
    if (moved.target is FAILED) != (moved.trouble is not None):
        raise ValueError("an error is given if and only if the item fails")
    code, error, advice = moved.trouble or (None, None, None)
    fence = moved.fence
    return [
        moved.item,
        moved.generation,
        fence.job if fence else None,
        fence.claim if fence else None,
        moved.target,
        int(moved.new_generation),
        code,
        error,
        advice,
        moved.warning,
    ]


def _trouble(text: str | None) -> Trouble | None:
    if text is None:
        return None
    code, error, advice = json.loads(text)
    return code, error, advice
