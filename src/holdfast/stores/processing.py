"""Where is kept what processors made, and what they are at? The door, in the domain's words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from holdfast.domain.ids import BaseId, EntryId, ItemId
from holdfast.domain.processing import Made, Processed, RemoteJob


class ProcessingReads(Protocol):
    """What can be asked of processing in one snapshot."""

    def processed(
        self, hashes: Collection[str], processor: str, manner: str
    ) -> dict[str, Processed]:
        """What this processor made in this manner, by the hash of what it was made of."""

    def remote_jobs(self, items: Collection[ItemId]) -> dict[ItemId, RemoteJob]: ...
    def remote_jobs_of_base(self, base: BaseId) -> list[RemoteJob]: ...

    def remote_jobs_alone(self, limit: int) -> list[RemoteJob]:
        """Conversions whose attempt has no unfinished check any more."""

    def conversions_beside(self, item: ItemId, processor: str) -> int:
        """How many other documents the processor has of us, or is about to get."""


class ProcessingWrites(ProcessingReads, Protocol):
    """What can be changed, inside one transaction."""

    def insert_processed(self, entry: EntryId, made: Made) -> None:
        """After the entry itself; it goes with the entry."""

    def forget_processed(self, entry: EntryId) -> None: ...

    def keep_remote(self, remote: RemoteJob) -> None:
        """The item's conversion as it stands now; a newer attempt's is left alone."""

    def forget_remote(self, remote: RemoteJob) -> None:
        """This very conversion: what another run has submitted for the item stays."""
