"""Does each race and crash that we know by name end well, and badly without its guard?

Every schedule is a story over the real stores. It is told twice: as things are, and with its guard
taken away, when it must end with something that is not true.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from holdfast.domain.errors import HoldfastError, Permanent
from holdfast.domain.item_states import COMPLETED, FAILED, Move
from holdfast.domain.jobs import Job, JobState, Lane, Verdict
from holdfast.jobs.claim import Holder, claim
from holdfast.jobs.run import Run
from holdfast.stores.catalog import Moved, Trouble
from holdfast.stores.sqlite.main import SqliteMain
from holdfast.testing.mutation import Switch, function, schema, statement, together
from holdfast.workflow import doctor as doctor_module
from holdfast.workflow.delete_items import delete_items
from holdfast.workflow.sweep import sweep
from holdfast.workflow.workbench import Workbench
from tests.simulation.staged import PowerOff, Stage

Schedule = Callable[[Stage, Path], None]


def late_drop_after_a_newer_publish(stage: Stage, _: Path) -> None:
    base = stage.base()
    item = stage.note(base, "alpha")
    stage.work()
    stage.update(item, "beta")

    def newer() -> None:
        stage.update(item, "gamma")
        stage.work()

    stage.index.before["drop_before"] = newer
    stage.work()

    assert stage.found(base, "gamma") == [item.id]
    assert doctor_module.doctor(stage.kb) == []


def claim_number_after_a_power_cut(stage: Stage, _: Path) -> None:
    base = stage.base()
    stage.note(base, "alpha")
    before = stage.saved()
    [lost] = stage.take()
    stage.die()
    stage.folder = before
    stage.begin()

    [again] = stage.take()

    assert lost.id == again.id
    assert again.claim != lost.claim, "a claim number was given twice"


def run_of_a_lost_lease_publishes(stage: Stage, folder: Path) -> None:
    base = stage.base()
    file = folder / "source.txt"
    item = stage.file(base, file, "old words")
    [mine] = stage.take()

    def lease_runs_out() -> None:
        with stage.kb.main.write() as tx:
            tx.rescue_stuck([run.fence for run in stage.runner._runs.values()])
        file.write_text("new words")
        theirs.extend(stage.take())

    theirs: list[Job] = []
    stage.index.before["seal"] = lease_runs_out
    stage.runner.execute([mine])
    stage.runner.execute(theirs)

    assert stage.found(base, "new") == [item.id]
    assert doctor_module.doctor(stage.kb) == []


def superseded_waiting_job(stage: Stage, _: Path) -> None:
    base = stage.base()
    item = stage.note(base, "alpha")
    [first] = stage.jobs(item)
    stage.note(base, "another, behind it")

    stage.update(item, "beta")

    left = [(job.generation, job.ordinal) for job in stage.jobs(item)]
    assert left == [(2, first.ordinal)]
    stage.work()
    assert "alpha" not in stage.models.texts


def exhausted_job(stage: Stage, folder: Path) -> None:
    """Its item and it fail together, whichever instant of `give_up` is the last."""
    base = stage.base()
    item = stage.file(base, folder / "broken.txt", "text")
    (folder / "broken.txt").unlink()
    stage.runner.step(Lane.INDEX)
    [job] = stage.jobs(item)
    assert job.verdict is Verdict.GIVE_UP

    for call in range(3):
        with suppress(PowerOff), dying_at(call):
            stage.runner.step(Lane.INDEX)
        row, jobs = stage.item(item), stage.jobs(item)
        assert row is not None
        assert (row.status is FAILED) == (jobs == []), "item and job disagree"
        stage.die()
        stage.begin()
    stage.work()

    row = stage.item(item)
    assert row is not None
    assert (row.status, row.error_code, stage.jobs(item)) == (FAILED, "unreadable", [])


class dying_at:  # noqa: N801  (reads as a clause)
    """The process ends right after the n-th transaction."""

    def __init__(self, call: int) -> None:
        self.left = call

    def __enter__(self) -> None:
        inner = SqliteMain.write
        left = self

        def write(main: SqliteMain) -> Any:
            transaction = inner(main)
            return Last(transaction, left)

        self.patch = patch.object(SqliteMain, "write", write)
        self.patch.start()

    def __exit__(self, *_: object) -> None:
        self.patch.stop()


class Last:
    """A transaction after which there may be nothing."""

    def __init__(self, transaction: Any, countdown: dying_at) -> None:
        self.transaction, self.countdown = transaction, countdown

    def __enter__(self) -> Any:
        return self.transaction.__enter__()

    def __exit__(self, *what: object) -> Any:
        answer = self.transaction.__exit__(*what)
        if self.countdown.left == 0:
            raise PowerOff
        self.countdown.left -= 1
        return answer


def deleted_in_the_middle_of(where: str) -> Schedule:
    def schedule(stage: Stage, folder: Path) -> None:
        base = stage.base()
        item = stage.file(base, folder / "source.txt", "alpha beta")

        def delete() -> None:
            delete_items(stage.kb, base.id, [item.id])

        if where == "read":
            stage.reader.before["read"] = delete
        elif where == "model call":
            stage.models.on_call = delete
        else:
            stage.index.after["seal"] = delete
        stage.work()

        row = stage.item(item)
        assert stage.found(base, "alpha") == []
        assert row is not None
        assert row.deleting
        stage.work(Lane.URGENT)
        sweep(stage.kb)
        assert stage.item(item) is None
        assert stage.kb.index.builds(base.id) == []

    return schedule


def two_deliveries_of_one_message(stage: Stage, _: Path) -> None:
    base = stage.base()
    stage.note(base, "alpha")
    caps = stage.runner.caps
    [posted] = claim(stage.kb.main, Lane.INDEX, caps, Holder(None, stage.kb.lease)).jobs
    assert posted.claim is not None
    seen: list[bool] = []
    claim_no = posted.claim
    stage.models.on_call = lambda: seen.append(stage.runner.deliver(posted.id, claim_no))

    assert stage.runner.deliver(posted.id, claim_no)

    assert seen == [False], "the second delivery ran"
    assert stage.models.texts == ["alpha"]


def clock_two_hours_on(stage: Stage, _: Path) -> None:
    base = stage.base()
    item = stage.note(base, "alpha")
    wall = stage.kb.clock.wall

    def jump() -> None:
        with patch.object(type(stage.kb.clock), "wall", lambda _: wall() + 7_200):
            sweep(stage.kb)
            stage.work()

    stage.models.on_call = jump
    stage.work()

    row = stage.item(item)
    assert stage.models.texts == ["alpha"], "it ran twice"
    assert row is not None
    assert (row.status, row.generation) == (COMPLETED, 1)
    with stage.kb.main.read() as snapshot:
        assert "repaired" not in {event.kind for event in snapshot.history(item.id)}


FENCE_OF_JOBS = statement(
    "catalog",
    "move_items",
    """AND (asked.job IS NULL OR EXISTS
    (SELECT 1 FROM jobs WHERE jobs.id = asked.job AND jobs.claim = asked.claim
       AND jobs.state = 'running'))""",
    "",
)
EVERY_SOURCE = statement(
    "catalog",
    "move_items",
    "AND items.status IN (SELECT value FROM json_each(:sources))",
    "AND :sources IS NOT NULL",
)
EVERY_GENERATION = statement(
    "catalog",
    "move_items",
    "AND (asked.generation IS NULL OR items.generation = asked.generation)",
    "",
)
DEAF_RUNS = function("holdfast.jobs.run:Token.check", lambda _: None)
NO_T1 = schema("WHEN old.status = 'deleting' AND new.status <> 'deleting'", "WHEN 0")


def in_two_steps(kb: Workbench, run: Run, trouble: Trouble) -> None:
    """What giving up would be without its one transaction."""
    with kb.main.write() as tx:
        tx.finish([run.fence], JobState.FAILED, trouble=trouble)
    with kb.main.write() as tx:
        tx.move(Move.FAIL, [Moved(run.item, FAILED, trouble=trouble)])


def by_the_clock_on_the_wall(runner: Any, seconds: float) -> Any:
    """How a stuck run was told before: by when it was claimed, in wall time."""
    now = runner.clock.wall()
    runs = list(runner._runs.values())
    return [run.fence for run in runs if run.job.updated_at / 1e6 < now - seconds]


SCHEDULES: dict[str, tuple[Schedule, Switch]] = {
    "late drop after a newer publish": (
        late_drop_after_a_newer_publish,
        statement("index", "builds_before", "b.claim < p.value ->> 1", "b.claim <> p.value ->> 1"),
    ),
    "claim number used again after a power cut": (
        claim_number_after_a_power_cut,
        statement(
            "queue",
            "raise_epoch",
            "SET epoch = max(epoch, :above / 1000000000) + 1,\n"
            "  last_claim = (max(epoch, :above / 1000000000) + 1) * 1000000000,",
            "SET epoch = epoch + :above,",
        ),
    ),
    "run of a lost lease that publishes": (run_of_a_lost_lease_publishes, FENCE_OF_JOBS),
    "superseded waiting job": (
        superseded_waiting_job,
        statement(
            "queue",
            "cancel_waiting_of_items",
            "WHERE item_id IN (SELECT value FROM json_each(:items))",
            "WHERE 0 AND item_id IN (SELECT value FROM json_each(:items))",
        ),
    ),
    "exhausted job at every instant of give_up": (
        exhausted_job,
        function("holdfast.workflow.handlers:give_up_index", in_two_steps),
    ),
    **{
        f"delete during a {where}": (
            deleted_in_the_middle_of(where),
            together(EVERY_SOURCE, EVERY_GENERATION, FENCE_OF_JOBS, NO_T1, DEAF_RUNS),
        )
        for where in ("read", "model call", "publish")
    },
    "two deliveries of one message": (
        two_deliveries_of_one_message,
        statement("queue", "start_job", "AND owner IS NULL", ""),
    ),
    "clock two hours on": (
        clock_two_hours_on,
        function("holdfast.jobs.runner:Runner._stuck", by_the_clock_on_the_wall),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_named_schedule_ends_well(name: str, tmp_path: Path) -> None:
    schedule, _ = SCHEDULES[name]

    schedule(Stage(tmp_path / "kb"), tmp_path)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_named_schedule_ends_badly_without_its_guard(name: str, tmp_path: Path) -> None:
    schedule, without_guard = SCHEDULES[name]

    with without_guard(), pytest.raises((AssertionError, HoldfastError, Permanent)):
        schedule(Stage(tmp_path / "kb"), tmp_path)
