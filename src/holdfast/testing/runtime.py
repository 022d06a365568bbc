"""What do threads, locks, conditions and events become when a seed decides who runs?

Taking and giving back a lock are yield points both: what one thread does between the release and
its next step is where the others slip in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from holdfast.domain.errors import StageFailed
from holdfast.machine.child_host import failed, function_of
from holdfast.ports import Limits
from holdfast.testing.schedule import Kernel
from holdfast.testing.tasks import Broken, Parking, Process, Task


class SimThread:
    """A task as production code sees it."""

    def __init__(self, kernel: Kernel, task: Task) -> None:
        self._kernel, self._task = kernel, task

    def join(self, timeout: float | None = None) -> None:
        self._kernel.wait_for(self._task, timeout)

    def is_alive(self) -> bool:
        return not self._task.done


class SimLock:
    """One holder; who waits is woken at each release and tries again, as real threads do."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._holder: Task | None = None
        self._waiting: list[Parking] = []

    def __enter__(self) -> Self:
        self._kernel.breathe("lock")
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.give()
        self._kernel.breathe("unlock")

    def take(self) -> None:
        me = self._kernel.current
        if self._holder is me:
            self._kernel.found(f"{me.name} waits for a lock that it holds itself")
            raise Broken("lock")
        while self._holder is not None:
            parking = self._kernel.parking()
            self._waiting.append(parking)
            self._kernel.park(parking, "lock held")
        self._holder = me

    def give(self) -> None:
        self._holder = None
        waiting, self._waiting = self._waiting, []
        for parking in waiting:
            self._kernel.wake(parking)

    def held_by(self, task: Task) -> bool:
        return self._holder is task


class SimEvent:
    """Happens once."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._happened = False
        self._waiting: list[Parking] = []

    def set(self) -> None:
        self._happened = True
        waiting, self._waiting = self._waiting, []
        for parking in waiting:
            self._kernel.wake(parking)
        self._kernel.pause("event set")

    def is_set(self) -> bool:
        return self._happened

    def wait(self, timeout: float | None = None) -> bool:
        self._kernel.pause("event wait")
        if not self._happened:
            parking = self._kernel.parking()
            self._waiting.append(parking)
            self._kernel.park(parking, "event", timeout)
        return self._happened


class SimCondition:
    """A lock with a waiting room."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._lock = SimLock(kernel)
        self._waiting: list[Parking] = []

    def __enter__(self) -> Self:
        self._lock.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.__exit__()

    def wait(self, timeout: float | None = None) -> bool:
        self._must_be_held()
        parking = self._kernel.parking()
        self._waiting.append(parking)
        self._lock.give()
        woken = self._kernel.park(parking, "condition", timeout)
        if parking in self._waiting:  # else notified too late: lost, as with real threads
            self._waiting.remove(parking)
        self._lock.take()
        return woken

    def notify(self, n: int = 1) -> None:
        self._must_be_held()
        chosen, self._waiting = self._waiting[:n], self._waiting[n:]
        for parking in chosen:
            self._kernel.wake(parking)

    def notify_all(self) -> None:
        self.notify(len(self._waiting))

    def _must_be_held(self) -> None:
        if not self._lock.held_by(self._kernel.current):
            raise RuntimeError("cannot wait or notify on an un-acquired lock")


class SimChild:
    """The same task in the same process: what is simulated is when its answers come."""

    def __init__(
        self, kernel: Kernel, answers: Iterator[Any], about: str, check: Callable[[], None]
    ) -> None:
        self._kernel, self._answers = kernel, answers
        self._about, self._check = about, check

    def __iter__(self) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __next__(self) -> Any:
        self._kernel.pause("child")
        self._check()
        try:
            return next(self._answers)
        except (StopIteration, StageFailed):
            raise
        except Exception as error:
            raise failed(self._about, str(error)) from error

    def close(self) -> None:
        self._answers = iter(())


class SimRuntime:
    """The Runtime of one simulated process."""

    def __init__(self, kernel: Kernel, process: Process) -> None:
        self._kernel, self.process = kernel, process

    def thread(self, run: Callable[[], None], name: str) -> SimThread:
        self._kernel.pause("thread")
        return SimThread(self._kernel, self._kernel.spawn(run, name, self.process))

    def lock(self) -> SimLock:
        return SimLock(self._kernel)

    def condition(self) -> SimCondition:
        return SimCondition(self._kernel)

    def event(self) -> SimEvent:
        return SimEvent(self._kernel)

    def child(
        self, task: str, argument: Any, *, about: str, limits: Limits, check: Callable[[], None]
    ) -> SimChild:
        return SimChild(self._kernel, iter(function_of(task)(argument)), about, check)

    def close(self) -> None:
        self._kernel.pause("runtime close")
