"""A provider is ill for half an hour: nothing fails, nobody crowds it, others do not notice."""

from __future__ import annotations

import pytest

from holdfast.testing.faults import Kind
from holdfast.testing.illness import HALF_AN_HOUR, NOTES, OUTAGES, course
from holdfast.testing.models import RETRY_AFTER, SPOILT
from holdfast.testing.mutation import Switch, function, source, statement, together
from holdfast.testing.tasks import Stuck

INTERVAL = 15.0
# how long the last look that still fails may keep the others waiting
LAST_LOOK = {Kind.TIMEOUT: 120.0, Kind.TOO_MANY_LATER: RETRY_AFTER}


def must_be_well(kind: Kind) -> None:
    """What an outage may cost."""
    went = course(kind)

    assert went.failed == {}
    assert went.completed == 2 * NOTES
    assert went.wrong == 0
    assert went.most_at_once <= 1
    assert all(one.fixed for one in went.later)
    assert len(went.later) <= HALF_AN_HOUR / INTERVAL + 1
    assert went.beside >= 0.9
    assert went.back <= LAST_LOOK.get(kind, 0.0) + INTERVAL + 1


def test_two_minutes_without_answers_fail_no_item() -> None:
    went = course(Kind.SERVER_ERROR, seconds=120.0, notes=8)

    assert (went.failed, went.completed, went.wrong, went.most_at_once) == ({}, 16, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", OUTAGES)
def test_half_an_hour_without_answers_fails_no_item(kind: Kind) -> None:
    must_be_well(kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(SPOILT))
def test_unusable_vectors_are_never_written_and_say_so(kind: Kind) -> None:
    went = course(kind, seconds=60.0, notes=16)

    assert went.wrong == 0
    assert set(went.failed) <= {"bad_vectors"}
    assert went.completed + sum(went.failed.values()) == 32


WITHOUT: dict[str, Switch] = {
    "one probe at a time": together(
        statement("queue", "waiting_bases", "p.failures > 0 AND", "0 AND"),
        statement("queue", "take_probe", "AND (probe IS NULL OR", "AND (1 OR probe IS NULL OR"),
    ),
    "a pause is seen": together(
        statement("queue", "waiting_bases", "p.paused_until > :now AND", "0 AND"),
        source(
            "holdfast.workflow.providers:admit", "if (left := _left(oven.kb, row)) > 0:", "if 0:"
        ),
    ),
    "an outage counts no try": source(
        "holdfast.domain.retries:after_failure",
        'return TryAgain(delay, counts=False, reason="provider")',
        'return TryAgain(delay, counts=True, reason="retry") if attempt < 2 else GiveUp()',
    ),
    "the fixed text decides whose fault it is": function(
        "holdfast.workflow.embed_missing:ask", lambda _oven: None
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("guard", WITHOUT)
def test_an_illness_ends_badly_without_a_guard(guard: str) -> None:
    kind = Kind.TOO_MANY if guard.startswith("the fixed") else Kind.SERVER_ERROR

    with WITHOUT[guard](), pytest.raises((AssertionError, Stuck)):
        must_be_well(kind)
