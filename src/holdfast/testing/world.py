"""What if everything that can go wrong does, in an order that a seed decides?

A world holds what outlives processes: the disks, the user's files, the provider's bill, and what
was promised. It plays a script of client operations against lives of the production engine, each
ended by the script or by a fault and followed by the next; asks the invariants after every commit;
and at the end, with faults off, brings all to rest and compares it with the promises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from traceback import format_exception

from holdfast.config import Settings, load
from holdfast.domain.bases import Base, BaseSettings
from holdfast.domain.errors import HoldfastError
from holdfast.domain.ids import BaseId, ItemId
from holdfast.stores.index import IndexStore
from holdfast.stores.memory_index import MemoryIndex
from holdfast.stores.sqlite import invariants
from holdfast.stores.sqlite.main import FILE
from holdfast.testing.case import Case, Outcome, drawn_steps
from holdfast.testing.clients import Client
from holdfast.testing.ending import settle
from holdfast.testing.expectations import Expectations
from holdfast.testing.faults import Faults
from holdfast.testing.fetchers import SimWeb
from holdfast.testing.files import Landscape
from holdfast.testing.gate import Outage
from holdfast.testing.life import Life
from holdfast.testing.models import MODEL, WIDTH, Bill
from holdfast.testing.processors import PROCESSOR, Plant
from holdfast.testing.rerankers import RERANKER
from holdfast.testing.schedule import Kernel
from holdfast.testing.stores import drawn_stores
from holdfast.testing.tasks import Broken, Stuck, Task
from holdfast.testing.watch import Watch
from holdfast.workflow.bases import create_base

MOST_LIVES = 40
CLUSTER = 0.2
CLOCK_STAYS_WRONG = 0.1  # while the world comes to rest: hours of sweeps until then


@dataclass(slots=True)
class Look:
    """What must not be in an answer."""

    gone: set[ItemId]


class World:
    """Everything around the lives of the engine."""

    def __init__(self, case: Case) -> None:
        self.case, draw = case, Random(f"{case.root}:world")
        self.kernel, self.faults = Kernel(case.root), Faults(case.root, case.plan, case.aim)
        self.outage = Outage(self.kernel)
        self.outage.cut_power = self.lose_power
        self.steps = case.steps or drawn_steps(Random(f"{case.root}:script"))
        self.clients = draw.choice((1, 1, 2, 3))
        if case.clients is not None:
            self.clients = case.clients
        self.cluster = draw.random() < CLUSTER
        self.settings = drawn_settings(draw, leases=self.cluster)
        self.stores = drawn_stores(draw, shared=self.cluster)
        self.disk = self.stores.disk
        self.index: IndexStore = MemoryIndex()
        self.landscape, self.bill, self.web = Landscape(), Bill(), SimWeb()
        self.plant = Plant(self.landscape)
        self.expectations = Expectations()
        self.watch = Watch(self)
        self.written: dict[str, set[str]] = {}
        self.lives: list[Life] = []
        self.settings_by_base: dict[BaseId, BaseSettings] = {}
        self.looks: dict[Task, Look] = {}
        self.stop_asked = False
        self.manner = draw.getrandbits(30)
        self.clock_stays_wrong = draw.random() < CLOCK_STAYS_WRONG
        self.bill.latency = draw.choice((0.0, 0.0, 0.3, 4.0))
        self._todo = list(self.steps)
        self._rngs = 0
        self.kernel.open_transaction = self.disk.open_transaction

    def rng(self, use: str) -> Random:
        self._rngs += 1
        return Random(f"{self.case.root}:{use}:{self._rngs}")

    # -- what happens outside

    def lose_power(self) -> None:
        draw = self.rng("power")
        self.disk.power_cut(draw)
        self.landscape.power_cut(draw)
        self.index = self.watch.index_after_power_cut(draw)
        self.watch.forget()

    def save(self, path: str, content: str) -> None:
        """A user saves a file."""
        self.landscape.write(path, content.encode())
        self.written.setdefault(path, set()).add(content)
        self.expectations.saved(path, content)

    def put_page(self, url: str, content: str) -> None:
        """Somebody elsewhere changes a page."""
        self.web.pages[url] = content
        self.written.setdefault(url, set()).add(content)
        self.expectations.saved(url, content)

    def base_settings(self, choice: int) -> BaseSettings:
        """A base of the manner this seed prefers."""
        keyword = choice % 5 == 0
        return BaseSettings(
            name=f"base {choice % 1_000}",
            embedding_model=None if keyword else MODEL,
            dimensions=None if keyword else WIDTH,
            rerank_model=RERANKER if choice % 3 == 0 else None,
            file_processor_id=PROCESSOR if choice % 2 else None,
            file_processing_max_wait=60,
            search_mode="keyword" if keyword else "hybrid",
            chunk_size=16,
            chunk_overlap=0,
            keep_originals=choice % 7 == 0,
            recovery="ask" if choice % 11 == 0 else "resume",
        )

    def know(self, base: Base) -> None:
        self.expectations.bases.append(base.id)
        self.settings_by_base[base.id] = base.settings

    # -- what is asked after every commit

    def watch_main(self) -> None:
        invariants.watch(self.disk.connection(FILE))

    def main_committed(self, name: str) -> None:
        self.watch.main(name)

    def index_committed(self, name: str) -> None:
        self.watch.index(name)

    @property
    def unlucky(self) -> bool:
        """Has anything gone wrong that explains a failure?"""
        outage = self.outage
        mishaps = self.faults.hits or outage.crashes or outage.power_cuts
        return bool(mishaps or self.expectations.dismissed or self.plant.has_knots)

    def deleting(self) -> set[ItemId]:
        """What a user may not see any more, with everything inside it."""
        rows = invariants.standing(self.disk.connection(FILE))
        return {row[0] for row in rows if row[1] == "deleting"}

    def look(self, task: Task) -> Look:
        """What this task may not show: as it is now, then as it is at each of its reads."""
        look = self.looks[task] = Look(self.expectations.gone() | self.deleting())
        return look

    def main_read(self, task: Task) -> None:
        look = self.looks.get(task)
        if look is not None:
            look.gone = self.expectations.gone() | self.deleting()

    def bases_now(self) -> list[BaseId]:
        return invariants.bases(self.disk.connection(FILE))

    # -- lives

    def play(self) -> None:
        """The script, under faults; then the end, without."""
        self.faults.off()
        life = self.next_life()
        for n in range(1 + self.manner % 2):
            base = create_base(life.kb, self.base_settings(self.manner >> n))
            self.know(base)
        self.faults.on()
        while self._todo:
            self.spend(life)
            if not self._todo:
                break
            life = self.next_life()
        self.faults.off()
        self.end_all()
        settle(self)

    def spend(self, life: Life) -> None:
        """Clients take steps until there are none, the process dies, or a stop is asked.

        In a cluster another process works beside it; it outlives this one if it can.
        """
        if self.cluster and not any(peer.alive for peer in self.lives if peer is not life):
            self.open(alone=False)
        for task in [self.task(life, self.serve, f"client{n}") for n in range(self.clients)]:
            self.kernel.wait_for(task)
        if self.stop_asked and life.alive:
            self.kernel.wait_for(self.task(life, Life.end, "closer"))
        self.stop_asked = False
        self.kill(life)

    def serve(self, life: Life) -> None:
        client = Client(self, life.kb)
        while self._todo and not self.stop_asked:
            client.take(self._todo.pop(0))

    def task(self, life: Life, run: Callable[[Life], None], name: str) -> Task:
        return self.kernel.spawn(lambda: run(life), name, life.process)

    def kill(self, life: Life) -> None:
        if life.alive:
            self.kernel.kill([life.process])
        if not self.cluster:
            self.disk.crash()

    def next_life(self) -> Life:
        """Open again until it lives; after many deaths in a row the bad luck ends."""
        while True:
            life = self.open(alone=not any(other.alive for other in self.lives))
            if life.alive and life.engine is not None:
                return life
            self.kill(life)

    def open(self, *, alone: bool) -> Life:
        """One try to live, alone or beside the living."""
        life = Life(self, len(self.lives), alone=alone)
        self.lives.append(life)
        self.outage.processes = [other.process for other in self.lives if other.alive]
        if len(self.lives) > MOST_LIVES:
            self.faults.off()
        self.kernel.wait_for(self.task(life, self.begin, "opener"))
        return life

    def end_all(self) -> None:
        """Nobody lives: what comes next finds what a dead machine leaves."""
        self.kernel.kill([life.process for life in self.lives if life.alive])
        self.disk.crash()

    def begin(self, life: Life) -> None:
        try:
            life.begin()
        except HoldfastError as error:
            self.kernel.note(life.process.name, f"did not open: {error}")

    def outcome(self) -> Outcome:
        kernel = self.kernel
        return Outcome(
            self.case,
            steps=tuple(self.steps),
            violations=list(dict.fromkeys(kernel.broken)),
            faults=self.faults.hits,
            calls=self.faults.calls,
            ports=self.faults.ports,
            reached=self.faults.reached,
            trace=kernel.trace,
            digest=kernel.digest(),
            switches=kernel.switches,
            seconds=kernel.now,
            crashes=self.outage.crashes,
            power_cuts=self.outage.power_cuts,
            clients=self.clients,
        )


@cache
def defaults() -> Settings:
    """Settings are dear to make."""
    return load(None, processors={PROCESSOR: {"kind": "docling", "types": ["pdf"]}})


def drawn_settings(rng: Random, *, leases: bool) -> Settings:
    """One to four workers, few or many to a base, small batches."""
    lanes, stages = rng.choice((1, 2)), rng.choice((1, 2))
    drawn = {
        "global_concurrency": rng.choice((1, 2, 3, 4)),
        "per_base_concurrency": rng.choice((1, 2)),
        "control_concurrency": lanes,
        "poll_concurrency": 1,
        "urgent_concurrency": lanes,
        "io_concurrency": stages,
        "embedding_concurrency": stages,
        "write_concurrency": stages,
        "batch_size": rng.choice((2, 4, 8)),
        "sweep_interval": rng.choice((60, 60, 60, 60, 60, 20)),
        "lease_expires": max(int(leases), rng.choice((0, 0, 0, 1))),
        "lease_renewal": rng.choice((15, 30)),
        "file_grace": 10_800,  # longer than two delays and a pause of one upload
        "in_process_bytes": rng.choice((65_536, 65_536, 100)),
    }
    return defaults().model_copy(update=drawn)


def play(case: Case) -> Outcome:
    """One schedule from its beginning to its rest."""
    world = World(case)
    try:
        world.kernel.run(world.play)
    except Stuck as error:
        world.kernel.found(f"L1 {error}")
    except Broken:
        pass  # it is told in `broken` already
    except Exception as error:  # noqa: BLE001  (whatever rose, it is this seed's finding)
        world.kernel.found(f"the world broke: {error!r}\n{''.join(format_exception(error))}")
    finally:
        world.kernel.close([life.process for life in world.lives])
        world.disk.recycle(FILE)
        world.disk.close()
    return world.outcome()
