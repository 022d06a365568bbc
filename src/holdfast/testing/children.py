"""What goes wrong with a simulated child? It dies, it hangs until its time is over, its host goes.

A child runs the production task in the process that asked for it; whoever asked looks at its own
token while it waits, so a cancelled run gives up a hanging child at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.domain.errors import Transient
from holdfast.machine.child_host import failed, function_of
from holdfast.ports import Limits
from holdfast.testing.faults import Fault, Kind
from holdfast.testing.gate import Gate
from holdfast.testing.runtime import SimChild, SimRuntime

LOOK_AGAIN = 10.0  # a real one looks ten times a second; nothing happens in between here


@dataclass(frozen=True, slots=True)
class Asked:
    """On whose behalf a child works, and how long it may be silent."""

    about: str
    limits: Limits
    check: Callable[[], None]


class FatefulChild(SimChild):
    """One whose answers pass the gate."""

    def __init__(self, gate: Gate, task: str, argument: Any, asked: Asked) -> None:
        answers = iter(function_of(task)(argument))
        super().__init__(gate.kernel, answers, asked.about, asked.check)
        self._gate, self._asked = gate, asked

    def __next__(self) -> Any:
        fault = self._gate.drawn("child", "child.answer")
        if fault is None:
            return super().__next__()
        self._gate.before(fault)
        self._meet(fault)
        answer = super().__next__()
        self._gate.after(fault)
        return answer

    def _meet(self, fault: Fault) -> None:
        match fault.kind:
            case Kind.CHILD_DIES:
                raise failed(self._asked.about, "injected end")
            case Kind.CHILD_HANGS:
                self._hang()
            case Kind.HOST_DIES:
                raise Transient("injected end of the parser host", code="parser_failed")
            case _:
                pass

    def _hang(self) -> None:
        kernel = self._gate.kernel
        until = kernel.now + self._asked.limits.silence
        while kernel.now < until:
            self._asked.check()
            kernel.sleep(LOOK_AGAIN, "child hangs")
        raise failed(self._asked.about, "no answer in time")


class FatefulRuntime(SimRuntime):
    """The Runtime of a process whose children meet faults."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(gate.kernel, gate.process)
        self._gate = gate

    def child(
        self, task: str, argument: Any, *, about: str, limits: Limits, check: Callable[[], None]
    ) -> SimChild:
        return FatefulChild(self._gate, task, argument, Asked(about, limits, check))
