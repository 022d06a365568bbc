"""How far is an item, in one number that never falls?"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.item_states import COMPLETED, IDLE, Status


@dataclass(frozen=True, slots=True)
class Progress:
    """What a caller is told about an item at work."""

    percent: int
    stage: str
    chunks_done: int = 0
    chunks_total: int | None = None
    rate: float | None = None
    seconds_left: float | None = None
    waiting: str | None = None  # what stands in the way for everybody: a provider that is paused


@dataclass(frozen=True, slots=True)
class Tally:
    """How the leaves of some items stand, in numbers and in workload."""

    leaves: int
    completed: int
    failed: int
    listing: int  # containers whose content is not known yet
    chunks: int
    workload: int
    workload_done: int
    skipped: int = 0  # entries of containers that became no items

    @property
    def settled(self) -> int:
        return self.completed + self.failed


def percent(read: float, written: float, read_weight: int = 60) -> int:
    """Reading and cutting count 60, embedding and writing 40; 100 is said by the publish only."""
    whole = read_weight * _fraction(read) + (100 - read_weight) * _fraction(written)
    return min(99, int(whole))


def shown(status: Status, stored: int) -> int:
    """The percentage of an answer: what is stored, except at the two ends."""
    if status is COMPLETED:
        return 100
    return 0 if status is IDLE else max(0, min(100, stored))


def weighted(parts: list[tuple[int, int]]) -> int:
    """One number for many: (workload, percent) pairs; what has no size counts as one byte."""
    total = sum(max(1, weight) for weight, _ in parts)
    done = sum(max(1, weight) * share for weight, share in parts)
    return done // total if total else 100


def _fraction(value: float) -> float:
    return max(0.0, min(1.0, value))
