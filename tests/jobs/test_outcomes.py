"""How a run ends that did not reach its own end: by the class of its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from holdfast.domain.errors import (
    DiskFull,
    HoldfastError,
    ItemDeleting,
    ItemGone,
    Permanent,
    ProviderDown,
    Superseded,
    Transient,
)
from holdfast.domain.item_states import Status
from holdfast.domain.jobs import Lane
from holdfast.jobs.outcomes import LaterPlease, trouble_of
from holdfast.jobs.run import Cancelled, Stopping
from tests.workflow.worlds import World, once


def after(world: World, error: BaseException) -> tuple[str, int, str | None, str]:
    """State, attempts, reason and verdict of a job whose run met this error."""
    world.note("alpha")

    def raising(_texts: object) -> None:
        raise error

    world.models.on_call = raising
    world.step()
    (row,) = world.rows("SELECT state, attempt, reason, verdict FROM jobs")
    return row[0], row[1], row[2], row[3]


def refusing(guilty: str) -> Callable[[Sequence[str]], None]:
    """A model that has no answer for one text."""

    def refuse(texts: Sequence[str]) -> None:
        if guilty in texts:
            raise Transient("busy")

    return refuse


@pytest.mark.parametrize("error", [Superseded("x"), ItemDeleting("x"), ItemGone("x")])
def test_a_superseded_run_ends_quietly(world: World, error: HoldfastError) -> None:
    assert after(world, error) == ("done", 0, "superseded", "run")


def test_a_cancelled_run_is_cancelled_and_never_failed(world: World) -> None:
    item = world.note("alpha")
    world.models.on_call = once(lambda: world.hf.delete(item))

    world.step()

    assert world.rows("SELECT state, attempt FROM jobs LIMIT 1") == [("cancelled", 0)]
    assert world.rows("SELECT 1 FROM item_events WHERE status = 'failed'") == []


def test_a_run_that_nobody_cancelled_is_given_back_when_it_was_told_to_stop(world: World) -> None:
    state, attempt, _, verdict = after(world, Cancelled())

    assert (state, attempt, verdict) == ("ready", 0, "run")


def test_a_stopping_engine_gives_the_slot_back_without_an_attempt(world: World) -> None:
    assert after(world, Stopping()) == ("ready", 0, "stopped", "run")


def test_later_please_waits_without_an_attempt(world: World) -> None:
    assert after(world, LaterPlease(5, "queue_full")) == ("later", 0, "queue_full", "run")


def test_a_full_disk_waits_without_an_attempt(world: World) -> None:
    assert after(world, DiskFull("no room")) == ("later", 0, "disk_full", "run")


def test_an_outage_waits_without_an_attempt_and_pauses_the_provider(world: World) -> None:
    down = ProviderDown("no answer", provider="hash", retry_after=30)

    assert after(world, down) == ("later", 0, "provider", "run")
    until = int((world.clock.now + 30) * 1_000_000)
    assert world.rows("SELECT name, paused_until, reason FROM providers") == [
        ("hash", until, "no answer")
    ]


def test_a_transient_error_is_counted_when_the_provider_answers_something_else(
    world: World,
) -> None:
    world.note("alpha")
    world.models.on_call = refusing("alpha")
    world.step()

    rows = world.rows("SELECT state, attempt, reason, verdict FROM jobs")
    assert rows == [("later", 1, "retry", "run")]


def test_a_transient_error_is_an_outage_when_the_provider_answers_nothing(world: World) -> None:
    assert after(world, Transient("busy")) == ("later", 0, "provider", "run")


def test_too_many_requests_is_never_the_text_s_fault(world: World) -> None:
    assert after(world, Transient("busy", retry_after=20)) == ("later", 0, "provider", "run")


def test_a_permanent_error_is_given_up_at_once(world: World) -> None:
    state, attempt, _, verdict = after(world, Permanent("no", code="unreadable"))

    assert (state, attempt, verdict) == ("ready", 0, "give_up")


def test_what_is_no_error_of_ours_is_tried_again_as_a_defect(world: World) -> None:
    assert after(world, ZeroDivisionError("x")) == ("later", 1, "retry", "run")
    assert trouble_of(ZeroDivisionError("x"))[:2] == ("internal", "ZeroDivisionError: x")


def test_giving_up_fails_item_and_job_together_with_the_first_reason(world: World) -> None:
    after(world, Permanent("cannot be read", code="unreadable", advice="look at it"))
    world.drain()

    (item,) = world.hf.items(world.base).items
    said = (item.status, item.error_code, item.error, item.error_advice)
    assert said == (Status.FAILED, "unreadable", "cannot be read", "look at it")
    assert world.jobs() == ["failed"]
    assert world.ailments() == []


def test_a_transient_error_that_stays_fails_after_three_attempts(world: World) -> None:
    item = world.note("alpha")

    world.models.on_call = refusing("alpha")
    world.finish()

    assert world.models.calls.count(("alpha",)) == 3 * 3  # in the slot, and as often again
    assert (world.status(item), world.item(item).error) == (Status.FAILED, "busy")


def test_a_batch_is_tried_again_as_that_batch_while_waiting_is_cheap(world: World) -> None:
    item = world.note("alpha")
    refusals = [Transient("busy"), Transient("busy")]

    def busy_twice(_texts: object) -> None:
        if refusals:
            raise refusals.pop()

    world.models.on_call = busy_twice
    world.step()

    assert world.status(item) is Status.COMPLETED
    assert world.rows("SELECT attempt FROM jobs") == [(0,)]


def test_a_permanent_error_of_a_shared_batch_fails_the_guilty_item_alone(world: World) -> None:
    items = world.notes(*(f"text {n}" for n in range(8)), "guilty")

    def refuse(texts: tuple[str, ...]) -> None:
        if "guilty" in texts:
            raise Permanent("refused", code="provider_failed")

    world.models.on_call = refuse  # type: ignore[assignment]
    world.drain()

    assert [world.status(item) for item in items] == [Status.COMPLETED] * 8 + [Status.FAILED]


def test_an_unreadable_file_of_a_bundle_fails_alone(world: World) -> None:
    world.done_directory({"a.txt": "alpha", "b.txt": b"\x00", "c.txt": "gamma"})

    rows = world.rows("SELECT name, status FROM items WHERE container = 0 ORDER BY name")
    assert rows == [("a.txt", "completed"), ("b.txt", "failed"), ("c.txt", "completed")]


def test_a_late_outcome_of_a_lost_run_finds_no_row(world: World) -> None:
    world.note("alpha")
    lost = world.take()
    world.rows("UPDATE jobs SET state = 'ready'")
    (mine,) = world.take()

    def refuse(_texts: object) -> None:
        raise Permanent("no", code="unreadable")

    world.models.on_call = refuse
    world.execute(lost)

    assert world.rows("SELECT state, claim FROM jobs") == [("running", mine.claim)]


def test_deletes_and_expansions_each_keep_to_their_lane(world: World) -> None:
    world.directory({"a.txt": "alpha"})

    assert not world.step(Lane.INDEX)
    assert not world.step(Lane.URGENT)
    assert world.step(Lane.CONTROL)
