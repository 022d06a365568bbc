"""What happens while a provider is ill for half an hour of virtual time, and after it?

Base A embeds with the ill provider, base B with another one. Production code runs on the virtual
clock; every call of the ill provider is written down, and how long B takes alone and beside A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.config import load
from holdfast.domain.bases import Base, BaseSettings
from holdfast.domain.items import Note
from holdfast.stores.index import IndexSnapshot
from holdfast.stores.sqlite import invariants
from holdfast.stores.sqlite.main import FILE
from holdfast.testing.case import Case
from holdfast.testing.faults import Kind
from holdfast.testing.life import Life
from holdfast.testing.models import WIDTH, Asked, vector_of
from holdfast.testing.world import World
from holdfast.workflow.add_items import add_items
from holdfast.workflow.bases import create_base

HALF_AN_HOUR = 1_800.0
NOTES = 40
LOOK, LONGEST = 0.05, 7_200.0
OUTAGES = (Kind.TOO_MANY, Kind.TOO_MANY_LATER, Kind.SERVER_ERROR, Kind.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Course:
    """How it went."""

    asked: tuple[Asked, ...]  # calls of the ill provider, in the order they began
    paused: float  # when the first of them had ended, and the pause began
    failed: dict[str, int]  # error codes of A's items at the end
    completed: int
    beside: float  # B's speed beside the ill one, as a share of its speed alone
    back: float  # seconds from the recovery to the next batch of A that was answered
    wrong: int  # vectors that are not what the well model answers

    @property
    def most_at_once(self) -> int:
        """Calls under way at the same time, once the pause had begun and old calls had ended."""
        later = self.later
        return max((sum(b.began <= a.began < b.ended for b in later) for a in later), default=0)

    @property
    def later(self) -> list[Asked]:
        """Those that began when everybody could know of the pause."""
        return [one for one in self.asked if one.began > self.paused]


def course(kind: Kind, *, seconds: float = HALF_AN_HOUR, notes: int = NOTES) -> Course:
    """Half an hour in which every call of the provider `sim` ends like this."""
    world = _ward()
    found: list[Course] = []
    try:
        world.kernel.run(lambda: found.append(_watched(world, kind, seconds, notes)))
    finally:
        world.kernel.close([life.process for life in world.lives])
        world.disk.recycle(FILE)
        world.disk.close()
    return found[0]


def _ward() -> World:
    """A world of one process, four slots, and calls of 0.3 s."""
    numbers = iter(range(100))
    world = World(Case(f"ward-{next(numbers)}", plan=(), clients=1))
    while world.cluster:
        world = World(Case(f"ward-{next(numbers)}", plan=(), clients=1))
    world.settings = load(None, batch_size=8)
    world.bill.latency, world.kernel.tick = 0.3, 0.00002
    return world


def _watched(world: World, kind: Kind, seconds: float, notes: int) -> Course:
    life, slots = world.next_life(), world.settings.global_concurrency
    a, b = _base(world, life, "A", "sim"), _base(world, life, "B", "far")
    alone = _time(world, lambda: _add(life, b, notes, "alone"), b)
    _add(life, a, notes, "well")
    _until(world, lambda: not _open(world, a))
    world.bill.ill["sim"] = kind
    began = world.kernel.now
    _add(life, a, notes, "ill")
    beside = _time(world, lambda: _add(life, b, notes, "beside"), b)
    world.kernel.sleep(max(0.0, began + seconds - world.kernel.now), "half an hour")
    world.bill.ill.clear()
    well, before = world.kernel.now, _completed(world, a)
    _until(world, lambda: _completed(world, a) > before or not _open(world, a))
    back = world.kernel.now - well
    _until(world, lambda: not _open(world, a))
    asked = tuple(sorted(world.bill.asked, key=lambda one: one.began))
    codes = [str(row[2]) for row in _rows(world, a) if row[1] == "failed"]
    return Course(
        asked=asked,
        paused=max((one.ended for one in asked[:slots]), default=began),
        failed={code: codes.count(code) for code in set(codes)},
        completed=_completed(world, a),
        beside=alone / beside,
        back=back,
        wrong=_wrong(world, a),
    )


def _base(world: World, life: Life, name: str, provider: str) -> Base:
    settings = BaseSettings(
        name=name,
        embedding_model=f"{provider}/{WIDTH}",
        dimensions=WIDTH,
        search_mode="hybrid",
        chunk_size=16,
        chunk_overlap=0,
    )
    base = create_base(life.kb, settings)
    world.know(base)
    return base


def _add(life: Life, base: Base, count: int, word: str) -> None:
    add_items(life.kb, base.id, [Note(text_of(word, number)) for number in range(count)])


def text_of(word: str, number: int) -> str:
    return f"{word} {number}"


def _time(world: World, begin: Callable[[], None], base: Base) -> float:
    began = world.kernel.now
    begin()
    _until(world, lambda: not _open(world, base))
    return world.kernel.now - began


def _until(world: World, ended: Callable[[], bool]) -> None:
    last = world.kernel.now + LONGEST
    while not ended():
        if world.kernel.now > last:
            raise AssertionError(f"not within {LONGEST:.0f} s: {world.kernel.trace[-5:]}")
        world.kernel.sleep(LOOK, "somebody looks")


def _rows(world: World, base: Base) -> Sequence[tuple[object, ...]]:
    return [row for row in invariants.standing(world.disk.connection(FILE)) if row[6] == base.id]


def _open(world: World, base: Base) -> int:
    return sum(row[1] not in ("completed", "failed") for row in _rows(world, base))


def _completed(world: World, base: Base) -> int:
    return sum(row[1] == "completed" for row in _rows(world, base))


def _wrong(world: World, base: Base) -> int:
    """Chunks that are not found by the vector their text has in a well model."""
    with world.index.snapshot(base.id) as index:
        all_of_it = index.vector(1, vector_of("any", WIDTH), 10_000)
        chunks = index.load([one.chunk_id for one in all_of_it])
        nearest = {
            one.chunk.text: index.load([_nearest(index, one.chunk.text)]) for one in chunks.values()
        }
    return sum(text != one.chunk.text for text, found in nearest.items() for one in found.values())


def _nearest(index: IndexSnapshot, text: str) -> int:
    return index.vector(1, vector_of(text, WIDTH), 1)[0].chunk_id
