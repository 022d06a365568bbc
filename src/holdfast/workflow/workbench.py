"""What does every verb work with? Ports and stores in one value; nothing it uses is hidden."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.config import Settings
from holdfast.jobs.outcomes import Outcomes
from holdfast.jobs.permits import Permits
from holdfast.ports import (
    Clock,
    Embedders,
    Fetcher,
    Files,
    Ids,
    Processors,
    Reader,
    Rerankers,
    Rng,
    Runtime,
    Wakeups,
)
from holdfast.stores.index import IndexStore
from holdfast.stores.main import MainStore
from holdfast.workflow.kitchen import Kitchen


@dataclass(frozen=True, slots=True)
class Workbench:
    """Built in `assembly`, or by the simulator with other ports."""

    settings: Settings
    clock: Clock
    ids: Ids
    rng: Rng
    runtime: Runtime
    files: Files
    reader: Reader
    fetcher: Fetcher
    embedders: Embedders
    rerankers: Rerankers
    processors: Processors
    main: MainStore
    index: IndexStore
    wakeups: Wakeups
    permits: Permits
    kitchen: Kitchen
    outcomes: Outcomes
    owner: str

    @property
    def lease(self) -> int:
        """How long a claim is held, in stored time."""
        return self.settings.lease * 1_000_000
