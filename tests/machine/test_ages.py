"""How old a stored file is, whatever the clock on the wall did."""

from __future__ import annotations

from holdfast.machine.ages import LONG_AGO, Ages


class Steady:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_what_was_stored_here_is_no_older_than_it_was_seen_to_grow() -> None:
    clock = Steady()
    ages = Ages(clock)
    ages.kept("files/a")
    clock.now += 5.0

    assert ages.of([("files/a", 7_200.0), ("files/b", 7_200.0)]) == [
        ("files/a", 5.0),
        ("files/b", 7_200.0),
    ]


def test_where_others_store_too_a_file_is_as_old_as_the_time_it_was_seen() -> None:
    clock = Steady()
    ages = Ages(clock, shared=True)
    assert ages.of([("files/a", 7_200.0)]) == [("files/a", 0.0)]
    clock.now += 3_700.0

    assert ages.of([("files/a", 9_000.0)]) == [("files/a", 3_700.0)]


def test_a_file_of_long_ago_is_not_remembered() -> None:
    clock = Steady()
    ages = Ages(clock)
    ages.kept("files/a")
    clock.now += LONG_AGO + 1
    ages.of([])

    assert ages.of([("files/a", LONG_AGO * 3)]) == [("files/a", LONG_AGO * 3)]
