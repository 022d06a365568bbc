"""How many schedules were tried, what was hit in them, and what broke?

    python -m holdfast.testing.prove [--schedules N] [--seed BASE] [--replay SEED]
                                     [--mutants] [--nth] [--workers N]

Every run takes a fresh base seed and prints it. The schedules are shared out to processes of their
own (`--part`), each answering with one line of JSON. A failing schedule is shrunk and told.
"""

from __future__ import annotations

import argparse
import gc
import json
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

from holdfast.testing.case import Case, Outcome
from holdfast.testing.coverage import matrix
from holdfast.testing.shrink import shrunk, told
from holdfast.testing.world import play

TOLD_PER_PART = 3
BLOCK = 1_000
GARBAGE = 50_000  # a world is full of cycles that live as long as it does


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

    def join(self, other: Tally) -> None:
        for name in ("schedules", "seconds", "steps", "switches", "faults", "crashes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.power_cuts += other.power_cuts
        self.hits.update(other.hits)
        self.ports.update(other.ports)
        self.failed += other.failed
        self.stories += other.stories

    @property
    def pairs(self) -> Counter[tuple[str, str]]:
        split = (pair.split("\t") for pair in self.hits)
        return Counter({(call, kind): self.hits[f"{call}\t{kind}"] for call, kind in split})


def part(base: str, first: int, count: int) -> Tally:
    """Play some of the schedules here; tell the first that fail."""
    gc.freeze()
    gc.set_threshold(GARBAGE)
    tally, began = Tally(), time.process_time()
    for number in range(first, first + count):
        outcome = play(Case(f"{base}-{number}"))
        tally.add(outcome)
        if outcome.violations:
            tally.failed.append(outcome.case.seed)
            if len(tally.stories) < TOLD_PER_PART:
                tally.stories.append(told(shrunk(play, outcome)))
    tally.seconds = time.process_time() - began
    return tally


def shared_out(base: str, schedules: int, workers: int) -> Iterator[Tally]:
    """The tallies of all parts, as they end; each block is a fresh process (memory stays flat)."""
    blocks = [(n, min(BLOCK, schedules - n)) for n in range(0, schedules, BLOCK)]
    if schedules < workers * BLOCK:
        share = -(-schedules // workers)
        blocks = [(n, min(share, schedules - n)) for n in range(0, schedules, share)]
    running: list[subprocess.Popen[str]] = []
    while blocks or running:
        while blocks and len(running) < workers:
            running.append(_start(base, *blocks.pop(0)))
        yield _answer(running.pop(0))


def _start(base: str, first: int, count: int) -> subprocess.Popen[str]:
    asked = ["--part", str(first), "--schedules", str(count), "--seed", base]
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast.testing.prove", *asked], stdout=subprocess.PIPE, text=True
    )


def _answer(process: subprocess.Popen[str]) -> Tally:
    text, _ = process.communicate()
    if process.returncode not in (0, 1):
        raise SystemExit(f"a part ended with {process.returncode}")
    found = json.loads(text.splitlines()[-1])
    found["hits"] = Counter(found["hits"])
    return Tally(**found)


def prove(base: str, schedules: int, workers: int) -> bool:
    """Play them all and print what came of it; True when nothing broke."""
    print(f"base seed {base}: {schedules} schedules, {workers} processes", flush=True)
    whole, began = Tally(), time.monotonic()
    for tally in shared_out(base, schedules, workers):
        whole.join(tally)
        for story in tally.stories:
            print(f"\n{story}\n", flush=True)
    print(summary(whole, time.monotonic() - began))
    print(matrix(whole.pairs, whole.ports))
    print(f"violations: {len(whole.failed)} of {whole.schedules} schedules {whole.failed[:10]}")
    return not whole.failed


def summary(tally: Tally, seconds: float) -> str:
    """Rates and totals."""
    n = max(1, tally.schedules)
    return (
        f"{tally.schedules} schedules in {seconds:.1f} s, {tally.seconds:.1f} CPU s: "
        f"{n / max(tally.seconds, 1e-9):.0f} per CPU second\n"
        f"each: {tally.steps / n:.0f} port calls, {tally.switches / n:.0f} switches, "
        f"{tally.faults / n:.1f} faults, {tally.crashes / n:.2f} crashes, "
        f"{tally.power_cuts / n:.2f} power cuts\n"
        f"in all: {tally.faults} faults, {tally.crashes} crashes, {tally.power_cuts} power cuts"
    )


def replay(seed: str) -> bool:
    """Play one seed twice, print its trace, say whether both were the same."""
    first, second = play(Case(seed)), play(Case(seed))
    for who, what in first.trace:
        print(f"{who}: {what}")
    print(told(first))
    print(f"replayed: {'identical' if first.digest == second.digest else 'DIFFERENT'} trace")
    return not first.violations and first.digest == second.digest


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, do what it asks for; 1 when something broke."""
    asked = _parser().parse_args(arguments)
    base = asked.seed or secrets.token_hex(4)
    if asked.part is not None:
        tally = part(base, asked.part, asked.schedules)
        print(json.dumps({one.name: getattr(tally, one.name) for one in fields(tally)}))
        return 1 if tally.failed else 0
    if asked.replay is not None:
        return 0 if replay(asked.replay) else 1
    if asked.mutants:
        from holdfast.testing.hunt import hunt

        return 0 if hunt(base, asked.workers) else 1
    if asked.nth:
        from holdfast.testing.nth_call import every_call

        return 0 if every_call(asked.workers) else 1
    return 0 if prove(base, asked.schedules, asked.workers) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="holdfast.testing.prove")
    parser.add_argument("--schedules", type=int, default=3_000)
    parser.add_argument("--seed", help="base seed; fresh when absent")
    parser.add_argument("--replay", metavar="SEED", help="play one seed and print its trace")
    parser.add_argument("--mutants", action="store_true", help="remove each guard, find it")
    parser.add_argument("--nth", action="store_true", help="the n-th call fails, for every n")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
