"""Counted places: never more than there are, and none lost."""

from __future__ import annotations

import threading
from unittest import mock

import pytest

from holdfast.jobs.permits import Places, permits
from holdfast.machine.threads import Threads
from tests.workflow.worlds import eventually


def test_never_more_holders_than_places() -> None:
    places, most, busy = Places(Threads(), 3), 0, 0
    count = threading.Lock()

    def work() -> None:
        nonlocal most, busy
        for _ in range(200):
            with places.hold():
                with count:
                    busy += 1
                    most = max(most, busy)
                with count:
                    busy -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert 0 < most <= 3
    assert busy == 0


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_no_place_is_lost_when_its_holder_fails(error: type[BaseException]) -> None:
    places = Places(Threads(), 2)

    for _ in range(5):
        with pytest.raises(error), places.hold():
            raise error

    with places.hold(), places.hold():
        pass  # both are there: the file's time-out ends a test that waits for ever


def test_who_waits_gets_the_place_that_is_given_back() -> None:
    places, got = Places(Threads(), 1), threading.Event()

    def wait_for_it() -> None:
        with places.hold():
            got.set()

    with places.hold():
        thread = threading.Thread(target=wait_for_it)
        thread.start()
        early = got.is_set()
    thread.join(20)

    assert (early, got.is_set()) == (False, True)


def test_each_stage_has_places_of_its_own() -> None:
    two = permits(Threads(), 3, 1)

    with two.writing.hold(), two.reading.hold():
        pass  # holding one never waits for another

    assert [two.reading.limit, two.writing.limit] == [3, 1]


def test_a_busy_holder_does_not_take_its_place_again_before_those_who_wait() -> None:
    places, order = Places(Threads(), 1), list[str]()
    with places.hold():
        waiter = threading.Thread(target=lambda: take(places, order))
        waiter.start()
        eventually(lambda: places._came == 2, "the waiter has its number")
    with places.hold():
        order.append("again")
    waiter.join(20)

    assert order == ["waited", "again"]


def take(places: Places, order: list[str]) -> None:
    with places.hold():
        order.append("waited")


def test_one_who_stops_waiting_takes_nobody_s_place() -> None:
    places = Places(Threads(), 1)
    with places.hold():
        with (
            pytest.raises(KeyboardInterrupt),
            mock.patch.object(places._condition, "wait", side_effect=KeyboardInterrupt),
            places._condition,
        ):
            places._wait_in_line()

        with places._condition:
            assert (places.used, list(places._line)) == (1, [])
