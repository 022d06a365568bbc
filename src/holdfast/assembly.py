"""Who knows whom? Settings become backends, backends become one Workbench."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.config import CONFIG_FILE, Settings, cache_folder, load
from holdfast.domain.errors import HoldfastError, Unavailable
from holdfast.domain.jobs import Lane
from holdfast.domain.retries import SLOT_PATIENCE
from holdfast.jobs.claim import CONTROL_PER_BASE, Caps
from holdfast.jobs.governor import Governor, limits_of
from holdfast.jobs.outcomes import Outcomes
from holdfast.jobs.permits import permits
from holdfast.jobs.runner import Bells, Runner
from holdfast.machine.clock import SystemClock
from holdfast.machine.disk import FolderDisk
from holdfast.machine.files import FolderFiles
from holdfast.machine.ids import SystemRng, TimeOrderedIds
from holdfast.machine.owner import OwnerLock
from holdfast.machine.threads import Threads
from holdfast.ports import Clock, Event, Fetcher, Files, Limits, Reader, Runtime, Thread
from holdfast.stages.embedding.local.models import LocalModels
from holdfast.stages.embedding.local.weights import Weights
from holdfast.stages.embedding.registry import Registry
from holdfast.stages.processing.registry import Processors
from holdfast.stages.providers import Providers
from holdfast.stages.reading.apart import WARM, ReaderApart
from holdfast.stages.reading.ocr import Ocr
from holdfast.stages.reranking.registry import Rerankers
from holdfast.stages.web.fetcher import HttpFetcher
from holdfast.stages.web.networks import allowed_of
from holdfast.stores.sqlite.index import SqliteIndex
from holdfast.stores.sqlite.main import SqliteMain
from holdfast.workflow.adopt_rows import adopt_rows
from holdfast.workflow.bases import check_models
from holdfast.workflow.handlers import handlers
from holdfast.workflow.kitchen import Kitchen
from holdfast.workflow.purge import Purges, purge_all
from holdfast.workflow.recover import recover_at_start
from holdfast.workflow.room import may_start
from holdfast.workflow.sweep import sweep
from holdfast.workflow.workbench import Workbench

LAST_PURGE = 1.0  # seconds of it at the end: commands that delete are often short


@dataclass(slots=True)
class Engine:
    """An open data folder: the workbench, and what runs its jobs."""

    kb: Workbench
    bells: Bells
    runner: Runner | None
    lock: OwnerLock | None
    providers: Providers | None = None
    _stopping: Event = field(init=False)
    _keeper: Thread | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._stopping = self.kb.runtime.event()

    def start(self) -> None:
        """Recover, then run jobs until closed."""
        self.recover()
        if self.runner is not None:
            self.runner.start()
            self._keeper = self.kb.runtime.thread(self._keep, "keeper")

    def recover(self) -> None:
        recover_at_start(self.kb)
        adopt_rows(self.kb)
        check_models(self.kb)

    def close(self) -> None:
        """No new claims; running work stops at its next boundary and is given back. Once only."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        clock = self.kb.clock
        deadline = clock.mono() + self.kb.settings.stop_patience
        ended = self.runner.stop(deadline - clock.mono()) if self.runner else True
        if self._keeper is not None:
            self._keeper.join(max(0.0, deadline - clock.mono()))
        if self.lock is not None:
            with suppress(HoldfastError):  # recovery follows an unclean stop, not a locked folder
                self._say_goodbye(clean=ended)
            with suppress(HoldfastError):  # what is left is done by the next owner
                purge_all(self.kb, LAST_PURGE)
        self.kb.index.close()
        self.kb.main.close()
        self.kb.runtime.close()
        if self.providers is not None:
            self.providers.close()
        if self.lock is not None:
            self.lock.close()

    def _say_goodbye(self, *, clean: bool) -> None:
        if clean:
            with self.kb.main.write() as tx:
                tx.mark_clean_stop(self.kb.owner)
        self.kb.main.durable()

    def _keep(self) -> None:
        """The sweep: at the start and every minute; it rings all lanes, should a ring be lost."""
        purges = Purges(self.kb)
        while True:
            sweep(self.kb)
            self.bells.ready(list(Lane))
            with suppress(HoldfastError):  # the next round looks again
                purges.look()
            if self._rest(purges):
                return
            self._renew()

    def _rest(self, purges: Purges) -> bool:
        """Until the next sweep; meanwhile deleted text leaves the files. True: it is the end."""
        clock = self.kb.clock
        until = clock.mono() + self._pause()
        while (rest := until - clock.mono()) > 0:
            if self._stopping.wait(min(rest, purges.pause())):
                return True
            with suppress(HoldfastError):
                purges.work()
        return self._stopping.is_set()

    def _pause(self) -> float:
        settings = self.kb.settings
        return settings.lease_renewal if settings.lease_expires else settings.sweep_interval

    def _renew(self) -> None:
        if self.kb.settings.lease_expires:
            try:
                with self.kb.main.write() as tx:
                    tx.renew(self.kb.owner, tx.now + self.kb.lease)
            except HoldfastError:
                return  # a lease that runs out is fenced; the next round tries again


