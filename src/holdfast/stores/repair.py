"""What may a check-up set right? Only rows that no ordinary writer could have left so."""

from __future__ import annotations

from typing import Protocol

from holdfast.domain.ids import ItemId


class Repairs(Protocol):
    """Each does nothing where nothing is wrong."""

    def free_of_parents(self) -> int:
        """What hangs below something that is gone, or of another base, becomes a root."""

    def drop_baseless(self) -> int:
        """Items without a base are removed: nobody can reach them."""

    def calm_jobs(self) -> int:
        """Attempts and deaths past their limits are set back to them."""

    def rehome_jobs(self) -> int:
        """A job is of its item's base."""

    def complete_failure(self, item: ItemId, error: str, advice: str) -> None:
        """What a failed item lacks of text and advice."""
