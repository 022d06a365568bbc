"""Does it hold when exactly one call fails, whichever it is?

Fixed scenarios are played once to count their port calls, then once for every call and every way
to fail: an error before the effect, an error after it, a crash before or after, a power cut. This
is exhaustive where the seeds are only many.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.testing.case import Case, Step
from holdfast.testing.clients import KNOTS
from holdfast.testing.faults import POSSIBLE, Fault, Kind
from holdfast.testing.shrink import told
from holdfast.testing.world import play

FAILURES = (
    Kind.ERROR_BEFORE,
    Kind.ERROR_AFTER,
    Kind.DISK_FULL,
    Kind.UNREADABLE,
    Kind.SERVER_ERROR,
    Kind.GONE,
    Kind.NAN,
    Kind.ENDLESS,
    Kind.FAILING,
    Kind.LOST,
    Kind.REFUSED,
    Kind.PARSER_DIED,
    Kind.CRASH_BEFORE,
    Kind.CRASH_AFTER,
    Kind.POWER_CUT,
)

SCANNING = (Step("new_base", 1, 0),)  # a base with a processor, the last of two or three
WAIT = Step("wait", 3, 0)  # at each end too: what was asked for last is at work under faults

SCENARIOS: dict[str, tuple[Step, ...]] = {
    "add and find": (Step("add_notes", 3, 5), WAIT, Step("search", 1, 1), Step("list", 1, 1)),
    "upload and update": (
        Step("add_upload", 1, 9),
        WAIT,
        Step("update", 0, 3),
        WAIT,
        Step("chunks", 0, 0),
    ),
    "re-index": (Step("add_notes", 1, 5), WAIT, Step("reindex", 0, 0), WAIT),
    "delete while at work": (
        Step("add_notes", 3, 7),
        Step("delete", 1, 2),
        Step("search", 1, 1),
        WAIT,
    ),
    "delete what is found": (Step("add_upload", 3, 7), WAIT, Step("delete", 0, 2), WAIT),
    "file that changes": (
        Step("add_file", 0, 3),
        Step("change_file", 0, 4),
        WAIT,
        Step("remove_file", 0, 0),
        Step("reindex", 0, 0),
        WAIT,
    ),
    "stop and start": (Step("add_notes", 2, 5), Step("restart", 0, 0), Step("update", 0, 8), WAIT),
    "folder, listed again": (
        Step("change_file", 0, 4),
        Step("change_file", 1, 6),
        Step("add_folder", 0, 0),
        WAIT,
        Step("remove_file", 0, 0),
        Step("change_file", 2, 7),
        Step("reindex", 0, 0),
        WAIT,
        Step("delete", 0, 0),
        WAIT,
    ),
    "nested expansion": (
        Step("change_file", 1, 4),
        Step("change_file", 3, 6),
        Step("add_folder", 0, 0),
        Step("wait", 2, 0),
        Step("change_file", 1, 9),
        Step("reindex", 0, 0),
    ),
    "scan that is processed": (*SCANNING, Step("add_scan", 0, 5), Step("wait", 3, 0)),
    "restart in the middle": (
        *SCANNING,
        Step("add_scan", 0, 5),
        Step("wait", 2, 0),
        Step("restart", 0, 0),
        Step("wait", 3, 0),
        Step("search", 1, 1),
    ),
    "processing that never ends": (
        *SCANNING,
        Step("add_scan", KNOTS - 1, 5),
        Step("wait", 4, 0),
        Step("search", 1, 1),
    ),
    "delete while it is processed": (
        *SCANNING,
        Step("add_scan", 0, 5),
        Step("wait", 2, 0),
        Step("delete", 0, 5),
        Step("wait", 3, 0),
    ),
    "page that changes": (
        Step("add_page", 0, 3),
        WAIT,
        Step("change_page", 0, 4),
        Step("reindex", 0, 0),
        WAIT,
        Step("remove_page", 0, 0),
        Step("reindex", 0, 0),
        WAIT,
        Step("delete", 0, 0),
        WAIT,
    ),
    "sitemap, read again": (
        Step("change_page", 0, 4),
        Step("change_page", 1, 6),
        Step("add_sitemap", 0, 0),
        WAIT,
        Step("remove_page", 0, 0),
        Step("change_page", 1, 7),
        Step("reindex", 0, 0),
        WAIT,
        Step("delete", 0, 0),
        WAIT,
    ),
    "base and all": (
        Step("new_base", 1, 0),
        Step("add_notes", 1, 1),
        Step("drop_base", 0, 1),
        WAIT,
    ),
    "ask after a crash": (
        Step("ask", 0, 0),
        Step("add_notes", 2, 5),
        Step("crash", 0, 0),
        Step("recover", 0, 0),
        WAIT,
    ),
}


@dataclass(frozen=True, slots=True)
class Swept:
    """What came of one scenario."""

    scenario: str
    calls: int
    runs: int
    stories: list[str]


def failures(scenario: str) -> Iterator[Case]:
    """The scenario with each of its calls failing in each way that is possible there."""
    steps = SCENARIOS[scenario]
    for number, (call, port) in enumerate(calls_of(scenario), start=1):
        for kind in FAILURES:
            if kind in POSSIBLE[port]:
                yield Case(scenario, steps, (Fault(number, call, kind),), clients=1)


def calls_of(scenario: str) -> list[tuple[str, str]]:
    outcome = play(Case(scenario, SCENARIOS[scenario], plan=(), clients=1))
    if outcome.violations:
        raise SystemExit(told(outcome))
    return outcome.calls


def sweep(scenario: str) -> Swept:
    """Every call of the scenario fails once in every way."""
    stories, runs = [], 0
    for case in failures(scenario):
        runs += 1
        outcome = play(case)
        if outcome.violations:
            stories.append(told(outcome))
    return Swept(scenario, len(calls_of(scenario)), runs, stories)


def every_call(workers: int) -> bool:
    """All scenarios in processes of their own; True when nothing broke."""
    waiting, running = sorted(SCENARIOS), list[subprocess.Popen[str]]()
    calls = runs = broken = 0
    while waiting or running:
        while waiting and len(running) < workers:
            running.append(_start(waiting.pop(0)))
        text, _ = running.pop(0).communicate()
        swept = Swept(**json.loads(text.splitlines()[-1]))
        calls, runs, broken = calls + swept.calls, runs + swept.runs, broken + len(swept.stories)
        print(f"{swept.scenario:<24} {swept.calls:>5} calls {swept.runs:>6} runs", flush=True)
        print(*swept.stories[:2], sep="\n\n")
    print(f"{len(SCENARIOS)} scenarios, {calls} calls, {runs} runs, {broken} violations")
    return broken == 0


def _start(scenario: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "holdfast.testing.nth_call", scenario]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


if __name__ == "__main__":
    one = sweep(sys.argv[1])
    print(json.dumps({name: getattr(one, name) for name in Swept.__slots__}))
