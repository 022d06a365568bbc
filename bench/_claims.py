"""What does a claim cost when 100,000 jobs wait? By bases, and with nearly all of them paused."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from bench._figures import folder, told
from holdfast.domain.bases import BaseSettings
from holdfast.domain.ids import BaseId, ClaimNo, Generation, ItemId, JobId
from holdfast.domain.jobs import Fence, Job, JobKind, Lane, NewJob
from holdfast.jobs.claim import Caps, Holder, claim
from holdfast.machine.clock import SystemClock
from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.stores.main import MainStore
from holdfast.stores.sqlite.main import SqliteMain

JOBS, CLAIMS, RUNNING = 100_000, 1_000, 3
CAPS = Caps(dict.fromkeys(Lane, 4), dict.fromkeys(Lane, 2))
TARGETS = {1_000: "< 5 ms", 10_000: "< 20 ms"}


class Quiet:
    """Nobody waits for these jobs."""

    def ready(self, lanes: Collection[Lane]) -> None: ...
    def cancelled(self, jobs: Collection[JobId]) -> None: ...
    def ended(self) -> None: ...
    def stuck(self, seconds: float) -> list[Fence]:
        return []


def claims() -> None:
    print(f"\nclaim, {JOBS:,} jobs waiting, {RUNNING} running (target p95 5 ms / 20 ms)")
    for bases in (1_000, 10_000):
        for paused in (0, 99):
            with folder() as path:
                main = filled(path, bases, paused)
                print(
                    f"  {bases:6,} bases, {paused:2} % paused   {told(latencies(main))}"
                    f"   target p95 {TARGETS[bases]}"
                )
                main.close()


def filled(path: Path, bases: int, paused: int) -> MainStore:
    main = SqliteMain(FolderDisk(path), SystemClock(), Threads(), Quiet())
    names = [BaseId(f"base-{number:05}") for number in range(bases)]
    with main.write() as tx:
        tx.raise_epoch("bench", ClaimNo(0))
        for number, name in enumerate(names):
            settings = BaseSettings(name, search_mode="keyword")
            tx.insert_base(name, settings)
            tx.update_base(name, settings, number % 100 < paused)
    for start in range(0, JOBS, 10_000):
        with main.write() as tx:
            tx.enqueue([job(names[n % bases], n) for n in range(start, start + 10_000)])
    return main


def job(base: BaseId, number: int) -> NewJob:
    item = ItemId(f"item-{number:06}")
    return NewJob(JobKind.INDEX_DOCUMENTS, base, f"{item}:index:1", item, Generation(1))


def latencies(main: MainStore) -> list[float]:
    """Of claims, with a few always running; the oldest ends before the next is taken."""
    running: list[Job] = []
    times: list[float] = []
    for _ in range(CLAIMS):
        began = time.perf_counter()
        running += claim(main, Lane.INDEX, CAPS, Holder("bench", 60_000_000)).jobs
        times.append(time.perf_counter() - began)
        if len(running) >= RUNNING:
            end(main, running.pop(0))
    return times


def end(main: MainStore, one: Job) -> None:
    with main.write() as tx:
        tx.finish([Fence(one.id, one.claim or ClaimNo(0), one.item_id, one.generation)])
