"""Runtime: threads, locks, conditions, events and children, as the engine relies on them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.errors import Permanent
from holdfast.ports import Child, Limits


def test_a_thread_runs_beside_us_and_can_be_joined(stage: Any) -> None:
    def body() -> None:
        told: list[str] = []
        thread = stage.runtime.thread(lambda: told.append("done"), "t")
        thread.join()

        assert told == ["done"]
        assert not thread.is_alive()

    stage.play(body)


def test_a_join_with_a_time_limit_returns_while_the_thread_lives(stage: Any) -> None:
    def body() -> None:
        go = stage.runtime.event()
        thread = stage.runtime.thread(go.wait, "t")
        thread.join(0.01)
        assert thread.is_alive()

        go.set()
        thread.join()
        assert not thread.is_alive()

    stage.play(body)


def test_a_lock_has_one_holder_at_a_time(stage: Any) -> None:
    def body() -> None:
        lock, inside, most = stage.runtime.lock(), [0], [0]

        def work() -> None:
            for _ in range(20):
                with lock:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    stage.runtime.event().wait(0.0001)
                    inside[0] -= 1

        threads = [stage.runtime.thread(work, f"t{n}") for n in range(4)]
        for thread in threads:
            thread.join()
        assert most == [1]

    stage.play(body)


def test_a_lock_is_free_again_after_an_error_inside(stage: Any) -> None:
    def body() -> None:
        lock = stage.runtime.lock()
        with pytest.raises(ValueError, match="inside"), lock:
            raise ValueError("inside")
        with lock:
            pass

    stage.play(body)


def test_an_event_says_whether_it_happened(stage: Any) -> None:
    def body() -> None:
        event = stage.runtime.event()
        assert not event.is_set()
        assert event.wait(0.001) is False

        event.set()
        assert event.is_set()
        assert event.wait() is True
        assert event.wait(0) is True

    stage.play(body)


def test_an_event_frees_everyone_who_waits(stage: Any) -> None:
    def body() -> None:
        event, freed = stage.runtime.event(), []
        threads = [
            stage.runtime.thread(lambda: freed.append(event.wait()), f"t{n}") for n in range(3)
        ]
        event.set()
        for thread in threads:
            thread.join()
        assert freed == [True, True, True]

    stage.play(body)


def test_a_condition_wakes_as_many_as_were_notified(stage: Any) -> None:
    def body() -> None:
        condition, waiting, woken = stage.runtime.condition(), [0], [0]

        def wait() -> None:
            with condition:
                waiting[0] += 1
                notified = condition.wait(5.0)
                woken[0] += notified

        threads = [stage.runtime.thread(wait, f"t{n}") for n in range(3)]
        while True:
            with condition:
                if waiting == [3]:
                    break
            stage.runtime.event().wait(0.001)
        with condition:
            condition.notify()
        while woken == [0]:
            stage.runtime.event().wait(0.001)
        stage.runtime.event().wait(0.02)
        assert woken == [1]

        with condition:
            condition.notify_all()
        for thread in threads:
            thread.join()
        assert woken == [3]

    stage.play(body)


def test_a_condition_that_nobody_notified_says_so(stage: Any) -> None:
    def body() -> None:
        condition = stage.runtime.condition()
        with condition:
            assert condition.wait(0.001) is False

    stage.play(body)


def test_a_condition_asks_for_its_lock(stage: Any) -> None:
    def body() -> None:
        with pytest.raises(RuntimeError):
            stage.runtime.condition().notify()

    stage.play(body)


def child(stage: Any, task: str, argument: Any, check: Any = lambda: None) -> Child:
    name = f"tests.machine.tasks:{task}"
    found: Child = stage.runtime.child(name, argument, about="a", limits=Limits(), check=check)
    return found


def test_a_child_answers_in_order_and_then_ends(stage: Any) -> None:
    def body() -> None:
        with child(stage, "count", {"n": 3}) as answers:
            assert [one["number"] for one in answers] == [0, 1, 2]
            assert list(answers) == []

    stage.play(body)


def test_the_error_of_a_child_rises_as_it_was_and_any_other_as_parser_failed(stage: Any) -> None:
    def body() -> None:
        for task, code in (("refuse", "needs_ocr"), ("stumble", "parser_failed")):
            with child(stage, task, {}) as answers, pytest.raises(Permanent) as caught:
                list(answers)
            assert caught.value.code == code

    stage.play(body)


def test_what_check_raises_ends_a_child(stage: Any) -> None:
    def check() -> None:
        raise InterruptedError

    def body() -> None:
        with child(stage, "spin", {}, check) as answers, pytest.raises(InterruptedError):
            list(answers)

    stage.play(body)


def test_a_closed_child_answers_nothing_more(stage: Any) -> None:
    def body() -> None:
        answers = child(stage, "count", {"n": 3})
        next(answers)
        answers.close()
        answers.close()
        assert list(answers) == []

    stage.play(body)
