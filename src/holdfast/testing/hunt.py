"""Is each removed guard noticed, and how soon?

Each mutant is hunted in a process of its own: schedules are played without that guard until one of
them breaks. A mutant nobody finds is either declared redundant, with its reason, or a hole.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.testing.case import Case
from holdfast.testing.mutants import MUTANTS
from holdfast.testing.mutation import Mutant
from holdfast.testing.world import play

SEEDS = 2_000


@dataclass(frozen=True, slots=True)
class Found:
    """The first schedule that breaks without a guard; None when no schedule did."""

    name: str
    seed: int | None
    violation: str


def find(mutant: Mutant, base: str, seeds: int = SEEDS) -> Found:
    """Play without this guard until something breaks."""
    with mutant.off():
        for number in range(seeds):
            outcome = play(Case(f"{base}-{number}"))
            if outcome.violations:
                return Found(mutant.name, number, outcome.violations[0].splitlines()[0])
    return Found(mutant.name, None, "")


def hunt(base: str, workers: int, names: list[str] | None = None) -> bool:
    """Hunt them all, print the list; True when each is found or declared redundant."""
    print(f"base seed {base}: {len(MUTANTS)} guards, at most {SEEDS} seeds each", flush=True)
    missed = []
    for found in _hunted(base, workers, names or sorted(MUTANTS)):
        mutant = MUTANTS[found.name]
        if found.seed is None and mutant.redundant is None:
            missed.append(found.name)
        print(_line(found, mutant), flush=True)
    print(f"not found and not redundant: {missed or 'none'}")
    return not missed


def _line(found: Found, mutant: Mutant) -> str:
    if found.seed is not None:
        return f"{found.name:<34} seed {found.seed:>5}  {found.violation[:110]}"
    if mutant.redundant:
        return f"{found.name:<34} redundant   {mutant.redundant}"
    return f"{found.name:<34} NOT FOUND   {mutant.guards}"


def _hunted(base: str, workers: int, names: list[str]) -> Iterator[Found]:
    waiting, running = list(names), list[subprocess.Popen[str]]()
    while waiting or running:
        while waiting and len(running) < workers:
            running.append(_start(base, waiting.pop(0)))
        text, _ = running.pop(0).communicate()
        yield Found(**json.loads(text.splitlines()[-1]))


def _start(base: str, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "holdfast.testing.hunt", name, base]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


if __name__ == "__main__":
    only = find(MUTANTS[sys.argv[1]], sys.argv[2])
    print(json.dumps({"name": only.name, "seed": only.seed, "violation": only.violation}))
