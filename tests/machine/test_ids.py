"""Do identities only grow, whoever asks for them and whatever the clock does?"""

from __future__ import annotations

import time
from itertools import pairwise
from threading import Barrier, Thread
from uuid import RFC_4122, UUID

import pytest

from holdfast.machine.ids import LAST_COUNT, SystemRng, TimeOrderedIds


def test_ids_only_grow() -> None:
    ids = TimeOrderedIds()
    given = [ids.new() for _ in range(3 * LAST_COUNT)]  # more than one millisecond holds

    assert all(one < other for one, other in pairwise(given))


def test_ids_only_grow_for_each_of_many_threads_and_are_never_the_same() -> None:
    ids, together, given = TimeOrderedIds(), Barrier(8), list[list[str]]()

    def ask() -> None:
        together.wait()
        given.append([ids.new() for _ in range(2_000)])

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(one < other for mine in given for one, other in pairwise(mine))
    assert len({one for mine in given for one in mine}) == 16_000


def test_an_id_given_after_another_is_later_in_any_thread() -> None:
    ids, given = TimeOrderedIds(), list[str]()
    for _ in range(50):
        thread = Thread(target=lambda: given.append(ids.new()))
        thread.start()
        thread.join()

    assert given == sorted(given)


def test_ids_go_on_growing_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    ids, now = TimeOrderedIds(), time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now)
    before = ids.new()
    monkeypatch.setattr(time, "time_ns", lambda: now - 3_600 * 10**9)

    assert ids.new() > before


def test_an_id_is_a_uuid_of_version_seven_that_tells_its_time() -> None:
    before = time.time_ns() // 1_000_000

    one = UUID(TimeOrderedIds().new())

    assert (one.version, one.variant) == (7, RFC_4122)
    assert before <= one.int >> 80 <= time.time_ns() // 1_000_000


def test_chance_is_between_nothing_and_one() -> None:
    rng = SystemRng()
    drawn = [rng.random() for _ in range(1_000)]

    assert all(0 <= number < 1 for number in drawn)
    assert len(set(drawn)) > 900
