"""How are many schedules shared out to processes, and what do they add up to?

Each block of seeds is played by a fresh process (memory stays flat), which reads its seeds from
its stdin and answers with one line of JSON. A failing schedule is shrunk and told.

    python -m holdfast.testing.parts  < seeds
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from itertools import islice

from holdfast.testing.case import Case, Outcome
from holdfast.testing.shrink import shrunk, told
from holdfast.testing.world import play

TOLD_PER_PART = 3
BLOCK = 500
GARBAGE = 50_000  # a world is full of cycles that live as long as it does
SEEDS_KEPT, SEEDS_KEPT_IN_ALL = 4, 60


@dataclass(slots=True)
class Tally:
    """What one part of the schedules adds to the whole."""

    schedules: int = 0
    seconds: float = 0.0
    steps: int = 0
    switches: int = 0
    faults: int = 0
    crashes: int = 0
    power_cuts: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    ports: dict[str, str] = field(default_factory=dict)
    reached: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # by whom, how often
    failed: list[str] = field(default_factory=list)
    stories: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.schedules += 1
        self.steps += len(outcome.trace)
        self.switches += outcome.switches
        self.faults += len(outcome.faults)
        self.crashes += outcome.crashes
        self.power_cuts += outcome.power_cuts
        self.hits.update(f"{fault.call}\t{fault.kind}" for fault in outcome.faults)
        self.ports.update(outcome.ports)
        for call, times in outcome.reached.items():
            self._reached(call, [(outcome.case.root, times)], SEEDS_KEPT)

    def join(self, other: Tally) -> None:
        for name in ("schedules", "seconds", "steps", "switches", "faults", "crashes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.power_cuts += other.power_cuts
        self.hits.update(other.hits)
        self.ports.update(other.ports)
        for call, seeds in other.reached.items():
            self._reached(call, seeds, SEEDS_KEPT_IN_ALL)
        self.failed += other.failed
        self.stories += other.stories

    def _reached(self, call: str, seeds: Iterable[tuple[str, int]], most: int) -> None:
        known = self.reached.setdefault(call, [])
        known += islice(seeds, max(0, most - len(known)))

    @property
    def pairs(self) -> Counter[tuple[str, str]]:
        split = (pair.split("\t") for pair in self.hits)
        return Counter({(call, kind): self.hits[f"{call}\t{kind}"] for call, kind in split})


def seeds_of(base: str, first: int, count: int) -> list[str]:
    """The seeds of a base that a run prints."""
    return [f"{base}-{number}" for number in range(first, first + count)]


def part(seeds: Iterable[str]) -> Tally:
    """Play these schedules here; tell the first that fail."""
    gc.freeze()
    gc.set_threshold(GARBAGE)
    tally, began = Tally(), time.process_time()
    for seed in seeds:
        outcome = play(Case(seed))
        tally.add(outcome)
        if outcome.violations:
            tally.failed.append(seed)
            if len(tally.stories) < TOLD_PER_PART:
                tally.stories.append(told(shrunk(play, outcome)))
    tally.seconds = time.process_time() - began
    return tally


def shared_out(seeds: list[str], workers: int) -> Iterator[Tally]:
    """The tallies of all blocks, as they end."""
    size = max(1, min(BLOCK, -(-len(seeds) // workers)))
    blocks = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    running: list[subprocess.Popen[str]] = []
    while blocks or running:
        while blocks and len(running) < workers:
            running.append(_start(blocks.pop(0)))
        yield _answer(running.pop(0))


def _start(seeds: list[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast.testing.parts"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if process.stdin is None:
        raise ValueError("a process without a pipe")
    process.stdin.write("\n".join(seeds))
    process.stdin.close()
    process.stdin = None
    return process


def _answer(process: subprocess.Popen[str]) -> Tally:
    text, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"a part ended with {process.returncode}")
    found = json.loads(text.splitlines()[-1])
    found["hits"] = Counter(found["hits"])
    return Tally(**found)


if __name__ == "__main__":
    played = part(sys.stdin.read().split("\n"))
    print(json.dumps({one.name: getattr(played, one.name) for one in fields(played)}))
