"""What is one life of one simulated process? The production engine on simulated ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from holdfast.assembly import Engine, kitchen_of, runner_of
from holdfast.jobs.outcomes import Outcomes
from holdfast.jobs.permits import permits
from holdfast.jobs.runner import Bells
from holdfast.machine.owner import OwnerLock
from holdfast.stores.sqlite.index import SqliteIndex
from holdfast.stores.sqlite.main import SqliteMain
from holdfast.testing.clock import SimClock, SimIds, SimRng
from holdfast.testing.doors import SimMain, sim_index
from holdfast.testing.fetchers import SimFetcher
from holdfast.testing.files import SimFiles
from holdfast.testing.gate import Gate
from holdfast.testing.models import SimEmbedders
from holdfast.testing.processors import SimProcessors
from holdfast.testing.readers import SimReader
from holdfast.testing.rerankers import SimRerankers
from holdfast.testing.runtime import SimRuntime
from holdfast.testing.tasks import Process
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    from holdfast.testing.world import World


class Peer(Engine):
    """A process beside a living one: what the other runs is not its to take, except by lease."""

    def recover(self) -> None:
        """Nothing: the first of them has done it."""


class Owned:
    """The folder's lock in a world with one process."""

    def close(self) -> None:
        """The next life may open."""


class Life:
    """From opening to the end, whatever ends it."""

    def __init__(self, world: World, number: int, *, alone: bool) -> None:
        self.world, self.alone = world, alone
        self.process = Process(f"life{number}")
        self.gate = Gate(world.kernel, world.faults, world.outage, self.process)
        self.engine: Engine | None = None

    @property
    def alive(self) -> bool:
        return self.process.alive

    @property
    def kb(self) -> Workbench:
        assert self.engine is not None
        return self.engine.kb

    def begin(self) -> None:
        """Open, recover, run; called in a task of this process, so that it may die of it."""
        engine = self._assembled()
        engine.start()
        self.engine = engine

    def end(self) -> None:
        """A graceful stop."""
        if self.engine is not None:
            self.engine.close()

    def _assembled(self) -> Engine:
        world, kernel = self.world, self.world.kernel
        runtime, clock = SimRuntime(kernel, self.process), SimClock(kernel, world.outage)
        bells, ids = Bells(runtime), SimIds(clock, world.rng("ids"))
        inner = SqliteMain(world.disk, clock, runtime, bells)
        world.watch_main()
        if world.stores.index_in_files:
            world.index = SqliteIndex(world.disk, runtime, clock)
        main = SimMain(inner, self.gate, world.main_committed, world.main_read)
        settings, rng = world.settings, SimRng(world.rng("jitter"))
        kb = Workbench(
            settings=settings,
            clock=clock,
            ids=ids,
            rng=rng,
            runtime=runtime,
            files=SimFiles(world.landscape, self.gate, clock, shared=world.cluster),
            reader=SimReader(world.landscape, self.gate),
            fetcher=SimFetcher(world.web, self.gate),
            embedders=SimEmbedders(world.bill, self.gate),
            rerankers=SimRerankers(self.gate),
            processors=SimProcessors(world.plant, self.gate),
            main=main,
            index=sim_index(world.index, self.gate, world.index_committed),
            wakeups=bells,
            permits=permits(runtime, settings.io_concurrency, settings.write_concurrency),
            kitchen=kitchen_of(settings, runtime, clock),
            outcomes=Outcomes(main, clock, rng),
            owner=ids.new(),
        )
        engine = Engine if self.alone else Peer
        return engine(kb, bells, runner_of(kb, bells), cast("OwnerLock", Owned()))
