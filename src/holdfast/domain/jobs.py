"""What is a job, in which state may it be, and what does a run carry?

   enqueue          claim            finish
 -----------> ready ------> running ---------> done | failed | cancelled
   |  ^  ^          give back / retry |
   |  |  +--------- later <-----------+
   |  +------------ parked   (recovery: ask; only recover or dismiss end it)
   +-> later (delayed)

A job is unfinished in ready, later, parked and running; its idempotency key is unique among those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from holdfast.domain.ids import BaseId, ClaimNo, Generation, ItemId, JobId


class JobKind(StrEnum):
    """What is to be done."""

    PREPARE_ROOT = "prepare-root"
    INDEX_DOCUMENTS = "index-documents"
    CHECK_FILE_PROCESSING_RESULT = "check-file-processing-result"
    REINDEX_SUBTREE = "reindex-subtree"
    DELETE_SUBTREE = "delete-subtree"
    DELETE_BASE = "delete-base"


class Lane(StrEnum):
    """Which queue the work stands in: no lane waits behind another."""

    URGENT = "urgent"
    CONTROL = "control"
    POLL = "poll"
    INDEX = "index"


class JobState(StrEnum):
    """Where a job is."""

    READY = "ready"
    LATER = "later"
    PARKED = "parked"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Verdict(StrEnum):
    """Why a job is handed out: to be done, or to be given up by its handler."""

    RUN = "run"
    GIVE_UP = "give_up"


UNFINISHED = frozenset({JobState.READY, JobState.LATER, JobState.PARKED, JobState.RUNNING})

LANES: dict[JobKind, Lane] = {
    JobKind.PREPARE_ROOT: Lane.CONTROL,
    JobKind.INDEX_DOCUMENTS: Lane.INDEX,
    JobKind.CHECK_FILE_PROCESSING_RESULT: Lane.POLL,
    JobKind.REINDEX_SUBTREE: Lane.CONTROL,
    JobKind.DELETE_SUBTREE: Lane.URGENT,
    JobKind.DELETE_BASE: Lane.URGENT,
}

MAX_INPUT_BYTES = 1 << 20
SMALL_ITEM_BYTES = 32 << 10
BUNDLE_BYTES = 256 << 10
BUNDLE_ITEMS = 64


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job as the workflow asks for it."""

    kind: JobKind
    base_id: BaseId
    key: str
    item_id: ItemId | None = None
    generation: Generation | None = None
    workload: int = 0
    large: bool = False
    input: Mapping[str, Any] = field(default_factory=dict)
    run_at: int | None = None
    ordinal: int | None = None  # an inherited place in the queue

    @property
    def lane(self) -> Lane:
        return LANES[self.kind]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands in the main store."""

    id: JobId
    kind: JobKind
    lane: Lane
    base_id: BaseId
    item_id: ItemId | None
    key: str
    state: JobState
    ordinal: int
    large: bool
    run_at: int | None
    reason: str | None
    attempt: int
    deaths: int
    verdict: Verdict
    claim: ClaimNo | None
    generation: Generation | None
    workload: int
    input: Mapping[str, Any]
    error: tuple[str, str, str] | None
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Fence:
    """What every write of a run carries: this job, this claim, this generation."""

    job: JobId
    claim: ClaimNo
    item: ItemId | None
    generation: Generation | None


def prepare_key(base: BaseId, item: ItemId, generation: Generation) -> str:
    return f"{base}:{item}:prepare:{generation}"


def index_key(base: BaseId, item: ItemId, generation: Generation) -> str:
    return f"{base}:{item}:index:{generation}"


def check_key(base: BaseId, item: ItemId, generation: Generation, number: int = 0) -> str:
    return f"{base}:{item}:check:{generation}:{number}"


def roots_key(base: BaseId, roots_digest: str, verb: str) -> str:
    return f"{base}:{roots_digest}:{verb}"
