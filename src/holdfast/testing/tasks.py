"""Who is simulated? Processes, their threads, and the ways in which these can end.

A killed process must leave no mark: its tasks unwind by `Killed`, which is no Exception, and every
port call they make while unwinding raises `Killed` again before it has any effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.testing.switching import Body


class Killed(BaseException):
    """The process of this task is no more."""


class Broken(BaseException):
    """Production code did what it must not; no `except Exception` may hide it."""


class Stuck(Exception):
    """Nobody can run and no timer will change that, or the schedule does not end."""


@dataclass(slots=True, eq=False)
class Process:
    """Tasks that die together; while frozen none of them runs (a long pause of the machine)."""

    name: str
    alive: bool = True
    frozen_until: float = 0.0
    tasks: list[Task] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Task:
    """One simulated thread; `parking` is what it waits for now."""

    name: str
    process: Process
    priority: float
    body: Body = field(init=False)
    parking: Parking | None = None
    waits_in: str = ""
    done: bool = False
    waiters: list[Parking] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Parking:
    """One wait of one task: woken by another, or ended by its timer."""

    task: Task
    woken: bool = False
