"""Where are jobs kept? The door, in the words of the domain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.domain.ids import BaseId, ClaimNo, ItemId, JobId
from holdfast.domain.jobs import Fence, Job, JobKind, JobState, Lane, NewJob
from holdfast.stores.catalog import Trouble


@dataclass(frozen=True, slots=True)
class Slot:
    """What one thread is at: a job, or a bundle of one base, until the last of it has ended."""

    base: BaseId
    large: bool
    solo: bool


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """What is known of a model provider, and what it has done for us so far."""

    name: str
    paused_until: int | None
    reason: str | None
    texts_embedded: int
    texts_reused: int
    model_calls: int
    tokens: int = 0
    failures: int = 0  # since it last answered; then one probe at a time looks whether it is back
    probed_by: ItemId | None = None


@dataclass(frozen=True, slots=True)
class BaseQueue:
    """The queue of one base in numbers."""

    waiting: int
    running: int
    deleting: int


@dataclass(frozen=True, slots=True)
class Freed:
    """A job taken from an owner that is gone."""

    job: JobId
    base: BaseId
    item: ItemId | None


class QueueReads(Protocol):
    """What can be asked of jobs in one snapshot."""

    def unfinished(self) -> int: ...

    def leaves_queued(self, base: BaseId) -> tuple[int, int]:
        """Unfinished jobs about documents: all, and those of this base that are not parked."""

    def job(self, job: JobId) -> Job | None: ...
    def jobs_of_item(self, item: ItemId) -> list[Job]: ...
    def live_roots(self, items: Collection[ItemId], kind: JobKind) -> dict[ItemId, JobId]: ...
    def live_claims(self) -> set[ClaimNo]:
        """Whose vectors and builds are still wanted: running, or of a job to be run again."""

    def running_claims(self) -> set[ClaimNo]: ...
    def epoch(self) -> int:
        """How many owners there were: claim numbers of each begin at that many thousand million."""

    def anything_due(self, lane: Lane) -> bool: ...
    def next_due(self, lane: Lane) -> int | None: ...
    def running(self, lane: Lane) -> list[Slot]: ...
    def running_of_base(self, base: BaseId) -> int: ...
    def waiting_bases(self, lane: Lane, limit: int, *, large: bool = True) -> list[BaseId]:
        """Bases with ready jobs in the order of their turns; without `large`, with others too."""

    def jobs_before(self, job: Job) -> int: ...
    def orphans(self, base: BaseId, limit: int) -> list[ItemId]: ...
    def jobless(self, limit: int) -> list[ItemId]: ...
    def deleting_roots_alone(self, limit: int) -> list[tuple[BaseId, ItemId]]: ...
    def deleting_bases_alone(self) -> list[BaseId]: ...
    def stopped_clean(self) -> bool: ...
    def queue_of_base(self, base: BaseId) -> BaseQueue: ...
    def queue_by_base(self) -> dict[BaseId, tuple[int, int]]: ...
    def active_items(self, base: BaseId, limit: int) -> list[ItemId]: ...
    def active_count(self, base: BaseId) -> int: ...
    def providers(self) -> list[ProviderRow]: ...
    def fingerprint(self, base: BaseId, space: int) -> bytes | None: ...
    def work_coming(self) -> bool:
        """Is any job ready, running or delayed? Parked ones wait for a person."""

    def next_opening(self, now: int) -> int | None: ...


class QueueWrites(QueueReads, Protocol):
    """What can be changed, inside one transaction."""

    def enqueue(self, jobs: Sequence[NewJob]) -> None:
        """All of them, or QueueRefused naming the first that cannot be; live keys are joined."""

    def cancel_items(self, items: Collection[ItemId], reason: str) -> dict[ItemId, int]:
        """End their waiting jobs, stop their running ones; the places they held in the queue."""

    def cancel_base(self, base: BaseId) -> None: ...

    def wake(self) -> None:
        """Ring every lane after the commit: something that held jobs back is gone."""

    def wake_first_busy(self, processor: str) -> None:
        """The first check that waits for a place at this processor need not wait longer."""

    def wake_due(self, lane: Lane) -> None: ...
    def solo(self, lane: Lane) -> Job | None: ...
    def heads(self, lane: Lane, base: BaseId, large: bool, limit: int) -> list[Job]: ...

    def claim(self, jobs: Sequence[Job], lane: Lane, owner: str | None, lease: int) -> list[Job]:
        """The jobs with their new claim numbers, in the order given; the ring moves on."""

    def start(self, job: JobId, claim: ClaimNo, owner: str, lease: int) -> Job | None:
        """A posted claim is ours, or None: somebody has it, or it is not valid any more."""

    def finish(
        self,
        fences: Sequence[Fence],
        state: JobState = JobState.DONE,
        reason: str | None = None,
        trouble: Trouble | None = None,
    ) -> set[JobId]:
        """Those of the runs that were still theirs to end."""

    def give_back(
        self, fence: Fence, run_at: int | None, reason: str, counts: bool, trouble: Trouble | None
    ) -> None: ...

    def condemn(self, fence: Fence, trouble: Trouble) -> None: ...
    def end_cancelled(self, fence: Fence) -> None: ...
    def keep_place(self, fence: Fence, place: Mapping[str, Any]) -> None:
        """How far a run has come, for the next run of its job; progress, so attempts are new."""

    def beat(self, fences: Sequence[Fence], lease: int) -> None: ...
    def renew(self, owner: str, lease: int) -> None: ...
    def rescue_foreign(self, owner: str) -> list[Freed]: ...
    def rescue_expired(self) -> list[Freed]: ...
    def rescue_stuck(self, fences: Sequence[Fence]) -> list[Freed]: ...
    def give_up_dead(self, lane: Lane) -> None: ...
    def park(self) -> int: ...
    def unpark(self, base: BaseId, items: Collection[ItemId] | None) -> set[ItemId]: ...
    def end_parked(self, base: BaseId, items: Collection[ItemId] | None) -> set[ItemId]: ...
    def prune_jobs(self, before: int, newest: int) -> int: ...
    def raise_epoch(self, owner: str, above: int = 0) -> int:
        """A new owner's claims are above every one before, and above a restored index's."""

    def mark_clean_stop(self, owner: str) -> None: ...
    def pause_provider(self, name: str, until: int, reason: str, *, failed: bool) -> None:
        """Nobody asks it before then; when it `failed`, one probe has to open it again."""

    def take_probe(self, name: str, claim: ClaimNo) -> bool:
        """Is this run the one that looks whether a provider is back?"""

    def open_provider(self, name: str) -> None:
        """It answers: whoever waited for it is ready at once."""

    def count_texts(
        self, provider: str, embedded: int, reused: int, calls: int, tokens: int = 0
    ) -> None: ...

    def keep_fingerprint(self, base: BaseId, space: int, vector: bytes) -> None:
        """How a base's model answers the fixed text; the first one stays."""
