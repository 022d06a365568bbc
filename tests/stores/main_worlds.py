"""What the tests of the main store share: implementations, a clock to set, bells that remember."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.domain.bases import BaseSettings
from holdfast.domain.chunks import Seal
from holdfast.domain.events import stored
from holdfast.domain.ids import BaseId, ClaimNo, Generation, ItemId, JobId
from holdfast.domain.item_states import Move, Status
from holdfast.domain.items import Item, ItemType, NewItem
from holdfast.domain.jobs import Fence, Job, JobKind, Lane, NewJob
from holdfast.jobs.claim import Caps, Claimed, Holder, claim
from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.ports import Clock, Wakeups
from holdfast.stores.catalog import Moved, Published, Trouble
from holdfast.stores.main import MainStore
from holdfast.stores.sqlite.main import SqliteMain

A, B, C = BaseId("base-a"), BaseId("base-b"), BaseId("base-c")
OWNER, NEXT_OWNER = "owner-1", "owner-2"
SECOND = 1_000_000
LEASE = 60 * SECOND
NOON = 1_800_000_000.0
WHY: Trouble = ("internal", "it broke", "look at it")
CAPS_OF_VIOLATIONS = {"index": 4, "control": 4, "poll": 2, "urgent": 2}


@dataclass(slots=True)
class SetClock:
    """Time is a value: tests advance it."""

    at: float = NOON

    def wall(self) -> float:
        return self.at

    def mono(self) -> float:
        return self.at

    @property
    def now(self) -> int:
        return stored(self.at)


@dataclass(slots=True)
class HeardBells:
    """Remembers what it was told."""

    lanes: list[Lane] = field(default_factory=list)
    jobs: list[JobId] = field(default_factory=list)
    when_ready: Callable[[], None] = lambda: None

    def ready(self, lanes: Collection[Lane]) -> None:
        self.when_ready()
        self.lanes += sorted(lanes)

    def cancelled(self, jobs: Collection[JobId]) -> None:
        self.jobs += sorted(jobs)

    def ended(self) -> None: ...

    def stuck(self, seconds: float) -> list[Fence]:
        return []


Maker = Callable[[Path, Clock, Wakeups], MainStore]


def sqlite(folder: Path, clock: Clock, wakeups: Wakeups) -> MainStore:
    return SqliteMain(FolderDisk(folder), clock, Threads(), wakeups)


IMPLEMENTATIONS: dict[str, Maker] = {"sqlite": sqlite}


@dataclass(slots=True)
class World:
    """A main store with a few words for what tests do again and again."""

    main: MainStore
    clock: SetClock
    bells: HeardBells
    made: int = 0

    def base(self, base: BaseId, *, paused: bool = False, **given: Any) -> BaseId:
        settings = BaseSettings(name=base, search_mode="keyword", **given)
        with self.main.write() as tx:
            tx.insert_base(base, settings)
            if paused:
                tx.update_base(base, settings, paused=True)
        return base

    def item(
        self,
        base: BaseId = A,
        *,
        parent: ItemId | None = None,
        container: bool = False,
        status: Status = Status.PROCESSING,
        key: str = "",
    ) -> ItemId:
        self.made += 1
        name = ItemId(f"item-{self.made:05}")
        with self.main.write() as tx:
            tx.insert_items(
                [
                    NewItem(
                        id=name,
                        base_id=base,
                        type=ItemType.DIRECTORY if container else ItemType.NOTE,
                        name=name,
                        source=name,
                        status=Status.PREPARING if container else status,
                        parent_id=parent,
                        source_key=key or name,
                    )
                ]
            )
        return name

    def enqueue(
        self,
        item: ItemId | None,
        base: BaseId = A,
        kind: JobKind = JobKind.INDEX_DOCUMENTS,
        **given: Any,
    ) -> Job:
        """A job of an item (workload 0: it is claimed alone, never in a bundle)."""
        self.made += 1
        key = given.pop("key", f"key-{self.made}")
        generation = given.pop("generation", 1)
        with self.main.write() as tx:
            tx.enqueue([NewJob(kind, base, key, item, Generation(generation), **given)])
        return self.job_of(key)

    def queued(self, base: BaseId = A, **given: Any) -> Job:
        """A new item with its index job."""
        return self.enqueue(self.item(base), base, **given)

    def small(self, base: BaseId, count: int) -> list[Job]:
        """New items whose jobs may share a slot."""
        return [self.queued(base, workload=10) for _ in range(count)]

    def job_of(self, key: str) -> Job:
        """The newest job of this key."""
        with self.main.read() as snapshot:
            for number in range(2 * self.made + 2, 0, -1):
                job = snapshot.job(JobId(number))
                if job is not None and job.key == key:
                    return job
        raise AssertionError(f"no job {key}")

    def job(self, job: Job) -> Job:
        with self.main.read() as snapshot:
            found = snapshot.job(job.id)
        assert found is not None
        return found

    def find(self, item: ItemId) -> Item:
        with self.main.read() as snapshot:
            found = snapshot.item(item)
        assert found is not None
        return found

    def claim(
        self,
        lane: Lane = Lane.INDEX,
        *,
        total: int = 4,
        per_base: int = 2,
        owner: str | None = OWNER,
    ) -> Claimed:
        caps = Caps(dict.fromkeys(Lane, total), dict.fromkeys(Lane, per_base))
        return claim(self.main, lane, caps, Holder(owner, LEASE))

    def take(self, lane: Lane = Lane.INDEX, **given: Any) -> list[JobId]:
        """The jobs a free slot gets."""
        return [job.id for job in self.claim(lane, **given).jobs]

    def run(self, lane: Lane = Lane.INDEX, **given: Any) -> Fence:
        """The fence of the one job a free slot gets."""
        (job,) = self.claim(lane, **given).jobs
        return fence_of(job)

    def served(self, count: int, **given: Any) -> list[BaseId]:
        """The bases of that many runs, each ended before the next begins."""
        return [self.serve(**given) for _ in range(count)]

    def serve(self, lane: Lane = Lane.INDEX, **given: Any) -> BaseId:
        jobs = self.claim(lane, **given).jobs
        self.end(*map(fence_of, jobs))
        return jobs[0].base_id

    def end(self, *fences: Fence) -> set[JobId]:
        with self.main.write() as tx:
            return tx.finish(list(fences))

    def move(self, move: Move, target: Status, fence: Fence, **given: Any) -> set[ItemId]:
        assert fence.item is not None
        with self.main.write() as tx:
            return tx.move(move, [Moved(fence.item, target, fence.generation, fence, **given)])

    def restart(self, item: ItemId) -> None:
        """A new generation, as an update gives it."""
        with self.main.write() as tx:
            tx.move(Move.RESTART, [Moved(item, Status.PROCESSING, new_generation=True)])

    def complete(self, item: ItemId) -> None:
        with self.main.write() as tx:
            tx.move(Move.COMPLETE, [Moved(item, Status.COMPLETED)])
            tx.publish([published(item, 1)])

    def delete(self, *items: ItemId) -> None:
        with self.main.write() as tx:
            tx.move(
                Move.DELETE, [Moved(one, Status.DELETING, new_generation=True) for one in items]
            )

    def new_owner(self, owner: str = NEXT_OWNER, above: int = 0) -> list[JobId]:
        """What a start does first; the jobs it freed."""
        with self.main.write() as tx:
            tx.raise_epoch(owner, ClaimNo(above))
            return [one.job for one in tx.rescue_foreign(owner)]

    def violations(self) -> list[str]:
        with self.main.read() as snapshot:
            return [
                f"{one.invariant}: {one.subject}" for one in snapshot.violations(CAPS_OF_VIOLATIONS)
            ]


def published(item: ItemId, build: int) -> Published:
    return Published(item, ClaimNo(build), "recipe", Seal(1, "digest"), 1, 1, None)


def fence_of(job: Job) -> Fence:
    assert job.claim is not None
    return Fence(job.id, job.claim, job.item_id, job.generation)


def ids_of(jobs: Sequence[Job]) -> list[JobId]:
    return [job.id for job in jobs]


@contextmanager
def opened(make: Maker, folder: Path) -> Iterator[World]:
    clock, bells = SetClock(), HeardBells()
    main = make(folder, clock, bells)
    world = World(main, clock, bells)
    with main.write() as tx:
        tx.raise_epoch(OWNER, ClaimNo(0))
    try:
        yield world
    finally:
        main.close()
