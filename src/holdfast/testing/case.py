"""What is one schedule, and how did it end? It can be run again, whole or with parts left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from holdfast.testing.faults import Aim, Fault

OPERATIONS = {
    "add_notes": 10,
    "add_file": 5,
    "add_upload": 4,
    "add_scan": 6,
    "add_folder": 3,
    "update": 7,
    "delete": 8,
    "reindex": 6,
    "search": 6,
    "list": 3,
    "chunks": 2,
    "change_file": 4,
    "remove_file": 1,
    "add_page": 3,
    "add_sitemap": 2,
    "change_page": 3,
    "remove_page": 1,
    "pause": 1,
    "resume": 2,
    "ask": 1,
    "recover": 2,
    "dismiss": 1,
    "restart": 1,
    "new_base": 1,
    "drop_base": 1,
    "wait": 5,
    "crash": 1,
    "power": 1,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a client; the numbers choose among what is there when its turn comes."""

    operation: str
    first: int
    second: int

    def __str__(self) -> str:
        return f"{self.operation}({self.first % 100}, {self.second % 100})"


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that decides a schedule; what is absent is drawn from the seed.

    A seed may be aimed (`root!aim`): all is as the root draws it until the aim is reached.
    """

    seed: str
    steps: tuple[Step, ...] | None = None
    plan: tuple[Fault, ...] | None = None
    clients: int | None = None

    @property
    def root(self) -> str:
        return self.seed.partition("!")[0]

    @property
    def aim(self) -> Aim | None:
        written = self.seed.partition("!")[2]
        return Aim.read(written) if written else None


@dataclass(slots=True)
class Outcome:
    """How a schedule ended, and what happened in it."""

    case: Case
    steps: tuple[Step, ...] = ()
    violations: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)  # (call, port), of planned ones
    ports: dict[str, str] = field(default_factory=dict)  # of each call that was made
    reached: Mapping[str, int] = field(default_factory=dict)  # how often each call was made
    trace: Sequence[tuple[str, str]] = ()
    digest: str = ""
    switches: int = 0
    seconds: float = 0.0
    crashes: int = 0
    power_cuts: int = 0
    clients: int = 1

    @property
    def exact(self) -> Case:
        """The same schedule with everything that was drawn written out."""
        return Case(self.case.seed, self.steps, tuple(self.faults), self.clients)


def drawn_steps(rng: Random) -> tuple[Step, ...]:
    """A script: every seed prefers some operations and has none of others (a swarm)."""
    names = list(OPERATIONS)
    weights = [OPERATIONS[name] * rng.choice((0.0, 1.0, 1.0, 3.0)) for name in names]
    weights[0] = max(weights[0], 5.0)
    length = rng.choice((4, 8, 12, 16, 24))
    chosen = ["add_notes", *rng.choices(names, weights, k=length)]
    return tuple(Step(name, rng.getrandbits(30), rng.getrandbits(30)) for name in chosen)
