"""What do a thousand broken documents do to us? Each completes or fails with words; nothing else.

`python -m holdfast.testing.malformed [--files 1000] [--seed S]` adds them to a base of a real
engine, prints what became of them, and exits 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.assembly import Engine, open_engine
from holdfast.domain.bases import BaseSettings
from holdfast.domain.ids import BaseId
from holdfast.domain.items import File, Item
from holdfast.machine.children import Taken
from holdfast.machine.threads import Threads
from holdfast.stores.catalog import Listing
from holdfast.testing.broken import Broken, malformed
from holdfast.workflow.add_items import add_items
from holdfast.workflow.bases import create_base
from holdfast.workflow.list_items import list_items

FILES, SEED = 1_000, "malformed"
PAGE = 100
MEMORY = 1 << 30
SECONDS = 60
PATIENCE = 120.0  # to notice and to clean up, on a machine that does other things as well
GRACE = 5.0  # between the end of a limit and the end of a child
GROWTH = 64 << 20  # of the owner, between its first hundred documents and its last


@dataclass(slots=True)
class Report:
    """What became of them, and what was broken on the way."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    by_way: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    wrong: list[str] = field(default_factory=list[str])
    slowest: float = 0.0
    took: Taken = field(default_factory=Taken)
    grown: int = 0
    seconds: float = 0.0

    def note(self, one: Broken, item: Item) -> None:
        outcome = item.error_code or str(item.status)
        self.outcomes[outcome] += 1
        self.by_way.setdefault(one.how.partition(":")[0], Counter())[outcome] += 1
        if item.status not in {"completed", "failed"}:
            self.wrong.append(f"{one.name} ({one.how}) is {item.status}")
        if item.status == "failed" and not (item.error_code and item.error and item.error_advice):
            self.wrong.append(f"{one.name} ({one.how}) failed without code, text or advice")
        if item.error_code in {"internal", "killed_worker"}:
            self.wrong.append(f"{one.name} ({one.how}): {item.error_code}: {item.error}")


def run(count: int, seed: str) -> Report:
    """Feed them page by page, as a user would who adds a folder of rubbish."""
    report, started = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as place, engine(Path(place) / "kb") as running:
        base = create_base(running.kb, BaseSettings(name="rubbish", search_mode="keyword")).id
        baseline = 0
        for page in _pages(malformed(count, seed)):
            _feed(running, base, Path(place), page, report)
            baseline = baseline or resident()
        report.grown = resident() - baseline
        report.took = children_of(running)
    report.seconds = time.monotonic() - started
    _judge(report)
    return report


def _judge(report: Report) -> None:
    if report.grown > GROWTH:
        report.wrong.append(f"the owner grew by {report.grown >> 20} MiB")
    if report.took.memory > MEMORY >> 10:
        report.wrong.append(f"a child took {report.took.memory >> 10} MiB")
    if report.took.seconds > SECONDS + GRACE:
        report.wrong.append(f"a child lived {report.took.seconds:.0f} s")
    if report.took.hosts != 1:
        report.wrong.append(f"the host was started {report.took.hosts} times")
    if report.slowest > SECONDS + PATIENCE:
        report.wrong.append(f"a page of documents took {report.slowest:.0f} s")


def _feed(
    running: Engine, base: BaseId, place: Path, page: Sequence[Broken], report: Report
) -> None:
    kb, inputs = running.kb, []
    for one in page:
        path = place / one.name
        path.write_bytes(one.content)
        inputs.append(File(str(path)))
    before = time.monotonic()
    added = add_items(kb, base, inputs)
    report.wrong.extend(f"refused: {refused.path}" for refused in added.failed)
    items = settled(running, base, len(page), before)
    report.slowest = max(report.slowest, time.monotonic() - before)
    by_name = {one.name: one for one in page}
    for item in items:
        report.note(by_name[item.name], item)
    for one in page:
        (place / one.name).unlink()


def settled(running: Engine, base: BaseId, count: int, before: float) -> list[Item]:
    """The newest items, when all of them are; or as they are when that takes too long."""
    while True:
        items = list(list_items(running.kb, Listing(base, limit=count)).items)
        if all(item.status in {"completed", "failed"} for item in items):
            return items
        if time.monotonic() - before > SECONDS * 4 + PATIENCE:
            return items
        time.sleep(0.05)


@contextmanager
def engine(folder: Path) -> Iterator[Engine]:
    limits = {"parser_memory": MEMORY, "parser_timeout": SECONDS}
    running = open_engine(folder, given={**limits, "default_embedding_model": None})
    running.start()
    try:
        yield running
    finally:
        running.close()


def children_of(running: Engine) -> Taken:
    runtime = running.kb.runtime
    return runtime.taken if isinstance(runtime, Threads) else Taken()


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096


def _pages(files: Iterator[Broken]) -> Iterator[list[Broken]]:
    page: list[Broken] = []
    for one in files:
        page.append(one)
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, feed, and tell."""
    parser = argparse.ArgumentParser(prog="holdfast.testing.malformed")
    parser.add_argument("--files", type=int, default=FILES, help="how many")
    parser.add_argument("--seed", default=SEED, help="which ones")
    asked = parser.parse_args(arguments)
    report = run(asked.files, asked.seed)
    for how, outcomes in sorted(report.by_way.items()):
        told = ", ".join(f"{name} {count}" for name, count in outcomes.most_common())
        print(f"{how:<16} {told}")
    print(f"all: {', '.join(f'{name} {count}' for name, count in report.outcomes.most_common())}")
    took = report.took
    print(f"largest child {took.memory >> 10} MiB resident (limit {MEMORY >> 20} MiB)")
    print(f"longest child {took.seconds:.1f} s (limit {SECONDS} s), hosts started {took.hosts}")
    print(f"owner grew by {report.grown >> 20} MiB after its first hundred")
    print(f"slowest hundred {report.slowest:.1f} s, all {report.seconds:.1f} s")
    for one in report.wrong:
        print(f"BROKEN: {one}")
    print(f"{sum(report.outcomes.values())} files, {len(report.wrong)} broken promises")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
