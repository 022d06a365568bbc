"""How fast and how long: only what was seen lately counts."""

from __future__ import annotations

from holdfast.domain.pace import WINDOW, Pace


def test_nothing_is_said_before_there_is_something_to_say() -> None:
    pace = Pace()
    pace.look(0.0, 0.0)
    pace.look(0.5, 10.0)

    assert pace.rate is None
    assert pace.seconds_left(100.0) is None


def test_the_rest_takes_as_long_as_the_rate_says() -> None:
    pace = Pace()
    pace.look(0.0, 0.0)
    pace.look(2.0, 20.0)

    assert pace.rate == 10.0
    assert pace.seconds_left(50.0) == 5.0


def test_what_is_older_than_the_window_does_not_count() -> None:
    pace = Pace()
    for second in range(100):
        pace.look(float(second), 1_000.0 if second > 50 else 0.0)

    assert pace.rate == 0.0
    assert WINDOW < 40


def test_standing_still_promises_no_end() -> None:
    pace = Pace()
    pace.look(0.0, 5.0)
    pace.look(10.0, 5.0)

    assert pace.seconds_left(10.0) is None
