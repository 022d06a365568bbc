"""Which job runs next? One short transaction that counts, chooses and numbers.

Caps are counted from running rows, never added up and down, so a slot cannot leak. Bases take
turns after the one served last. In one base the order is first come, first served; only a large
item without a slot of its own kind is passed over.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from holdfast.domain.ids import BaseId
from holdfast.domain.jobs import BUNDLE_ITEMS, Job, Lane
from holdfast.jobs.fairness import bundle, may_start_large
from holdfast.stores.main import MainStore, Transaction
from holdfast.stores.queue import Slot

CONTROL_PER_BASE = 2
WINDOW = 16


@dataclass(frozen=True, slots=True)
class Caps:
    """How many jobs of each lane may run at once, in all and in one base."""

    total: dict[Lane, int]
    per_base: dict[Lane, int]


@dataclass(frozen=True, slots=True)
class Holder:
    """Who claims, and for how long without a renewal; nobody yet, when the claim is posted."""

    owner: str | None
    lease: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a slot got: one job, or a bundle; or when to look again."""

    jobs: tuple[Job, ...]
    look_again: int | None = None
    more: bool = False


def claim(main: MainStore, lane: Lane, caps: Caps, holder: Holder) -> Claimed:
    """Take the next work of a lane for one free slot."""
    with main.write() as tx:
        if not tx.anything_due(lane):  # a thread woken for nothing costs one question
            return Claimed((), _next_look(tx, lane))
        tx.wake_due(lane)
        tx.give_up_dead(lane)
        jobs = _choose(tx, lane, caps)
        if not jobs:
            return Claimed((), _next_look(tx, lane))
        claimed = tx.claim(jobs, lane, holder.owner, tx.now + holder.lease)
        return Claimed(tuple(claimed), None, more=bool(tx.waiting_bases(lane, 1)))


def _choose(tx: Transaction, lane: Lane, caps: Caps) -> list[Job]:
    running = tx.running(lane)
    if len(running) >= caps.total[lane] or any(one.solo for one in running):
        return []
    solo = tx.solo(lane)
    if solo is not None:
        return [] if running else [solo]  # the slots drain, then it runs with nothing beside it
    return _first_servable(tx, lane, caps, running)


def _first_servable(tx: Transaction, lane: Lane, caps: Caps, running: list[Slot]) -> list[Job]:
    active = Counter(one.base for one in running)
    large = may_start_large(caps.total[lane], sum(one.large for one in running), 0)
    looked_at: set[BaseId] = set()
    for window in (1 + len(active), WINDOW + len(active)):  # the first one is nearly always enough
        waiting = tx.waiting_bases(lane, window, large=large)
        for base in waiting:
            if base not in looked_at and active[base] < caps.per_base[lane]:
                looked_at.add(base)
                jobs = _of_base(tx, lane, base, caps.total[lane], running)
                if jobs:
                    return jobs
        if len(waiting) < window:
            break  # that were all
    return []


def _of_base(
    tx: Transaction, lane: Lane, base: BaseId, slots: int, running: list[Slot]
) -> list[Job]:
    """The head of the base's queue: a bundle of small jobs, one job, or a large one."""
    heads = tx.heads(lane, base, large=False, limit=BUNDLE_ITEMS)
    large_running = [one for one in running if one.large]
    in_base = sum(one.base == base for one in large_running)
    if may_start_large(slots, len(large_running), in_base):
        large = tx.heads(lane, base, large=True, limit=1)
        if large and (not heads or large[0].ordinal < heads[0].ordinal):
            return large
        if large:
            heads = [job for job in heads if job.ordinal < large[0].ordinal]
    return bundle(heads)


def _next_look(tx: Transaction, lane: Lane) -> int | None:
    known = [when for when in (tx.next_due(lane), tx.next_opening(tx.now)) if when is not None]
    return min(known, default=None)