def open_engine(
    folder: Path,
    *,
    run: bool = True,
    read_only: bool = False,
    config: Path | None = None,
    given: dict[str, Any] | None = None,
) -> Engine:
    """A data folder, owned or read beside its owner; nothing runs before `start`."""
    folder = folder.absolute()
    settings = load(config or folder / CONFIG_FILE, **(given or {}))
    lock = None if read_only else OwnerLock(folder)
    try:
        return _assembled(folder, settings, lock, run=run and not read_only)
    except BaseException:
        if lock is not None:
            lock.close()
        raise


def _assembled(folder: Path, settings: Settings, lock: OwnerLock | None, *, run: bool) -> Engine:
    disk, clock, runtime = FolderDisk(folder), SystemClock(), Threads(WARM)
    if lock is None and not disk.exists("holdfast.db"):
        raise Unavailable(f"{folder} holds no knowledge base", code="not_found")
    bells, ids = Bells(runtime), TimeOrderedIds()
    main = SqliteMain(disk, clock, runtime, bells, readonly=lock is None)
    files, providers = FolderFiles(folder), Providers(settings, clock, runtime.lock())
    kb = Workbench(
        settings=settings,
        clock=clock,
        ids=ids,
        rng=SystemRng(),
        runtime=runtime,
        files=files,
        reader=reader_of(settings, runtime),
        fetcher=fetcher_of(settings, clock, runtime),
        embedders=embedders_of(settings, files, runtime, providers),
        rerankers=Rerankers(providers.rerankers()),
        processors=Processors(settings.processors),
        main=main,
        index=SqliteIndex(disk, runtime, clock, readonly=lock is None),
        wakeups=bells,
        permits=permits(runtime, settings.io_concurrency, settings.write_concurrency),
        kitchen=kitchen_of(settings, runtime, clock),
        outcomes=Outcomes(main, clock, SystemRng()),
        owner=ids.new(),
    )
    return Engine(kb, bells, runner_of(kb, bells) if run else None, lock, providers)


def kitchen_of(settings: Settings, runtime: Runtime, clock: Clock) -> Kitchen:
    """Where runs share their model calls."""
    governor = Governor(partial(limits_of, settings))
    return Kitchen(runtime, clock, governor, settings.batch_size, SLOT_PATIENCE)


def reader_of(settings: Settings, runtime: Runtime) -> Reader:
    """Reads in children, within the limits of the settings."""
    limits = Limits(
        memory=settings.parser_memory,
        cpu=settings.parser_timeout,
        silence=settings.parser_timeout,
        output=settings.parser_output,
    )
    ocr = Ocr(settings.ocr_languages)
    return ReaderApart(runtime, limits, settings.in_process_bytes, ocr)


def fetcher_of(settings: Settings, clock: Clock, runtime: Runtime) -> Fetcher:
    """The one way out for documents."""
    return HttpFetcher(
        clock,
        runtime,
        allowed_of(settings.fetch_ports, settings.fetch_allow),
        settings.fetch_max_bytes,
        settings.fetch_timeout,
    )


def embedders_of(
    settings: Settings, files: Files, runtime: Runtime, providers: Providers
) -> Registry:
    """The models of an installation."""
    local = LocalModels(weights_of(settings, files), runtime)
    return Registry({**providers.embedders(), "local": local})


def weights_of(settings: Settings, files: Files) -> Weights:
    named, cache = settings.local_model_folder, settings.model_cache or cache_folder()
    return Weights(files, None if named is None else str(named.absolute()), str(cache.absolute()))


def runner_of(kb: Workbench, bells: Bells) -> Runner:
    """The runner of a workbench, real or simulated."""
    return Runner(
        main=kb.main,
        clock=kb.clock,
        runtime=kb.runtime,
        outcomes=kb.outcomes,
        handlers=handlers(kb),
        bells=bells,
        caps=caps_of(kb.settings),
        owner=kb.owner,
        lease=kb.lease,
        may_start=partial(may_start, kb),
    )


def caps_of(settings: Settings) -> Caps:
    return Caps(
        total={
            Lane.URGENT: settings.urgent_concurrency,
            Lane.CONTROL: settings.control_concurrency,
            Lane.POLL: settings.poll_concurrency,
            Lane.INDEX: settings.global_concurrency,
        },
        per_base={
            Lane.URGENT: settings.urgent_concurrency,
            Lane.CONTROL: CONTROL_PER_BASE,
            Lane.POLL: settings.poll_concurrency,
            Lane.INDEX: settings.per_base_concurrency,
        },
    )
