"""Is this failure worth another try, and when?"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.errors import DiskFull, Permanent, ProviderDown, Transient
from holdfast.domain.retries import (
    FIRST_DELAY,
    LONGEST_DELAY,
    MAX_ATTEMPTS,
    RETRY_AFTER_CAP,
    GiveUp,
    TryAgain,
    after_failure,
    backoff,
    delete_backoff,
)

JITTER = st.floats(0, 1, exclude_max=True)
ATTEMPTS = st.integers(0, 60)


@given(ATTEMPTS, JITTER)
def test_full_jitter_lies_between_nothing_and_the_doubled_wait(attempt: int, jitter: float) -> None:
    longest = min(LONGEST_DELAY, FIRST_DELAY * 2.0**attempt)

    assert 0 <= backoff(attempt, jitter) <= longest


def test_the_waits_double_from_half_a_second_to_ten() -> None:
    assert [backoff(n, 1.0) for n in range(7)] == [0.5, 1, 2, 4, 8, 10, 10]


@given(st.floats(0, 1e6), JITTER)
def test_retry_after_comes_first_and_is_capped(wanted: float, jitter: float) -> None:
    decision = after_failure(Transient("busy", retry_after=wanted), 0, jitter)

    assert isinstance(decision, TryAgain)
    assert decision.delay == min(RETRY_AFTER_CAP, wanted)


@given(ATTEMPTS, JITTER)
def test_a_transient_error_is_tried_three_times_in_all(attempt: int, jitter: float) -> None:
    decision = after_failure(Transient("busy"), attempt, jitter)

    assert isinstance(decision, TryAgain) == (attempt + 1 < MAX_ATTEMPTS)


@given(ATTEMPTS, JITTER)
def test_a_permanent_error_is_never_tried_again(attempt: int, jitter: float) -> None:
    assert after_failure(Permanent("no"), attempt, jitter) == GiveUp()


@given(ATTEMPTS, JITTER)
def test_what_says_nothing_about_the_item_never_counts(attempt: int, jitter: float) -> None:
    for error in (DiskFull("no room"), ProviderDown("no answer", provider="p")):
        decision = after_failure(error, attempt, jitter)
        assert isinstance(decision, TryAgain)
        assert not decision.counts


@pytest.mark.parametrize("attempt", [0, 1, 2, 3])
def test_a_defect_is_tried_again_like_a_transient_error(attempt: int) -> None:
    decision = after_failure(ZeroDivisionError(), attempt, 0.5)

    assert isinstance(decision, TryAgain) == (attempt + 1 < MAX_ATTEMPTS)


def test_a_delete_waits_from_a_minute_to_an_hour_and_never_longer() -> None:
    waits = [delete_backoff(n) for n in range(100)]

    assert waits[:7] == [60, 120, 240, 480, 960, 1920, 3600]
    assert all(a <= b <= 3600 for a, b in pairwise(waits))
