"""A toy engine of twenty lines: the simulator finds its planted mistake, and is quick enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from holdfast.domain.errors import StageFailed
from holdfast.testing.clock import SimClock
from holdfast.testing.faults import Fault, Faults
from holdfast.testing.files import Landscape, SimFiles
from holdfast.testing.gate import Gate, Outage
from holdfast.testing.models import Bill, SimEmbedder
from holdfast.testing.runtime import SimRuntime
from holdfast.testing.schedule import Kernel
from holdfast.testing.tasks import Process


@dataclass
class Toy:
    """Stores bytes under a name, counts them; `locked` is its only guard."""

    runtime: SimRuntime
    files: SimFiles
    model: SimEmbedder
    locked: bool
    stored: dict[str, int] = field(default_factory=dict)

    def work(self) -> None:
        for n in range(6):
            try:
                self.model.embed([f"text {n}"])
                self.files.keep(f"files/{n}", b"x")
            except StageFailed:
                continue
            if self.locked:
                with self.lock:
                    self.count(n)
            else:
                self.count(n)

    def __post_init__(self) -> None:
        self.lock = self.runtime.lock()

    def count(self, n: int) -> None:
        before = self.stored.get("count", 0)
        self.files.stored("files/x")
        self.stored["count"] = before + 1
        self.stored["true"] = self.stored.get("true", 0) + 1


def play(seed: str, *, locked: bool, plan: list[Fault] | None = None) -> tuple[Kernel, Toy, Faults]:
    kernel, process, faults = Kernel(seed), Process("p"), Faults(seed, plan)
    outage = Outage(kernel)
    outage.processes = [process]
    gate = Gate(kernel, faults, outage, process)
    runtime = SimRuntime(kernel, process)
    files = SimFiles(Landscape(), gate, SimClock(kernel, outage))
    toy = Toy(runtime, files, SimEmbedder("sim/8", 8, Bill(), gate), locked)
    tasks = [kernel.spawn(toy.work, f"w{n}", process) for n in range(3)]

    def main() -> None:
        for task in tasks:
            kernel.wait_for(task, 10_000.0)

    kernel.run(main)
    kernel.close([process])
    return kernel, toy, faults


def test_the_toy_with_its_guard_counts_right_under_every_seed() -> None:
    for seed in range(100):
        _, toy, _ = play(str(seed), locked=True)

        assert toy.stored.get("count") == toy.stored.get("true")


def test_the_toy_without_its_guard_is_found_quickly() -> None:
    found = [
        seed
        for seed in range(50)
        if len({play(str(seed), locked=False)[1].stored.get(key) for key in ("count", "true")}) > 1
    ]

    assert found
    assert found[0] < 20


def test_a_plan_of_all_its_faults_replays_a_schedule() -> None:
    for seed in map(str, range(50)):
        kernel, _, faults = play(seed, locked=True)
        again, _, _ = play(seed, locked=True, plan=faults.hits)

        assert again.digest() == kernel.digest()


def test_a_random_state_outside_changes_nothing() -> None:
    first = play("9", locked=True)[0].digest()
    Random(5).random()

    assert play("9", locked=True)[0].digest() == first
