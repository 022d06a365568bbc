"""The scheduler: one seed, one order; time that only jumps when nobody can run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.testing.runtime import SimRuntime
from holdfast.testing.schedule import Kernel
from holdfast.testing.tasks import Broken, Killed, Process, Stuck


def run(seed: str, main: Callable[[Kernel, SimRuntime], None]) -> Kernel:
    kernel, process = Kernel(seed), Process("p")
    try:
        kernel.run(lambda: main(kernel, SimRuntime(kernel, process)))
    finally:
        kernel.close([process])
    return kernel


def crowd(kernel: Kernel, runtime: SimRuntime, told: list[str] | None = None) -> None:
    lock = runtime.lock()
    told = [] if told is None else told

    def work(name: str) -> None:
        for _ in range(5):
            with lock:
                told.append(name)
            kernel.pause("between")

    threads = [runtime.thread(lambda name=name: work(name), name) for name in "abc"]  # type: ignore[misc]
    for thread in threads:
        thread.join()


def test_a_seed_replays_to_an_identical_trace() -> None:
    for seed in range(20):
        first, second = run(str(seed), crowd), run(str(seed), crowd)

        assert first.trace == second.trace
        assert first.digest() == second.digest()


def test_seeds_differ_in_who_goes_first() -> None:
    orders = set()
    for seed in range(30):
        told: list[str] = []
        run(str(seed), lambda kernel, runtime, told=told: crowd(kernel, runtime, told))  # type: ignore[misc]
        orders.add("".join(told))

    assert len(orders) > 15


def test_a_lock_has_one_holder_whatever_the_seed() -> None:
    for seed in range(50):
        inside: list[str] = []

        def main(kernel: Kernel, runtime: SimRuntime, inside: list[str] = inside) -> None:
            lock = runtime.lock()

            def work() -> None:
                with lock:
                    inside.append("x")
                    kernel.sleep(1.0)
                    assert inside == ["x"]
                    inside.pop()

            for thread in [runtime.thread(work, f"t{n}") for n in range(4)]:
                thread.join()

        assert run(str(seed), main).broken == []


def test_time_jumps_to_the_next_timer_when_nobody_can_run() -> None:
    def main(kernel: Kernel, runtime: SimRuntime) -> None:
        kernel.sleep(3_600.0)

        assert 3_600.0 <= kernel.now < 3_601.0

    run("1", main)


def test_a_wait_that_times_out_says_so() -> None:
    def main(kernel: Kernel, runtime: SimRuntime) -> None:
        event, condition = runtime.event(), runtime.condition()

        assert event.wait(5.0) is False
        with condition:
            assert condition.wait(5.0) is False
        assert 10.0 <= kernel.now < 11.0

    run("2", main)


def waits_for_ever(kernel: Kernel, runtime: SimRuntime) -> None:
    runtime.event().wait()


def test_waiting_for_nobody_is_reported_with_the_place() -> None:
    with pytest.raises(Stuck, match=r"outside\.driver in event"):
        run("3", waits_for_ever)


def test_an_endless_schedule_is_reported() -> None:
    def forever(kernel: Kernel, runtime: SimRuntime) -> None:
        while True:
            kernel.pause("again")

    with pytest.raises(Stuck, match="no end"):
        run("4", forever)


def test_a_killed_process_runs_no_port_call_while_it_unwinds() -> None:
    for seed in range(50):
        effects: list[str] = []

        def main(kernel: Kernel, runtime: SimRuntime, effects: list[str] = effects) -> None:
            def stubborn() -> None:
                try:
                    while True:
                        kernel.sleep(1.0)
                except Exception:  # noqa: BLE001
                    effects.append("swallowed")
                finally:
                    kernel.pause("give back")
                    effects.append("gave back")

            runtime.thread(stubborn, "stubborn")
            kernel.sleep(10.0)
            kernel.kill([runtime.process])
            kernel.sleep(10.0)

        kernel = run(str(seed), main)

        assert effects == []
        assert kernel.broken == []


def test_a_process_that_kills_itself_goes_no_further() -> None:
    said: list[str] = []

    def main(kernel: Kernel, runtime: SimRuntime) -> None:
        def suicide() -> None:
            kernel.kill([runtime.process])
            said.append("still here")

        runtime.thread(suicide, "suicide").join(5.0)
        said.append("outside lives")

    run("5", main)

    assert said == ["outside lives"]


def test_a_frozen_process_misses_its_own_deadline_and_the_others_go_on() -> None:
    def main(kernel: Kernel, runtime: SimRuntime) -> None:
        woke: list[float] = []

        def sleeper() -> None:
            kernel.sleep(1.0)
            woke.append(kernel.now)

        thread = runtime.thread(sleeper, "sleeper")
        kernel.freeze(runtime.process, 100.0)
        kernel.sleep(50.0)
        assert woke == []
        thread.join()
        assert woke[0] >= 100.0

    run("6", main)


def test_a_yield_inside_a_transaction_is_a_finding() -> None:
    kernel, process = Kernel("7"), Process("p")
    kernel.open_transaction = lambda: "holdfast.db"

    with pytest.raises(Broken):
        kernel.run(lambda: kernel.pause("model.embed"))
    kernel.close([process])

    assert "model.embed inside an open transaction of holdfast.db" in kernel.broken[0]


def test_a_thread_that_dies_is_a_finding() -> None:
    def main(kernel: Kernel, runtime: SimRuntime) -> None:
        def fails() -> None:
            raise ValueError("unforeseen")

        runtime.thread(fails, "t").join()

    assert "p.t died" in run("8", main).broken[0]
    assert issubclass(Killed, BaseException)
    assert not issubclass(Killed, Exception)
