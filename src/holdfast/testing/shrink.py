"""Which part of a failing schedule is needed for its failure?

The schedule is run again with parts left out: halves, quarters, then single ones; first the
injected faults, then the operations of the script, then the clients beside the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast.testing.case import Case, Outcome

Part = TypeVar("Part")
Play = Callable[[Case], Outcome]

TAIL = 60


@dataclass(slots=True)
class Shrinking:
    """The smallest failing schedule found so far."""

    play: Play
    best: Outcome
    tries_left: int

    def fails(self, case: Case) -> bool:
        """Play it; keep it when it still fails."""
        if self.tries_left <= 0:
            return False
        self.tries_left -= 1
        outcome = self.play(case)
        if outcome.violations:
            self.best = outcome
        return bool(outcome.violations)

    def faults(self) -> None:
        case = self.best.exact
        smallest(case.plan or (), lambda plan: self.fails(replace(case, plan=tuple(plan))))

    def steps(self) -> None:
        case = self.best.exact
        smallest(case.steps or (), lambda steps: self.fails(replace(case, steps=tuple(steps))))

    def clients(self) -> None:
        for clients in range(1, self.best.clients):
            if self.fails(replace(self.best.exact, clients=clients)):
                return


def shrunk(play: Play, failed: Outcome, tries: int = 200) -> Outcome:
    """A failing schedule with as little in it as was found; at worst the same."""
    shrinking = Shrinking(play, failed, tries)
    if not shrinking.fails(failed.exact):
        return failed  # written out it differs: the seed alone is the case
    for _ in range(2):
        shrinking.clients()
        shrinking.faults()
        shrinking.steps()
    return shrinking.best


def smallest(parts: Sequence[Part], fails: Callable[[Sequence[Part]], bool]) -> Sequence[Part]:
    """Leave out ever smaller runs of parts, from the end, while it still fails."""
    size = max(1, len(parts))
    while size:
        end = len(parts)
        while end > 0:
            fewer = [*parts[: max(0, end - size)], *parts[end:]]
            if len(fewer) < len(parts) and fails(fewer):
                parts = fewer
            end -= size
        size //= 2
    return parts


def before_the_first(outcome: Outcome) -> Sequence[tuple[str, str]]:
    """What led to the first violation."""
    story = outcome.trace
    end = next((n for n, (who, _) in enumerate(story) if who == "BROKEN"), len(story))
    return story[max(0, end + 1 - TAIL) : end + 1]


def told(outcome: Outcome) -> str:
    """A failing schedule in words: seed, script, faults, the end of the trace, what is violated."""
    lines = [f"seed {outcome.case.seed}, {outcome.clients} clients, trace {outcome.digest}"]
    lines += ["script: " + ", ".join(str(step) for step in outcome.steps)]
    lines += ["faults:", *(f"  {fault}" for fault in outcome.faults)]
    lines += ["interleaving, up to the first violation:"]
    lines += [f"  {who}: {what.splitlines()[0]}" for who, what in before_the_first(outcome)]
    lines += ["violated:", *(f"  {one}" for one in outcome.violations)]
    return "\n".join(lines)
