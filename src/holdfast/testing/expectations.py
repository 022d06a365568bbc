"""What has the engine promised its users so far, and what may therefore be seen?

Nothing here looks into the stores. A call that returned has promised something; a call that raised
or died may have happened or not. What was accepted is never lost, what was deleted is never shown,
and what answers is a version that somebody really gave.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.domain.ids import BaseId, ItemId


@dataclass(slots=True)
class Known:
    """An item as its users know it."""

    id: ItemId
    base: BaseId
    versions: list[str]  # the first is the newest promised; behind it what may have happened since
    path: str | None = None
    note: bool = False
    folder: bool = False
    busy: bool = False  # a client is changing it
    delete_asked: bool = False
    deleted: bool = False
    history: set[str] = field(default_factory=set)

    def promise(self, content: str) -> None:
        """This version was accepted: older ones may not be the last."""
        self.versions = [content]
        self.history.add(content)

    def attempt(self, content: str) -> None:
        """This version may have been accepted."""
        self.versions.append(content)
        self.history.add(content)


class Expectations:
    """All that was promised in one world."""

    def __init__(self) -> None:
        self.items: dict[ItemId, Known] = {}
        self.bases: list[BaseId] = []
        self.bases_deleted: set[BaseId] = set()
        self.dismissed = False
        self.numbers = 0

    def next_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def accepted(self, known: Known) -> None:
        known.history.update(known.versions)
        self.items[known.id] = known

    def saved(self, path: str, content: str) -> None:
        """A user's file has new content; items made of it may be read with it from now on."""
        for known in self.items.values():
            if known.path == path:
                known.history.add(content)

    def standing_bases(self) -> list[BaseId]:
        return [base for base in self.bases if base not in self.bases_deleted]

    def living(self, base: BaseId | None = None) -> list[Known]:
        """What a user still has and may act upon, in the order it was given."""
        return [
            known
            for known in self.items.values()
            if not known.delete_asked
            and known.base not in self.bases_deleted
            and base in (None, known.base)
        ]

    def gone(self) -> set[ItemId]:
        """What must not be shown from this moment on."""
        return {known.id for known in self.items.values() if known.deleted}
