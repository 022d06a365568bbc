"""Is this failure worth another try, and when?"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.errors import DiskFull, ProviderDown, StageFailed, Transient

FIRST_DELAY = 0.5
FACTOR = 2.0
LONGEST_DELAY = 10.0
RETRY_AFTER_CAP = 60.0
MAX_ATTEMPTS = 3
MAX_DEATHS = 3
SLOT_PATIENCE = 5.0
DISK_FULL_DELAY = 5.0
DELETE_FIRST_DELAY = 60.0
DELETE_LONGEST_DELAY = 3600.0
LONGEST_PAUSE = DELETE_LONGEST_DELAY  # nothing is put off for longer
LONGEST_PROVIDER_PAUSE = 600.0  # a pause that seems longer was begun before the clock was set back


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Give the slot back and come again; an attempt is counted or not."""

    delay: float
    counts: bool
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Trying again cannot help: hand the job out once more, to be failed by its handler."""


Decision = TryAgain | GiveUp


def after_failure(error: Exception, attempt: int, jitter: float) -> Decision:
    """What follows an error of a run whose `attempt` earlier tries were counted."""
    if isinstance(error, DiskFull):
        return TryAgain(DISK_FULL_DELAY, counts=False, reason="disk_full")
    if isinstance(error, ProviderDown):
        delay = error.retry_after if error.retry_after is not None else LONGEST_DELAY
        return TryAgain(delay, counts=False, reason="provider")
    if isinstance(error, Transient) and attempt + 1 < MAX_ATTEMPTS:
        return TryAgain(_delay(error, attempt, jitter), counts=True, reason="retry")
    if not isinstance(error, StageFailed) and attempt + 1 < MAX_ATTEMPTS:
        return TryAgain(backoff(attempt, jitter), counts=True, reason="retry")
    return GiveUp()


def backoff(attempt: int, jitter: float) -> float:
    """Full jitter over a doubling wait: 500 ms, 1 s, 2 s … 10 s, times a number from 0 to 1."""
    longest: float = min(LONGEST_DELAY, FIRST_DELAY * FACTOR**attempt)
    return longest * jitter


def delete_backoff(attempt: int) -> float:
    """A delete never gives up: a minute, doubling to an hour."""
    return min(DELETE_LONGEST_DELAY, DELETE_FIRST_DELAY * FACTOR ** min(attempt, 12))


def _delay(error: Transient, attempt: int, jitter: float) -> float:
    if error.retry_after is None:
        return backoff(attempt, jitter)
    return min(RETRY_AFTER_CAP, error.retry_after)
