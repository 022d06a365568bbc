"""Does somebody want this process to end?"""

from __future__ import annotations

import os
import signal
import time
from types import FrameType, TracebackType
from typing import Any, Self

ASKING = (signal.SIGINT, signal.SIGTERM)
EXIT_INTERRUPTED = 130


class Interrupts:
    """While entered, the first Ctrl-C or SIGTERM only asks; the second one ends the process.

    The handler writes a plain attribute: a lock taken there could be held by the interrupted code.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in ASKING:
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def pause(self, seconds: float) -> None:
        """Rest; a signal does not shorten it, so keep it short."""
        time.sleep(seconds)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            os._exit(EXIT_INTERRUPTED)
        self.asked = True
