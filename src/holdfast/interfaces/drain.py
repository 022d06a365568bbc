"""How is work run without a runner, in the caller's own thread?"""

from __future__ import annotations

from collections.abc import Collection

from holdfast.assembly import Engine, runner_of
from holdfast.domain.errors import TimedOut
from holdfast.domain.jobs import Lane


def drain(
    engine: Engine,
    timeout: float | None,
    *,
    due_only: bool,
    lanes: Collection[Lane] = tuple(Lane),
) -> None:
    """Run jobs of these lanes until none is due; without `due_only` wait for those that will be."""
    runner = engine.runner or runner_of(engine.kb, engine.bells)
    clock = engine.kb.clock
    deadline = None if timeout is None else clock.mono() + timeout
    while True:
        heard = engine.bells.changes
        waits = [runner.step(lane) for lane in lanes]
        if None in waits:
            if deadline is not None and clock.mono() >= deadline:
                raise TimedOut(f"work is left after {timeout} s")
            continue
        if due_only or not _unfinished(engine):
            return
        rest = min(wait for wait in waits if wait is not None)
        if deadline is not None:
            rest = min(rest, deadline - clock.mono())
            if rest <= 0:
                raise TimedOut(f"work is left after {timeout} s")
        engine.bells.wait_for_change(heard, rest)


def _unfinished(engine: Engine) -> bool:
    """Is there work that will become due by itself?"""
    with engine.kb.main.read() as snapshot:
        return snapshot.work_coming()
