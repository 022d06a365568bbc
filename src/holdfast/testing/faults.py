"""What goes wrong, where and when? Fault decisions, drawn as the calls come, numbered, replayable.

At each port call one number is drawn; it says whether a fault happens, and which of the kinds that
are possible there. A decision is named by the number of its draw, so a schedule can be run again
with some of its faults left out: draws before the first one left out stay what they were.
Each seed draws which kinds are on and how often (a swarm): some mistakes show only where one kind
of bad luck is frequent and the others are absent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from zlib import crc32


class Kind(StrEnum):
    """One way in which a call to the outside can go wrong."""

    ERROR_BEFORE = "error-before"
    ERROR_AFTER = "error-after"  # done, but the answer is lost
    BUSY = "busy"
    DISK_FULL = "disk-full"
    UNREADABLE = "unreadable"
    REFUSED = "refused"  # the queue does not take the job
    DELAY = "delay"
    PAUSE = "pause"  # the whole process, longer than any lease
    CRASH_BEFORE = "crash-before"
    CRASH_AFTER = "crash-after"
    POWER_CUT = "power-cut"
    CLOCK_JUMP = "clock-jump"
    TOO_MANY = "429"
    TOO_MANY_LATER = "429-retry-after"
    SERVER_ERROR = "500"
    TIMEOUT = "timeout"
    SHORT = "short-vectors"
    NAN = "nan-vectors"
    ZERO = "zero-vectors"
    WIDE = "wide-vectors"
    DUPLICATE = "duplicate"
    LOST = "lost"
    ENDLESS = "never-ends"
    FAILING = "failing"
    PARSER_DIED = "parser-died"
    GONE = "404"
    ASTRAY = "redirect-refused"


ALWAYS = (
    Kind.DELAY,
    Kind.PAUSE,
    Kind.CRASH_BEFORE,
    Kind.CRASH_AFTER,
    Kind.POWER_CUT,
    Kind.CLOCK_JUMP,
)

POSSIBLE: dict[str, tuple[Kind, ...]] = {
    "main": (*ALWAYS, Kind.ERROR_BEFORE, Kind.ERROR_AFTER, Kind.BUSY, Kind.DISK_FULL),
    "index": (*ALWAYS, Kind.ERROR_BEFORE, Kind.ERROR_AFTER, Kind.BUSY, Kind.DISK_FULL),
    "enqueue": (Kind.REFUSED,),
    "read": (*ALWAYS, Kind.ERROR_BEFORE, Kind.BUSY),
    "peek": (*ALWAYS, Kind.ERROR_BEFORE, Kind.BUSY),
    "files": (*ALWAYS, Kind.ERROR_BEFORE, Kind.ERROR_AFTER),
    "user": (*ALWAYS, Kind.UNREADABLE),
    "keep": (*ALWAYS, Kind.ERROR_BEFORE, Kind.ERROR_AFTER, Kind.DISK_FULL),
    "model": (
        *ALWAYS,
        Kind.ERROR_AFTER,
        Kind.TOO_MANY,
        Kind.TOO_MANY_LATER,
        Kind.SERVER_ERROR,
        Kind.TIMEOUT,
        Kind.SHORT,
        Kind.NAN,
        Kind.ZERO,
        Kind.WIDE,
    ),
    "rerank": (
        *ALWAYS,
        Kind.ERROR_AFTER,
        Kind.TOO_MANY,
        Kind.SERVER_ERROR,
        Kind.SHORT,
        Kind.NAN,
    ),
    "submit": (
        *ALWAYS,
        Kind.ERROR_AFTER,
        Kind.TOO_MANY,
        Kind.SERVER_ERROR,
        Kind.ENDLESS,
        Kind.FAILING,
        Kind.LOST,
    ),
    "processing": (*ALWAYS, Kind.ERROR_AFTER, Kind.SERVER_ERROR, Kind.LOST),
    "cancel": (*ALWAYS, Kind.ERROR_BEFORE, Kind.ERROR_AFTER),
    "fetch": (
        *ALWAYS,
        Kind.ERROR_BEFORE,
        Kind.ERROR_AFTER,
        Kind.TOO_MANY,
        Kind.TOO_MANY_LATER,
        Kind.SERVER_ERROR,
        Kind.TIMEOUT,
        Kind.GONE,
        Kind.ASTRAY,
    ),
    "reader": (*ALWAYS, Kind.ERROR_BEFORE, Kind.PARSER_DIED),
    "message": (Kind.DELAY, Kind.DUPLICATE, Kind.LOST),
}

RATES = (0.002, 0.005, 0.01, 0.03, 0.1)
RARE_RATES = (0.0005, 0.002, 0.005, 0.01)
RARE = frozenset({*ALWAYS} - {Kind.DELAY})
KINDS_ON = 0.5
FOCUSED, FOCUS_WIDTH, FOCUS_FACTOR = 0.5, 0.05, 20.0
DELAYS = (0.001, 0.05, 0.3, 1.0, 5.0, 20.0, 70.0, 70.0, 200.0, 3_000.0)
PAUSES = (65.0, 65.0, 130.0, 130.0, 200.0, 3_000.0)
JUMPS = (-7_200.0, -3_600.0, 3_600.0, 7_200.0)
RETRY_AFTERS = (0.5, 3.0, 30.0, 600.0)


@dataclass(frozen=True, slots=True)
class Fault:
    """The n-th draw came out as this."""

    number: int
    call: str
    kind: Kind
    amount: float = 0.0

    def __str__(self) -> str:
        size = f" {self.amount:g}" if self.amount else ""
        return f"#{self.number} {self.kind}{size} at {self.call}"


@dataclass(frozen=True, slots=True)
class Aim:
    """The n-th time this call is made, this happens; what comes after is drawn from `salt`."""

    call: str
    kind: Kind
    nth: int
    salt: int

    def __str__(self) -> str:
        return f"{self.nth}!{self.salt}!{self.kind}!{self.call}"

    @classmethod
    def read(cls, text: str) -> Aim:
        nth, salt, kind, call = text.split("!")
        return cls(call, Kind(kind), int(nth), int(salt))


class Faults:
    """The bad luck of one schedule; `plan` replays only the given decisions."""

    def __init__(
        self, seed: str, plan: Iterable[Fault] | None = None, aim: Aim | None = None
    ) -> None:
        self._seed, self._rng = seed, Random(f"{seed}:faults")
        self._aim = aim if plan is None else None
        self._rates = swarm(self._rng)
        self._plan = None if plan is None else {fault.number: fault for fault in plan}
        self._on = True
        self._focus = self._rng.random() if self._rng.random() < FOCUSED else None
        self._odds: dict[str, float] = {}
        self.draws = 0
        self.hits: list[Fault] = []
        self.ports: dict[str, str] = {}
        self.reached: Counter[str] = Counter()
        self.calls: list[tuple[str, str]] = []  # each draw of a planned schedule: call, port

    def off(self) -> None:
        """From here on nothing goes wrong."""
        self._on = False

    def on(self) -> None:
        self._on = True

    def may_happen(self, kind: Kind) -> bool:
        """Is this kind on in this schedule? A replay by plan answers as the drawn one did."""
        planned = any(fault.kind is kind for fault in (self._plan or {}).values())
        aimed = self._aim is not None and self._aim.kind is kind
        return (
            planned or aimed or any(on is kind for rates in self._rates.values() for on, _ in rates)
        )

    def draw(self, call: str, port: str) -> Fault | None:
        """What happens at this call; None nearly always."""
        if not self._on:
            return None
        self.draws += 1
        self.ports[call] = port
        self.reached[call] += 1
        fault = self._drawn(call, port) if self._plan is None else self._planned(call, port)
        if self._aim is not None and self._aim.call == call:
            fault = self._aimed(self._aim) or fault
        if fault is not None:
            self.hits.append(fault)
        return fault

    def _drawn(self, call: str, port: str) -> Fault | None:
        luck = self._rng.random() * self._odds_of(call, port)
        for kind, up_to in self._rates[port]:
            if luck < up_to:
                return Fault(self.draws, call, kind, self._amount(kind))
        return None

    def _aimed(self, aim: Aim) -> Fault | None:
        if self.reached[aim.call] != aim.nth:
            return None
        self._rng = Random(f"{self._seed}:faults:{aim.salt}")
        return Fault(self.draws, aim.call, aim.kind, self._amount(aim.kind))

    def _odds_of(self, call: str, port: str) -> float:
        """Below 1 for the few calls this seed has its eye on: rare ones need bad luck too."""
        odds = self._odds.get(call)
        if odds is None:
            rates = self._rates[port]
            watched = self._focus is not None and abs(place_of(call) - self._focus) < FOCUS_WIDTH
            most = rates[-1][1] * 2 if rates else 1.0  # a fault at every second call is enough
            odds = self._odds[call] = max(1 / FOCUS_FACTOR, min(1.0, most)) if watched else 1.0
        return odds

    def _planned(self, call: str, port: str) -> Fault | None:
        assert self._plan is not None
        self.calls.append((call, port))
        fault = self._plan.get(self.draws)
        return fault if fault is not None and fault.kind in POSSIBLE[port] else None

    def _amount(self, kind: Kind) -> float:
        sizes = AMOUNTS.get(kind)
        return self._rng.choice(sizes) if sizes else 0.0

    def counted(self) -> Counter[tuple[str, str]]:
        """How often each (port call, fault kind) happened."""
        return Counter((fault.call, fault.kind.value) for fault in self.hits)


AMOUNTS: Mapping[Kind, tuple[float, ...]] = {
    Kind.DELAY: DELAYS,
    Kind.PAUSE: PAUSES,
    Kind.CLOCK_JUMP: JUMPS,
    Kind.TOO_MANY_LATER: RETRY_AFTERS,
}


def place_of(call: str) -> float:
    """A place between 0 and 1 for each name, the same in every process."""
    return crc32(call.encode()) / (1 << 32)


Rates = Mapping[str, tuple[tuple[Kind, float], ...]]


def swarm(rng: Random) -> Rates:
    """Which kinds are on for this seed, and how often: per port, as rising thresholds."""
    strength = rng.choice((0.0, 0.5, 1.0, 1.0, 2.0))
    rates: dict[Kind, float] = {}
    for kind in Kind:
        rate = rng.choice(RARE_RATES if kind in RARE else RATES)
        rates[kind] = rate * strength if rng.random() < KINDS_ON else 0.0
    return {port: tuple(_rising(kinds, rates)) for port, kinds in POSSIBLE.items()}


def _rising(kinds: Iterable[Kind], rates: Mapping[Kind, float]) -> Iterable[tuple[Kind, float]]:
    up_to = 0.0
    for kind in kinds:
        if rates[kind]:
            up_to += rates[kind]
            yield kind, up_to
