"""A thread per slot: wakes by a bell, stops at a boundary, gives back without an attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from holdfast.assembly import Engine, open_engine
from holdfast.domain.errors import Permanent, Transient
from holdfast.domain.ids import JobId
from holdfast.domain.items import Note
from holdfast.domain.jobs import JobState, Lane
from holdfast.interfaces.library import Holdfast
from holdfast.jobs.outcomes import Outcomes
from tests.workflow.worlds import PATIENCE, World


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(tmp_path / "kb")
    yield engine
    engine.close()


def test_a_committed_enqueue_wakes_a_slot(engine: Engine) -> None:
    engine.start()
    hf = Holdfast(engine)
    base = hf.create_base("manuals", embedding_model="hash/32")

    for n in range(5):
        (item,) = hf.wait(hf.add(base, [Note(f"alpha {n}")]).created, timeout=PATIENCE)
        assert item.status == "completed"


def test_many_items_over_all_slots_are_each_done_once(engine: Engine) -> None:
    engine.start()
    hf = Holdfast(engine)
    bases = [hf.create_base(f"b{n}", embedding_model="hash/32") for n in range(4)]
    items = [i for base in bases for i in hf.add(base, [Note(f"n {n}") for n in range(20)]).created]

    done = hf.wait(items, timeout=PATIENCE)

    assert {item.status for item in done} == {"completed"}
    assert hf.stats().texts_embedded == 80
    assert hf.doctor() == []


def test_a_stop_ends_all_threads_and_claims_nothing_more(engine: Engine) -> None:
    engine.start()
    assert engine.runner is not None

    ended = engine.runner.stop(PATIENCE)

    assert ended
    assert not any(thread.is_alive() for thread in engine.runner._threads)


def test_a_stop_gives_running_work_back_at_its_boundary_without_an_attempt(world: World) -> None:
    item = world.note("alpha")

    def stop(_texts: Sequence[str]) -> None:
        runner.stopping.set()

    world.settings["batch_size"] = 1
    world.reopen()
    runner = world.runner()
    world.hf.update(item, content="# one\n\nalpha\n\n# two\n\nbeta")
    world.models.on_call = stop
    runner.step(Lane.INDEX)

    (row,) = world.rows(
        "SELECT state, reason, attempt, deaths FROM jobs WHERE state <> 'cancelled'"
    )
    assert row == ("ready", "stopped", 0, 0)
    assert len(world.models.texts) == 1


def test_the_work_that_was_given_back_pays_for_nothing_twice(world: World) -> None:
    test_a_stop_gives_running_work_back_at_its_boundary_without_an_attempt(world)
    world.models.on_call = lambda _texts: None

    world.drain()

    assert len(world.models.texts) == len(set(world.models.texts)) == 2


def test_a_posted_claim_is_run_by_the_first_who_comes_and_by_nobody_else(world: World) -> None:
    world.note("alpha")
    (job,) = world.post()
    assert job.claim is not None
    runner = world.runner()

    first = runner.deliver(job.id, job.claim)
    again = runner.deliver(job.id, job.claim)
    wrong = runner.deliver(JobId(job.id + 1), job.claim)

    assert (first, again, wrong) == (True, False, False)
    assert world.jobs() == [JobState.DONE]


def test_an_end_that_cannot_be_written_at_once_is_written_when_it_can(world: World) -> None:
    item = world.note("alpha")
    real, refusals = Outcomes.failed, [Transient("busy"), Transient("busy")]

    def busy_twice(*args: Any, **named: Any) -> None:
        if refusals:
            raise refusals.pop()
        real(*args, **named)

    def refuse(_texts: Sequence[str]) -> None:
        raise Permanent("no", code="unreadable")

    world.models.on_call = refuse
    with mock.patch.object(Outcomes, "failed", busy_twice):
        world.drain()

    assert refusals == []
    assert world.item(item).error_code == "unreadable"
