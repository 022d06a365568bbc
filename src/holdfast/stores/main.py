"""How do the doors of the main store share a transaction?"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from holdfast.stores.catalog import CatalogReads, CatalogWrites
from holdfast.stores.ledger import LedgerReads, LedgerWrites
from holdfast.stores.processing import ProcessingReads, ProcessingWrites
from holdfast.stores.queue import QueueReads, QueueWrites
from holdfast.stores.repair import Repairs


class Snapshot(CatalogReads, QueueReads, LedgerReads, ProcessingReads, Protocol):
    """One moment of the main store."""

    now: int


class Transaction(CatalogWrites, QueueWrites, LedgerWrites, ProcessingWrites, Repairs, Protocol):
    """What happens together or not at all. No port may be called while one is open."""

    now: int

    def savepoint(self) -> AbstractContextManager[None]:
        """What fails inside is undone; what came before it in the transaction stays."""


class MainStore(Protocol):
    """Bases, items, jobs and the ledger."""

    def write(self) -> AbstractContextManager[Transaction]:
        """One transaction; when this ends others see it, and runners are woken."""

    def read(self) -> AbstractContextManager[Snapshot]: ...

    def durable(self) -> None:
        """Everything committed before the call is on disk when this returns."""

    def verify(self) -> list[str]:
        """What is wrong with the store itself, in words; not with what its rows say."""

    def mend(self) -> None:
        """Parts of the store that are missing or disagree are made again, as far as they can."""

    def purge_due(self) -> bool:
        """May a file of the main store still hold text that was deleted?"""

    def purge(self) -> bool:
        """No file holds deleted text any more; False when a reader kept it from being so."""

    def close(self) -> None: ...
