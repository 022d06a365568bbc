"""How does work go on beside ours?"""

from __future__ import annotations

import threading
from collections.abc import Callable

from holdfast.ports import Condition, Event, Lock, Thread


class Threads:
    """Real threads; they are daemons, because a killed process must not wait for them."""

    def thread(self, run: Callable[[], None], name: str) -> Thread:
        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    def lock(self) -> Lock:
        return threading.Lock()

    def condition(self) -> Condition:
        return threading.Condition()

    def event(self) -> Event:
        return threading.Event()
