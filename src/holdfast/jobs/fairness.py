"""Whose turn is it? Round robin between bases, first come first served inside one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.domain.ids import BaseId
from holdfast.domain.jobs import BUNDLE_BYTES, BUNDLE_ITEMS, SMALL_ITEM_BYTES, Job, JobKind, Verdict


def next_base(
    waiting: Iterable[BaseId],
    last_served: BaseId | None,
    active: Mapping[BaseId, int],
    limit_per_base: int,
) -> BaseId | None:
    """The first base after the one served last, in the ring, that has a slot free."""
    ring = turns(waiting, last_served)
    return next((base for base in ring if active.get(base, 0) < limit_per_base), None)


def turns(waiting: Iterable[BaseId], last_served: BaseId | None) -> list[BaseId]:
    """The waiting bases in the order of their turns; the one served last comes last."""
    bases = sorted(set(waiting))
    after = [base for base in bases if last_served is not None and base > last_served]
    return after + bases[: len(bases) - len(after)]


def may_start_large(slots: int, large_running: int, large_in_base: int) -> bool:
    """Large items take at most half the slots, and one per base."""
    return large_in_base == 0 and large_running < max(1, slots // 2)


def bundle(heads: Sequence[Job]) -> list[Job]:
    """The first job, with the small ones right behind it if it is small itself."""
    if not heads or not is_small(heads[0]):
        return list(heads[:1])
    together: list[Job] = []
    size = 0
    for job in heads[:BUNDLE_ITEMS]:
        size += job.workload
        if not is_small(job) or (together and size > BUNDLE_BYTES):
            break
        together.append(job)
    return together


def is_small(job: Job) -> bool:
    """Small enough to share a slot; what failed or killed before runs by itself."""
    calm = job.verdict is Verdict.RUN and job.attempt == 0 and job.deaths == 0
    return calm and job.kind is JobKind.INDEX_DOCUMENTS and 0 < job.workload <= SMALL_ITEM_BYTES
