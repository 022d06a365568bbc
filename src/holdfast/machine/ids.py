"""How are identities and chance made?"""

from __future__ import annotations

import random
import secrets
import threading
import time

from holdfast.domain.ids import uuid7

RANDOM_BITS = 74
SEQUENCE_SHIFT = 62
LAST_COUNT = 4_095


class TimeOrderedIds:
    """UUIDv7 that only grow within a process: a counter stands in for time within a millisecond."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = (0, 0)

    def new(self) -> str:
        now = time.time_ns() // 1_000_000
        with self._lock:
            then, count = self._last
            fresh = now > then
            self._last = (now, secrets.randbelow(256)) if fresh else _next(then, count)
            milliseconds, sequence = self._last
        return uuid7(milliseconds, sequence << SEQUENCE_SHIFT | secrets.randbits(SEQUENCE_SHIFT))


def _next(milliseconds: int, count: int) -> tuple[int, int]:
    return (milliseconds, count + 1) if count < LAST_COUNT else (milliseconds + 1, 0)


class SystemRng:
    """Jitter."""

    def random(self) -> float:
        return random.random()
