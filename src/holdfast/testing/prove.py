"""How many schedules were tried, what was hit in them, and what broke?

    python -m holdfast.testing.prove [--schedules N] [--seed BASE] [--cover] [--replay SEED]
                                     [--mutants] [--nth] [--all] [--workers N]

Every run takes a fresh base seed and prints it. With `--cover` schedules are added that are aimed
at what happened too seldom. `--all` is the whole proof: schedules with cover, every call failing
once, and every guard taken away; it ends with a line for each.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Sequence

from holdfast.testing.aims import aimed
from holdfast.testing.case import Case
from holdfast.testing.coverage import matrix, rare
from holdfast.testing.parts import Tally, seeds_of, shared_out
from holdfast.testing.shrink import told
from holdfast.testing.world import play

ALL, SOME = 100_000, 3_000
ROUNDS_OF_AIMS, APART = 3, 10_000


def prove(base: str, schedules: int, workers: int, *, cover: bool = False) -> bool:
    """Play them all and print what came of it; True when nothing broke or was left out."""
    print(f"base seed {base}: {schedules} schedules, {workers} processes", flush=True)
    whole, began = Tally(), time.monotonic()
    play_all(whole, seeds_of(base, 0, schedules), workers)
    for salt in range(APART, APART * (1 + ROUNDS_OF_AIMS), APART) if cover else ():
        play_all(whole, list(aimed(whole, salt)), workers)
    print(summary(whole, time.monotonic() - began))
    print(matrix(whole.pairs, whole.ports))
    print(f"violations: {len(whole.failed)} of {whole.schedules} schedules {whole.failed[:10]}")
    return not whole.failed and not (cover and rare(whole.pairs, whole.ports))


def play_all(whole: Tally, seeds: list[str], workers: int) -> None:
    """Play these seeds in processes of their own; tell what broke as it is known."""
    for tally in shared_out(seeds, workers):
        whole.join(tally)
        for story in tally.stories:
            print(f"\n{story}\n", flush=True)


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


def everything(base: str, schedules: int, workers: int) -> bool:
    """The whole proof, and a line for each of its parts."""
    from holdfast.testing.hunt import hunt
    from holdfast.testing.nth_call import every_call

    found = {
        f"{schedules} schedules, every fault at every call": prove(
            base, schedules, workers, cover=True
        ),
        "the n-th call fails, for every n": every_call(workers),
        "every guard taken away is missed": hunt(base, workers),
    }
    print()
    for what, holds in found.items():
        print(f"{'holds' if holds else 'FAILED':<8}{what}")
    return all(found.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, do what it asks for; 1 when something broke."""
    asked = _parser().parse_args(arguments)
    base = asked.seed or secrets.token_hex(4)
    if asked.replay is not None:
        return 0 if replay(asked.replay) else 1
    if asked.all:
        return 0 if everything(base, asked.schedules or ALL, asked.workers) else 1
    if asked.mutants:
        from holdfast.testing.hunt import hunt

        return 0 if hunt(base, asked.workers) else 1
    if asked.nth:
        from holdfast.testing.nth_call import every_call

        return 0 if every_call(asked.workers) else 1
    return 0 if prove(base, asked.schedules or SOME, asked.workers, cover=asked.cover) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="holdfast.testing.prove")
    parser.add_argument("--schedules", type=int, help=f"how many: {SOME}, with --all {ALL}")
    parser.add_argument("--seed", help="base seed; fresh when absent")
    parser.add_argument("--cover", action="store_true", help="aim at what happened too seldom")
    parser.add_argument("--replay", metavar="SEED", help="play one seed and print its trace")
    parser.add_argument("--mutants", action="store_true", help="remove each guard, find it")
    parser.add_argument("--nth", action="store_true", help="the n-th call fails, for every n")
    parser.add_argument("--all", action="store_true", help="the whole proof")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
