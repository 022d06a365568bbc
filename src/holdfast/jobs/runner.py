"""Who runs the jobs of this process? A thread per slot; each claims only what it starts now.

A thread without work waits on its lane's bell: a committed enqueue rings it, one thread wakes,
claims, and rings again if more could start. Nothing polls: a delayed job is waited for by its
time. Losing a ring loses nothing, as the sweep rings all lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial

from holdfast.domain.errors import HoldfastError
from holdfast.domain.events import stored
from holdfast.domain.ids import ClaimNo, JobId
from holdfast.domain.jobs import Fence, Job, Lane, Verdict
from holdfast.jobs.claim import Caps, Holder, claim
from holdfast.jobs.outcomes import Outcomes
from holdfast.jobs.run import Handlers, Heart, Run, Token, run_of
from holdfast.ports import Clock, Condition, Event, Runtime, Thread
from holdfast.stores.main import MainStore

LONGEST_WAIT = 3_600.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0


class Bells:
    """Wakes the runner's threads of this process; the Wakeups port of the local runner."""

    def __init__(self, runtime: Runtime) -> None:
        self._condition: dict[Lane, Condition] = {lane: runtime.condition() for lane in Lane}
        self._rung = dict.fromkeys(Lane, 0)
        self._changed = runtime.condition()
        self.changes = 0
        self.stop_runs: Callable[[Collection[JobId]], None] = lambda _jobs: None
        self.find_stuck: Callable[[float], list[Fence]] = lambda _seconds: []

    def ready(self, lanes: Collection[Lane]) -> None:
        for lane in sorted(lanes):
            with self._condition[lane]:
                self._rung[lane] += 1
                self._condition[lane].notify()

    def cancelled(self, jobs: Collection[JobId]) -> None:
        self.stop_runs(jobs)

    def stuck(self, seconds: float) -> list[Fence]:
        return self.find_stuck(seconds)

    def ended(self) -> None:
        with self._changed:
            self.changes += 1
            self._changed.notify_all()

    def wait_for_change(self, seen: int, timeout: float) -> int:
        """Wait until something ended after `seen`; the count to pass next time."""
        with self._changed:
            if self.changes == seen:
                self._changed.wait(timeout)
            return self.changes

    def heard(self, lane: Lane) -> int:
        with self._condition[lane]:
            return self._rung[lane]

    def wait(self, lane: Lane, heard: int, timeout: float) -> None:
        """Until the bell rings after `heard`, or the time is over."""
        with self._condition[lane]:
            if self._rung[lane] == heard:
                self._condition[lane].wait(timeout)

    def ring_all(self) -> None:
        for lane in Lane:
            with self._condition[lane]:
                self._rung[lane] += 1
                self._condition[lane].notify_all()


@dataclass(slots=True)
class Runner:
    """Runs jobs until stopped."""

    main: MainStore
    clock: Clock
    runtime: Runtime
    outcomes: Outcomes
    handlers: Handlers
    bells: Bells
    caps: Caps
    owner: str
    lease: int  # in stored time
    may_start: Callable[[Lane], None] = lambda _lane: None  # or it raises why nothing may
    stopping: Event = field(init=False)
    _threads: list[Thread] = field(init=False, default_factory=list)
    _runs: dict[tuple[JobId, ClaimNo], Run] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.stopping = self.runtime.event()
        self.bells.stop_runs, self.bells.find_stuck = self._stop_runs, self._stuck

    def start(self) -> None:
        for lane, slots in self.caps.total.items():
            for number in range(slots):
                serve = partial(self._serve, lane)
                self._threads.append(self.runtime.thread(serve, f"{lane}-{number}"))

    def stop(self, patience: float) -> bool:
        """No new claims; runs stop at their next boundary. True when all threads have ended."""
        self.stopping.set()
        self.bells.ring_all()
        deadline = self.clock.mono() + patience
        for thread in self._threads:
            thread.join(max(0.0, deadline - self.clock.mono()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self, lane: Lane) -> None:
        pause = FIRST_PAUSE
        while not self.stopping.is_set():
            heard = self.bells.heard(lane)
            try:
                wait = self.step(lane)
                pause = FIRST_PAUSE
            except HoldfastError:
                # the store cannot be used just now (disk full, busy): the work is safe, come again
                wait, pause = pause, min(LONGEST_PAUSE, pause * 2)
            if wait is not None:
                self.bells.wait(lane, heard, wait)

    def step(self, lane: Lane) -> float | None:
        """Claim and run once; None after work, else how long nothing is due."""
        self.may_start(lane)
        found = claim(self.main, lane, self.caps, Holder(self.owner, self.lease))
        if not found.jobs:
            return self._until(found.look_again)
        if found.more:
            self.bells.ready([lane])
        self.execute(found.jobs)
        return None

    def deliver(self, job: JobId, claim_no: ClaimNo) -> bool:
        """Run a posted claim, unless somebody has taken it or it is not valid any more."""
        lease = stored(self.clock.wall()) + self.lease
        with self.main.write() as tx:
            taken = tx.start(job, claim_no, self.owner, lease)
        if taken is not None:
            self.execute([taken])
        return taken is not None

    def execute(self, jobs: Collection[Job]) -> None:
        """Run one job or a bundle to its end, whatever happens inside."""
        runs = [run_of(job, self._token()) for job in jobs]
        self._runs.update({(run.fence.job, run.fence.claim): run for run in runs})
        try:
            self._attempt(runs)
        finally:
            for run in runs:
                self._runs.pop((run.fence.job, run.fence.claim), None)
            self.bells.ended()

    def _attempt(self, runs: list[Run]) -> None:
        handler = self.handlers[runs[0].job.kind]
        try:
            if runs[0].job.verdict is Verdict.GIVE_UP:
                trouble = runs[0].job.error or (
                    "internal",
                    "given up without a reason",
                    "report it",
                )
                handler.give_up(runs[0], trouble)
            elif len(runs) > 1 and handler.bundle is not None:
                handler.bundle(runs)
            else:
                handler.run(runs[0])
        except Exception as error:  # noqa: BLE001  (the one place that records whatever rose)
            for run in runs:
                self._record(run, error, endless=handler.endless)

    def _record(self, run: Run, error: Exception, *, endless: bool) -> None:
        """The end of the run is written even if that takes a few tries; a crash writes it too."""
        pause = FIRST_PAUSE
        while True:
            try:
                self.outcomes.failed(run, error, endless=endless)
                return
            except HoldfastError:
                if self.stopping.wait(pause):
                    return
                pause = min(LONGEST_PAUSE, pause * 2)

    def _token(self) -> Token:
        return Token(self.runtime.event(), self.stopping, Heart(self.clock.mono()))

    def _stop_runs(self, jobs: Collection[JobId]) -> None:
        for run in list(self._runs.values()):
            if run.job.id in jobs:
                run.token.cancelled.set()

    def _stuck(self, seconds: float) -> list[Fence]:
        """Index runs of this process without a sign of life for so long."""
        before = self.clock.mono() - seconds
        runs = [run for run in list(self._runs.values()) if run.job.lane is Lane.INDEX]
        return [run.fence for run in runs if run.token.heart.last < before]

    def _until(self, when: int | None) -> float:
        if when is None:
            return LONGEST_WAIT
        return min(LONGEST_WAIT, max(0.001, when / 1_000_000 - self.clock.wall()))
