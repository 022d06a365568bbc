"""Why does a job wait? The facts of the moment become one reason and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from holdfast.domain.item_states import COMPLETED, FAILED, IDLE, Status
from holdfast.domain.jobs import Job, JobState, Lane


class Reason(StrEnum):
    """What stands between an item and its next step."""

    DONE = "done"
    FAILED = "failed"
    IDLE = "idle"
    RUNNING = "running"
    CHILDREN = "children"
    NO_JOB = "no_job"
    PARKED = "parked"
    PAUSED = "paused"
    BASE_FAILED = "base_failed"
    PROVIDER = "provider"
    RETRY = "retry"
    DISK_FULL = "disk_full"
    QUEUE_FULL = "queue_full"
    DELETE_STUCK = "delete_stuck"
    YIELDED = "yielded"
    MOVERS = "movers"
    PROCESSING = "remote_processing"
    PROCESSOR_BUSY = "processor_busy"
    LATER = "later"
    LARGE_SLOT = "large_slot"
    BASE_CAP = "base_cap"
    CAP = "cap"
    BEHIND = "behind"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the main store says about an item, its job and its surroundings."""

    status: Status
    job: Job | None
    now: int
    error: str | None = None
    active_children: bool = False
    before: int = 0
    base_paused: bool = False
    base_failed: str | None = None
    provider: str | None = None
    provider_until: int | None = None
    provider_said: str | None = None
    probed_by: str | None = None  # the item whose run looks whether the provider is back
    running_in_base: int = 0
    running: int = 0
    large_running: bool = False
    disk_full: bool = False
    caps: tuple[int, int] = (4, 2)
    processing: str | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """The reason, in words, and until when if that is known."""

    reason: Reason
    sentence: str
    until: int | None = None


def reason_of(facts: Facts) -> Why:
    """The first thing that holds the item back."""
    if facts.job is None:
        return _without_job(facts)
    if facts.processing is not None and facts.job.state in (JobState.LATER, JobState.RUNNING):
        return _processing(facts, facts.job, facts.processing)
    match facts.job.state:
        case JobState.RUNNING:
            return Why(Reason.RUNNING, f"{facts.job.kind} is running")
        case JobState.PARKED:
            return Why(Reason.PARKED, "its work was interrupted; recover or dismiss it")
        case JobState.LATER:
            return _later(facts, facts.job)
        case _:
            return _ready(facts, facts.job)


def _without_job(facts: Facts) -> Why:
    if facts.status is COMPLETED:
        return Why(Reason.DONE, "it is completed")
    if facts.status is FAILED:
        return Why(Reason.FAILED, f"it failed: {facts.error}")
    if facts.status is IDLE:
        return Why(Reason.IDLE, "it was never scheduled; re-index it")
    if facts.active_children:
        return Why(Reason.CHILDREN, "it waits for what is inside it")
    return Why(Reason.NO_JOB, "it has no job; the next sweep gives it one")


def _provider(facts: Facts) -> Why | None:
    """The provider is left alone until then, or somebody else looks whether it is back."""
    said = f"the provider {facts.provider} is paused ({facts.provider_said})"
    if facts.provider_until is not None and facts.provider_until > facts.now:
        return Why(Reason.PROVIDER, said, facts.provider_until)
    if facts.probed_by is not None:
        return Why(Reason.PROVIDER, f"{said}; item {facts.probed_by} looks whether it is back")
    return None


def _processing(facts: Facts, job: Job, known: str) -> Why:
    if job.reason == Reason.PROCESSOR_BUSY:
        said = "its processor has as many documents as it takes at once"
        return Why(Reason.PROCESSOR_BUSY, said, job.run_at)
    if job.reason is not None and job.state is JobState.LATER:
        return _later(facts, job)
    return Why(Reason.PROCESSING, f"remote processing: {known}", job.run_at)


def _later(facts: Facts, job: Job) -> Why:
    if job.reason == Reason.PROVIDER and (paused := _provider(facts)) is not None:
        return paused
    known = {reason.value: reason for reason in Reason}
    reason = known.get(job.reason or "", Reason.LATER)
    cause = f": {job.error[1]}" if job.error else ""
    return Why(reason, f"it is tried again later ({job.reason}){cause}", job.run_at)


def _ready(facts: Facts, job: Job) -> Why:
    total, per_base = facts.caps
    if facts.disk_full and job.lane is not Lane.URGENT:
        return Why(Reason.DISK_FULL, "the disk of the data folder is nearly full; free some space")
    if job.lane in (Lane.INDEX, Lane.CONTROL):
        if facts.base_paused:
            return Why(Reason.PAUSED, "its base is paused")
        if facts.base_failed:
            return Why(Reason.BASE_FAILED, f"its base is failed ({facts.base_failed})")
        if (paused := _provider(facts)) is not None:
            return paused
    if facts.before:
        return Why(Reason.BEHIND, f"{facts.before} jobs of its base stand before it")
    if job.lane is Lane.INDEX and job.large and facts.large_running:
        return Why(Reason.LARGE_SLOT, "large items take at most half the slots, one per base")
    if job.lane is Lane.INDEX and facts.running_in_base >= per_base:
        said = f"{facts.running_in_base} of its base are running (per_base_concurrency {per_base})"
        return Why(Reason.BASE_CAP, said)
    if job.lane is Lane.INDEX and facts.running >= total:
        said = f"{facts.running} jobs are running (global_concurrency {total})"
        return Why(Reason.CAP, said)
    return Why(Reason.NEXT, "it starts as soon as a slot is free")
