"""How fast does work go, and how long will the rest take?"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

WINDOW = 20.0
FEWEST = 2  # a rate needs two looks
SHORTEST_LOOK = 1.0


@dataclass(slots=True)
class Pace:
    """Looks at a growing amount now and then; what is older than the window does not count."""

    _looks: deque[tuple[float, float]] = field(default_factory=deque[tuple[float, float]])

    def look(self, now: float, done: float) -> None:
        self._looks.append((now, done))
        while len(self._looks) > FEWEST and now - self._looks[1][0] >= WINDOW:
            self._looks.popleft()

    @property
    def rate(self) -> float | None:
        """Amount per second, once there is enough to say so."""
        if not self._looks:
            return None
        (then, before), (now, done) = self._looks[0], self._looks[-1]
        passed = now - then
        return max(0.0, done - before) / passed if passed >= SHORTEST_LOOK else None

    @property
    def seconds_seen(self) -> float:
        """How long it has been looked at, within the window."""
        return self._looks[-1][0] - self._looks[0][0] if self._looks else 0.0

    def seconds_left(self, rest: float) -> float | None:
        """For this much more at the present rate; None while it stands still."""
        rate = self.rate
        return max(0.0, rest) / rate if rate else None
