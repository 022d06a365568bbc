"""What time is it?"""

from __future__ import annotations

import time


class SystemClock:
    """Wall and monotonic time of this machine."""

    def wall(self) -> float:
        return time.time()

    def mono(self) -> float:
        return time.monotonic()
