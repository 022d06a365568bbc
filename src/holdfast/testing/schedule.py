"""When does who run? One OS thread, many greenlets, a seed that decides, and a clock that jumps.

A task runs until a yield point (`pause`) or until it waits (`park`); there the policy of the seed
picks who runs next. When nobody can run, virtual time jumps to the next timer. Nothing here reads
real time, real chance or the order of a hash, so a seed replays to an identical trace.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from hashlib import blake2b
from random import Random
from traceback import format_exception

from holdfast.testing.policies import Policy, drawn_policy
from holdfast.testing.switching import body_of, here
from holdfast.testing.tasks import Broken, Killed, Parking, Process, Stuck, Task

MAX_STEPS = 300_000
TICKS = (0.00002, 0.0005, 0.01)


class Kernel:
    """Virtual time, the tasks, and the choice between them."""

    def __init__(self, seed: str, policy: Policy | None = None) -> None:
        rng = Random(f"{seed}:schedule")
        self.policy = policy or drawn_policy(rng)
        self.tick = rng.choice(TICKS)
        self.now = 0.0
        self.steps = self.switches = 0
        self.trace: list[tuple[str, str]] = []
        self.broken: list[str] = []
        self.open_transaction: Callable[[], str | None] = _none
        self._priority = rng.random
        self._ready: list[Task] = []
        self._timers: list[tuple[float, int, Parking]] = []
        self._timers_set = 0
        self._hub = here()
        self._current: Task | None = None
        self._tasks: list[Task] = []
        self._dying: list[Task] = []
        self._outside = Process("outside")

    @property
    def current(self) -> Task:
        """The task that runs."""
        if self._current is None:
            raise Broken("a port was called outside the simulation")
        return self._current

    def spawn(self, run: Callable[[], None], name: str, process: Process) -> Task:
        """A new task, ready to run at the next choice."""
        task = Task(f"{process.name}.{name}", process, self._priority())
        task.body = body_of(lambda: self._live(task, run), self._hub)
        if process.alive:
            process.tasks.append(task)
            self._ready.append(task)
        task.done = not process.alive
        return task

    def _live(self, task: Task, run: Callable[[], None]) -> None:
        try:
            run()
        except (Killed, Broken):
            pass
        except BaseException as error:  # noqa: BLE001  (a thread that dies is a finding)
            if task.process.alive:
                self.found(f"{task.name} died: {error!r}\n{''.join(format_exception(error))}")
        finally:
            self._end(task)

    def _end(self, task: Task) -> None:
        task.done = True
        task.process.tasks.remove(task)
        for parking in task.waiters:
            self.wake(parking)

    def found(self, what: str) -> None:
        """Remember a violation, whoever swallows the exception that tells of it."""
        self.note("BROKEN", what)
        self.broken.append(what)

    def note(self, who: str, what: str) -> None:
        """Put something that is not a port call into the trace."""
        self.trace.append((who, what))

    def digest(self) -> str:
        """One name for everything that happened, in order."""
        said = [part for line in self.trace for part in line]
        lines = "\n".join((*said, f"{self.steps} steps, {self.switches} switches, {self.now}"))
        return blake2b(lines.encode(), digest_size=12).hexdigest()

    def run(self, main: Callable[[], None]) -> None:
        """Until `main` has ended; its error, or Stuck, is raised here."""
        errors: list[BaseException] = []
        driver = self.spawn(lambda: _collect(main, errors), "driver", self._outside)
        while not driver.done:
            self._bury()
            task = self._next()
            if task is None:
                raise Stuck(self._complaint())
            self._current = task
            task.body.switch()
        if errors:
            raise errors[0]

    def close(self, processes: Iterable[Process]) -> None:
        """Every task of these processes, and the driver, is gone."""
        for process in (*processes, self._outside):
            self._condemn(process)
        self._bury()
        self._ready.clear()
        self._timers.clear()

    # -- yield points

    def pause(self, call: str) -> None:
        """A port is called: somebody else may run first."""
        self._count(self.current, call)
        self.trace.append((self.current.name, call))
        self._let_others()

    def breathe(self, call: str) -> None:
        """As `pause`, where the trace would be long and tell nothing: locks are taken and given."""
        self._count(self.current, call)
        self._let_others()

    def _let_others(self) -> None:
        me = self.current
        if self._ready or me.process.frozen_until > self.now or self.steps > MAX_STEPS:
            self._ready.append(me)
            self._give_way(me)

    def parking(self) -> Parking:
        """To be handed to whoever shall wake the current task."""
        return Parking(self.current)

    def park(self, parking: Parking, call: str, timeout: float | None = None) -> bool:
        """Wait; True when woken, False when the time is over."""
        me = parking.task
        self._count(me, call)
        self.trace.append((me.name, call))
        if not parking.woken:
            me.parking, me.waits_in = parking, call
            if timeout is not None:
                self._set_timer(self.now + max(0.0, timeout), parking)
            self._give_way(me)
        return parking.woken

    def wake(self, parking: Parking) -> bool:
        """The waiting task can run again; False when it does not wait here any more."""
        task = parking.task
        if task.parking is not parking or not task.process.alive:
            return False
        parking.woken = True
        self._unpark(task)
        return True

    def sleep(self, seconds: float, call: str = "sleep") -> None:
        """Virtual time passes for the current task."""
        self.park(self.parking(), call, seconds)

    def wait_for(self, task: Task, timeout: float | None = None) -> bool:
        """Until the task has ended; False when the time is over first."""
        if not task.done:
            parking = self.parking()
            task.waiters.append(parking)
            self.park(parking, "join", timeout)
        return task.done

    def freeze(self, process: Process, seconds: float) -> None:
        """Nobody in this process runs for so long: collection of garbage, a suspended laptop."""
        process.frozen_until = max(process.frozen_until, self.now + seconds)

    def kill(self, processes: Iterable[Process]) -> None:
        """All tasks of these processes end here and now; does not return in one of them."""
        me = self.current
        for process in processes:
            self._condemn(process)
        if me.process.alive:
            self._ready.append(me)
        self._hub.switch()

    # -- choosing

    def _count(self, me: Task, call: str) -> None:
        if not me.process.alive:
            raise Killed
        inside = self.open_transaction()
        if inside is not None:
            self.found(f"{me.name} called {call} inside an open transaction of {inside}")
            raise Broken(call)
        self.steps += 1
        self.now += self.tick
        if self._timers and self._timers[0][0] <= self.now:
            self._fire()

    def _give_way(self, me: Task) -> None:
        task = self._next()
        if task is me:
            return
        self.switches += 1
        if task is None:
            self._hub.switch()
        else:
            self._current = task
            task.body.switch()

    def _next(self) -> Task | None:
        ready = self._ready
        while self.steps <= MAX_STEPS and (ready or self._jump()):
            current = len(ready) - 1 if ready[-1] is self._current else -1
            place = self.policy.choose(ready, current)
            task, ready[place] = ready[place], ready[-1]
            ready.pop()
            if task.process.frozen_until <= self.now:
                return task
            task.parking = Parking(task)
            self._set_timer(task.process.frozen_until, task.parking)
        return None

    def _jump(self) -> bool:
        """Time goes on to the next timer that still matters; False when there is none."""
        while self._timers and not self._ready:
            self.now = max(self.now, self._timers[0][0])
            self._fire()
        return bool(self._ready)

    def _fire(self) -> None:
        while self._timers and self._timers[0][0] <= self.now:
            _, _, parking = heapq.heappop(self._timers)
            if parking.task.parking is parking:
                self._unpark(parking.task)

    def _set_timer(self, at: float, parking: Parking) -> None:
        self._timers_set += 1
        heapq.heappush(self._timers, (at, self._timers_set, parking))

    def _unpark(self, task: Task) -> None:
        task.parking = None
        self._ready.append(task)

    # -- dying

    def _condemn(self, process: Process) -> None:
        if process.alive:
            process.alive = False
            self.note(process.name, "KILLED")
            self._dying += process.tasks

    def _bury(self) -> None:
        """Unwind the condemned; in the hub, so that each ends back here."""
        while self._dying:
            task = self._dying.pop()
            self._current, task.parking = task, None
            if task in self._ready:
                self._ready.remove(task)
            if task.body:
                task.body.throw(Killed)
            elif not task.done:  # not begun: nothing to unwind
                self._end(task)

    def _complaint(self) -> str:
        if self.steps > MAX_STEPS:
            return f"no end after {self.steps} steps, {self.now:.0f} s; last: {self.trace[-20:]}"
        return f"nobody can run: {', '.join(self._waiting())}"

    def _waiting(self) -> list[str]:
        return [f"{task.name} in {task.waits_in}" for task in self._outside.tasks]


def _collect(main: Callable[[], None], errors: list[BaseException]) -> None:
    try:
        main()
    except Killed:
        raise
    except BaseException as error:  # noqa: BLE001  (raised again in the hub)
        errors.append(error)


def _none() -> None:
    return None
