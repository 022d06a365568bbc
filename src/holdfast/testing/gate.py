"""A call to the outside: who runs before it, and does it go well?

Every simulated port passes its calls through here. The call is a yield point; then its fault, if
one was drawn, happens before the effect, instead of it, or after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from holdfast.domain.errors import DiskFull, Permanent, Transient
from holdfast.testing.faults import Fault, Faults, Kind
from holdfast.testing.schedule import Kernel
from holdfast.testing.tasks import Process

Answer = TypeVar("Answer")


class Outage:
    """What happens outside one process: the world fills this in."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.wall_jumped = self.farthest = 0.0
        self.crashes = 0
        self.power_cuts = 0
        self.cut_power: Callable[[], None] = _nothing
        self.processes: list[Process] = []

    def jump(self, seconds: float) -> None:
        """The wall clock is set to another time."""
        self.wall_jumped += seconds
        self.farthest = max(self.farthest, self.wall_jumped)

    def set_clock_right(self) -> None:
        """What was given a time by a clock that ran ahead is not in the future any more."""
        self.wall_jumped = self.farthest

    def crash(self, process: Process) -> None:
        self.crashes += 1
        self.kernel.kill([process])

    def power_cut(self) -> None:
        """Every process ends, and each file goes back to something it may have been on disk."""
        self.power_cuts += 1
        self.cut_power()
        self.kernel.kill(self.processes)


class Gate:
    """The way out of one simulated process."""

    def __init__(self, kernel: Kernel, faults: Faults, outage: Outage, process: Process) -> None:
        self.kernel, self.faults, self.process = kernel, faults, process
        self.outage = outage

    def call(self, port: str, name: str, effect: Callable[[], Answer]) -> Answer:
        """The effect's answer, or what the drawn fault makes of it."""
        self.kernel.pause(name)
        fault = self.faults.draw(name, port)
        if fault is None:
            return effect()
        self.before(fault)
        answer = effect()
        self.after(fault)
        return answer

    def drawn(self, port: str, name: str) -> Fault | None:
        """A yield point and its fault, for a port that answers some faults by itself."""
        self.kernel.pause(name)
        return self.faults.draw(name, port)

    def luck(self, port: str, name: str) -> Fault | None:
        """A fault where nobody may yield, as inside a transaction."""
        return self.faults.draw(name, port)

    def before(self, fault: Fault, but: Kind | None = None) -> None:
        """What comes before the effect, except what the port makes of it itself."""
        self.kernel.note(self.process.name, str(fault))
        if fault.kind is but:
            return
        match fault.kind:
            case Kind.DELAY:
                self.kernel.sleep(fault.amount, "delay")
            case Kind.PAUSE:
                self.kernel.freeze(self.process, fault.amount)
                self.kernel.pause("paused")
            case Kind.CLOCK_JUMP:
                self.outage.jump(fault.amount)
            case Kind.CRASH_BEFORE:
                self.outage.crash(self.process)
            case Kind.ERROR_BEFORE | Kind.BUSY | Kind.DISK_FULL | Kind.UNREADABLE:
                raise error_of(fault)
            case _:
                pass

    def after(self, fault: Fault) -> None:
        """What comes after the effect."""
        if fault.kind is Kind.ERROR_AFTER:
            raise error_of(fault)
        if fault.kind is Kind.CRASH_AFTER:
            self.outage.crash(self.process)
        if fault.kind is Kind.POWER_CUT:
            self.outage.power_cut()


def error_of(fault: Fault) -> Exception:
    """The error a real port raises in this case, in our words."""
    what = f"{fault.call}: injected {fault.kind}"
    if fault.kind is Kind.DISK_FULL:
        return DiskFull(what)
    if fault.kind is Kind.UNREADABLE:
        return Permanent(what, code="unreadable")
    return Transient(what, code="internal")


def _nothing() -> None:
    return None
