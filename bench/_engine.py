"""What does an open engine cost: to accept, to start, to recover, to do nothing?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from bench._figures import folder, opened, text_of, timed, told
from holdfast import HoldfastError, Note
from holdfast.domain.jobs import JobKind, Lane
from holdfast.interfaces.library import Holdfast
from holdfast.jobs.run import Handler, Run

STARTS, ADDS, MANY, IDLE = 200, 30, 100_000, 60.0


def start_latency() -> None:
    print("\nenqueue (commit) to the start of the handler, idle engine (target p50 <= 2 ms)")
    with folder() as path, opened(path) as kb:
        base = kb.create_base("b", embedding_model=None)
        committed: list[float] = []
        started: list[float] = []
        listen(kb, committed, started)
        for number in range(STARTS):
            kb.wait(kb.add(base, Note(text_of(number))).created)
            time.sleep(0.01)
    waits = [after(started, at) - at for at in committed[:STARTS]]
    print(f"  {told(waits)}")


def listen(kb: Holdfast, committed: list[float], started: list[float]) -> None:
    """Note when an index job is committed and when its handler begins."""
    engine = kb._engine
    assert engine.runner is not None
    ready, handlers = engine.bells.ready, dict(engine.runner.handlers)
    me = threading.get_ident()

    def heard(lanes: Collection[Lane]) -> None:
        if threading.get_ident() == me and Lane.INDEX in lanes:
            committed.append(time.perf_counter())
        ready(lanes)

    def begun(run: Callable[[Run], None]) -> Callable[[Run], None]:
        def begin(one: Run) -> None:
            started.append(time.perf_counter())
            run(one)

        return begin

    index: Handler = handlers[JobKind.INDEX_DOCUMENTS]
    handlers[JobKind.INDEX_DOCUMENTS] = replace(index, run=begun(index.run))
    engine.runner.handlers = handlers
    engine.bells.ready = heard  # type: ignore[method-assign]


def after(started: Sequence[float], at: float) -> float:
    return min(one for one in started if one >= at)


def idle() -> None:
    print(f"\nCPU of an open engine with nothing to do, {IDLE:.0f} s (target < 0.1 s)")
    with folder() as path, opened(path) as kb:
        base = kb.create_base("b", embedding_model="hash/384")
        kb.wait(kb.add(base, [Note(text_of(n)) for n in range(100)]).created)
        time.sleep(1)
        before = time.process_time()
        time.sleep(IDLE)
        print(f"  {time.process_time() - before:.3f} s of CPU, {threading.active_count()} threads")


def adding() -> None:
    print("\nadd of 1,000 notes in one call, nothing running (target p95 < 1 s)")
    with folder() as path, opened(path, run=False) as kb:
        base = kb.create_base("b", embedding_model="hash/384")
        times = []
        for number in range(ADDS):
            notes = [Note(text_of(number * 1_000 + n)) for n in range(1_000)]
            times.append(timed(lambda notes=notes: kb.add(base, notes)))  # type: ignore[misc]
        print(f"  {told(times)}")


def recovery() -> None:
    print(f"\nstart with {MANY:,} unfinished items (target < 3 s)")
    with folder() as path:
        prepare(path)
        for what, run in (("open, recovered", False), ("open, first job done", True)):
            times = [timed_open(path, run=run) for _ in range(3)]
            print(f"  {what:22} {', '.join(f'{one:.2f}' for one in times)} s")


def prepare(path: Path) -> None:
    with opened(path, run=False, max_queue_size=MANY) as kb:
        bases = [kb.create_base(f"b{n}", embedding_model=None) for n in range(10)]
        for number in range(MANY // 1_000):
            notes = [Note(text_of(number * 1_000 + n, words=8)) for n in range(1_000)]
            kb.add(bases[number % len(bases)], notes)


def timed_open(path: Path, *, run: bool) -> float:
    began = time.perf_counter()
    with opened(path, run=run) as kb:
        if run:
            seen = kb._engine.bells.changes
            while kb._engine.bells.wait_for_change(seen, 0.2) == seen:
                pass
        return time.perf_counter() - began


def refusal() -> None:
    print("\na call that does not fit into the queue")
    with folder() as path, opened(path, run=False, max_queue_size=1_000) as kb:
        base = kb.create_base("b", embedding_model=None)
        kb.add(base, [Note(text_of(n)) for n in range(600)])
        before = counted(kb)
        try:
            kb.add(base, [Note(text_of(n)) for n in range(401)])
        except HoldfastError as error:
            print(f"  refused with {error.code}: {error}")
        print(f"  changed: {'nothing' if counted(kb) == before else (before, counted(kb))}")


def counted(kb: Holdfast) -> tuple[int, int, int]:
    with kb._kb.main.read() as snapshot:
        items = sum(sum(snapshot.counts(base.id).values()) for base in snapshot.bases())
        return snapshot.unfinished(), items, snapshot.event_range()[1]
