"""Every implementation of every port, on a stage where the same contract can be played.

A simulated port lives inside its kernel, so `stage.play(body)` runs the body there; a real one
just runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from holdfast.machine.clock import SystemClock
from holdfast.machine.files import FolderFiles
from holdfast.machine.ids import SystemRng, TimeOrderedIds
from holdfast.machine.threads import Threads
from holdfast.ports import Clock, Embedder, Files, Ids, Rng, Runtime
from holdfast.stages.embedding.hash_model import HashEmbedder
from holdfast.testing.clock import SimClock, SimIds, SimRng
from holdfast.testing.faults import Faults
from holdfast.testing.files import Landscape, SimFiles
from holdfast.testing.gate import Gate, Outage
from holdfast.testing.models import Bill, SimEmbedder
from holdfast.testing.runtime import SimRuntime
from holdfast.testing.schedule import Kernel
from holdfast.testing.tasks import Process


@dataclass(frozen=True)
class Stage:
    """One implementation of each port, and how to run something that uses them."""

    play: Callable[[Callable[[], None]], None]
    clock: Clock
    ids: Ids
    rng: Rng
    runtime: Runtime
    files: Files
    embedder: Embedder
    user: Callable[[str, bytes | None], str]  # a user's file (or folder): its path


def simulated(_: Path) -> Iterator[Stage]:
    kernel, process = Kernel("contract"), Process("p")
    faults, outage = Faults("contract", plan=()), Outage(kernel)
    gate, clock = Gate(kernel, faults, outage, process), SimClock(kernel, outage)
    landscape = Landscape()

    def user(name: str, content: bytes | None) -> str:
        path = f"/user/{name}"
        if content is not None:
            landscape.write(path, content)
        return path

    yield Stage(
        play=kernel.run,
        clock=clock,
        ids=SimIds(clock, Random(1)),
        rng=SimRng(Random(1)),
        runtime=SimRuntime(kernel, process),
        files=SimFiles(landscape, gate, clock),
        embedder=SimEmbedder("sim/8", 8, Bill(), gate),
        user=user,
    )
    kernel.close([process])
    assert kernel.broken == []


def real(folder: Path) -> Iterator[Stage]:
    def user(name: str, content: bytes | None) -> str:
        path = folder / "home" / name
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return str(path)

    (folder / "data").mkdir()
    runtime = Threads()
    yield Stage(
        play=lambda body: body(),
        clock=SystemClock(),
        ids=TimeOrderedIds(),
        rng=SystemRng(),
        runtime=runtime,
        files=FolderFiles(folder / "data"),
        embedder=HashEmbedder(16),
        user=user,
    )
    runtime.close()


@pytest.fixture(params=[simulated, real])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    yield from request.param(tmp_path)
