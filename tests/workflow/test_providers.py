"""A provider that does not answer: who asks it, when, and what becomes of those who wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from holdfast.domain.errors import ProviderDown, Transient
from holdfast.domain.item_states import Status
from holdfast.jobs.waiting import Reason
from holdfast.workflow.providers import FIXED_TEXT
from tests.workflow.worlds import World


def down(_texts: Sequence[str]) -> None:
    raise ProviderDown("nobody there", provider="hash")


def row(world: World) -> Any:
    (only,) = world.hf.stats().providers
    return only


def test_while_it_is_paused_nobody_asks(world: World) -> None:
    world.notes("alpha", "beta")
    world.models.on_call = down
    world.drain()
    asked = len(world.models.calls)

    world.notes("gamma")
    world.clock.advance(14)
    world.drain()

    assert (asked, len(world.models.calls)) == (1, 1)


def test_when_the_time_is_over_one_call_looks_and_no_more(world: World) -> None:
    world.notes("alpha", "beta")
    world.models.on_call = down
    for _ in range(100):
        world.drain()
        world.clock.advance(15)

    assert world.models.calls[1:] == [(FIXED_TEXT,)] * 99
    assert world.jobs() == ["later", "later"]
    assert world.rows("SELECT DISTINCT attempt FROM jobs") == [(0,)]


def test_once_it_answers_all_who_waited_go_on_at_once(world: World) -> None:
    items = world.notes("alpha", "beta")
    world.models.on_call = down
    world.drain()
    world.models.on_call = lambda _texts: None
    world.clock.advance(15)
    world.drain()

    assert [world.status(item) for item in items] == [Status.COMPLETED] * 2
    assert (row(world).paused_until, row(world).failures) == (None, 0)


def test_a_long_retry_after_is_kept_but_not_longer_than_a_minute(world: World) -> None:
    def busy(_texts: Sequence[str]) -> None:
        raise Transient("too many requests", retry_after=3_600)

    world.notes("alpha")
    world.models.on_call = busy
    world.drain()

    assert row(world).paused_until == int((world.clock.now + 60) * 1_000_000)
    assert row(world).reason == "too many requests"


def test_our_own_limit_gives_the_slot_back_and_needs_no_probe(limited: World) -> None:
    items = [limited.done_note("alpha"), limited.note("beta")]
    limited.drain()
    before = [limited.status(item) for item in items]
    limited.clock.advance(61)
    limited.drain()

    assert before == [Status.COMPLETED, Status.EMBEDDING]
    assert [limited.status(item) for item in items] == [Status.COMPLETED] * 2
    assert (FIXED_TEXT,) not in limited.models.calls


def test_an_item_says_that_its_provider_is_paused_why_and_until_when(world: World) -> None:
    item = world.note("alpha")
    world.models.on_call = down
    world.drain()

    why = world.hf.explain(item)

    assert why.reason is Reason.PROVIDER
    assert "nobody there" in why.sentence
    assert why.until is not None
    assert why.until.timestamp() == world.clock.now + 15


def test_a_text_that_breaks_the_provider_is_found_though_it_looks_like_an_outage(
    world: World,
) -> None:
    items = world.notes("alpha", "beta", "gamma", "poison")

    def choke(texts: Sequence[str]) -> None:
        if "poison" in texts:
            raise ProviderDown("500", provider="hash")

    world.models.on_call = choke
    world.finish(rounds=100)

    assert [world.status(item) for item in items] == [Status.COMPLETED] * 3 + [Status.FAILED]


def test_a_search_does_not_ask_a_paused_provider_and_says_so(world: World) -> None:
    world.done_note("The lamp hums.")
    world.note("alpha")
    world.models.on_call = down
    world.drain()
    asked = len(world.models.calls)

    answer = world.hf.search("lamp", bases=[world.base])

    assert len(world.models.calls) == asked
    assert [hit.content for hit in answer.hits] == ["The lamp hums."]
    assert "searched by words" in answer.warnings[0]


def test_a_model_that_answers_otherwise_under_its_name_fails_the_base(world: World) -> None:
    world.models.steady = False
    done = world.done_note("alpha")
    world.reopen()
    world.models.turned = True
    world.note("beta")
    world.drain()

    base = world.hf.base(world.base.id)
    assert (base.status, base.error_code) == ("failed", "model_changed")
    assert world.models.texts.count("beta") == 0
    assert world.status(done) is Status.COMPLETED


@pytest.fixture
def limited(tmp_path: Any) -> Any:
    world = World(tmp_path, requests_per_minute=1)
    yield world
    world.close()
