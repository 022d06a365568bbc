"""How long may one request still take, and is it still wanted?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from holdfast.domain.errors import Transient
from holdfast.ports import Clock

SLICE = 0.25  # a wait is cut into these, to hear that it is not wanted any more


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of one request with all its hops; `check` raises when nobody wants it any more."""

    clock: Clock
    until: float
    check: Callable[[], None]
    what: str

    def left(self) -> float:
        self.check()
        left = self.until - self.clock.mono()
        if left <= 0:
            raise Transient(f"{self.what} did not answer in time", code="fetch_failed")
        return left

    def within(self, seconds: float) -> Deadline:
        """The same, for a part that may take no longer than this."""
        return replace(self, until=min(self.until, self.clock.mono() + seconds))

    def slice(self) -> float:
        """How long to wait before asking again."""
        return min(SLICE, self.left())
