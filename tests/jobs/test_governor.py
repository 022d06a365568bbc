"""What we hold ourselves to when we call a provider of models."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.config import load
from holdfast.jobs.governor import MINUTE, Limits, Traffic, Window, limits_of

AMOUNTS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40)), max_size=30)


def test_a_provider_s_own_table_goes_before_what_holds_for_all() -> None:
    settings = load(
        None,
        embedding_concurrency=2,
        requests_per_minute=100,
        providers={"acme": {"concurrency": 8, "requests_per_minute": 0}},
    )

    assert limits_of(settings, "acme") == Limits(8, 0, 0)
    assert limits_of(settings, "other") == Limits(2, 100, 0)


@given(AMOUNTS)
def test_no_minute_holds_more_than_the_limit_or_one_that_is_larger_alone(
    asked: list[tuple[int, int]],
) -> None:
    window, now, used = Window(30), 0.0, list[tuple[float, int]]()
    for pause, amount in asked:
        now += pause
        now += window.wait(now, amount)
        assert window.wait(now, amount) == 0.0
        window.use(now, amount)
        used.append((now, amount))

    for at, amount in used:
        minute = [more for then, more in used if then <= at < then + MINUTE]
        assert sum(minute) <= 30 or minute == [amount]


def test_a_provider_without_limits_is_never_waited_for() -> None:
    traffic = Traffic(Limits(1))
    for _ in range(1_000):
        traffic.count(0.0, 1_000_000)

    assert traffic.wait(0.0, 1_000_000) == 0.0


def test_calls_and_tokens_are_limited_each_for_itself() -> None:
    few_calls, few_tokens = Traffic(Limits(9, requests=1)), Traffic(Limits(9, tokens=10))
    few_calls.count(5.0, 3)
    few_tokens.count(5.0, 8)

    assert few_calls.wait(10.0, 3) == 55.0
    assert (few_tokens.wait(10.0, 2), few_tokens.wait(10.0, 3)) == (0.0, 55.0)
