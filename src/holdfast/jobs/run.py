"""What does a handler hold while it works? Its job, its fence and its token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.domain.jobs import Fence, Job, JobKind
from holdfast.ports import Event
from holdfast.stores.catalog import Trouble


class Cancelled(Exception):
    """The run was told to stop: its item is deleted or has newer work."""


class Stopping(Exception):
    """The engine is closing: give the slot back at this boundary, nothing is lost."""


@dataclass(slots=True)
class Heart:
    """When a run last gave a sign of life, in monotonic time: no clock that jumps can stop it."""

    last: float


@dataclass(frozen=True, slots=True)
class Token:
    """Looked at before every model call and batch."""

    cancelled: Event
    stopping: Event
    heart: Heart

    def check(self) -> None:
        if self.cancelled.is_set():
            raise Cancelled
        if self.stopping.is_set():
            raise Stopping


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of one job."""

    job: Job
    fence: Fence
    token: Token

    @property
    def base(self) -> BaseId:
        return self.job.base_id

    @property
    def item(self) -> ItemId:
        if self.job.item_id is None:
            raise ValueError(f"job {self.job.id} ({self.job.kind}) is not about one item")
        return self.job.item_id

    @property
    def claim(self) -> ClaimNo:
        return self.fence.claim


def run_of(job: Job, token: Token) -> Run:
    if job.claim is None:
        raise ValueError(f"job {job.id} is not claimed")
    return Run(job, Fence(job.id, job.claim, job.item_id, job.generation), token)


@dataclass(frozen=True, slots=True)
class Handler:
    """What the runner calls for one kind of job; each ends the job in its own last transaction."""

    run: Callable[[Run], None]
    give_up: Callable[[Run, Trouble], None]
    bundle: Callable[[Sequence[Run]], None] | None = None
    endless: bool = False  # never given up: tried again with growing pauses


Handlers = Mapping[JobKind, Handler]
