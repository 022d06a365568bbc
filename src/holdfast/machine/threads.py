"""How does work go on beside ours? In threads, and in children where it may go wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.machine.children import Children, Taken
from holdfast.ports import Child, Condition, Event, Limits, Lock, Thread


class Threads:
    """Real threads; they are daemons, because a killed process must not wait for them.

    `warm` names what the parser host imports before its first child.
    """

    def __init__(self, warm: Sequence[str] = ()) -> None:
        self._children = Children(warm)

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

    def child(
        self, task: str, argument: Any, *, about: str, limits: Limits, check: Callable[[], None]
    ) -> Child:
        return self._children.start(task, argument, about=about, limits=limits, check=check)

    def close(self) -> None:
        self._children.close()

    @property
    def taken(self) -> Taken:
        """What children took at most."""
        return self._children.taken
